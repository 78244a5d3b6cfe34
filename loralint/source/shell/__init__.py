"""What command lines say, told without running anything: bash, Makefiles, and simple PowerShell and cmd.

Bash is parsed by tree-sitter-bash, not by bashlex: bashlex is GPL, stops at the first thing it does not know (arrays,
`[[`, `case`, arithmetic), so at most real launch scripts, and recurses on hostile ones; the grammar mends what is
broken and gives the place of every node. Make, PowerShell and cmd scripts are turned into bash of the same length, so
that one reader serves them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Shell
from loralint.source.document import Fault

if TYPE_CHECKING:
    from loralint.source.document import Document

WINDOWS = frozenset({"powershell", "cmd"})


def read_shell(document: Document, text: str | None = None, start: int = 0) -> Shell:
    """Read a shell script, or a part of another file: `text` that stands at `start` of the document.

    What cannot be read (too large, nested too deep) is a problem of the document and gives no commands.
    """
    from loralint.source.shell.program import read

    try:
        if text is None and document.format == "make":
            from loralint.source.shell.make import read_make

            return read_make(document)
        if text is None and document.format in WINDOWS:
            from loralint.source.shell.windows import read_windows

            return read_windows(document)
        return read(document, document.text if text is None else text, start)
    except Fault as fault:
        document.fault(fault.kind, fault.message, start + fault.at)
        return Shell(())
