"""One linear layer under heavy-tailed inputs, whose ramp with SGD ranks real runs better than the embedded model does.

SGD's steps follow the gradient, so where it breaks depends on how large inputs and gradients get, which a small model
shows less well than this; see docs/probe.md. It knows nothing of modules, text or batch.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from loralint.probe.arm import Arm
from loralint.probe.ramp import STEPS, Edge, edge, ramp

_WIDTH, _TOKENS = 64, 64
_TARGET = 1 / 16  # standard deviation of the entries that BA has to become
_SPREAD, _OUTLIER = 0.5, 30.0  # of the logarithm of the token norms; factor on one token
_CROSSING = 2.0  # times the loss at the start, above it
_SEEDS = (1, 2, 3)


def edge_for(kind: str, arm: Arm, found: Edge, steps: int = STEPS) -> Edge:
    """The edge that a verdict rests on: of the ramp on the base, or for SGD on the embedded model that of the toy."""
    return toy_edge(arm, steps) if kind == "embedded" and arm.optimizer == "sgd" else found


def toy_edge(arm: Arm, steps: int = STEPS) -> Edge:
    """Where the ramp of an SGD arm breaks the toy; the middle one of three seeds."""
    return sorted(_one(arm, steps, seed) for seed in _SEEDS)[len(_SEEDS) // 2]


def _one(arm: Arm, steps: int, seed: int) -> Edge:
    generator = torch.Generator().manual_seed(seed)
    wanted = torch.randn(_WIDTH, _WIDTH, generator=generator) * _TARGET
    a = ((torch.rand(arm.rank, _WIDTH, generator=generator) * 2 - 1) / math.sqrt(_WIDTH)).requires_grad_()
    b = torch.zeros(_WIDTH, arm.rank, requires_grad=True)
    optimizer = torch.optim.SGD(
        [{"params": [a]}, {"params": [b]}], lr=1.0, momentum=arm.momentum, weight_decay=arm.weight_decay
    )
    rates, losses = ramp("sgd", steps), list[float]()
    for rate in rates:
        for group, times in zip(optimizer.param_groups, (1.0, arm.lr_ratio), strict=True):
            group["lr"] = rate * times
        x = _inputs(generator)
        target = x @ wanted.T
        loss = (arm.scale * (x @ a.T) @ b.T - target).square().mean() / target.square().mean()
        losses.append(loss.item() - 1 if math.isfinite(loss.item()) else math.inf)
        if losses[-1] > _CROSSING:
            break
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([a, b], arm.clip)
        optimizer.step()
    return edge(rates, losses, _CROSSING)


def _inputs(generator: torch.Generator) -> Tensor:
    """[tokens, width]: normal, of log-normal sizes, one of them far larger."""
    x = torch.randn(_TOKENS, _WIDTH, generator=generator)
    x = x * (_SPREAD * torch.randn(_TOKENS, 1, generator=generator)).exp()
    x[0] *= _OUTLIER
    return x
