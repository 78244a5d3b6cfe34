"""Whether a report passes, and why it does not where no finding says so."""

from __future__ import annotations

from collections.abc import Iterable

from loralint.model import TIERS, Report, Run
from loralint.source.shown import path

_NAMED = 3
_INTERRUPTED = 130  # as shells have it of a process that Ctrl-C ended


def exit_code(result: Report, fail_on: str, least: int, require_files: bool, *, probed: bool) -> int:
    """0 passed, 1 not passed, 4 nothing to lint, 130 after Ctrl-C in a probe. least: the lowest score that passes."""
    if probed and _interrupted(result):
        return _INTERRUPTED
    failing = TIERS[: TIERS.index(fail_on) + 1]
    tiers = {finding.tier for run in result.runs for finding in run.findings if finding.suppressed is None}
    if tiers & set(failing) or any(run.score < least for run in result.runs):
        return 1
    return 4 if require_files and not any(run.framework for run in result.runs) else 0


def _interrupted(result: Report) -> bool:
    """Whether Ctrl-C ended the probe, so that what was not seen must not pass."""
    from loralint.probe.request import interrupted  # only a probe pays for it

    return any(map(interrupted, result.runs))


def low_score(runs: Iterable[Run], least: int) -> list[str]:
    """One line, or none where every run scores enough. least: the lowest score that passes."""
    low = sorted((run for run in runs if run.score < least), key=lambda run: run.score)
    if not low:
        return []
    named = ", ".join(f"{path(run.files[0])} {run.score}" for run in low[:_NAMED])
    more = f" and {len(low) - _NAMED} more" if len(low) > _NAMED else ""
    runs_score = f"{len(low)} runs score" if len(low) > 1 else "1 run scores"
    return [f"not passed: {runs_score} below {least}, the lowest that passes: {named}{more}"]
