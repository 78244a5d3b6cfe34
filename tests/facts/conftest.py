from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loralint.canonical.fields import FIELDS
from loralint.facts import FACTS
from loralint.facts.scope import Scope, derived
from loralint.model import Unknown, Value


class Written:
    """A config as a plain mapping from canonical field to value, and from "version of PACKAGE" to a version."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def get(self, field: str) -> Value:
        if field in self._values:
            return Value(self._values[field], field=field)
        return Value(None, origin="absent", field=field)

    def version(self, package: str) -> str:
        return str(self._values.get(f"version of {package}", ""))


def scope_of(values: dict[str, Any]) -> Scope:
    """A scope over canonical fields; a fact's name among them gives that fact instead of computing it."""
    settings = {name: value for name, value in values.items() if name in FIELDS or name.startswith("version of ")}
    scope = Scope(Written(settings), FACTS)
    for name in values.keys() - settings.keys():
        scope.bind(name, Value(values[name]) if isinstance(values[name], Unknown) else derived(values[name]))
    return scope


@pytest.fixture(scope="session")
def fact() -> Callable[..., Any]:
    """fact(name, values) -> the fact's value; an Unknown is returned as its reason in a one-element tuple."""

    def value(name: str, values: dict[str, Any]) -> Any:
        answer = scope_of(values).get(name).value
        return (answer.reason,) if isinstance(answer, Unknown) else answer

    return value


@pytest.fixture(scope="session")
def whole(fact) -> Callable[[str, dict[str, Any]], Value]:
    """The Value, with what it read."""
    return lambda name, values: scope_of(values).get(name)


@pytest.fixture(scope="session")
def scope() -> Callable[[dict[str, Any]], Scope]:
    """The scope over these values, for what is asked of it in several ways."""
    return scope_of
