"""`.env` files: NAME=value lines, as python-dotenv and shells read them, told as a document whose root holds them."""

from __future__ import annotations

import re

from loralint.frameworks.companions.environment import environment
from loralint.model import Unknown
from loralint.source.document import Document, Mark, Node, Pair

_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]{0,200})[ \t]*=[ \t]*", re.MULTILINE)
_QUOTED = re.compile(r"'([^'\n]*)'|\"((?:[^\"\\\n]|\\[^\n])*)\"")
_PLAIN = re.compile(r"(?:[^\s#]|[ \t]+(?![\s#])|(?<=\S)#)*")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))")
# A value that lines double again and again is somebody hostile's.
_LONGEST = 32 * 1024
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def is_dotenv(file: str) -> bool:
    """Tell by its name whether a file holds variables: `.env`, `.env.train`, `train.env`."""
    name = file.replace("\\", "/").rpartition("/")[2].lower()
    return name == ".env" or name.startswith(".env.") or name.endswith(".env")


def read_dotenv(document: Document) -> Document:
    """The same text with a root that maps each name to its value; of two lines for one name the later counts.

    `$NAME` and `${NAME:-default}` stand for earlier lines of the file; a value with any other is unknown.
    """
    seen: dict[str, str] = {}
    pairs = []
    for match in _LINE.finditer(document.text):
        raw, value, end = _value(document.text, match.end(), seen)
        if isinstance(value, str):
            seen[match[1]] = value
        key = _node(document, match[1], match[1], match.start(1), match.end(1))
        pairs.append(Pair(match[1], key, _node(document, raw, value, match.end(), end)))
    return environment(document, pairs)


def _node(document: Document, raw: str, native: object, start: int, end: int) -> Node:
    return Node("scalar", "str", Mark(start, document.lines), Mark(end, document.lines), raw, False, native)


def _value(text: str, at: int, seen: dict[str, str]) -> tuple[str, str | Unknown, int]:
    """What is written, what it stands for, and where it ends."""
    quoted = _QUOTED.match(text, at)
    if quoted is not None and quoted[1] is not None:
        return quoted[1], quoted[1], quoted.end()
    if quoted is not None:
        plain = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted[2])
        return plain, _filled(plain, seen), quoted.end()
    bare = _PLAIN.match(text, at)
    assert bare is not None
    return bare[0], _filled(bare[0], seen), bare.end()


def _filled(text: str, seen: dict[str, str]) -> str | Unknown:
    missing = next((one for one in _VARIABLE.finditer(text) if (one[1] or one[3]) not in seen and one[2] is None), None)
    if missing is not None:
        return Unknown(f"`{missing[0]}` is filled in only when the run starts")
    if sum(len(seen.get(one[1] or one[3], "")) for one in _VARIABLE.finditer(text)) > _LONGEST:
        return Unknown("the value grows too long")
    return _VARIABLE.sub(lambda one: seen.get(one[1] or one[3], one[2] or ""), text)
