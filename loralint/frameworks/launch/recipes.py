"""Recipes of torchtune that are started for another number of processes than they are made for.

`tune run` refuses torchrun's options with a recipe for one device, and a distributed one refuses to run without them.
Source: torchtune 0.6.1 _cli/run.py, _recipe_registry.py, and recipe_main of the recipes.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.table import Observation
from loralint.model import Value

_ONE, _MANY = "_single_device", "_distributed"
# Recipes that come in both kinds; the distributed full_finetune asks nobody whether it was launched.
_BOTH = frozenset({"full_finetune", "lora_finetune", "lora_dpo", "knowledge_distillation"})
_UNASKED = "full_finetune"
_MANIFESTS = (".yaml", ".yml", ".json")
_RANKS = frozenset({"RANK", "WORLD_SIZE"})  # with these in its environment a recipe takes itself for launched


def recipe_started(launch: Launch) -> Iterator[Observation]:
    """A recipe for one device behind torchrun's options, or a distributed one without them."""
    name = launch.positionals[0].raw if launch.program == "tune" and launch.positionals else ""
    launched = any(one.name == "torchrun" for one in launch.launchers)
    stem = name.removesuffix(_ONE if launched else _MANY)
    if stem == name or stem not in _BOTH or (not launched and _launched_elsewhere(launch, stem)):
        return
    if launched:
        what = "is made for one device, and `tune run` refuses torchrun's options with it"
        advice = f"take {stem}{_MANY}, or leave torchrun's options out"
    else:
        what = "is made for torchrun, and stops when it is started without"
        advice = f"write `--nproc_per_node` with the number of GPUs before it, or take {stem}{_ONE}"
    span = launch.flags.span(launch.positionals[0].node)
    where = Value(name, key="recipe", pointer="/recipe", text=name, span=span)
    yield Observation("recipe", where, "crash", f"`{name}` {what}", data={"advice": advice}, package="torchtune")


def _launched_elsewhere(launch: Launch, stem: str) -> bool:
    """Whether a distributed recipe may have its processes from somewhere else, or asks nobody for them.

    An operator of a cluster adds torchrun's options to the command of a manifest.
    """
    variables = {one.name for one in launch.env}
    return stem == _UNASKED or launch.flags.file.endswith(_MANIFESTS) or bool(variables & _RANKS)
