"""The numbers of one training run, as a row of a stack of adapters; no torch here."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

OPTIMIZERS = ("adamw", "sgd", "lion", "adafactor")
# What of the adapter's input is changed before A sees it: nothing; every token to the module's median norm; every token
# to norm 1; every module to one median norm. The last three are controls that tell causes apart, never a remedy: what
# the first two train cannot be merged.
INPUTS = ("plain", "scale", "l2", "module")


class Arm(NamedTuple):
    """One run. targets: ends of module names, as PEFT matches a list. lr: peak rate of A; that of B is `lr_ratio` times
    it (LoRA+). clip: gradient norm, inf for none. stored: format of the adapter's weights and of the optimizer's state.
    gain: factor on alpha that brings a small model's gradients to a real one's. init: kaiming,
    gaussian or svd (PiSSA).
    """

    rank: int
    alpha: float
    targets: tuple[str, ...]
    lr: float = 1e-4
    optimizer: str = "adamw"
    rslora: bool = False
    dora: bool = False
    dropout: float = 0.0
    lr_ratio: float = 1.0
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    momentum: float = 0.0
    weight_decay: float = 0.0
    clip: float = inf
    stored: str = "fp32"
    inputs: str = "plain"
    init: str = "kaiming"
    seed: int = 0
    gain: float = 1.0

    @property
    def scale(self) -> float:
        """The multiplier on BA: alpha/r, with rsLoRA alpha/sqrt(r) (PEFT, tuners/lora/layer.py)."""
        return self.gain * self.alpha / (sqrt(self.rank) if self.rslora else self.rank)

    def hits(self, module: str) -> bool:
        """Whether a module of this dotted name gets an adapter."""
        return any(module == end or module.endswith(f".{end}") for end in self.targets)
