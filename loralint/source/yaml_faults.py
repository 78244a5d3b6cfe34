"""libyaml's complaints in plain words, at the place where the mistake is rather than where the parser noticed it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

_COLONS = (
    (re.compile(r"\s*(?:- +)*([A-Za-z_][\w.-]*):(?!//)[^\s:]"), "a space is missing after the colon of"),
    (re.compile(r"\s*(?:- +)*([A-Za-z_][\w.-]*)\uff1a"), "a full-width colon stands after"),
)
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)")
_TEMPLATE = re.compile(r"\{\{|\{%")
# Unacceptable to YAML 1.1, and the reason why libyaml refuses a whole text.
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STARTS = {
    "@": "a value cannot start with `@`",
    "`": "a value cannot start with a backtick",
    "%": "a value cannot start with `%`",
}
_TEMPLATE_TEXT = "this is a template: its {{ ... }} or {% ... %} must be filled in before it is YAML"


def explain(text: str, error: MarkedYAMLError, bracket: int | None) -> tuple[str, int]:
    """Give a message and the offset that it speaks of; `bracket` is where the innermost open bracket stands."""
    problem = error.problem or "not valid"
    at = error.problem_mark.index if error.problem_mark else 0
    at = min(at, len(text))
    opened = error.context_mark.index if error.context_mark else at
    for look in (_marked_line, _character, _unclosed, _colon, _structure):
        found = look(text, problem, at, opened)
        if found:
            return found
    if bracket is not None and not text[at:].strip():
        return f"the `{text[bracket : bracket + 1]}` opened here is never closed", bracket
    return f"not valid YAML: {problem}", at


def _line(text: str, at: int) -> tuple[str, int]:
    """Find the line around an offset and the offset of its start."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return text[start : start + 2000].split("\n", 1)[0].split("\r", 1)[0], start


def _number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _marked_line(text: str, _problem: str, at: int, opened: int) -> tuple[str, int] | None:
    """Lines that are no YAML at all: templates and the remains of a merge."""
    for place in (at, opened):
        line, start = _line(text, place)
        if _CONFLICT.match(line):
            return "an unresolved merge conflict is left in the file", start
        if _TEMPLATE.search(line):
            return _TEMPLATE_TEXT, start + len(line) - len(line.lstrip())
    return None


def _character(text: str, problem: str, at: int, opened: int) -> tuple[str, int] | None:
    character = text[at : at + 1]
    if character == "\t" and ("cannot start any token" in problem or "tab" in problem):
        return "a tab is used for indentation; YAML allows only spaces", at
    if "cannot start any token" in problem:
        return f"{_STARTS.get(character, 'a value cannot start like this')}; put it in quotes", at
    if "alphabetic or numeric" in problem and text[opened : opened + 1] in {"*", "&"}:
        sign = text[opened]
        what = "an alias" if sign == "*" else "an anchor"
        return f"a value that starts with `{sign}` is read as {what}; put it in quotes", opened
    if "unknown escape" in problem:
        return "YAML does not know this escape; use single quotes or two backslashes", at
    return None


def _unclosed(text: str, problem: str, at: int, opened: int) -> tuple[str, int] | None:
    if "end of stream" in problem and text[opened : opened + 1] in {"'", '"'}:
        return "the quote opened here is never closed", opened
    if "',' or" in problem and text[opened : opened + 1] in {"[", "{"}:
        where = f"line {_number(text, at)}" if at < len(text) else "the end of the file"
        return f"the `{text[opened]}` opened here is not closed, or a comma is missing, before {where}", opened
    if text[at : at + 1] in {"]", "}"}:
        return f"this `{text[at]}` closes nothing or stands where a value is missing", at
    return None


def _colon(text: str, problem: str, at: int, opened: int) -> tuple[str, int] | None:
    if "expected ':'" not in problem and "mapping values" not in problem:
        return None
    line, start = _line(text, opened if "expected ':'" in problem else at)
    before, before_start = _line(text, max(start - 1, 0)) if start else ("", 0)
    for candidate, offset in ((line, start), (before, before_start)):
        for regex, what in _COLONS:
            match = regex.match(candidate)
            if match:
                return f"{what} `{match[1]}`", offset + match.start(1)
    if "expected ':'" in problem:
        return "this line is neither `key: value` nor `- item`", opened
    if ": " in text[start:at]:
        return "a second `: ` in one line; put the value in quotes", at
    indent = len(line) - len(line.lstrip())
    return "this line is indented deeper than the one before, which already has a value", start + indent


def _structure(text: str, problem: str, at: int, _opened: int) -> tuple[str, int] | None:
    if "expected key" in problem or "'-' indicator" in problem or "<block end>" in problem:
        line, start = _line(text, at)
        if text[start:at].strip():
            return "text follows a value that is already complete", at
        if line.lstrip().startswith("- "):
            return "a list item stands where a key is expected; check the indentation", at
        if "'-' indicator" in problem:
            return "a key stands where a list item (`- `) is expected; check the indentation", at
        return "the indentation of this line fits no line above", at
    if "document start" in problem:
        return "after `...` a new document must start with `---`", at
    return None
