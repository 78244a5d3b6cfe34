"""A rule as its file has it -> as the engine, and as `explain`, read it."""

from __future__ import annotations

from typing import Any

from loralint.authoring.conditions import conjunction, normal
from loralint.authoring.rule import Applies, RuleFile
from loralint.knowledge.rules import FIELDS, Wording


def hot_rule(rule: RuleFile, topic: str) -> dict[str, Any]:
    """What the engine reads of a rule."""
    applies = rule.applies
    levels = rule.levels or ()
    return {
        "id": rule.id,
        "name": rule.name,
        "topic": topic,
        "preview": rule.preview,
        "tiers": [[level.when and normal(level.when), level.tier] for level in levels] or [[None, rule.tier]],
        "frameworks": applies.framework,
        "versions": versions(applies),
        "when": _guard(rule),
        "each": rule.each,
        "at": [rule.at] if isinstance(rule.at, str) else rule.at,
        "uses": rule.uses,
        "with": rule.with_,
        "message": rule.message,
        "help": rule.help,
        "fix": rule.fix and rule.fix.model_dump(),
    }


def row(hot: dict[str, Any]) -> list[Any]:
    """A hot rule with its tiers as the index has it, without what it says."""
    return [hot["with" if name == "args" else name] for name in FIELDS]


def wording(hot: dict[str, Any]) -> dict[str, Any]:
    """What a hot rule says."""
    return {name: hot[name] for name in Wording._fields}


def cold_rule(rule: RuleFile) -> dict[str, Any]:
    """What only `explain` and the documentation read of a rule."""
    wanted = {"since", "why", "sources", "symptoms", "examples", "applies"}
    return rule.model_dump(include=wanted, exclude_defaults=True)


def versions(applies: Applies) -> list[str]:
    """`{transformers: ">=5"}` -> ["transformers>=5"]."""
    return [package + spec for package, spec in sorted((applies.model_extra or {}).items())]


def _guard(rule: RuleFile) -> list[Any] | None:
    """`applies.method` and `applies.task` lead, so that most rules end there."""
    listed = (("adapter.method", rule.applies.method), ("train.task", rule.applies.task))
    every = [["in", field, words] for field, words in listed if words] + ([normal(rule.when)] if rule.when else [])
    return conjunction(every) if every else None
