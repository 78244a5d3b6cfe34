"""Text quoted from a config made safe to show: one line, nothing that a terminal or a reader obeys."""

from __future__ import annotations

import re

# What may drive a terminal, reorder or hide text, or break a line: C0 and C1 controls, bidirectional and invisible
# formatting, line and paragraph separators, tags, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def clean(text: str, limit: int = 200) -> str:
    """Write unsafe characters as escapes (ESC as x1b after a backslash) and cut to `limit`, ending in an ellipsis."""
    shown = _UNSAFE.sub(_escape, text[: limit + 1])
    return shown if len(shown) <= limit and len(text) <= limit else shown[: max(limit - 1, 0)] + "…"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    wide = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return _SHORT.get(character) or (f"\\x{code:02x}" if code <= 0xFF else wide)
