"""What stands where nobody reads it: a line of words as one word, a variable that is not there, a GPU nobody gets.

Sources: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/ (a command is
a list of words that no shell sees; `$(NAME)` of a variable that the container does not have stays as it is);
https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/ (of a pod as a whole only CPU,
memory and huge pages are asked for).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.launch.programs import LAUNCHERS, PYTHON, TRAINERS
from loralint.frameworks.readers.kubernetes.gpus import accelerators, resource
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.processes import variables
from loralint.frameworks.readers.kubernetes.tree import At, items, named, open_text, text, value, word
from loralint.model import Observation
from loralint.source.document import Document
from loralint.source.shell.commands import SHELLS

_NAMED = re.compile(r"(?<!\$)\$\(([A-Z][A-Z0-9_]*)\)")
# what operators, JobSet, Volcano and the server itself add to a container
_ADDED = re.compile(
    r"(?:MASTER_|PET_|VC_|VK_|LWS_|KUBERNETES_|TF_|OMPI_|SLURM_|JOBSET_|PADDLE_|KUEUE_|RAY_).*|RANK|LOCAL_RANK|NODE_RANK"
    r"|WORLD_SIZE|JOB_COMPLETION_INDEX|HOSTNAME|HOME|PATH|.*_SERVICE_(?:HOST|PORT).*|.*_PORT(?:_.*)?"
)
_SCRIPT = re.compile(r".*\.(?:py|sh)")


def misplaced(document: Document, job: Job) -> Iterator[Observation]:
    """Everything of this kind in the containers of a job."""
    for _, container in job.containers():
        yield from _one_word(document, container)
        if word(container, "source") == "":
            yield from _not_there(document, container)
        yield from _beside_limits(document, container)
    seen: set[int] = set()
    for group in job.pods:
        if group.pod is not None and id(group.pod.node) not in seen:
            seen.add(id(group.pod.node))
            yield from _of_the_pod(document, group.pod)


def _one_word(document: Document, container: At) -> Iterator[Observation]:
    """The program with its arguments as one word, for which the container seeks a file of that name."""
    first = next(iter(items(named(container, "command"))), None)
    parts = text(first).split()
    program = parts[0].rpartition("/")[2] if len(parts) > 1 else ""
    known = program in SHELLS or program in LAUNCHERS or program in TRAINERS
    if first is not None and (known or PYTHON.fullmatch(program) or _SCRIPT.fullmatch(program)):
        data = {"program": program, "words": ", ".join(f'"{one}"' for one in parts[:3])}
        yield Observation("job-one-word", value(document, first), "crash", "", data=data)


def _not_there(document: Document, container: At) -> Iterator[Observation]:
    """`$(NAME)` in words that no shell sees, where the container has no such variable."""
    words = [one for name in ("command", "args") for one in items(named(container, name))]
    if named(container, "envFrom") is not None or any(text(one).rpartition("/")[2] in SHELLS for one in words):
        return
    own = {word(one, "name") for one in items(named(container, "env"))} | set(variables(container))
    for one in words:
        for name in _NAMED.findall(text(one)):
            if name not in own and not _ADDED.fullmatch(name):
                where = value(document, one)
                yield Observation("job-variable-not-there", where, "changed", "", data={"variable": name})


def _beside_limits(document: Document, container: At) -> Iterator[Observation]:
    """A GPU that stands beside `limits` and not below it."""
    held = named(container, "resources")
    places = (held, named(container, "limits"), named(container, "requests"))
    yield from (_lost(document, one) for place in places for one in accelerators(place))


def _of_the_pod(document: Document, pod: At) -> Iterator[Observation]:
    """A GPU that the pod asks for and no container."""
    held = named(pod, "resources")
    found = [one for part in (held, named(held, "limits"), named(held, "requests")) for one in accelerators(part)]
    yield from (_lost(document, one) for one in found[:1])


def _lost(document: Document, at: At) -> Observation:
    data = {"resource": resource(at), "amount": text(at) if not open_text(text(at)) else "N"}
    return Observation("job-gpu-misplaced", value(document, at), "crash", "", data=data)
