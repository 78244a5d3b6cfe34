"""The tree of a bash text: what stands where, before anybody knows what a variable holds."""

from __future__ import annotations


class Syntax:
    """A part of a text. kind: what it is. start, end: offsets in the file. children: its parts in order; parts: the
    same by their role, such as `condition` and `body`. text: what is written there.
    """

    __slots__ = ("children", "end", "kind", "parts", "start", "text")

    def __init__(self, kind: str, start: int, end: int, children: list[Syntax] | None = None, text: str = "") -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.children = children if children is not None else []
        self.parts: dict[str, list[Syntax]] = {}
        self.text = text

    def __repr__(self) -> str:
        return f"Syntax({self.kind}, {self.text[:40]!r})"

    def part(self, role: str) -> Syntax | None:
        """The first part of a role."""
        found = self.parts.get(role)
        return found[0] if found else None
