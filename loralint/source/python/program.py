"""The text of a program, its syntax tree, and the way from the tree to places in the text."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.document import Fault
from loralint.source.limits import SCRIPT_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Document, MarkLike
    from loralint.source.overrides import Line
    from loralint.source.places import Places

# CPython's parser guards its depth by counting, for a stack of 8 MiB; on a smaller one (threads of macOS and musl) a
# hostile text would end the process. So it gets a stack of its own where that of the thread may be smaller, which costs
# a third of a millisecond and, on a busy machine, a wait for the other thread.
STACK = 16 * 1024 * 1024
_ENOUGH = 8 * 1024 * 1024
_PYTHON_2 = re.compile(r"(?m)^[ \t]*(?:(?:print|exec)[ \t]+[\"'\w]|except[ \t]+[\w.]+[ \t]*,|raise[ \t]+\w+[ \t]*,)")
_OTHER = re.compile(r"[^\x00-\x7f]+")
_CONTINUING = bytes(range(0x80, 0xC0))
# Syntax of Python 3.12 to 3.14, which an older parser does not take.
_NEWER = re.compile(r"[ \t]*(?:type[ \t]+\w+.*=|(?:async[ \t]+)?def[ \t]+\w+\[|class[ \t]+\w+\[)|.*\bt[\"']")
_TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{")


# What has a place in the text.
Spot = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias


class Program(NamedTuple):
    """A program's text. document: the file that holds it. starts: offsets of its lines. places: where its own offsets
    lie in the file. odd: numbers of the lines, from 1, that hold more than ASCII. files: gives the file that
    the program means by a name; modules: that it means by an import, given its dotted name, the number of dots before
    it, and the file from which it is looked for. line: Hydra's command line, where the program's launch is seen.
    """

    document: Document
    text: str
    starts: list[int]
    places: Places
    odd: frozenset[int] = frozenset()
    files: Callable[[str], Document | None] | None = None
    modules: Callable[[str, int, str], Document | None] | None = None
    line: Line | None = None

    def offset(self, line: int, column: int) -> int:
        """Give the offset of ast's 1-based line and column in UTF-8 bytes, wherever these lead."""
        starts = self.starts
        if line > len(starts):
            return len(self.text)
        start = starts[line - 1]
        if line in self.odd and not (before := self.text[start : start + column]).isascii():
            # that many bytes hold at most that many characters, each with one byte that continues no other
            column = len(before.encode("utf-8", "surrogatepass")[:column].translate(None, _CONTINUING))
        return min(start + column, len(self.text))

    def range(self, node: Spot) -> tuple[int, int]:
        """Give the offsets of a node of the tree."""
        line, column = node.lineno, node.col_offset
        starts = self.starts
        if line == node.end_lineno and line < len(starts) and line not in self.odd:  # bytes are characters
            start = starts[line - 1]
            return start + column, start + (node.end_col_offset or column)
        end_line, end_column = node.end_lineno or line, node.end_col_offset or column
        start = self.offset(line, column)
        return start, max(start, self.offset(end_line, end_column))

    def marks(self, start: int, end: int) -> tuple[MarkLike, MarkLike]:
        """Give a range as marks for a Node."""
        return self.places.mark(start), self.places.mark(end)


def odd_lines(text: str, starts: list[int]) -> frozenset[int]:
    """Give the numbers of the lines, from 1, that hold other characters than ASCII."""
    if text.isascii():
        return frozenset()
    return frozenset(bisect_right(starts, found.start()) for found in _OTHER.finditer(text))


def checked(program: Program) -> ast.Module:
    """Parse a text that is not too long. Fault as `parse`, or of kind "too-large"."""
    if len(program.text) > SCRIPT_LENGTH:
        raise Fault("too-large", f"larger than {SCRIPT_LENGTH // 1024} KiB: not a training script", 0)
    return parse(program)


def parse(program: Program) -> ast.Module:
    """Parse; nothing of the text runs.

    Fault of kind "syntax" or "control-character", and for other texts "template", "python2" or "newer".
    """
    if "\0" in program.text:
        raise Fault("control-character", "a null character stands here: this is no text", program.text.find("\0"))
    found: list[ast.Module | Exception] = []
    _with_stack(lambda: found.append(_parsed(program.text)))
    result = found[0]
    if isinstance(result, ast.Module):
        return result
    if isinstance(result, SyntaxError):
        raise _syntax(program, result)
    raise Fault("syntax", "nested too deep for Python itself", 0)


def _is_roomy() -> bool:
    """Whether the stack is that of the main thread and of the size that CPython counts on."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        import resource
    except ImportError:  # Windows, whose main thread has 1 MiB or 2
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return limit == resource.RLIM_INFINITY or limit >= _ENOUGH


def _with_stack(work: Callable[[], None]) -> None:
    if _is_roomy():
        work()
        return
    before = threading.stack_size(STACK)
    try:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
    except RuntimeError:  # a platform without threads
        work()
        return
    finally:
        threading.stack_size(before)
    thread.join()


def _parsed(text: str) -> ast.Module | Exception:
    # lone surrogates, which JSON can hold, are no text for Python
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error


def _syntax(program: Program, error: SyntaxError) -> Fault:
    text = program.text
    at = program.offset(error.lineno or 1, 0) + max((error.offset or 1) - 1, 0)
    if _PYTHON_2.search(text):
        return Fault("python2", "written for Python 2", at)
    line = text[program.offset(error.lineno or 1, 0) :].split("\n", 1)[0]
    if _TEMPLATE.search(line):
        return Fault("template", "a template: its places must be filled in before it is Python", at)
    if error.msg.startswith("f-string:") or _NEWER.match(line):
        return Fault("newer", "perhaps written for a newer Python than the one that reads it", at)
    return Fault("syntax", _words(error.msg), min(at, len(text)))


def _words(message: str) -> str:
    """Python's own message, which quotes at most one name or character of the text."""
    message = message.partition(" (detected at line")[0]
    return message[:1].lower() + message[1:120]
