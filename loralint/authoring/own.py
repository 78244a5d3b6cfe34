"""A project's own rules and golden entries -> the parts of the compiled data that hold them beside ours.

Everything here is data: nothing of it is executed, and its regular expressions are left to RE2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from loralint.authoring.hot import cold_rule, hot_rule, row, wording
from loralint.authoring.load import AuthoringError
from loralint.authoring.own_golden import cold_parameter, hot_entry, rule_of
from loralint.authoring.own_models import OwnEntry, OwnRule
from loralint.authoring.own_text import models
from loralint.checks.conditions import LINEAR
from loralint.knowledge.data import shipped
from loralint.knowledge.rules import Rule, Wording
from loralint.render.rule_page import tiers_of

TOPIC = "own"
Texts = tuple[tuple[str, str], ...]


@lru_cache(8)
def parts(rules: Texts, golden: Texts) -> Mapping[str, Any]:
    """Whole parts of the data, ours and the project's. rules, golden: (name, text) of files. Raises AuthoringError."""
    own = [(path, one) for path, text in rules for one in models(path, text, OwnRule)]
    entries = [(path, one) for path, text in golden for one in models(path, text, OwnEntry)]
    ours = [Rule(*one) for one in shipped("rules")]
    _refuse_taken([*own, *entries], {rule.name for rule in ours})
    values: Any = shipped("golden")
    hot = [_hot(path, rule, values) for path, rule in own]
    hot += [rule_of(entry, TOPIC) for _, entry in entries]
    hot.sort(key=lambda one: str(one["id"]))
    for one in hot:
        one["gives"] = tiers_of(one, values).split()
    cold = {rule.id: {"since": "", "sources": [], **cold_rule(rule)} for _, rule in own}
    cold |= {entry.id: _cold(entry) for _, entry in entries}
    return {
        "rules": [
            *ours,
            *([*row(one), Wording(**wording(one))] for one in hot),
        ],
        "rules_cold": {**shipped("rules_cold"), **cold},
        **_golden([entry for _, entry in entries], values, shipped("golden_cold")),
    }


def _hot(path: str, rule: OwnRule, golden: Mapping[str, Any]) -> dict[str, Any]:
    parameter = rule.with_.get("parameter")
    if rule.uses == "golden" and parameter not in golden:
        raise AuthoringError(f"{path}: the golden list has no {parameter}; write a golden entry of your own instead")
    hot = hot_rule(rule, TOPIC)
    hot["tiers"] = [[_linear(when), tier] for when, tier in hot["tiers"]]
    return hot | {"when": _linear(hot["when"])}


def _linear(condition: Any) -> Any:
    """The condition, its expressions for RE2."""
    if not isinstance(condition, list):
        return condition
    if condition[0] in ("all", "any", "not"):
        return [condition[0], *map(_linear, condition[1:])]
    return [LINEAR, *condition[1:]] if condition[0] == "matches" else condition


def _cold(entry: OwnEntry) -> dict[str, Any]:
    return {"since": "", "why": entry.why, "sources": entry.sources, "symptoms": [], "examples": []}


def _golden(entries: Iterable[OwnEntry], hot: Any, cold: Any) -> dict[str, Any]:
    """The golden list with the project's entries, those for keys apart from those for parameters."""
    fields: tuple[dict[str, Any], dict[str, Any]] = (dict(hot), dict(cold))
    keys: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for entry in entries:
        listed, told = fields if entry.parameter else keys
        name = entry.parameter or f"{' '.join(entry.files or ())}: {entry.key}"
        listed[name] = [*listed.get(name, ()), hot_entry(entry)]
        known = told.get(name) or cold_parameter(entry)
        more = {"conditions": entry.why, "sources": entry.sources}
        told[name] = {**known, "entries": {**known["entries"], entry.id: more}}
    return {"golden": fields[0], "golden_cold": fields[1], "golden_keys": keys[0], "golden_keys_cold": keys[1]}


def _refuse_taken(own: Iterable[tuple[str, OwnRule | OwnEntry]], taken: Iterable[str]) -> None:
    """Codes and names are one another's only, and no rule of ours has them."""
    seen = dict.fromkeys(taken, "a rule of loralint's own")
    for path, one in own:
        for word in (one.id, one.name):
            if word in seen:
                raise AuthoringError(f"{path}: {word} is already used by {seen[word]}")
            seen[word] = path
        if re.search(r"[\x00-\x1f\x7f]", getattr(one, "key", None) or ""):
            raise AuthoringError(f"{path}: the key of {one.id} has control characters")
