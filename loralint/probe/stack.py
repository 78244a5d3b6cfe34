"""Many adapters over one frozen base, trained at once: every arm is a row.

The rows of a batch are repeated for each arm, so arms never mix and each is a LoRA run of its own; a NaN stays in its
row. All trained numbers of an arm lie in one row of `weights` [arms, entries]: A [rank, in], B [out, rank] and DoRA's
magnitude [out] of one module after the other. Smaller ranks and modules that an arm does not target are zeros there:
with A and B both 0 their gradients are 0 too, so they stay 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from loralint.probe.arm import Arm

_TINY = 1e-6


class Slot(NamedTuple):
    """Where one tensor lies in a row of the weights. part: A, B or m (DoRA's magnitude)."""

    module: str
    part: str
    start: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Entries."""
        return int(torch.Size(self.shape).numel())

    def of(self, rows: Tensor) -> Tensor:
        """Give this tensor of every arm, [arms, *shape], as a view of [arms, entries]."""
        return rows[:, self.start : self.start + self.size].view(-1, *self.shape)


class Adapted(nn.Module):
    """A frozen linear layer with the adapters of all arms; stands in its place in the model."""

    def __init__(self, base: nn.Linear, arms: tuple[Arm, ...], hit: Tensor, seed: int) -> None:
        super().__init__()
        self.base = base
        self.size = base.weight.detach().float().norm()  # Frobenius
        self.arms = len(arms)
        self.a: Tensor | None = None
        self.b: Tensor | None = None
        self.magnitude: Tensor | None = None
        self.norms: list[Tensor] | None = None  # collects the norms of the inputs while it is a list
        device = base.weight.device
        per_arm = {"device": device, "dtype": torch.float32}
        self.scale = torch.tensor([arm.scale for arm in arms], **per_arm).view(-1, 1, 1)
        self.keep = torch.tensor([1 - arm.dropout for arm in arms], **per_arm).view(-1, 1, 1)
        self.drops = any(arm.dropout for arm in arms)
        self.dora = torch.tensor([arm.dora for arm in arms], device=device) & hit
        self.any_dora = bool(self.dora.any())
        self.generator = torch.Generator(device).manual_seed(seed)
        self.kinds = tuple(arm.inputs for arm in arms)
        self.median: float | None = None  # of the norms of this module's inputs
        self.middle: float | None = None  # of the medians of all modules

    def forward(self, x: Tensor) -> Tensor:
        """x: [arms * rows, tokens, in] or, without adapters, [rows, tokens, in]."""
        out: Tensor = self.base(x)
        if self.norms is not None:
            self.norms.append(x.detach().float().norm(dim=-1).flatten())
        if self.a is None or self.b is None:
            return out
        given = self._given(x.reshape(self.arms, -1, x.shape[-1]))
        low = torch.bmm(given, self.a.to(given.dtype).mT)
        delta = torch.bmm(low, self.b.to(given.dtype).mT) * self.scale.to(given.dtype)
        if self.any_dora:
            delta = self._decomposed(given, delta)
        return out + delta.view_as(out)

    def _given(self, x: Tensor) -> Tensor:
        """What A sees, [arms, tokens, in]: dropout as in PEFT, and the changes of control arms."""
        if any(kind != "plain" for kind in self.kinds):
            x = x * self._factors(x)
        if self.drops:
            kept = torch.rand(x.shape, generator=self.generator, device=x.device) < self.keep
            x = x * (kept / self.keep).to(x.dtype)
        return x

    def _factors(self, x: Tensor) -> Tensor:
        """Factor of every token of every arm, [arms, tokens, 1]."""
        assert self.median is not None
        assert self.middle is not None
        norm = x.float().norm(dim=-1, keepdim=True).clamp_min(_TINY)
        one = torch.ones_like(norm[0])
        made = {"plain": lambda _: one, "module": lambda _: one * (self.middle / self.median)}
        made |= {"scale": lambda k: self.median / norm[k], "l2": lambda k: 1 / norm[k]}
        return torch.stack([made[kind](k) for k, kind in enumerate(self.kinds)]).to(x.dtype)

    def _decomposed(self, given: Tensor, delta: Tensor) -> Tensor:
        """DoRA: (m/|W + sBA| - 1) Wx + m/|W + sBA| sBAx, the norm by row and without gradient (PEFT, lora/dora.py)."""
        assert self.a is not None
        assert self.b is not None
        assert self.magnitude is not None
        with torch.no_grad():
            weight, a, b = self.base.weight.float(), self.a.float(), self.b.float()
            cross = (b * (a @ weight.T).mT).sum(-1)
            own = ((b @ (a @ a.mT)) * b).sum(-1)
            scale = self.scale.view(-1, 1)
            norm = (weight.square().sum(1) + 2 * scale * cross + scale.square() * own).clamp_min(0).sqrt()
        ratio = (self.magnitude / norm).unsqueeze(1).to(given.dtype)
        whole = (ratio - 1) * functional.linear(given, self.base.weight) + ratio * delta
        return torch.where(self.dora.view(-1, 1, 1), whole, delta)


class Stack:
    """A model with arms in it. `close` gives the model back as it was."""

    def __init__(self, model: nn.Module, arms: Iterable[Arm]) -> None:
        self.model = model.requires_grad_(requires_grad=False)
        self.arms = tuple(arms)
        self.modules: dict[str, Adapted] = {}
        linear = [(name, one) for name, one in model.named_modules() if isinstance(one, nn.Linear)]
        wanted = [(name, one) for name, one in linear if any(arm.hits(name) for arm in self.arms)]
        for number, (name, one) in enumerate(wanted):
            hit = torch.tensor([arm.hits(name) for arm in self.arms], device=one.weight.device)
            self.modules[name] = Adapted(one, self.arms, hit, self.arms[0].seed + number)
            _put(model, name, self.modules[name])
        self.slots = tuple(_slots(self.modules, max(arm.rank for arm in self.arms)))
        self.weights = self._first_weights().requires_grad_()

    def __call__(self, tokens: Tensor) -> Tensor:
        """tokens: [rows, tokens] -> logits of every arm, [arms * rows, tokens, vocab]."""
        parts = self.weights.split([slot.size for slot in self.slots], dim=1)
        for slot, part in zip(self.slots, parts, strict=True):
            name = {"A": "a", "B": "b", "m": "magnitude"}[slot.part]
            setattr(self.modules[slot.module], name, part.view(-1, *slot.shape))
        try:
            out: Tensor = self.model(tokens.repeat(len(self.arms), 1))
            return out
        finally:
            for one in self.modules.values():
                one.a = one.b = one.magnitude = None

    @torch.no_grad()
    def frozen(self, tokens: Tensor) -> Tensor:
        """tokens: [rows, tokens] -> logits of the base alone, [rows, tokens, vocab]."""
        out: Tensor = self.model(tokens)
        return out

    def close(self) -> None:
        """Put the model's own layers back."""
        for name, one in self.modules.items():
            _put(self.model, name, one.base)

    def _first_weights(self) -> Tensor:
        """PEFT's start: A uniform in +-1/sqrt(in), or normal with std 1/rank where gaussian; B zero; m = |W| by row."""
        device = next(iter(self.modules.values())).base.weight.device if self.modules else "cpu"
        rows = torch.zeros(len(self.arms), sum(slot.size for slot in self.slots))
        for number, slot in enumerate(self.slots):
            for row, arm in zip(slot.of(rows), self.arms, strict=True):
                if slot.part == "m":
                    row.copy_(self.modules[slot.module].base.weight.float().norm(dim=1))
                elif slot.part == "A" and arm.hits(slot.module):
                    row[: arm.rank] = _first_a(arm, slot.shape[1], number)
        return rows.to(device)


def _first_a(arm: Arm, width: int, number: int) -> Tensor:
    generator = torch.Generator().manual_seed(1000 * arm.seed + number)
    if arm.init == "gaussian":
        return torch.randn(arm.rank, width, generator=generator) / arm.rank
    return (torch.rand(arm.rank, width, generator=generator) * 2 - 1) / sqrt(width)


def _slots(modules: dict[str, Adapted], rank: int) -> Iterable[Slot]:
    start = 0
    for name, one in modules.items():
        out, width = one.base.weight.shape
        parts: list[tuple[str, tuple[int, ...]]] = [("A", (rank, width)), ("B", (out, rank))]
        for part, shape in [*parts, ("m", (out,))] if one.any_dora else parts:
            yield (slot := Slot(name, part, start, shape))
            start += slot.size


def _put(model: nn.Module, name: str, module: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, module)
