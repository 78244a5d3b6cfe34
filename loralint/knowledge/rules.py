"""The index of rules as compiled, and apart from it what a rule says that has found something."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from loralint.knowledge.data import entries, part


class Wording(NamedTuple):
    """What a rule says of a hit, with placeholders, and what its fix does. Most rules find nothing in most files."""

    message: str
    help: str
    fix: Mapping[str, Any] | None


class Rule(NamedTuple):
    """One compiled rule; see `loralint.authoring.rule` for the authored form and the meaning of each field.

    gives: every tier that it may give, also by bounds of the golden list. says: None where it lies beside the index.
    """

    id: str
    name: str
    topic: str
    tiers: list[tuple[Any, str]]
    frameworks: list[str] | None
    versions: list[str]
    when: Any
    each: str | None
    at: list[str]
    uses: str
    args: Mapping[str, Any]
    preview: bool
    gives: list[str]
    says: Wording | None = None


FIELDS = Rule._fields[:-1]  # as the index has them, in this order


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by id."""
    return tuple(Rule(*row) for row in part("rules"))


def wording(rule: Rule) -> Wording:
    """What a rule says: its own words, or those that lie beside the index."""
    return rule.says or _apart(rule.id)


@cache
def _apart(code: str) -> Wording:
    return Wording(**entries("rules_wording", (code,))[code])


def compiled(rule: Rule) -> dict[str, Any]:
    """A rule as its page is made from: `hot_rule` of `loralint.authoring.hot`."""
    named = {name: getattr(rule, name) for name in FIELDS}
    return {**named, "with": named.pop("args"), **wording(rule)._asdict()}


def forget() -> None:
    """Read the rules anew when they are next asked for: what they are read from has changed."""
    all_rules.cache_clear()
    _by_name.cache_clear()


def find(name: str) -> Rule | None:
    """A rule by code (any case) or by name."""
    return _by_name().get(name.strip().lower())


@cache
def _by_name() -> Mapping[str, Rule]:
    return {name: rule for rule in all_rules() for name in (rule.id.lower(), rule.name)}
