"""Conversions shared by readers: small functions for the `read` and `write` columns of their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loralint.frameworks.table import SKIP

DTYPES = {
    "bf16": "bf16",
    "bfloat16": "bf16",
    "fp16": "fp16",
    "float16": "fp16",
    "half": "fp16",
    "fp32": "fp32",
    "float32": "fp32",
    "float": "fp32",
    "auto": "auto",
}
_LONG = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "auto": "auto"}


def dtype(value: object) -> object:
    """Read `torch.bfloat16`, `bfloat16` and `bf16` as one dtype; an unknown word stays as it is."""
    text = str(value).lower().removeprefix("torch.")
    return DTYPES.get(text, SKIP if value is None else text)


def long_dtype(value: object) -> object:
    """Write a dtype as torch spells it."""
    return _LONG.get(str(value), value)


def is_dtype(word: str) -> Callable[[object], object]:
    """Read whether a key names that dtype; null says nothing."""
    return lambda value: SKIP if value is None else dtype(value) == word


def dtype_for(word: str) -> Callable[[object], object]:
    """Write that dtype for true; for false there are others. The way back of `is_dtype`."""
    return lambda on: long_dtype(word) if on is True else SKIP


def when_true(canonical: object) -> Callable[[object], object]:
    """Read a switch that means `canonical` when on, quoted or not, and says nothing when off."""
    return lambda value: canonical if value is True or str(value).lower() == "true" else SKIP


def true_for(canonical: object) -> Callable[[object], object]:
    """Write true for that value; another one this key cannot say. The way back of `when_true`."""
    return lambda value: True if value == canonical else SKIP


def always(canonical: object) -> Callable[[object], object]:
    """Take the key's presence as the answer; a null says nothing."""
    return lambda value: SKIP if value is None else canonical


def words(mapping: Mapping[object, object]) -> Callable[[object], object]:
    """Rename enumerated values; what is not in the mapping stays as it is."""
    return lambda value: mapping.get(value, value) if isinstance(value, (str, int, bool, type(None))) else value


def one_to_list(value: object) -> object:
    """Read a single name where a list is meant."""
    return [value] if isinstance(value, str) else value


def only_one(value: object) -> object:
    """Write the one name that a key takes; several it cannot say."""
    return value if not isinstance(value, list) else value[0] if len(value) == 1 else SKIP


def not_null(value: object) -> object:
    """Read a null as an absent key."""
    return SKIP if value is None else value


def only_null(value: object) -> object:
    """Read a null that the framework gives a meaning of its own, other than its default."""
    return None if value is None else SKIP


def lower(value: object) -> object:
    """Case does not matter to the framework."""
    return value.lower() if isinstance(value, str) else value


def never(_: object) -> object:
    """Write nothing: the key is not the one to recommend."""
    return SKIP


def rope(value: object) -> object:
    """Read how rotary positions are stretched: a word, or the mapping that Transformers' config takes; else nothing."""
    named = value.get("rope_type", value.get("type")) if isinstance(value, dict) else value
    return SKIP if str(named).lower() in ("none", "default", "") else named


def device(value: object) -> object:
    """Read a device map; the whole model on one card, `{"": 1}`, as that card."""
    whole = value.get("") if isinstance(value, dict) and len(value) == 1 else None
    return f"cuda:{whole}" if type(whole) is int else not_null(value)
