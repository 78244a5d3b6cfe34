"""Settings that stand in a list: variables as `{name: LORA_R, value: "8"}`, or the words of a command, `--lora_r`, `8`.

Recipes, job files and values of charts hand their settings on that way. Names of variables are taken in small letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from loralint.source.document import Node, Pair

_NAMES = ("name", "key")


class Listed(NamedTuple):
    """place: where in the list the value stands, as `[3].value`. The pair is named as the setting is."""

    place: str
    pair: Pair


class _Mark:
    __slots__ = ("column", "index", "line")

    def __init__(self, index: int, line: int, column: int) -> None:
        self.index = index
        self.line = line
        self.column = column


def settings(node: Node) -> Iterator[Listed]:
    """The variables or flags of a list; nothing for any other list."""
    if node.items and all(item.kind == "scalar" for item in node.items):
        yield from _flags(node.items)
    else:
        yield from _variables(node.items)


def _variables(items: Sequence[Node]) -> Iterator[Listed]:
    for index, item in enumerate(items):
        name = next((found for key in _NAMES if (found := item.get(key)) is not None), None)
        content = item.get("value")
        if name is not None and content is not None and name.kind == content.kind == "scalar":
            yield Listed(f"[{index}].value", Pair(name.raw.lower(), name, content))


def _flags(items: Sequence[Node]) -> Iterator[Listed]:
    """Each flag with what follows it up to the next one, a value or several as a list; a bare switch has none."""
    flags = [index for index, item in enumerate(items) if item.raw.startswith("--")]
    for index, end in pairwise([*flags, len(items)]):
        name, equals, text = items[index].raw[2:].partition("=")
        key, following = name.replace("-", "_"), items[index + 1 : end]
        if equals and text:
            yield Listed(f"[{index}]", Pair(key, items[index], _part(items[index], text)))
        elif len(following) == 1:
            yield Listed(f"[{index + 1}]", Pair(key, items[index], following[0]))
        elif following:
            several = Node("sequence", "seq", following[0].start_mark, following[-1].end_mark)
            several.items = following
            yield Listed(f"[{index + 1}]", Pair(key, items[index], several))


def _part(item: Node, text: str) -> Node:
    """What follows the `=`, at its own place, or at that of the word where it goes over lines."""
    if item.line != item.end_line:
        return Node("scalar", "str", item.start_mark, item.end_mark, text)
    quote = 0 if item.plain else 1
    index, line, column = item.end - quote, item.end_line - 1, item.end_column - 1 - quote
    return Node("scalar", "str", _Mark(index - len(text), line, column - len(text)), _Mark(index, line, column), text)
