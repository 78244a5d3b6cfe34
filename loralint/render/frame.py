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
_SEEN = 20  # columns of a span that have to show, if it has so many
# base64 of a whole text, in which a secret may stand that nobody can see
_ENCODED = re.compile(
    r"(?<![\w+/=.-])(?=[a-z0-9+/]{0,60}[A-Z])(?=[A-Z0-9+/]{0,60}[a-z])[A-Za-z0-9+/]{60,}={0,2}(?![\w+/=.-])"
)
_BREAK = re.compile(r"\r\n?|\n")  # as spans count lines; str.splitlines knows more


def frame(text: str, span: Span, style: Style) -> Iterator[str]:
    """At most three lines of code; nothing when the text is not at hand or the span lies outside it."""
    lines = _lines(text)
    if not text or not 1 <= span.line <= len(lines):
        return
    # a secret may stand in the line below the name that tells it, so lines are redacted together
    *above, line = redact("\n".join(map(_cut, lines[max(0, span.line - 3) : span.line]))).split("\n")
    margin = len(str(span.line))
    raw = lines[span.line - 1]
    start, end = span.column - 1, span.end_column - 1 if span.end_line == span.line else len(raw)
    left = _left(start, end) if len(line) == len(_cut(raw)) > start else 0
    if above and above[-1].strip() and not left:
        yield f"  {style.dim(f'{span.line - 1:>{margin}} |')} {_shown(above[-1])}"
    shown = _shown(f"…{line[left + 1 :]}" if left else line)
    yield f"  {style.dim(f'{span.line:>{margin}} |')} {shown}"
    # redaction and cleaning move the text, and then nothing can be underlined
    if start < end and span.start != span.end and len(shown) == len(raw[left : left + WIDTH]) > start - left:
        carets = "^" * (min(end - left, len(shown)) - (start - left))
        yield f"  {style.dim(' ' * margin + ' |')} {' ' * (start - left)}{style.caret(carets)}"


def _left(start: int, end: int) -> int:
    """Columns to leave out at the front of the line, so that what lies beyond the width of the frame shows."""
    return start - WIDTH // 3 if min(end, start + _SEEN) > WIDTH else 0


@lru_cache(maxsize=1)
def _lines(text: str) -> list[str]:
    return _BREAK.split(text)


def _cut(line: str) -> str:
    """A line of a length that can be looked at, without a half of a word, which could be half of a secret."""
    return line if len(line) <= _LONG else line[:_LONG].rstrip(ascii_letters + digits + "_-./+=~")


def _shown(line: str) -> str:
    """Tabs count as one column so that carets stay under their text; of base64 nothing shows."""
    return clean(_ENCODED.sub("…", line.replace("\t", " ")), limit=WIDTH)
