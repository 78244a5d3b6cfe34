"""The optimizers, each over rows of entries with a rate, a clip and settings of its own for every arm.

Held by tests to torch's AdamW and SGD, Transformers' Adafactor and the published Lion to five digits of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from loralint.probe.arm import Arm
from loralint.probe.stack import Slot, Stack

_FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
# Transformers' Adafactor as its Trainer makes it: no relative step, no scaling by the weights
_DECAY, _CLIP, _FLOOR = -0.8, 1.0, 1e-30
_PIECE = 1 << 16  # entries


class Optimizer:
    """Steps the weights of a stack; `unmoved` then holds the share of each arm's entries with a gradient
    that rounding left as they were, where it `counts` them.
    """

    def __init__(self, stack: Stack, *, counts: bool = True) -> None:
        self._stack, self._counts = stack, counts
        self._steps = 0
        self._is_b = torch.cat([torch.full((slot.size,), slot.part != "A") for slot in stack.slots])
        self._is_b = self._is_b.to(stack.weights.device)
        self._state: dict[str, Tensor] = {}
        self._see_arms()
        with torch.no_grad():
            self._stored(stack.weights, stack.arms)

    def _see_arms(self) -> None:
        arms = self._stack.arms
        self._groups = list(_groups(arms))
        self._rounds = self._counts and any(arm.stored != "fp32" for arm in arms)
        self.unmoved = torch.zeros(len(arms))

    def keep_only(self, rows: list[int]) -> None:
        """Go on with these rows alone, which are all that the stack still has; see `Stack.keep_only`."""
        for name, own in self._groups:
            before = list(range(len(self.unmoved)))[own] if isinstance(own, slice) else own
            still = [place for place, row in enumerate(before) if row in rows]
            for key in [key for key in self._state if key.startswith(f"{name} ")]:
                self._state[key] = self._state[key][still]
        self._see_arms()

    @torch.no_grad()
    def step(self, rates: Tensor) -> Tensor:
        """Take one step; the gradient norm of every arm before clipping, [arms]. rates: that of A for every arm."""
        weights, gradient = self._stack.weights, self._stack.weights.grad
        assert gradient is not None
        arms, self._steps = self._stack.arms, self._steps + 1
        gradient = self._stored(gradient, arms)
        norms = _norms(gradient)
        clips = _column([arm.clip for arm in arms], weights)
        gradient.mul_((clips / (norms.unsqueeze(1) + 1e-6)).clamp(max=1.0))
        rate = self._rate(rates.to(weights.device).unsqueeze(1), arms)
        before = weights.clone() if self._rounds else weights
        for name, rows in self._groups:
            own = arms if isinstance(rows, slice) else tuple(arms[row] for row in rows)
            weights[rows] = self._stored(_RULES[name](weights[rows], gradient[rows], rate[rows], own, self), own)
        if self._rounds:
            moving = gradient != 0
            self.unmoved = ((weights == before) & moving).sum(1) / moving.sum(1).clamp_min(1)
        self._stack.weights.grad = None
        return norms

    def _rate(self, rates: Tensor, arms: tuple[Arm, ...]) -> Tensor:
        """Of every entry, [arms, entries], or [arms, 1] where B's is that of A."""
        if all(arm.lr_ratio == 1 for arm in arms):
            return rates
        return rates * torch.where(self._is_b, _column([arm.lr_ratio for arm in arms], rates), 1.0)

    def state(self, name: str, like: Tensor) -> Tensor:
        """A tensor that lasts from step to step, zeros at first."""
        if name not in self._state:
            self._state[name] = torch.zeros_like(like)
        return self._state[name]

    def keep(self, name: str, value: Tensor, arms: tuple[Arm, ...]) -> Tensor:
        """Store a state in the arms' formats and give it back as it now is."""
        self._state[name] = value = self._stored(value, arms)
        return value

    @property
    def steps(self) -> int:
        """Steps taken, the present one included."""
        return self._steps

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Where the tensors lie in a row."""
        return self._stack.slots

    def _stored(self, rows: Tensor, arms: tuple[Arm, ...]) -> Tensor:
        """The rows, in fp32, rounded to each arm's format where they stand."""
        for row, arm in zip(rows, arms, strict=True):
            if arm.stored != "fp32":
                row.copy_(row.to(_FORMATS[arm.stored]))
        return rows


_Rule = Callable[[Tensor, Tensor, Tensor, tuple[Arm, ...], Optimizer], Tensor]


def _groups(arms: tuple[Arm, ...]) -> Iterator[tuple[str, list[int] | slice]]:
    """The rows of each optimizer; a slice, which copies nothing, where one has them all."""
    names = list(dict.fromkeys(arm.optimizer for arm in arms))
    for name in names:
        yield name, slice(None) if len(names) == 1 else [row for row, arm in enumerate(arms) if arm.optimizer == name]


def _norms(rows: Tensor) -> Tensor:
    """The norm of every row, [arms], piece by piece: one fp32 sum over 100 million entries is off by a per cent."""
    return torch.stack([piece.norm(dim=1) for piece in rows.split(_PIECE, dim=1)]).norm(dim=0)


