"""Python values written so that every loader of a format reads the same."""

from __future__ import annotations

import math
import re
import shlex

from loralint.source.scalars import resolve

# Unquoted YAML text that loaders of 1.1 and 1.2 all take for a string, unless it resolves to something.
_PLAIN = re.compile(r"(?:\.{0,2}/)?[A-Za-z_][A-Za-z0-9_./-]*")
# Words that some loader takes for a boolean, a null or a number although PyYAML does not.
_LOADED = {"y", "n", "none", "nan", "inf", "infinity"}
_BARE_TOML_KEY = re.compile(r"[A-Za-z0-9_-]+")
# Inside double quotes these must be escapes in YAML, JSON and TOML alike.
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]')
_PYTHON = {"true": "True", "false": "False", "null": "None"}
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SHELL = frozenset({"flags", "settings", "env"})
_WITHOUT_NULL = _SHELL | {"toml"}
_SPECIAL = {
    "yaml": (".nan", ".inf", "-.inf", "null"),
    "json": ("NaN", "Infinity", "-Infinity", "null"),
    "toml": ("nan", "inf", "-inf", ""),
    "flags": ("nan", "inf", "-inf", ""),
    "settings": ("nan", "inf", "-inf", ""),
    "env": ("nan", "inf", "-inf", ""),
    "python": ('float("nan")', 'float("inf")', '-float("inf")', "None"),
}


def scalar_text(value: object, format: str) -> str:  # noqa: A002 - the interface's name
    """Write a value on one line: `2.0e-05` for floats, quotes only where needed; lists and mappings in flow style.

    ValueError for what the format cannot hold.
    """
    if isinstance(value, bool):
        word = "true" if value else "false"
        return _PYTHON[word] if format == "python" else word
    if isinstance(value, str):
        return _string(value, format)
    if isinstance(value, (int, float)):
        return str(value) if isinstance(value, int) else _float(value, format)
    if value is None and format not in _WITHOUT_NULL:
        return _SPECIAL[format][3]
    if isinstance(value, (list, tuple)):
        items = [scalar_text(item, format) for item in value]
        return " ".join(items) if format in _SHELL else f"[{', '.join(items)}]"
    if isinstance(value, dict) and format not in _SHELL:
        return _mapping(value, format)
    raise ValueError(f"{type(value).__name__} cannot be written as {format}")


def _mapping(value: dict[object, object], format: str) -> str:  # noqa: A002
    inside = "json" if format == "python" else format  # a mapping of Python has its keys in quotes, a call has not
    pairs = ((str(key), scalar_text(one, format)) for key, one in value.items())
    return "{" + ", ".join(pair_text(key, text, inside) for key, text in pairs) + "}"


def pair_text(key: str, text: str, format: str) -> str:  # noqa: A002
    """Write a key with a value that is already text."""
    if format == "toml":
        return f"{key if _BARE_TOML_KEY.fullmatch(key) else _quoted(key)} = {text}"
    if format in ("python", "settings"):
        return f"{key}={text}"
    if format == "flags":
        return f"--{key} {text}"
    return f"{_string(key, format)}: {text}"


def key_text(key: str, format: str) -> str:  # noqa: A002
    """Name a key as people do who write this format: `--lora_r` for a flag."""
    return f"--{key}" if format == "flags" and "." not in key and not key.startswith("-") else key


def pair_shown(key: str, text: str, format: str) -> str:  # noqa: A002
    """Show a setting whose value is already text, as the part of a run would have it, for people and not for edits."""
    if format == "flags":
        return f"{key}={text}" if "." in key else f"{key_text(key, format)} {text}"
    if format in ("env", "settings"):
        return f"{key}={text}"
    if format == "python":
        *owner, name = key.split(".")[:2]
        word = text.isidentifier() and text not in _PYTHON.values()
        value = _nested(key.split(".")[2:], _PYTHON.get(text, repr(text) if word else text))
        return f"{owner[0]}({name}={value})" if owner else f"{name}={value}"
    if format == "toml":
        word = re.fullmatch(r"[A-Za-z_][\w.-]*", text) is not None and text not in ("true", "false", "nan", "inf")
        return f"{key} = {_quoted(text) if word else text}"
    return f"{key}: {text}"


def _nested(keys: list[str], text: str) -> str:
    """`a`, `b` around a value as Python writes dictionaries: {'a': {'b': text}}."""
    for key in reversed(keys):
        text = f"{{{key!r}: {text}}}"
    return text


def _string(value: str, format: str) -> str:  # noqa: A002
    if format == "yaml" and _PLAIN.fullmatch(value) and value.lower() not in _LOADED and resolve(value) == "str":
        return value
    return shlex.quote(value) if format in _SHELL else _quoted(value)


def _quoted(value: str) -> str:
    return '"' + _ESCAPED.sub(lambda match: _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}", value) + '"'


def _number(value: float, format: str) -> str:  # noqa: A002
    if isinstance(value, bool):
        word = "true" if value else "false"
        return _PYTHON[word] if format == "python" else word
    return str(value) if isinstance(value, int) else _float(value, format)


def _float(value: float, format: str) -> str:  # noqa: A002
    nan, inf, minus_inf, _ = _SPECIAL[format]
    if not math.isfinite(value):
        return nan if math.isnan(value) else inf if value > 0 else minus_inf
    # without a dot and a signed exponent YAML 1.1 reads text
    mantissa, mark, exponent = repr(value).partition("e")
    return mantissa + (".0" if mark and "." not in mantissa else "") + mark + exponent
