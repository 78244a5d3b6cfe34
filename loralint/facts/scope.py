"""The one thing that rules look into: canonical values and, under their own names, facts computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from loralint.canonical.fields import FIELDS
from loralint.model import Event, Observation, Unknown, Value

Fact = Callable[["Scope"], Value]


class Settings(Protocol):
    """What a scope is built over; run.config.Config is one."""

    def get(self, field: str) -> Value:
        """The effective value of a canonical field."""

    def write(self, field: str, value: object) -> object | None:
        """How the framework writes a field with this value; None where it has no key that could."""

    def version(self, package: str) -> str:
        """The version of a package that the run is judged by, empty when none is known."""


class _Changed:
    """Settings with some of them written otherwise."""

    def __init__(self, settings: Settings, values: Mapping[str, object]) -> None:
        self._settings, self._values = settings, values

    def get(self, field: str) -> Value:
        if field in self._values:
            return Value(self._values[field], field=field)
        return self._settings.get(field)

    def write(self, field: str, value: object) -> object | None:
        return self._settings.write(field, value)

    def version(self, package: str) -> str:
        return self._settings.version(package)


class Scope:
    """Values by name, each fact computed once. `reads` lists the values asked for since it was last cleared.

    events: what a script does, in order.
    """

    __slots__ = ("_bound", "_facts", "_memo", "_settings", "events", "observations", "reads")

    def __init__(
        self,
        settings: Settings,
        facts: Mapping[str, Fact],
        observations: tuple[Observation, ...] = (),
        events: tuple[Event, ...] = (),
    ) -> None:
        self.observations = observations
        self.events = events
        self._settings = settings
        self._facts = facts
        self._memo: dict[str, Value] = {}
        self._bound: dict[str, Value] = {}
        self.reads: list[Value] = []

    def peek(self, field: str) -> Value:
        """A canonical field or a fact, without a trace in `reads`."""
        value = (self._bound and self._bound.get(field)) or self._memo.get(field)
        if value is None:
            value = self._settings.get(field) if field in FIELDS else self._compute(field)
            self._memo[field] = value
        return value

    def get(self, name: str) -> Value:
        """A canonical field, a fact or a bound name. Raises KeyError for a name that is none of them."""
        value = (self._bound and self._bound.get(name)) or self._memo.get(name)
        if value is None:
            value = self._settings.get(name) if name in FIELDS else self._compute(name)
            self._memo[name] = value
        self.reads.append(value)
        return value

    def changed(self, values: Mapping[str, object]) -> Scope:
        """The scope that there would be if these fields had been written, by their canonical values."""
        return Scope(_Changed(self._settings, values), self._facts, self.observations, self.events)

    def writes(self, field: str, value: object) -> bool:
        """Whether the framework has a key that gives the field this value."""
        return self._settings.write(field, value) is not None

    def version(self, package: str) -> str:
        """The version of a package that the run is judged by, empty when none is known."""
        return self._settings.version(package)

    def bind(self, name: str, value: Value | None) -> None:
        """Give `name` a meaning for a while (the item of an `each` rule); None ends it."""
        if value is None:
            self._bound.pop(name, None)
        else:
            self._bound[name] = value

    def _compute(self, name: str) -> Value:
        outer, self.reads = self.reads, []
        try:
            made = self._facts[name](self)
            reads = made.reads or _distinct(self.reads)
            # written out, since `_replace` takes three times as long; a fact has no place of its own
            return Value(made.value, made.origin, made.key, source=made.source, reads=reads, field=name)
        finally:
            self.reads = outer


def derived(value: object, source: str = "") -> Value:
    """A fact's answer; `source` says what was assumed, if anything was."""
    return Value(value, origin="derived", source=source)


def unknown(reason: str) -> Value:
    """A fact that cannot be computed here, and why."""
    return Value(Unknown(reason), origin="derived")


def number(value: Value) -> float | None:
    """The value as a number, or None when it is unknown, absent or of another type."""
    raw = value.value
    return raw if isinstance(raw, (int, float)) and not isinstance(raw, bool) else None


def _distinct(values: list[Value]) -> tuple[Value, ...]:
    """One value per field, in the order first read (values may be unhashable)."""
    return tuple({value.field: value for value in reversed(values)}.values())[::-1]
