"""A RayJob's entrypoint of several commands: the pod that hands it in has a shell, and keeps all but the first.

Source: ray-project/kuberay ray-operator/controllers/ray/common/job.go (BuildJobSubmitCommand) 1.3 to 1.7: the text
stands as it is behind `ray job submit ... --` in a script of that pod. Up to 1.2 it was split at blanks, and handed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import named, text, value
from loralint.model import Observation
from loralint.source.document import Document

_ENDS = "&|;\n"
_TRAINS = re.compile(r"(?:^|[\s;&|/])(?:python[\d.]*|torchrun|accelerate|deepspeed)\s[^;&|\n]*(?:\.py\b|-m\s)")
# modes in which the text goes to Ray's server as it is
_SENT = frozenset({"HTTPMode", "InteractiveMode"})


def split_entry(document: Document, job: Job) -> Iterator[Observation]:
    """A training that stands behind the first command of the entrypoint."""
    at = named(job.spec, "entrypoint") if job.kind == "RayJob" else None
    if at is None or text(named(job.spec, "submissionMode")) in _SENT:
        return
    whole = text(at).strip()
    end = _first_end(whole)
    if _TRAINS.search(whole, end):
        data = {"first": whole[:end].strip()[:40]}
        yield Observation("job-entry-split", value(document, at), "crash", "", data=data)


def _first_end(command: str) -> int:
    """Where the first command ends: at a sign that no quote and no backslash keeps from the shell."""
    quote, index = "", 0
    while index < len(command):
        one = command[index]
        if one == "\\" and quote != "'":
            index += 1
        elif one in "'\"" and (not quote or quote == one):
            quote = "" if quote else one
        elif one in _ENDS and not quote:
            return index
        index += 1
    return len(command)
