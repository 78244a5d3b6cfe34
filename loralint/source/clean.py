"""Text quoted from a config made safe to show: one line, nothing that a terminal or a reader obeys."""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def clean(text: str, limit: int = 200) -> str:
    """Write unsafe characters as escapes (ESC as x1b after a backslash) and cut to `limit`, ending in an ellipsis.

    Unsafe is what Unicode does not call printable: controls, line breaks, bidirectional and invisible formatting,
    unusual spaces, lone surrogates. So is `##[`, which GitHub's runner takes for the start of a command wherever in a
    line of its log it stands.
    """
    shown = text[: limit + 1]
    if not shown.isprintable():
        shown = "".join(character if character.isprintable() else _escape(character) for character in shown)
    shown = shown.replace("##[", "##\\x5b")
    return shown if len(shown) <= limit and len(text) <= limit else shown[: max(limit - 1, 0)] + "…"


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
