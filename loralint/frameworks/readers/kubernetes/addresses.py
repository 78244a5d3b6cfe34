"""The name by which the pods of a JobSet reach their first one.

JobSet gives a pod the host name JOBSET-ROLE-JOB-POD, and all of them one subdomain, which the JobSet is called if
nothing else is said; in the first releases every role had one of its own, JOBSET-ROLE. A name below another subdomain
is nobody's.

Source: kubernetes-sigs/jobset, the type Network of v1alpha2, and issues 133 and 208 for the older one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.launch import first, place
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.processes import command, nodes, variables
from loralint.frameworks.readers.kubernetes.tree import inside, open_text, text, value
from loralint.model import Observation, Value
from loralint.source.document import Document

_VARIABLES = ("MASTER_ADDR", "PET_MASTER_ADDR", "MAIN_PROCESS_IP")
_FLAGS = ("master_addr", "rdzv_endpoint", "main_process_ip")


def nobody(document: Document, job: Job) -> Iterator[Observation]:
    """Addresses of a pod of the JobSet below a subdomain that it is not in."""
    network = inside(job.spec, "network")
    named_so, dns = text(inside(network, "subdomain")), text(inside(network, "enableDNSHostnames"))
    if job.kind != "JobSet" or (nodes(job) or 0) < 2 or dns == "false" or open_text(job.name + named_so):
        return
    for host, where in _addresses(document, job):
        pod, _, rest = host.partition(".")
        role = next((one.role for one in job.pods if re.fullmatch(rf"{_escaped(job, one.role)}-\d+-\d+", pod)), None)
        domain = rest.partition(".")[0]
        subdomain = named_so or job.name
        if role is not None and domain != subdomain:
            older = not named_so and domain == f"{job.name}-{role}"
            data = {"host": host, "meant": f"{pod}.{subdomain}", "subdomain": subdomain, "older": older}
            yield Observation("job-address-of-nobody", where, "crash", "", data=data)


def _escaped(job: Job, role: str) -> str:
    return re.escape(f"{job.name}-{role}")


def _addresses(document: Document, job: Job) -> Iterator[tuple[str, Value]]:
    """What the pods are told to be the first one's address, without its port; a launcher may be given a variable's."""
    for group, container in job.containers():
        given, launch = variables(container), command(job, group, container)
        told = {text(given[name]): value(document, given[name], key=name) for name in _VARIABLES if name in given}
        flag = first(launch.before, *_FLAGS) if launch is not None else None
        if flag is not None:
            told.setdefault(flag.text.rpartition(":")[0] or flag.text, place(document, flag, flag.text))
        yield from ((host, where) for host, where in told.items() if not open_text(host))
