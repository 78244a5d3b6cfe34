"""What command lines say, told without running anything: bash, Makefiles, and simple PowerShell and cmd.

Bash has a parser of our own. bashlex is GPL, and stops at the first thing it does not know (arrays, `[[`, `case`,
arithmetic), so at most real launch scripts. tree-sitter-bash 0.25.1 was tried and takes `$A/$B/c` for two words, a line
`A=1 B=2` and the command below it for one, and an indented `EOF` for the end of a here-document; 64 KiB of `a|` cost it
gigabytes and as much text of NULs minutes, none of which can be bounded from outside. What launch scripts need is
small enough to be read in one pass, in linear time. Make, PowerShell and cmd scripts are turned into bash of the same
length, so that one reader serves them all.
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
