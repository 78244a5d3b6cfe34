"""Rules of a test's own."""

from __future__ import annotations

from typing import Any

from loralint.authoring.conditions import normal
from loralint.engine.rules import Rule


def own_rule(field: str, fix: dict[str, Any], when: dict[str, Any], *, safe: bool = True) -> Rule:
    """A rule that finds `when` at a field."""
    return Rule(
        id="LL990", name="own-rule", topic="scale", frameworks=None, versions=[], each=None, at=(field,),
        uses="condition", args={}, message="it breaks: {key} is {value}", help="write {key}", tiers=[(None, "B")],
        fix={**fix, "safe": safe}, preview=False, when=normal(when),
    )  # fmt: skip
