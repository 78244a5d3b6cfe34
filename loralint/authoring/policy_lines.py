"""Conditions of rules -> regular expressions over the lines of a YAML text, where one line decides.

The API server's CEL cannot read YAML. So this holds less than the rules do, and never more: what a line alone does not
settle has no expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from loralint.frameworks.table import SKIP, Entry


class Numbers(NamedTuple):
    """Numbers of one shape. ends: the least and the greatest; what is convex and holds there holds between them."""

    pattern: str
    ends: tuple[float, float]
    one: str


NUMBERS = (
    Numbers(r"(?:-[1-9][0-9]*(?:\.[0-9]+)?|-0\.0*[1-9][0-9]*)", (-1e300, -1e-300), "-1"),
    Numbers(r"0(?:\.0+)?", (0, 0), "0"),
    Numbers(r"0\.0*[1-9][0-9]*", (1e-300, 1 - 1e-16), "0.5"),
    Numbers(r"1(?:\.0+)?", (1, 1), "1"),
    Numbers(r"(?:[2-9]|[1-9][0-9]+)(?:\.[0-9]+)?", (2, 1e300), "2"),
)
_CONVEX = {
    "gt": lambda value, bound: value > bound,
    "ge": lambda value, bound: value >= bound,
    "lt": lambda value, bound: value < bound,
    "le": lambda value, bound: value <= bound,
}
_WORD = r"[A-Za-z][A-Za-z0-9_]*"
# Texts that YAML takes for something else.
_NO_WORDS = ("null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", "yes", "no", "on", "off")


class Line(NamedTuple):
    """A line that has to be there. but: values that it may not have; witness: one that it may."""

    key: str
    pattern: str
    witness: str
    but: str = ""


class Held(NamedTuple):
    """Lines that together make a rule's condition true; others: keys that must be absent, since they would count."""

    lines: tuple[Line, ...]
    others: tuple[str, ...] = ()


def held(conditions: Iterable[list[Any]], rows: dict[str, list[Entry]]) -> Held | None:
    """Lines for a conjunction of conditions, or None where lines cannot say it. rows: by field, of one framework."""
    lines: dict[str, Line] = {}
    asked = list(conditions)
    for operator, field, operand in asked:
        if operator == "set" and operand is True and any(one[1] == field and one[0] != "set" for one in asked):
            continue  # a line that has a value is written
        if field not in rows:
            if operator == "ne":
                continue
            return None
        line = _line(operator, operand, rows[field][0])
        if line is None or "." in line.key or line.key in lines:
            return None
        lines[line.key] = line
    others = [row.key for _, field, _ in asked for row in rows.get(field, [])[1:]]
    return Held(tuple(lines.values()), tuple(sorted({key for key in others if "." not in key} - set(lines))))


def _line(operator: str, operand: Any, row: Entry) -> Line | None:
    if isinstance(operand, dict) or row.when or row.split:
        return None
    if operator in _CONVEX and not isinstance(operand, bool) and isinstance(operand, (int, float)):
        return _numbers(row, [one for one in NUMBERS if all(_CONVEX[operator](end, operand) for end in one.ends)])
    if operator in ("eq", "in"):
        return _words(row, operand if operator == "in" else [operand])
    if operator == "ne" and isinstance(operand, bool):
        return _words(row, [not operand])
    if operator == "not_in":
        return _other_word(row, operand)
    return None


def _numbers(row: Entry, shapes: list[Numbers]) -> Line | None:
    """A number of these shapes, where the framework takes a number as it is written."""
    if not shapes or any(row.read(end) != end for one in shapes for end in one.ends):
        return None
    return Line(row.key, _either(one.pattern for one in shapes), shapes[0].one)


def _words(row: Entry, wanted: list[Any]) -> Line | None:
    """One of several values, by every spelling that the framework reads as one of them."""
    spelt = [row.write(value) for value in wanted] + ["qlora"]
    found = list(dict.fromkeys(text for value in spelt if _reads(row, value, wanted) for text in _spellings(value)))
    return Line(row.key, _either(found), found[0]) if found else None


def _reads(row: Entry, value: object, wanted: list[Any]) -> bool:
    if value is SKIP:
        return False
    read = row.read(value)
    return any(read == one and isinstance(read, bool) == isinstance(one, bool) for one in wanted)


def _spellings(value: object) -> Iterator[str]:
    """A word or a switch as YAML has it on one line. Quotes are written as escapes: CEL's own stand around them."""
    if isinstance(value, bool):
        yield str(value).lower()
        yield str(value)
    elif isinstance(value, str) and value.replace("_", "").replace("-", "").isalnum():
        yield value
        yield rf"\x22{value}\x22"
        yield rf"\x27{value}\x27"


def _other_word(row: Entry, known: list[Any]) -> Line | None:
    """A bare word that is none of these; quoted ones are left alone."""
    words = [word for word in known if isinstance(word, str)]
    if len(words) != len(known) or row.read("certainly_unknown") != "certainly_unknown":
        return None
    return Line(row.key, _WORD, "certainly_unknown", _either([*words, *_NO_WORDS]))


def _either(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