def _column(values: list[float], like: Tensor) -> Tensor:
    """[arms, 1]."""
    return torch.tensor(values, device=like.device, dtype=torch.float32).unsqueeze(1)


def _decay(weights: Tensor, rate: Tensor, arms: tuple[Arm, ...]) -> None:
    if any(arm.weight_decay for arm in arms):
        weights.mul_(1 - rate * _column([arm.weight_decay for arm in arms], weights))


def _adamw(weights: Tensor, gradient: Tensor, rate: Tensor, arms: tuple[Arm, ...], optimizer: Optimizer) -> Tensor:
    beta1, beta2 = (_column([arm.beta1 for arm in arms], weights), _column([arm.beta2 for arm in arms], weights))
    eps = _column([torch.tensor(arm.eps).to(_FORMATS[arm.stored]).item() for arm in arms], weights)
    first = optimizer.state("adamw first", weights).lerp_(gradient, 1 - beta1)
    second = optimizer.state("adamw second", weights).lerp_(gradient.square(), 1 - beta2)
    first = optimizer.keep("adamw first", first, arms)
    second = optimizer.keep("adamw second", second, arms)
    # Both corrections of the bias stand in the rate and in eps: small columns, where the moments are whole rows.
    root = (1 - beta2**optimizer.steps).sqrt()
    size = second.sqrt().add_(eps * root)
    _decay(weights, rate, arms)
    # 0/0 where eps is 0 in the arm's format, as in a real run
    return weights.sub_(torch.div(first, size, out=size).mul_(rate * root / (1 - beta1**optimizer.steps)))


def _sgd(weights: Tensor, gradient: Tensor, rate: Tensor, arms: tuple[Arm, ...], optimizer: Optimizer) -> Tensor:
    if any(arm.weight_decay for arm in arms):
        gradient = gradient + weights * _column([arm.weight_decay for arm in arms], weights)
    if any(arm.momentum for arm in arms):
        kept = optimizer.state("sgd kept", weights) * _column([arm.momentum for arm in arms], weights)
        gradient = optimizer.keep("sgd kept", kept + gradient, arms)
    return weights.sub_(gradient * rate)


def _lion(weights: Tensor, gradient: Tensor, rate: Tensor, arms: tuple[Arm, ...], optimizer: Optimizer) -> Tensor:
    beta1, beta2 = (_column([arm.beta1 for arm in arms], weights), _column([arm.beta2 for arm in arms], weights))
    kept = optimizer.state("lion kept", weights)
    step = kept.lerp(gradient, 1 - beta1).sign_()
    optimizer.keep("lion kept", kept.lerp_(gradient, 1 - beta2), arms)
    _decay(weights, rate, arms)
    return weights.sub_(step.mul_(rate))


def _adafactor(weights: Tensor, gradient: Tensor, rate: Tensor, arms: tuple[Arm, ...], optimizer: Optimizer) -> Tensor:
    beta = 1 - optimizer.steps**_DECAY
    step = torch.empty_like(weights)
    for slot in optimizer.slots:
        own = slot.of(gradient)
        made = _factored(own, slot, beta, optimizer) if len(slot.shape) > 1 else _whole(own, slot, beta, optimizer)
        real = _column([_entries(slot, arm) for arm in arms], weights).view(-1, *(1 for _ in slot.shape))
        size = (made.square().sum(tuple(range(1, made.ndim)), keepdim=True) / real).sqrt()
        slot.of(step).copy_(made / (size / _CLIP).clamp_min(1.0))
    _decay(weights, rate, arms)
    return weights.sub_(step.mul_(rate))


def _factored(gradient: Tensor, slot: Slot, beta: float, optimizer: Optimizer) -> Tensor:
    """The gradient over the root of its factored second moment; zeros that pad the rank cancel in the product."""
    square = gradient.square() + _FLOOR
    by_row = _running(optimizer, f"{slot.start} row", square.mean(-1), beta)
    by_column = _running(optimizer, f"{slot.start} column", square.mean(-2), beta)
    rows = (by_row / by_row.mean(-1, keepdim=True)).rsqrt().unsqueeze(-1)
    return gradient * rows * by_column.rsqrt().unsqueeze(-2)


def _whole(gradient: Tensor, slot: Slot, beta: float, optimizer: Optimizer) -> Tensor:
    return gradient * _running(optimizer, f"{slot.start} whole", gradient.square() + _FLOOR, beta).rsqrt()


def _running(optimizer: Optimizer, key: str, value: Tensor, beta: float) -> Tensor:
    kept = optimizer.state(f"adafactor {key}", value)
    return kept.mul_(beta).add_(value, alpha=1 - beta)


def _entries(slot: Slot, arm: Arm) -> int:
    """Entries without the padding of the rank."""
    if slot.part == "m":
        return slot.size
    return arm.rank * (slot.shape[1] if slot.part == "A" else slot.shape[0])


_RULES: dict[str, _Rule] = {"adamw": _adamw, "sgd": _sgd, "lion": _lion, "adafactor": _adafactor}
