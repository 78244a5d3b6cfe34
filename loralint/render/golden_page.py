"""A golden parameter for people: what it does to a run, and by condition what is fine, what lies beyond, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loralint.render.condition_text import in_words
from loralint.render.page import Block
from loralint.source.shown import shown

_SIDES = {"above": "above", "at_least": "from", "below": "below", "at_most": "up to", "is": "is"}


def golden_page(name: str, hot: list[Any], cold: Mapping[str, Any]) -> Iterator[Block]:
    """Take what was compiled of the parameter."""
    yield Block("title", f"{name}: {cold['title']}" + (f", in {cold['unit']}" if cold.get("unit") else ""))
    yield Block("text", cold["why"])
    if len(hot) > 1:
        yield Block("meta", "The first entry whose condition holds is the one that counts.")
    for entry in hot:
        more = cold["entries"][entry["id"]]
        yield Block("head", f"{entry['id']}: {entry['name']}")
        for label, text in _rows(entry, more):
            yield Block("row", text, label=label)


def bounds(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(limit, tier, what happens) of each bound: ("above 1.5", "S", "the adapter leaves ...")."""
    for bound in entry["bounds"]:
        side = next(side for side in _SIDES if side in bound)
        beyond = " on" if side == "at_least" else ""
        yield f"{_SIDES[side]} {shown(bound[side])}{beyond}", bound["tier"], bound["then"]


def fine(entry: Mapping[str, Any]) -> str:
    """The values that are fine: a range or a list."""
    if entry.get("range"):
        return f"{shown(entry['range'][0])} to {shown(entry['range'][1])}"
    return shown(entry["set"])


def recommended(entry: Mapping[str, Any]) -> str:
    """The value to write, and how exact it is; empty where nothing speaks for one."""
    if entry.get("recommended") is None:
        return ""
    return shown(entry["recommended"]) + (f" ({entry['tolerance']})" if entry.get("tolerance") else "")


def when(entry: Mapping[str, Any]) -> str:
    """The entry's condition in words."""
    return in_words(entry["when"]) if entry["when"] else "always"


def _rows(entry: Mapping[str, Any], more: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "counts where", when(entry)
    if recommended(entry):
        yield "recommended", recommended(entry)
    yield "fine", fine(entry)
    for limit, tier, then in bounds(entry):
        yield limit, f"{tier if tier == 'note' else f'tier {tier}'}: {then}"
    yield "seen with", more["conditions"]
    yield "evidence", entry["evidence"]
    yield from (("source", source) for source in more["sources"])
