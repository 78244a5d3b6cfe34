"""Directives of a batch script that stand behind its first command, where nobody reads them.

Sources: https://slurm.schedmd.com/sbatch.html ("sbatch will stop processing further #SBATCH directives once the first
non-comment non-whitespace line has been reached"); openpbs/openpbs@1859ef9a doc/man1/qsub.1B (the same of #PBS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.document import Document

_DIRECTIVE = re.compile(r"^#(SBATCH|PBS)[ \t]+(\S[^\r\n]*)", re.MULTILINE)
_COMMAND = re.compile(r"^[ \t]*(?![#\s])[^\r\n]+", re.MULTILINE)


def late(document: Document) -> Iterator[Observation]:
    """The first of them, with how many there are. A script that writes another one is left alone."""
    text = document.text
    command = _COMMAND.search(text)
    if command is None or "<<" in text:
        return
    found = list(_DIRECTIVE.finditer(text, command.start()))
    if not found:
        return
    first = found[0]
    more = (
        f", nor the {len(found) - 1} below it" if len(found) > 2 else ", nor the one below it" if len(found) > 1 else ""
    )
    where = Value(first[2], key=f"#{first[1]}", text=first[2], span=document.span_at(first.start(), first.end()))
    data = {"command": command[0].strip()[:40], "more": more, "system": "sbatch" if first[1] == "SBATCH" else "qsub"}
    yield Observation("directive-late", where, "lost", "", data=data)
