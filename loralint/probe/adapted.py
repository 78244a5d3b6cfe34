"""A frozen linear layer with a row of adapters, each of an arm of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from loralint.probe.arm import Arm

_TINY = 1e-6


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
        self.start: tuple[Tensor, Tensor] | None = None  # A and B whose product the base is short of (SVD)
        self.median: float | None = None  # of the norms of this module's inputs
        self.middle: float | None = None  # of the medians of all modules

    def keep_only(self, rows: list[int]) -> None:
        """Go on with these arms alone, by their present rows."""
        self.arms, self.kinds = len(rows), tuple(self.kinds[row] for row in rows)
        self.scale, self.keep, self.dora = self.scale[rows], self.keep[rows], self.dora[rows]
        if self.start is not None:
            self.start = (self.start[0][rows], self.start[1][rows])

    def forward(self, x: Tensor) -> Tensor:
        """x: [arms * rows, tokens, in] or, without adapters, [rows, tokens, in]."""
        out: Tensor = self.base(x)
        if self.norms is not None:
            self.norms.append(x.detach().float().norm(dim=-1).flatten())
        if self.a is None or self.b is None:
            return out
        given = self._given(x.reshape(self.arms, -1, x.shape[-1]))
        low = torch.bmm(given, self.a.to(given.dtype).mT) * self.scale.to(given.dtype)
        b = self.b.to(given.dtype).mT
        if self.start is None and not self.any_dora:
            return torch.baddbmm(out.view(self.arms, -1, out.shape[-1]), low, b).view_as(out)
        delta = torch.bmm(low, b)
        if self.start is not None:
            delta = delta - self._residual(x.reshape(self.arms, -1, x.shape[-1]))
        if self.any_dora:
            delta = self._decomposed(given, delta)
        return out + delta.view_as(out)

    def _given(self, x: Tensor) -> Tensor:
        """What A sees, [arms, tokens, in]: dropout as in PEFT, by one draw for all arms, so that none depends on which
        others there are; and the changes of control arms.
        """
        if any(kind != "plain" for kind in self.kinds):
            x = x * self._factors(x)
        if self.drops:
            kept = torch.rand(x.shape[1:], generator=self.generator, device=x.device) < self.keep
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

    def _residual(self, x: Tensor) -> Tensor:
        """What the frozen weights of arms from an SVD are short of: the s BA that those started with."""
        assert self.start is not None
        a, b = (one.to(x.dtype) for one in self.start)
        return torch.bmm(torch.bmm(x, a.mT), b.mT) * self.scale.to(x.dtype)

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
