"""What a loader makes of a scalar: the same text is a number for one framework and a string for the next."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from yaml.resolver import Resolver

from loralint.model import Unknown
from loralint.source.document import UNSET
from loralint.source.limits import INTEGER_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from loralint.source.document import Node

DIALECTS = ("pyyaml", "omegaconf", "mlx", "jsonargparse", "json", "toml", "python", "flags")

_PREFIX = len("tag:yaml.org,2002:")
_BOOLS = {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}
# Unquoted texts that PyYAML resolves as a whole; numbers and dates are left to its own regexes, already compiled there.
_WORDS = {"": "null", "~": "null", "null": "null", "Null": "null", "NULL": "null", "<<": "merge", "=": "value"}
_WORDS |= {form: "bool" for word in _BOOLS for form in (word, word.title(), word.upper())}
_RESOLVERS = {first: Resolver.yaml_implicit_resolvers.get(first, []) for first in "+-.0123456789"}
# These loaders of YAML 1.1 add floats that need neither a dot nor a signed exponent; only OmegaConf refuses duplicates.
_EXPONENTS = frozenset({"omegaconf", "mlx", "jsonargparse"})
_OMEGACONF_FLOAT = r"[-+]?[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?[eE][-+]?[0-9]+"
_NUMBER = r"[-+]?(?:[0-9]+(?:_[0-9]+)*(\.[0-9]*)?|(\.[0-9]+))([eE][-+]?[0-9]+)?"
# Loaders that keep the type which the text itself gives.
_NATIVE = frozenset({"json", "toml", "python", "flags"})
_TEMPLATE = r"\$\{[^}]|\{\{|\$\([A-Za-z_][A-Za-z0-9_.]*\)"


def resolve(raw: str) -> str:
    """Give the tag that PyYAML's SafeLoader finds for an unquoted scalar; "merge" for `<<` and "value" for `=`."""
    word = _WORDS.get(raw)
    if word is None:
        tag: str
        for tag, regex in _RESOLVERS.get(raw[0], ()):
            if regex.match(raw):
                return tag[_PREFIX:]
        return "str"
    return word


def value(node: Node, dialect: str) -> object:
    """Give what the dialect's loader makes of a node; Unknown where it fails or needs a custom constructor.

    Timestamps stay the text as written. "json", "toml" and "python" give the native value; on a YAML node they act as
    "pyyaml". "flags" makes a number or a boolean of the text that looks like one, as a parser of arguments would.
    """
    if node.kind != "scalar":
        return plain(node, dialect)
    known, made = node.made
    if known != dialect:  # a reader and several observers ask for the same scalar
        made = _value(node, dialect)
        node.made = (dialect, made)
    return made


def _value(node: Node, dialect: str) -> object:
    if node.native is not UNSET:
        if dialect in _NATIVE or isinstance(node.native, Unknown):
            return node.raw if node.tag == "timestamp" else _flag(node.native) if dialect == "flags" else node.native
        tag = resolve(node.raw) if node.plain else "str"
    else:
        tag = node.tag
    if tag == "str":
        if (
            dialect in _EXPONENTS
            and node.plain
            and node.raw[:1] in _RESOLVERS
            and re.fullmatch(_OMEGACONF_FLOAT, node.raw)
        ):
            tag = "float"
        else:
            return node.raw
    return _construct(tag, node.raw)


def _flag(given: object) -> object:
    """What argparse makes of the text behind a flag, whatever type it was told to convert to."""
    if not isinstance(given, str):
        return given
    word = given.lower()
    if word in {"true", "false"}:
        return word == "true"
    number = number_text(given)
    return given if number is None else number


def plain(node: Node, dialect: str) -> object:
    """Turn a subtree into dicts, lists and scalars; of duplicate keys the last one counts.

    Keys become what the loader makes of them (`yes:` is the key True); a key that is a collection keeps its text.
    """
    if node.kind == "mapping":
        return {_key(pair.key_node, pair.key, dialect): plain(pair.value, dialect) for pair in node.pairs}
    if node.kind == "sequence":
        return [plain(item, dialect) for item in node.items]
    return value(node, dialect)


def _key(node: Node, text: str, dialect: str) -> Hashable:
    if node.kind != "scalar":
        return text
    made = value(node, dialect)
    return made if isinstance(made, (str, int, float, type(None))) else text


def _construct(tag: str, raw: str) -> object:
    construct = _CONSTRUCTORS.get(tag)
    if construct is None:
        return Unknown("a custom YAML tag")
    try:
        return construct(raw)
    except (ValueError, LookupError, OverflowError):
        return Unknown(f"the loader fails on this text as {tag}")


def integer(digits: str, base: int = 10) -> int | Unknown:
    """Read an integer of bounded size, so that float() of it never overflows."""
    if len(digits) > INTEGER_DIGITS:
        return Unknown(f"an integer of {len(digits)} digits")
    number = int(digits, base)
    float(number)
    return number


def _integer(raw: str) -> int | Unknown:
    text = raw.replace("_", "")
    sign = -1 if text[0] == "-" else 1
    text = text.lstrip("+-") if text[0] in "+-" else text
    if ":" in text and len(text) <= INTEGER_DIGITS:
        number: int | Unknown = int(_sexagesimal([int(part) for part in text.split(":")]))
    elif text[:2] in {"0b", "0x"}:
        number = integer(text[2:], 2 if text[1] == "b" else 16)
    else:
        number = integer(text, 8 if text[0] == "0" else 10)
    return number if isinstance(number, Unknown) else sign * number


def _float(raw: str) -> float:
    text = raw.replace("_", "").lower()
    sign = -1.0 if text[0] == "-" else 1.0
    text = text[1:] if text[0] in "+-" else text
    if text == ".inf":
        return sign * math.inf
    if text == ".nan":
        return math.nan
    return sign * float(_sexagesimal([float(part) for part in text.split(":")]))


def _sexagesimal(parts: list[int] | list[float]) -> float:
    """Add up base 60, most significant part first; a single part is itself. Integers stay exact."""
    total: float = 0
    for part in parts:
        total = total * 60 + part
    return total


_CONSTRUCTORS: dict[str, Callable[[str], object]] = {
    "null": lambda _raw: None,
    "timestamp": lambda raw: raw,
    "bool": lambda raw: _BOOLS[raw.lower()],
    "int": _integer,
    "float": _float,
}


def number_text(raw: str) -> float | int | None:
    """Give the number that a lenient reader would take a text for, such as `2e-4`, or None."""
    text = raw.strip()
    if text[:1] not in _RESOLVERS or len(text) > INTEGER_DIGITS:
        return None
    match = re.fullmatch(_NUMBER, text)
    if not match:
        return None
    if not any(match.groups()):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def is_template(raw: str) -> bool:
    """Whether a text is to be filled in before use: `${...}`, `{{ ... }}` or `$(NAME)`."""
    return ("$" in raw or "{{" in raw) and re.search(_TEMPLATE, raw) is not None
