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

from loralint.probe.adapted import Adapted
from loralint.probe.arm import Arm

# Of larger matrices only the largest singular values are computed, as PEFT's pissa_niter_16 does it.
_EXACT, _ROUNDS = 256, 16


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


Learnt = dict[str, tuple[Tensor, Tensor]]


class Stack:
    """A model with arms in it. `close` gives the model back as it was.

    given: all arms that it was made with. arms: those still in it, row by row. numbers: which of the given these are.
    """

    def __init__(self, model: nn.Module, arms: Iterable[Arm]) -> None:
        self.model = model.requires_grad_(requires_grad=False)
        self.given = self.arms = tuple(arms)
        self.numbers = tuple(range(len(self.arms)))
        self._gone: dict[int, Learnt] = {}
        self.modules: dict[str, Adapted] = {}
        linear = [(name, one) for name, one in model.named_modules() if isinstance(one, nn.Linear)]
        wanted = [(name, one) for name, one in linear if any(arm.hits(name) for arm in self.arms)]
        for number, (name, one) in enumerate(wanted):
            hit = torch.tensor([arm.hits(name) for arm in self.arms], device=one.weight.device)
            self.modules[name] = Adapted(one, self.arms, hit, self.arms[0].seed + number)
            _put(model, name, self.modules[name])
        self.slots = tuple(_slots(self.modules, max(arm.rank for arm in self.arms)))
        self.weights = self._first_weights().requires_grad_()
        if any(arm.init == "svd" for arm in self.arms):
            self._keep_start()

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

    @torch.no_grad()
    def keep_only(self, rows: list[int]) -> None:
        """Take all arms but these rows out, which spares their time; what those learnt is kept for `learnt_by`."""
        out = [row for row in range(len(self.arms)) if row not in rows]
        every = learnt(self)
        for row in out:
            self._gone[self.numbers[row]] = {name: (a[row].clone(), b[row].clone()) for name, (a, b) in every.items()}
        self.numbers = tuple(self.numbers[row] for row in rows)
        self.arms = tuple(self.arms[row] for row in rows)
        self.weights = self.weights.detach()[rows].requires_grad_()
        for one in self.modules.values():
            one.keep_only(rows)

    def learnt_by(self, number: int) -> Learnt:
        """A [k, in] and B [out, k] of one arm in every module, see `learnt`, where it stands or was taken out."""
        if number in self._gone:
            return self._gone[number]
        row = self.numbers.index(number)
        return {name: (a[row], b[row]) for name, (a, b) in learnt(self).items()}

    def close(self) -> None:
        """Put the model's own layers back."""
        for name, one in self.modules.items():
            _put(self.model, name, one.base)

    def _keep_start(self) -> None:
        from_svd = torch.tensor([arm.init == "svd" for arm in self.arms], device=self.weights.device).view(-1, 1, 1)
        for a, b in zip(self.slots, self.slots[1:], strict=False):
            if (a.part, b.part) == ("A", "B"):
                kept = (slot.of(self.weights.detach()) * from_svd for slot in (a, b))
                self.modules[a.module].start = (next(kept), next(kept))

    def _first_weights(self) -> Tensor:
        """PEFT's start: A uniform in +-1/sqrt(in), or normal with std 1/rank where gaussian; B zero; m = |W| by row.

        With svd, A and B share W's largest singular values (PiSSA, arXiv:2404.02948, peft/tuners/lora/layer.py).
        """
        device = next(iter(self.modules.values())).base.weight.device if self.modules else "cpu"
        rows = torch.zeros(len(self.arms), sum(slot.size for slot in self.slots))
        for number, slot in enumerate(self.slots):
            for row, arm in zip(slot.of(rows), self.arms, strict=True):
                if slot.part == "m":
                    row.copy_(self.modules[slot.module].base.weight.float().norm(dim=1))
                elif arm.init == "svd" and arm.hits(slot.module):
                    part = _largest(self.modules[slot.module].base.weight, arm)[slot.part == "B"]
                    row[: part.shape[0], : part.shape[1]] = part
                elif slot.part == "A" and arm.hits(slot.module):
                    row[: arm.rank] = _first_a(arm, slot.shape[1], number)
        return rows.to(device)


def _first_a(arm: Arm, width: int, number: int) -> Tensor:
    generator = torch.Generator().manual_seed(1000 * arm.seed + number)
    if arm.init == "gaussian":
        return torch.randn(arm.rank, width, generator=generator) / arm.rank
    return (torch.rand(arm.rank, width, generator=generator) * 2 - 1) / sqrt(width)


def learnt(stack: Stack) -> Learnt:
    """A [arms, k, in] and B [arms, out, k] of every module, whose BA is what the arms learnt since the start."""
    pairs = {(slot.module, slot.part): slot.of(stack.weights.detach()) for slot in stack.slots}
    found = {}
    for name, one in stack.modules.items():
        a, b = pairs[name, "A"], pairs[name, "B"]
        if one.start is not None:
            a, b = torch.cat((a, -one.start[0]), 1), torch.cat((b, one.start[1]), 2)
        found[name] = (a, b)
    return found


def _largest(weight: Tensor, arm: Arm) -> tuple[Tensor, Tensor]:
    """A [rank, in] and B [out, rank] with s BA the closest to W of that rank, the singular values in equal parts."""
    matrix = weight.detach().float().cpu()
    if min(matrix.shape) <= _EXACT:
        left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    else:
        with torch.random.fork_rng([]):
            torch.manual_seed(arm.seed)
            left, values, across = torch.svd_lowrank(matrix, arm.rank, niter=_ROUNDS)
        right = across.mT
    root = (values[: arm.rank] / arm.scale).sqrt()
    return root.unsqueeze(1) * right[: arm.rank], left[:, : arm.rank] * root


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
