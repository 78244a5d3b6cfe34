"""Check templates: pure functions over a Scope that rules name in `uses`, imported when a rule first needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown

Template = Callable[[Scope, Mapping[str, Any], tuple[str, ...]], list[Hit] | Unknown]

TEMPLATES: dict[str, str] = {
    "condition": "loralint.checks.values:condition",
    "range": "loralint.checks.values:within",
    "compare": "loralint.checks.values:compared",
    "one_of": "loralint.checks.values:one_of",
    "golden": "loralint.checks.golden:golden",
    "observation": "loralint.checks.observation:observed",
    "without_effect": "loralint.checks.keys:without_effect",
    "conflict": "loralint.checks.keys:conflict",
    "items": "loralint.checks.lists:items",
    "entries": "loralint.checks.lists:entries",
    "overlap": "loralint.checks.lists:overlap",
    "shadowed": "loralint.checks.keys:shadowed",
    "targets_in_model": "loralint.checks.targets:targets_in_model",
    "unadaptable": "loralint.checks.targets:unadaptable",
    "unmatched": "loralint.checks.reach:unmatched",
    "layers_in_model": "loralint.checks.reach:layers_in_model",
    "event": "loralint.checks.events:event",
    "order": "loralint.checks.events:order",
    "missing": "loralint.checks.events:missing",
    "differ": "loralint.checks.pairs:differ",
    "memory": "loralint.checks.memory:fits",
    "known_optimizer": "loralint.checks.values:known_optimizer",
    "cel": "loralint.checks.cel:cel",
}


@cache
def template(name: str) -> Template:
    """The function behind a template's name. Raises KeyError for a name that is not registered."""
    module, _, function = TEMPLATES[name].partition(":")
    return cast("Template", getattr(import_module(module), function))
