"""What a script asks a batch system for: directives of Slurm, PBS and LSF."""

from __future__ import annotations

from loralint.run.build import Part, Start
from loralint.source.document import Document

_BATCH = ("#SBATCH", "#PBS", "#BSUB")


def scheduled(found: list[Start], document: Document) -> list[Start]:
    """The starts with what the script asks a batch system for, which may be told otherwise when it is handed in."""
    if not found or not any(sign in document.text for sign in _BATCH):
        return found
    from loralint.frameworks.readers.launch.scheduler import READER, directives

    asked = directives(document)
    if asked is None:
        return found
    part = Part("manifest", asked, READER, document, beside=True)
    return [start._replace(parts=(*start.parts, part)) for start in found]
