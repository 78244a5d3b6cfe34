"""What an editor offers at a place: the fixes of its findings, an ignore comment, and all safe fixes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lsprotocol import types

from loralint.engine.lint import Job
from loralint.engine.mend import Mended
from loralint.lsp.diagnostics import diagnostic
from loralint.lsp.edits import workspace_edit
from loralint.lsp.fixes import fix_all, fix_one
from loralint.lsp.ignoring import with_comment
from loralint.lsp.judging import Judged, job_of
from loralint.lsp.places import Places, Sight
from loralint.model import Finding
from loralint.render.changes import in_a_line

FIX_ALL = "source.fixAll.loralint"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)
_MOST = 10  # findings at one place; each takes some looks at the file


class Asked(NamedTuple):
    """only: kinds of actions that are wanted, empty for all. versioned: the editor knows versioned edits; lazy: it
    asks for the edits of the action that is chosen.
    """

    range: types.Range
    only: tuple[str, ...] = ()
    versioned: bool = False
    lazy: bool = False

    def wants(self, kind: str) -> bool:
        """Kinds are a tree: `source` asks for `source.fixAll.loralint` too."""
        return not self.only or any(kind == one or kind.startswith(f"{one}.") for one in self.only)


def actions(sight: Sight, asked: Asked, stopped: Callable[[], bool]) -> list[types.CodeAction]:
    """What is offered in a file. stopped: whether the editor has lost its interest."""
    judged, places, found = sight.judged, sight.places, []
    job = job_of(judged)
    if job is None:
        return []
    here = _here(sight, asked.range)
    if asked.wants(types.CodeActionKind.QuickFix):
        for finding in here[:_MOST]:
            if stopped():
                return []
            found += list(_of_finding(judged, job, finding, places, asked))
    own = sight.file == judged.buffer.path
    if own and asked.wants(FIX_ALL) and (asked.only or here) and _any_safe(judged):
        whole = _fix_all(judged)
        found += [whole] if asked.lazy else filter(None, [resolved(whole, judged, places, versioned=asked.versioned)])
    return found


def resolved(action: types.CodeAction, judged: Judged, places: Places, *, versioned: bool) -> types.CodeAction | None:
    """The action that makes all safe fixes, with its edit; None where no fix could be made."""
    job = job_of(judged)
    mended = fix_all(judged, job) if job is not None else None
    if mended is None or not mended.texts:
        return None
    action.edit = workspace_edit(mended.before, mended.texts, places, versioned=versioned)
    return action


def _here(sight: Sight, wanted: types.Range) -> list[Finding]:
    """The findings whose lines the range meets."""
    found = [one for one in sight.judged.findings if one.span.file == sight.file]
    shown = [(sight.places.of(sight.file).in_line(one.span.start, one.span.end), one) for one in found]
    return [one for at, one in shown if at.start.line <= wanted.end.line and at.end.line >= wanted.start.line]


def _any_safe(judged: Judged) -> bool:
    return any(one.fix is not None and one.fix.safe for one in judged.findings)


def _fix_all(judged: Judged) -> types.CodeAction:
    data = {"uri": judged.buffer.uri, "version": judged.buffer.version}
    return types.CodeAction("Make all safe fixes of loralint", kind=FIX_ALL, data=data)


def _of_finding(judged: Judged, job: Job, finding: Finding, places: Places, asked: Asked) -> Iterator[types.CodeAction]:
    told = [diagnostic(finding, places)]
    if finding.fix is not None:
        mended = fix_one(judged, job, finding)
        if mended.texts:
            edit = workspace_edit(mended.before, mended.texts, places, versioned=asked.versioned)
            title = _title(finding, mended, safe=finding.fix.safe)
            yield types.CodeAction(
                title, kind=types.CodeActionKind.QuickFix, diagnostics=told, is_preferred=finding.fix.safe, edit=edit
            )
    tried = with_comment(judged, job, finding)
    if tried is not None:
        file = judged.buffer.path
        edit = workspace_edit({file: judged.text(file)}, {file: tried}, places, versioned=asked.versioned)
        title = f"Ignore {finding.rule} {finding.name} here, with a reason"
        yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=told, edit=edit)


def _title(finding: Finding, mended: Mended, *, safe: bool) -> str:
    changes = [in_a_line(one.before, one.after) for one in mended.changes[:1]]
    more = f" and {len(mended.changes) - 1} more" if len(mended.changes) > 1 else ""
    warning = "" if safe else " (unsafe: it may change what is meant)"
    return f"Fix {finding.rule}: {''.join(changes)}{more}{warning}"
