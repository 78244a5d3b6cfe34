"""How the config says which modules get an adapter."""

from __future__ import annotations

from loralint.facts.need import known
from loralint.facts.scope import Scope, derived
from loralint.model import Value


def kind(scope: Scope) -> Value:
    """list, regex, all-linear, default (PEFT's own choice for the architecture) or none.

    A text is a regular expression to PEFT, whatever it looks like, except "all-linear" in any case.
    """
    if not known(scope, "lora.on"):
        return derived("none")
    targets = known(scope, "adapter.targets")
    if targets is None:
        return derived("default")
    if isinstance(targets, str):
        return derived("all-linear" if targets.lower() == "all-linear" else "regex")
    return derived("list" if targets else "none")


def names(scope: Scope) -> Value:
    """The names of a list, as given; empty for any other kind."""
    targets = known(scope, "adapter.targets")
    return derived(list(targets) if isinstance(targets, (list, tuple)) else [])


def embedding(scope: Scope) -> Value:
    """Whether rows of the input embedding train: in full, through an adapter, or by token index."""
    if known(scope, "adapter.trainable_tokens") is not None:
        return derived(True)
    lists = (known(scope, "adapter.modules_to_save"), known(scope, "adapter.targets"))
    listed = [str(name) for names in lists if isinstance(names, (list, tuple)) for name in names]
    return derived(any("emb" in name.rpartition(".")[2] or name.endswith("wte") for name in listed))


def packed(scope: Scope) -> Value:
    """Names of layers of single experts that the targets mean, and that are one packed weight in Transformers 5.

    None where they mean none, and for a model whose experts PEFT does not look for under such names.
    """
    table = _packed(scope)
    spoken = known(scope, "adapter.targets") if table else None
    if isinstance(spoken, (list, tuple)):
        meant = [old for old in table if any(str(name).rpartition(".")[2] == old for name in spoken)]
    elif isinstance(spoken, str):
        meant = list(table) if spoken.lower() == "all-linear" else _in_expression(scope, spoken)
    else:
        meant = []
    return derived(meant or None)


def packed_missing(scope: Scope) -> Value:
    """What is missing of a packed weight of which the targets name a part; None where nothing is."""
    table, named = _packed(scope), known(scope, "targets.packed")
    fused = [old for old, new in table.items() if new == "gate_up_proj"]
    meant = [old for old in fused if isinstance(named, list) and old in named]
    return derived([old for old in fused if old not in meant] or None if meant else None)


def experts_left(scope: Scope) -> Value:
    """Packed weights of experts that no target means, as ends of their paths; None where there are none such."""
    if not known(scope, "model.moe") or known(scope, "adapter.target_parameters") or known(scope, "targets.packed"):
        return derived(None)
    from loralint.facts.reach import type_of
    from loralint.knowledge.reach import names

    found = names(type_of(scope))
    weights = [path for path in found.weights if ".experts." in path and ".*." in path] if found else []
    ends = dict.fromkeys(".".join(path.split(".")[-3:]) for path in weights if path.endswith("_proj"))
    return derived(list(ends) or None)


def all_excluded(scope: Scope) -> Value:
    """Whether every layer that the targets mean is excluded again; False where nothing is excluded."""
    excluded = known(scope, "adapter.exclude")
    if not excluded:
        return derived(False)
    from loralint.facts.reach import meant

    targeted = meant(scope, known(scope, "adapter.targets") or "all-linear")
    return derived(bool(targeted) and targeted <= meant(scope, excluded, everywhere=True))


def towers(scope: Scope) -> Value:
    """Parts beside the language model (a vision tower, an audio encoder) whose layers the listed names mean as well.

    None where there are none, and for targets that are no list.
    """
    listed = known(scope, "adapter.targets")
    if not known(scope, "model.vision") or not isinstance(listed, (list, tuple)):
        return derived(None)
    from loralint.facts.reach import tower_of, type_of
    from loralint.knowledge import catalogue
    from loralint.knowledge.reach import ends
    from loralint.knowledge.targets import LINEAR

    rows = catalogue.names(type_of(scope))
    reached = (path for path, kind, *_ in rows if kind in LINEAR and any(ends(path, str(name)) for name in listed))
    return derived(list(dict.fromkeys(tower for path in reached if (tower := tower_of(path)))) or None)


def _packed(scope: Scope) -> dict[str, str]:
    """Old names of experts' layers, and what they are packed into; the router, which is no expert, is left out."""
    if not known(scope, "model.moe"):
        return {}
    from loralint.facts.reach import type_of
    from loralint.knowledge.reach import packed as table

    return {old: new for old, new in table(type_of(scope)).items() if old != "gate"}


def _in_expression(scope: Scope, expression: str) -> list[str]:
    from loralint.facts.reach import meant

    paths = {path for path in meant(scope, expression) if ".experts." in path}
    return [old for old in _packed(scope) if any(path.endswith(f".{old}") for path in paths)]


def usual(scope: Scope) -> Value:
    """The targets that PEFT takes where none are named; None for a type of model that it has none for."""
    from loralint.knowledge.usual import usual_targets

    found = usual_targets(str(known(scope, "model.family")))
    if found is None:
        from loralint.facts.reach import type_of

        found = usual_targets(type_of(scope))
    return derived(found)


def packed_experts(scope: Scope) -> Value:
    """Whether PEFT takes the names of single experts' layers for weights that Transformers 5 packs."""
    return derived(bool(_packed(scope)))
