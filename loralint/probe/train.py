"""The loop: every arm of a stack over the same batches, with what each step showed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

import torch
from torch import Tensor

from loralint.probe.held import held_back
from loralint.probe.loss import token_loss
from loralint.probe.optimizers import Optimizer
from loralint.probe.stack import Slot, Stack, learnt

Rates = Callable[[int], Sequence[float]]


class Trace(NamedTuple):
    """One arm, step by step: rate of A, loss less the frozen base's on the same batch (nats), norm of the gradient,
    share of entries that rounding left unmoved, and the largest |s dBA| / |W| of its modules.

    broken: the first step whose loss or gradient was not finite, and the tensor; (-1, "") for none. A value that is not
    finite stands as inf.
    """

    rates: list[float]
    losses: list[float]
    norms: list[float]
    unmoved: list[float]
    ratios: list[float]
    broken: tuple[int, str] = (-1, "")


class Watch(NamedTuple):
    """Who hears of each step, and the clock time (`time.monotonic`) at which to stop."""

    progress: Callable[[int], None] = lambda _: None
    until: float = math.inf

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return monotonic() > self.until

    def in_time(self, batches: Iterable[Tensor]) -> Iterator[Tensor]:
        """The first batch, and others while there is time."""
        for number, batch in enumerate(batches):
            if number and self.over:
                return
            yield batch


def train(
    stack: Stack,
    batches: Sequence[Tensor],
    rates: Rates,
    watch: Watch | None = None,
    *,
    enough: float = math.inf,
    frozen: list[float] | None = None,
    closely: bool = True,
) -> tuple[list[Trace], str]:
    """Train all arms over `batches` ([rows, tokens] each); their traces, and why it stopped early ("" if it did not).

    rates: for a step, the rate of every arm, those that were taken out included. enough: an arm is taken out once its
    loss stood so far above the base's at its last two steps, and with the last one it ends. frozen: the base's losses
    on the first of the batches, where they are known; grows by the others. closely: also what of the trace is no loss,
    rate or norm, for up to a quarter of a step's time; else those stay
    empty. Ctrl-C stops too.
    """
    frozen = [] if frozen is None else frozen
    watch, optimizer = watch or Watch(), Optimizer(stack, counts=closely)
    traces = [Trace([], [], [], [], []) for _ in stack.arms]
    for step, batch in enumerate(batches):
        if watch.over:
            return traces, f"stopped after {step} of {len(batches)} steps: the time given is over"
        try:
            if step == len(frozen):
                frozen.append(token_loss(stack.frozen(batch), batch).item())
            _step(stack, optimizer, batch, rates(step), traces, frozen[step])
            if closely:
                _look_closely(stack, optimizer, traces)
            watch.progress(1)
            if not _keep_hopeful(stack, optimizer, traces, enough):
                break
        except KeyboardInterrupt:
            live = [traces[number] for number in stack.numbers]
            whole = min(len(trace.ratios if closely else trace.norms) for trace in live)
            return [_cut(trace, whole) for trace in traces], f"interrupted after {whole} of {len(batches)} steps"
    return traces, ""


def _keep_hopeful(stack: Stack, optimizer: Optimizer, traces: list[Trace], enough: float) -> bool:
    """Take out the arms that have shown enough; False, and none is, where that would be all."""
    latest = [traces[number].losses[-2:] for number in stack.numbers]
    rows = [row for row, losses in enumerate(latest) if len(losses) < 2 or min(losses) <= enough]
    if rows and len(rows) < len(latest):
        with held_back():  # half a change would show one arm's weights as another's
            stack.keep_only(rows)
            optimizer.keep_only(rows)
    return bool(rows)


def _step(
    stack: Stack, optimizer: Optimizer, batch: Tensor, rates: Sequence[float], traces: list[Trace], base: float
) -> None:
    losses = token_loss(stack(batch), batch, len(stack.arms))
    losses.sum().backward()
    broken = _broken(stack, losses)
    rates = [rates[number] for number in stack.numbers]
    norms = optimizer.step(torch.tensor(rates)).tolist()
    for k, number in enumerate(stack.numbers):
        trace = traces[number]
        if broken[k] and trace.broken[0] < 0:
            traces[number] = trace._replace(broken=(len(trace.losses), broken[k]))
        trace.rates.append(rates[k])
        trace.losses.append(_finite(losses[k].item() - base))
        trace.norms.append(_finite(norms[k]))


def _look_closely(stack: Stack, optimizer: Optimizer, traces: list[Trace]) -> None:
    for number, share, ratio in zip(
        stack.numbers, optimizer.unmoved.tolist(), update_ratios(stack).tolist(), strict=True
    ):
        traces[number].unmoved.append(share)
        traces[number].ratios.append(_finite(ratio))


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.inf


def _cut(trace: Trace, whole: int) -> Trace:
    """The trace without what a step that was broken off left in it."""
    rates, losses, norms, unmoved, ratios = (one[:whole] for one in trace[:5])
    return Trace(rates, losses, norms, unmoved, ratios, trace.broken)


def _broken(stack: Stack, losses: Tensor) -> list[str]:
    """Of every arm the first tensor that is not finite: "loss" or the gradient of a module's matrix; "" for none."""
    gradient = stack.weights.grad
    assert gradient is not None
    found = ["" if fine else "loss" for fine in losses.isfinite().tolist()]
    # A sum is finite only where its terms are, and costs one pass; one that overflows is looked at like a NaN.
    for k, fine in enumerate(gradient.sum(1).isfinite().tolist()):
        if not fine and not found[k]:
            bad = (_title(slot) for slot in stack.slots if not slot.of(gradient[k : k + 1]).isfinite().all())
            found[k] = next(bad, "")
    return found


def _title(slot: Slot) -> str:
    return f"{slot.module}.{'magnitude' if slot.part == 'm' else 'lora_' + slot.part}"


@torch.no_grad()
def update_ratios(stack: Stack) -> Tensor:
    """The largest |s BA| / |W| (Frobenius) over the modules of every arm, [arms]; BA since the start."""
    largest = torch.zeros(len(stack.arms), device=stack.weights.device)
    for name, (a, b) in learnt(stack).items():
        module = stack.modules[name]
        size = ((b.mT @ b) * (a @ a.mT)).sum((1, 2)).clamp_min(0).sqrt() * module.scale.flatten()
        ratio = torch.nan_to_num(size / module.size, nan=math.inf)
        largest = torch.maximum(largest, ratio)
    return largest
