"""Whether what a run in a pod writes outlives the pod, where its config names the folder."""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.readers.kubernetes.pods import Group, Job
from loralint.frameworks.readers.kubernetes.storage import lost_folder
from loralint.frameworks.readers.kubernetes.tree import At
from loralint.run.build import Part, Start
from loralint.source.document import Pair

# Settings that send checkpoints away.
_UPLOADS = frozenset({"push_to_hub", "hub_model_id"})


def kept(start: Start, job: Job, group: Group, container: At) -> Start:
    """The start with what is lost of its config's output when the pod ends; flags and variables the manifest tells."""
    parts = list(start.parts)
    for index, part in enumerate(parts):
        pair = _output(part) if part.kind in ("config", "script") else None
        if pair is not None:
            told = place(part.document, pair, pair.key)._replace(value=pair.value.raw, field="checkpoint.output_dir")
            lost = lost_folder(job, group, container, told, sent=_uploads(part))
            parts[index] = part._replace(observations=(*part.observations, *([lost] if lost else ())))
    flags = [part.document.root for part in parts if part.kind == "flags" and part.document.root is not None]
    return start if any(root.pair("output_dir") for root in flags) else start._replace(parts=tuple(parts))


def _output(part: Part) -> Pair | None:
    """Where a config or a program says where its files go."""
    return next((pair for pair in _settings(part) if pair.key == "output_dir" and pair.value.kind == "scalar"), None)


def _uploads(part: Part) -> bool:
    """Whether something in it says that they are uploaded."""
    said = [pair.value.raw.lower() for pair in _settings(part) if pair.key in _UPLOADS]
    return any(one not in ("false", "", "null") for one in said)


def _settings(part: Part) -> list[Pair]:
    root = part.document.root
    sections = [root, *(pair.value for pair in root.pairs)] if root is not None else []
    return [pair for one in sections if one.kind == "mapping" for pair in one.pairs]
