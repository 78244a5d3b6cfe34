"""What a template answers with."""

from collections.abc import Mapping
from typing import NamedTuple

from loralint.facts.scope import Scope
from loralint.model import Observation, Value


class Settings(NamedTuple):
    """Among a hit's data: settings to write, `field=value` with commas between, that a message spells as users do."""

    wanted: str


class Hit(NamedTuple):
    """One fault. at: the place. data: names for the message and, as `hit.<name>`, for levels. suggest: value to write.

    tier overrides the rule's (golden bounds carry their own); package: its version decides, so an unpinned run caps it.
    """

    at: Value
    data: Mapping[str, object] = {}
    suggest: object = None
    tier: str = ""
    related: tuple[tuple[Value, str], ...] = ()
    package: str = ""
    observation: Observation | None = None


def place(scope: Scope, fields: tuple[str, ...]) -> Value:
    """The first of the fields that somebody wrote, else the first one (a default or an absent key)."""
    values = [scope.get(field) for field in fields]
    return next((value for value in values if value.span is not None), values[0])
