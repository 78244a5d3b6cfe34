"""Terminal colours, or none; plain SGR codes, so that no renderer needs a terminal library."""

from __future__ import annotations


class Style:
    """Wraps words in colour when it is on."""

    __slots__ = ("_on",)

    def __init__(self, on: bool) -> None:
        self._on = on

    def _wrap(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on else text

    def bold(self, text: str) -> str:
        """Headlines."""
        return self._wrap(text, "1")

    def dim(self, text: str) -> str:
        """What may be skipped."""
        return self._wrap(text, "2")

    def green(self, text: str) -> str:
        """What to write."""
        return self._wrap(text, "32")

    def caret(self, text: str, tier: str = "S") -> str:
        """Underlines in a code frame."""
        return self._wrap(text, {"S": "31", "A": "33"}.get(tier, "36"))

    def tier(self, tier: str) -> str:
        """The tier letter."""
        return self._wrap(f"[{tier}]", {"S": "1;31", "A": "1;33", "B": "1;36"}[tier])

    def verdict(self, verdict: str) -> str:
        """block, review or pass."""
        return self._wrap(verdict, {"block": "1;31", "review": "1;33", "pass": "1;32"}[verdict])
