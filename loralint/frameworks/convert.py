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
    """`torch.bfloat16`, `bfloat16` and `bf16` are one dtype; an unknown word stays as it is."""
    text = str(value).lower().removeprefix("torch.")
    return DTYPES.get(text, SKIP if value is None else text)


def long_dtype(value: object) -> object:
    """The spelling that torch uses."""
    return _LONG.get(str(value), value)


def when_true(canonical: object) -> Callable[[object], object]:
    """A switch that means `canonical` when on and says nothing when off."""
    return lambda value: canonical if value is True else SKIP


def true_for(canonical: object) -> Callable[[object], object]:
    """The way back of `when_true`: write true for that value, else this key cannot say it."""
    return lambda value: True if value == canonical else SKIP


def words(mapping: Mapping[object, object]) -> Callable[[object], object]:
    """Rename enumerated values; what is not in the mapping stays as it is."""
    return lambda value: mapping.get(value, value) if isinstance(value, (str, int, bool, type(None))) else value


def one_to_list(value: object) -> object:
    """A single name where a list is meant."""
    return [value] if isinstance(value, str) else value


def not_null(value: object) -> object:
    """A null is as good as an absent key."""
    return SKIP if value is None else value


def lower(value: object) -> object:
    """Case does not matter to the framework."""
    return value.lower() if isinstance(value, str) else value


def never(_: object) -> object:
    """This key is not the one to recommend."""
    return SKIP
