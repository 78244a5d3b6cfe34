"""What the targets mean of a mixture's experts, which Transformers 5 keeps in packed weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.need import Missing, known
from loralint.facts.scope import Scope, derived
from loralint.model import Value

if TYPE_CHECKING:
    from loralint.knowledge.structure import Row

# What looks at modules is imported where a mixture is met: few runs have one.
_ROUTERS = (".gate", ".router", ".router.classifier", ".gate.wg")


def packed_experts(scope: Scope) -> Value:
    """Whether PEFT takes the names of single experts' layers for weights that Transformers 5 packs."""
    return derived(bool(_packed(scope)))


def unquantised(scope: Scope) -> Value:
    """Names of the experts' bare weights, which bitsandbytes leaves in 16 bits; None where it packs all experts.

    It packs linear layers (transformers 5.24 integrations/bitsandbytes.py). Unsloth and axolotl can pack more.
    """
    if known(scope, "quant.experts") or known(scope, "kernel.unsloth") or not known(scope, "model.moe"):
        return derived(None)
    if (known(scope, "quant.method") or "bnb") != "bnb" or known(scope, "model.prequantized") != "none":
        raise Missing("what becomes of the experts under this quantisation is not known here")
    from loralint.facts.reach import type_of
    from loralint.knowledge import catalogue

    version = scope.version("transformers")
    if not version:
        raise Missing("whether bitsandbytes packs the experts depends on the version of Transformers")
    if not catalogue.of_version(type_of(scope), version):
        raise Missing("how Transformers 4 keeps the experts of such models is not in the catalogue")
    return derived(list(_bare(scope, version)) or None)


def _bare(scope: Scope, version: str) -> dict[str, None]:
    """Weights with an entry for each expert that are no layers of their own."""
    from loralint.knowledge.targets import holds_experts

    rows = (row for row in _rows(scope, version) if holds_experts(row[0], row[1]))
    held = (weight.split(" ") for row in rows for weight in row[2].split(";"))
    return dict.fromkeys(name for name, *sizes in held if len(sizes) == 3)


def _rows(scope: Scope, version: str) -> list[Row]:
    """Modules of the type as this Transformers builds it."""
    from loralint.facts.reach import type_of
    from loralint.knowledge import catalogue
    from loralint.knowledge.structure import Unsolved

    try:
        return catalogue.names(type_of(scope), None, version)
    except Unsolved as unsolved:
        raise Missing(str(unsolved)) from None


def routers(scope: Scope) -> Value:
    """Ends of the paths of what chooses experts and gets an adapter; None where none does.

    With Transformers 5 PEFT takes `gate` for the router's weight where it takes experts' names for packed ones, and
    all-linear from 0.20 on (peft 0.21.2 utils/transformers_weight_conversion.py).
    """
    version, spoken = scope.version("transformers"), known(scope, "adapter.targets")
    if not known(scope, "model.moe") or not version or not spoken:
        return derived(None)
    from loralint.knowledge.reach import ends

    every = isinstance(spoken, str) and spoken.lower() == "all-linear"
    given = [str(name) for name in spoken] if isinstance(spoken, (list, tuple)) else []
    linear = (row[0] for row in _rows(scope, version) if row[1] == "Linear" and row[0].endswith(_ROUTERS))
    chosen = [path for path in linear if every or any(ends(path, name) for name in given)]
    if _by_weight(scope, every=every, given=given):
        chosen.append("gate")
    return derived(list(dict.fromkeys(".".join(path.split(".")[-2:]) for path in chosen)) or None)


def _by_weight(scope: Scope, *, every: bool, given: list[str]) -> bool:
    """Whether PEFT adapts the router's weight, which is no layer in Transformers 5."""
    from loralint.facts.reach import type_of
    from loralint.knowledge.reach import packed as table
    from loralint.knowledge.versions import satisfies

    if scope.version("transformers").startswith("4") or "gate" not in table(type_of(scope)):
        return False
    named = any(name.rpartition(".")[2] == "gate" for name in given)
    return named or (every and satisfies(scope.version("peft"), ">=0.20"))


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


def shared_left(scope: Scope) -> Value:
    """Dense layers and shared experts that lose their adapter because their names go to the packed experts.

    As ends of their paths; None where there are none.
    """
    named = known(scope, "targets.packed")
    if not isinstance(named, list):
        return derived(None)
    from loralint.facts.reach import meant

    paths = sorted(path for path in meant(scope, named) if ".experts." not in path and not path.startswith("experts."))
    return derived(list(dict.fromkeys(".".join(path.split(".")[-2:]) for path in paths)) or None)


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
