"""How a fact asks for its inputs: what is missing ends the fact with the reason that the user will read."""

from __future__ import annotations

from loralint.facts.scope import Scope
from loralint.model import Unknown

_LARGEST = 1e15


class Missing(Exception):  # noqa: N818 - not an error: it ends one fact, and the registry makes an Unknown of it
    """An input that is not there, or not known, and why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def known(scope: Scope, name: str) -> object:
    """The value of a field or fact, None when it is absent. Raises Missing when it is unknown."""
    value = scope.get(name).value
    if isinstance(value, Unknown):
        raise Missing(value.reason)
    return value


def text(scope: Scope, name: str, absent: str) -> str:
    """A word or name that the fact cannot do without."""
    value = known(scope, name)
    if value is None:
        raise Missing(absent)
    if not isinstance(value, str):
        raise Missing(f"{name} is not a text")
    return value


def number(scope: Scope, name: str, absent: str = "") -> float:
    """A number that the fact cannot do without; `absent` is the reason when nobody gives it.

    What no training run can mean (not finite, beyond 10^15) is no number here, so that arithmetic on it cannot fail.
    """
    value = known(scope, name)
    if value is None:
        raise Missing(absent or f"{name} is not known")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_LARGEST < value < _LARGEST:
        raise Missing(f"{name} is not a usable number")
    return value


def positive(scope: Scope, name: str, absent: str = "") -> float:
    """A number above 0."""
    value = number(scope, name, absent)
    if value <= 0:
        raise Missing(f"{name} is not above 0")
    return value


def optional(scope: Scope, name: str, default: float) -> float:
    """A number that has a meaning when it is absent."""
    return default if known(scope, name) is None else number(scope, name)
