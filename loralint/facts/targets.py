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


def parameters_of_layers(scope: Scope) -> Value:
    """Whether all target_parameters are called `weight`, as those of linear layers are. On a layer that bitsandbytes
    has quantised PEFT puts its usual adapter, even where one of its weights is named (lora/model.py of 0.21.2).
    """
    given = known(scope, "adapter.target_parameters")
    several = list(given) if isinstance(given, (list, tuple)) else [given] if given else []
    return derived(bool(several) and all(str(name).rpartition(".")[2] == "weight" for name in several))


def all_excluded(scope: Scope) -> Value:
    """Whether every layer that the targets mean is excluded again; False where nothing is excluded."""
    excluded = known(scope, "adapter.exclude")
    if not excluded:
        return derived(False)
    from loralint.facts.reach import meant

    targeted = meant(scope, known(scope, "adapter.targets") or "all-linear")
    return derived(bool(targeted) and targeted <= meant(scope, excluded, everywhere=True))


def fused(scope: Scope) -> Value:
    """Names of Mamba's layers that the targets mean and PEFT refuses, as kernels read their weights past an adapter.

    None where there are none.
    """
    from loralint.knowledge.models import MAMBA, MAMBA_NAMES
    from loralint.knowledge.versions import satisfies

    spoken, first = known(scope, "adapter.targets"), MAMBA.get(str(known(scope, "model.family")))
    if not spoken or first is None or not satisfies(scope.version("peft"), f">={first}"):
        return derived(None)
    from loralint.facts.reach import meant

    left = meant(scope, spoken) - meant(scope, known(scope, "adapter.exclude") or (), everywhere=True)
    names = {path.rpartition(".")[2] for path in left} & MAMBA_NAMES
    return derived(sorted(names - ({"conv1d"} if spoken == "all-linear" else set())) or None)


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


def usual(scope: Scope) -> Value:
    """The targets that PEFT takes where none are named; None for a type of model that it has none for."""
    from loralint.knowledge.usual import usual_targets

    found = usual_targets(str(known(scope, "model.family")))
    if found is None:
        from loralint.facts.reach import type_of

        found = usual_targets(type_of(scope))
    return derived(found)


def usual_since(scope: Scope) -> Value:
    """The release of PEFT that first has targets for the type of model, where that in force does not yet; else None."""
    from loralint.knowledge.usual import usual_since as first_with
    from loralint.knowledge.versions import satisfies

    first = first_with(str(known(scope, "model.family")))
    return derived(first if first and satisfies(scope.version("peft"), f"<{first}") else None)
