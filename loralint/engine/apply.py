"""All the edits of a report's fixes as new texts; of two that meet, the one of the graver finding is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loralint.model import TIERS, Edit, Finding
from loralint.source.edit import apply


def fixed_texts(findings: Iterable[Finding], texts: Mapping[str, str], *, unsafe: bool = False) -> dict[str, str]:
    """File -> text after the safe fixes (all of them with `unsafe`), for the files that change.

    A fix is made whole or not at all. What a comment, the settings or a baseline lifts is not fixed.
    """
    made: dict[str, list[Edit]] = {}
    standing = [one for one in findings if one.suppressed is None and one.fix is not None]
    for finding in sorted(standing, key=lambda one: TIERS.index(one.tier)):
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe):
            continue
        if all(_free(edit, made.get(edit.file, [])) for edit in fix.edits):
            for edit in fix.edits:
                if edit not in made.setdefault(edit.file, []):
                    made[edit.file].append(edit)
    return {file: apply(texts[file], edits) for file, edits in made.items() if file in texts}


def _free(edit: Edit, taken: list[Edit]) -> bool:
    """Whether an edit meets no other; the very same one may be asked for twice."""
    return all(edit == one or edit.end < one.start or one.end < edit.start for one in taken)
