"""Rules of a test's own."""

from __future__ import annotations

from typing import Any

from loralint.authoring.conditions import normal
from loralint.knowledge.rules import Rule, Wording


def own_rule(field: str, fix: dict[str, Any], when: dict[str, Any], *, safe: bool = True) -> Rule:
    """A rule that finds `when` at a field."""
    return Rule(
        id="LL990", name="own-rule", topic="scale", frameworks=None, versions=[], each=None, at=[field],
        uses="condition", args={}, says=Wording("it breaks: {key} is {value}", "write {key}", {**fix, "safe": safe}),
        tiers=[(None, "B")], gives=["B"], preview=False, when=normal(when),
    )  # fmt: skip
