"""Target names that the base model's family does not have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Unknown

# Outside the blocks, or added by a task: a target may name them whatever the family.
_ELSEWHERE = frozenset(
    "lm_head embed_tokens embed_out embed_in word_embeddings wte wpe shared score classifier output_layer embedding "
    "embeddings output pooler lm_head.0 head".split()
)
_JUDGED = ("all", "weight", "bias")  # no module anywhere: another rule's business
_PLAIN = re.compile(r"[A-Za-z_][\w.]*")


def targets_in_model(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: nothing. One hit for all plain names in the list whose last part is no layer of the family.

    PEFT takes a list entry for the end of a module's path, so `mlp.down_proj` counts by its last part. Regular
    expressions, numbers and all-linear are not judged here.
    """
    del args, at
    targets, modules = scope.get("adapter.targets"), scope.get("model.modules")
    for value in (targets.value, modules.value):
        if isinstance(value, Unknown):
            return value
    if not isinstance(targets.value, list) or not isinstance(modules.value, list):
        return []
    wrong = [item for item in targets.items if _foreign(item.value, modules.value)]
    if not wrong:
        return []
    data = {"modules": modules.value, "names": [item.value for item in wrong], "all": len(wrong) == len(targets.items)}
    place = wrong[0]._replace(key=targets.key, field="adapter.targets")
    return [Hit(place, data, _close(str(wrong[0].value), modules.value))]


def _foreign(name: object, modules: list[str]) -> bool:
    if not isinstance(name, str) or not _PLAIN.fullmatch(name):
        return False
    last = name.rpartition(".")[2]
    return not last.isdigit() and last not in modules and last not in _ELSEWHERE and last not in _JUDGED


def _close(name: str, modules: list[str]) -> str:
    """The likeliest module of this family, else all of them."""
    import difflib

    close = difflib.get_close_matches(name, modules, 1, 0.75)
    return close[0] if close else ", ".join(modules)
