"""Where YAML values really start and end: libyaml's marks include anchors, and block ends lie at the next token."""

from __future__ import annotations

import re
from typing import Any

from yaml.events import ScalarEvent, SequenceStartEvent

BLOCK_STYLES = {"|", ">"}
_ANCHOR = r"&[\w-]+(?:\s|(?<=\s)#[^\r\n]*)*"
_TO_COLON = r"[ \t]*:"


def scalar_span(text: str, event: Any) -> tuple[int, int]:
    """Leave out a leading anchor and, after a block scalar, the line break and the empty lines that follow it."""
    start, end = event.start_mark.index, event.end_mark.index
    if text[start : start + 1] == "&":
        anchor = re.compile(_ANCHOR).match(text, start, end)
        start = anchor.end() if anchor else start
    if type(event) is ScalarEvent and event.style in BLOCK_STYLES:
        end = _block_end(text, start, end)
    return start, end


def _block_end(text: str, start: int, end: int) -> int:
    """Find the end of a block scalar's last line; under "keep" (`|+`) the empty lines below belong to it."""
    content = text[start:end]
    header = content.split("\n", 1)[0].split("#", 1)[0]
    if "+" in header:
        return end - (2 if content.endswith("\r\n") else 1 if content.endswith(("\n", "\r")) else 0)
    return start + len(content.rstrip("\r\n"))


def collection_start(text: str, event: Any) -> int:
    """Find where a collection starts after its anchor and tag."""
    end: int = event.end_mark.index
    if event.flow_style:
        return end - 1 if text[end - 1 : end] in {"[", "{"} else end
    # a list that is not indented below its key starts with a dash that the event has already consumed
    indentless = type(event) is SequenceStartEvent and text[end : end + 1] != "-"
    return end - 1 if indentless else end


def empty_value(text: str, key_end: int) -> int:
    """Find the place of a value that is not there, right behind its key's colon."""
    colon = re.compile(_TO_COLON).match(text, key_end)
    return colon.end() if colon else key_end
