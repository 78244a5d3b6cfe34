"""Which of several fixes are made in one pass: of two that meet, the one of the graver finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from loralint.model import TIERS, Edit, Finding


class Chosen(NamedTuple):
    """A finding with what its fix adds to the edits of those before it, file -> edits."""

    finding: Finding
    edits: Mapping[str, tuple[Edit, ...]]


def choose(findings: Iterable[Finding]) -> list[Chosen]:
    """The fixes to make now, each whole or not at all; the same edit is made once, whoever asks for it."""
    made: dict[str, list[Edit]] = {}
    found: list[Chosen] = []
    for finding in sorted(findings, key=lambda one: TIERS.index(one.tier)):
        edits = finding.fix.edits if finding.fix is not None else ()
        if all(_free(edit, made.get(edit.file, [])) for edit in edits):
            new = [edit for edit in dict.fromkeys(edits) if edit not in made.get(edit.file, [])]
            for edit in new:
                made.setdefault(edit.file, []).append(edit)
            files = dict.fromkeys(edit.file for edit in new)
            found.append(Chosen(finding, {file: tuple(one for one in new if one.file == file) for file in files}))
    return found


def all_edits(chosen: Iterable[Chosen]) -> dict[str, list[Edit]]:
    """File -> the edits of all of these."""
    found: dict[str, list[Edit]] = {}
    for one in chosen:
        for file, edits in one.edits.items():
            found.setdefault(file, []).extend(edits)
    return found


def _free(edit: Edit, taken: list[Edit]) -> bool:
    """Whether an edit meets no other; the very same one may be asked for twice."""
    return all(edit == one or edit.end < one.start or one.end < edit.start for one in taken)
