"""Numbers that remember how they came about, so that the size of a weight names the config fields it follows from.

An expression is a text in postfix order, words apart by commas: `num_attention_heads,head_dim,*`.
"""

from __future__ import annotations

import builtins
from typing import Any, Self

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "mod": "%", "pow": "**"}


class Number:
    """What the integer and the float share: an expression that every operation extends."""

    expression: str

    @classmethod
    def of(cls, value: float, expression: str) -> Self:
        """A number of this value that stands for the expression."""
        made = cls(value)  # type: ignore[call-arg]
        made.expression = expression
        return made

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __copy__(self) -> Self:
        return self


class Whole(Number, int):
    """A whole number with its expression."""


class Real(Number, float):
    """A float with its expression."""


def expression(value: object) -> str:
    """The expression of a number; a plain one stands for itself."""
    return value.expression if isinstance(value, Number) else repr(value)


def traced(value: float, text: str) -> Number:
    """A number of the right kind with this expression."""
    return Real.of(value, text) if isinstance(value, float) else Whole.of(value, text)


class _AsInt(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, builtins.int)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, builtins.int)


class TracedInt(metaclass=_AsInt):
    """Stands in for `int` in a model's module: `int(width * ratio)` keeps the expression."""

    def __new__(cls, value: Any = 0, *base: Any) -> Any:
        """The whole part, as `int` gives it."""
        if isinstance(value, Whole):
            return value
        if isinstance(value, Real):
            return Whole.of(builtins.int(float(value)), f"{value.expression},int")
        return builtins.int(value, *base)


def _operator(name: str, sign: str, *, swapped: bool) -> Any:
    def apply(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)) or isinstance(other, bool):
            return NotImplemented
        plain = float if isinstance(self, float) else int
        left: Any = plain(self)
        right = float(other) if isinstance(other, float) else int(other)
        value = getattr(left, name)(right)
        if value is NotImplemented:  # whole beside float
            value = getattr(float(left), name)(right)
        words = (expression(other), expression(self)) if swapped else (expression(self), expression(other))
        return traced(value, f"{words[0]},{words[1]},{sign}")

    return apply


for _name, _sign in _OPERATORS.items():
    for _kind in (Whole, Real):
        setattr(_kind, f"__{_name}__", _operator(f"__{_name}__", _sign, swapped=False))
        setattr(_kind, f"__r{_name}__", _operator(f"__r{_name}__", _sign, swapped=True))
