"""A code frame: the line before, the line, carets under the span. Secrets and control characters never show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_letters, digits

from loralint.model import Span
from loralint.render.style import Style
from loralint.source.clean import clean
from loralint.source.secrets import redact

WIDTH = 120
_LONG = 10_000
_BREAK = re.compile(r"\r\n?|\n")  # as spans count lines; str.splitlines knows more


def frame(text: str, span: Span, style: Style) -> Iterator[str]:
    """At most three lines of code; nothing when the text is not at hand or the span lies outside it."""
    lines = _lines(text)
    if not text or not 1 <= span.line <= len(lines):
        return
    # a secret may stand in the line below the name that tells it, so lines are redacted together
    *above, line = redact("\n".join(map(_cut, lines[max(0, span.line - 3) : span.line]))).split("\n")
    margin = len(str(span.line))
    if above and above[-1].strip():
        yield f"  {style.dim(f'{span.line - 1:>{margin}} |')} {_shown(above[-1])}"
    shown = _shown(line)
    yield f"  {style.dim(f'{span.line:>{margin}} |')} {shown}"
    start, width = _carets(lines[span.line - 1], span, shown)
    if width:
        yield f"  {style.dim(' ' * margin + ' |')} {' ' * start}{style.caret('^' * width)}"


@lru_cache(maxsize=1)
def _lines(text: str) -> list[str]:
    return _BREAK.split(text)


def _cut(line: str) -> str:
    """A line of a length that can be looked at, without a half of a word, which could be half of a secret."""
    return line if len(line) <= _LONG else line[:_LONG].rstrip(ascii_letters + digits + "_-./+=~")


def _carets(line: str, span: Span, shown: str) -> tuple[int, int]:
    """Column and width of the underline; none where cleaning or redaction has moved the text."""
    if len(shown) != len(line[:WIDTH]) or span.start == span.end:
        return 0, 0
    end = span.end_column if span.end_line == span.line else len(line) + 1
    start = min(span.column - 1, len(shown))
    return start, max(0, min(end - 1, len(shown)) - start)


def _shown(line: str) -> str:
    """Tabs count as one column so that carets stay under their text."""
    return clean(line.replace("\t", " "), limit=WIDTH)
