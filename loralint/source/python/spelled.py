"""Literals of a program as the words and texts that others get, with the place of every stretch of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.command import Part
from loralint.source.document import UNSET
from loralint.source.inner import InnerPlaces
from loralint.source.python.cells import CellPlaces
from loralint.source.shell.words import Field

if TYPE_CHECKING:
    from loralint.source.document import Node
    from loralint.source.script import Script

_OPENING = re.compile(r"[rRbBuUfF]{0,2}(\"\"\"|'''|\"|')")


def value_field(script: Script, node: Node) -> Field:
    """A scalar as one word; what nobody knows keeps its reason."""
    text, why = _text(node)
    if script.document.span(node).file != script.document.file:  # of a module: it has no place here
        return Field((Part(text, 0, 0, why),), 0, 0, quoted=True)
    parts = (Part(text, node.start, node.end, why),) if why else text_parts(script, node, text)
    return Field(parts, node.start, node.end, quoted=True)


def _text(node: Node) -> tuple[str, str]:
    """The text of a value and, if it is not known, why."""
    native = node.native
    if node.raw == "sys.executable":
        return "python", ""
    if node.kind != "scalar" or isinstance(native, Unknown) or native is UNSET or node.tag in ("name", "null"):
        why = native.reason if isinstance(native, Unknown) else "the program works it out when it runs"
        return f"${{{node.raw[:40].strip() or 'value'}}}", why
    return str(native), ""


def text_parts(script: Script, node: Node, text: str) -> tuple[Part, ...]:
    """The stretches of a literal's text, a line at a time where it stands in the program line by line."""
    if script.document.span(node).file != script.document.file:
        return (Part(text, 0, 0),)
    start, inside = _inside(script, node)
    lines, written = text.split("\n"), inside.split("\n")
    if len(lines) != len(written) or script.places is None or isinstance(script.places, InnerPlaces):
        return (Part(text, node.start, node.end),)
    found: list[Part] = []
    for index, (line, source) in enumerate(zip(lines, written, strict=True)):
        ending = "\n" if index + 1 < len(lines) else ""
        several = script.places.parts(source + ending, start)
        if line == source:
            found += several
        else:  # something was filled in
            found.append(Part(line + ending, several[0].start, several[-1].end))
        start += len(source) + 1
    return tuple(found)


def _inside(script: Script, node: Node) -> tuple[int, str]:
    """What stands between the quotes of a literal, and its offset in the program; without quotes all of it."""
    places = script.places
    if isinstance(places, CellPlaces):
        start, end, program = places.within(node.start), places.within(node.end), places.lines.text
    else:
        start, end, program = node.start, node.end, script.document.text
    opening = _OPENING.match(program, start, end)
    if opening is None or node.tag != "str":
        return start, program[start:end]
    return opening.end(), program[opening.end() : end - len(opening[1])]
