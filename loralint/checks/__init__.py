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
    "condition": "loralint.checks.condition:condition",
    "range": "loralint.checks.bounds:within",
    "compare": "loralint.checks.compare:compared",
    "one_of": "loralint.checks.one_of:one_of",
    "golden": "loralint.checks.golden:golden",
    "observation": "loralint.checks.observation:observed",
    "without_effect": "loralint.checks.without_effect:without_effect",
    "conflict": "loralint.checks.conflict:conflict",
    "items": "loralint.checks.items:items",
    "overlap": "loralint.checks.overlap:overlap",
    "shadowed": "loralint.checks.shadowed:shadowed",
    "targets_in_model": "loralint.checks.targets_in_model:targets_in_model",
    "known_optimizer": "loralint.checks.known_optimizer:known_optimizer",
}


@cache
def template(name: str) -> Template:
    """The function behind a template's name. Raises KeyError for a name that is not registered."""
    module, _, function = TEMPLATES[name].partition(":")
    return cast("Template", getattr(import_module(module), function))
