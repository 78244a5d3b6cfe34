"""What the fixes of a buffer would make of it, each judged again before it is offered."""

from __future__ import annotations

from collections.abc import Callable

from loralint.engine.lint import Job
from loralint.engine.mend import Mended, mend
from loralint.engine.save import barred
from loralint.lsp.judging import Judged
from loralint.model import Finding
from loralint.source.discover import within


def fix_one(judged: Judged, job: Job, finding: Finding) -> Mended:
    """The buffer, and the files that its runs read, with one finding's fix, whether it is safe or not."""

    def only(one: Finding) -> bool:
        return (one.rule, one.key, one.pointer, one.span.file) == (
            finding.rule, finding.key, finding.pointer, finding.span.file,
        )  # fmt: skip

    return _mended(judged, job, only, unsafe=True, barred_=lambda file: _barred(judged, file))


def fix_all(judged: Judged, job: Job) -> Mended:
    """The buffer with all its safe fixes; no other file is touched."""

    def elsewhere(file: str) -> str:
        return "" if file == judged.buffer.path else "it is another file"

    return _mended(judged, job, lambda _: True, unsafe=False, barred_=elsewhere)


def _mended(
    judged: Judged, job: Job, only: Callable[[Finding], bool], *, unsafe: bool, barred_: Callable[[str], str]
) -> Mended:
    documents = [judged.buffer.document()]
    return mend(documents, job, judged.around.project, unsafe=unsafe, barred=barred_, only=only)


def _barred(judged: Judged, file: str) -> str:
    """Why a file is not edited; the editor writes the buffer, so that nothing on the disk matters to it."""
    if file == judged.buffer.path:
        return ""
    return barred(file) if within(file, judged.around.root) else "it lies outside of the workspace"
