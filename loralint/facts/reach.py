"""The names that the run's base model has, for facts and checks that look for what a setting means."""

from __future__ import annotations

import re

from loralint.facts.need import Missing, known
from loralint.facts.scope import Scope
from loralint.knowledge import catalogue, reach
from loralint.knowledge.pattern import Unmatchable
from loralint.model import Unknown


def type_of(scope: Scope) -> str:
    """The model type in the catalogue. Raises Missing where the model or its type is not known."""
    family = known(scope, "model.family")
    if scope.get("train.task").value == "diffusion":
        family = f"diffusion-{family}"
    found = catalogue.type_of(family) if isinstance(family, str) else None
    if found is None:
        raise Missing(f"the catalogue does not have the modules of `{family}` models")
    return found


# What a class without a head cannot be trained for: it gives no logits, which PEFT's classes and the losses ask for.
_HEADED = ("CAUSAL_LM", "SEQ_2_SEQ_LM", "SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS")  # no set: a list may stand there
_LOGITS = ("sft", "pt", "dpo", "kto", "orpo", "simpo", "ipo", "cpo", "ppo", "grpo", "rloo")


def _headed(scope: Scope) -> bool:
    """Whether what the run trains for rules out the class without a head, whose paths lack their first part."""
    return scope.get("adapter.task_type").value in _HEADED or scope.get("train.task").value in _LOGITS


def names_of(scope: Scope) -> reach.Names | Unknown:
    """All names of the model's modules, in any class that the run may train and either generation of Transformers."""
    try:
        found = reach.names(type_of(scope), bare=not _headed(scope))
    except Missing as missing:
        return Unknown(missing.reason)
    if found is None:
        return Unknown("a part of the model may be of another type, whose modules are not known from its name")
    return found


def meant(scope: Scope, spoken: object, *, everywhere: bool = False) -> set[str]:
    """Paths of layers that targets or exclusions mean: a list of ends, all-linear or an expression.

    The number of a layer is `*`; everywhere: only paths that are meant whatever the number. Raises Missing where the
    model's names are not known or an expression cannot be tried.
    """
    found = names_of(scope)
    if isinstance(found, Unknown):
        raise Missing(found.reason)
    if isinstance(spoken, (list, tuple)):
        names = [str(name) for name in spoken if not (everywhere and any(map(str.isdigit, str(name).split("."))))]
        return {path for path in found.layers if any(reach.ends(path, name) for name in names)}
    if not isinstance(spoken, str) or spoken.lower() == "all-linear":
        return set(found.layers)
    try:
        return set(filter(reach.trial(spoken, everywhere=everywhere), found.layers))
    except Unmatchable as reason:
        raise Missing(str(reason)) from None


_TOWER = re.compile(r"(^|\.)(?=[a-z_]*\.)([a-z_]*(?:vision|visual|audio|speech|image)[a-z_]*)(?=\.)")


def tower_of(path: str) -> str:
    """The part of a path that names a tower for pictures or sound; empty where there is none."""
    found = _TOWER.search(path)
    return path[: found.end()] if found else ""
