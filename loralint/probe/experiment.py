"""One config's arms over one base: the ramp and the run's own course, and control arms where those give cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, log
from time import monotonic
from typing import NamedTuple

from torch import Tensor

from loralint.facts.need import Missing
from loralint.probe.arm import Arm
from loralint.probe.base import LEAST_KNOWN, Base, loss_of
from loralint.probe.plan import Plan
from loralint.probe.ramp import CROSSING, STEPS, Edge, edge, ramp
from loralint.probe.reach import far
from loralint.probe.schedule import factor
from loralint.probe.stack import Stack
from loralint.probe.statistics import Inputs, Read, Spectrum, measure_inputs, spectra, tell_medians
from loralint.probe.toy import edge_for
from loralint.probe.train import Trace, Watch, train
from loralint.probe.verdict import NOT_LEARNING, STABLE, Band, Verdict, band, judge, with_fewer_rows

_HOPELESS = 3.0  # nats above the base at two steps, after which an arm is taken out
_INPUTS_READ = 8  # batches


class Outcome(NamedTuple):
    """course: the run's own schedule squeezed into the probe's steps. found: the edge of the ramp. judged: the one that
    the verdict rests on, see `edge_for`. reached: see `far`. edges: of the control arms, by name. stopped: why it
    ended early ("" if it did not). verdict: None where the ramp ended early or was of another
    length, which moves where it breaks. steps: of the ramp, or as far as it came where it was stopped; an arm that was
    taken out as hopeless did fewer. seconds: of the clock. silent: modules whose adapters never got a gradient.
    """

    steps: int
    ramp: Trace
    course: Trace
    found: Edge
    judged: Edge
    verdict: Verdict | None
    own: Band
    reached: float | None
    edges: dict[str, Edge]
    inputs: list[Inputs]
    spectra: list[Spectrum]
    silent: tuple[str, ...]
    base_loss: float
    stopped: str
    seconds: float


class Limits(NamedTuple):
    """How long a probe may take."""

    steps: int = STEPS
    seconds: float = float("inf")
    progress: Callable[[int], None] = lambda _: None


def experiment(plan: Plan, base: Base, limits: Limits, *, controls: bool = True, svd: bool = False) -> Outcome:
    """Run the arms. controls: also what tells causes apart, where the word is not STABLE. svd: also an arm from an SVD.

    Raises Missing where the base or the targets allow no verdict.
    """
    start, loss = monotonic(), loss_of(base)
    _refuse_ignorant(base, loss)
    watch = Watch(limits.progress, start + limits.seconds)
    rows = base.rows_for(plan.rows)
    batches = base.batches(limits.steps, rows, plan.arm.seed)
    arm, rates = plan.arm._replace(gain=base.gain), ramp(plan.arm.optimizer, limits.steps)
    stack = Stack(base.model, (arm, arm))
    try:
        if not stack.modules:
            raise Missing(f"no layer of {base.title} is among the targets")
        read = measure_inputs(stack, watch.in_time(batches[:_INPUTS_READ]))
        traces, stopped = train(
            stack,
            batches,
            lambda step: (rates[step], _course(plan, step, limits.steps)),
            watch,
            enough=_HOPELESS,
            frozen=read.losses,
        )
        learnt_spectra, broken_off = _spectra(stack)
        silent = _silent(stack) if traces[1].losses else ()
        tried = rates if stopped else rates[: len(traces[0].losses)]  # a ramp that was taken out gains no more
        reached = _reached(base.kind, plan, tried, traces[0], stack)
    finally:
        stack.close()
    found = edge(rates, traces[0].losses)
    own = with_fewer_rows(band(base.kind, plan.arm.optimizer, plan.model), plan.rows, rows)
    judged = edge_for(base.kind, plan.arm, found, limits.steps)
    whole = not stopped or judged is not found
    told = limits.steps == STEPS and traces[0].losses
    verdict = judge(plan, judged, own, reached, whole=whole) if told else None
    steps = max(len(trace.losses) for trace in traces) if stopped else limits.steps
    stopped = stopped or broken_off
    edges: dict[str, Edge] = {}
    others = _others(arm, verdict) if controls and verdict is not None else {}
    others |= {"svd": arm._replace(init="svd")} if svd and not arm.dora else {}
    if others and not stopped:
        try:
            edges, stopped = _controls(others, base, batches, watch, read)
        except KeyboardInterrupt:  # before or after they train, which heeds it itself
            stopped = "interrupted during the controls"
    parts = (read.inputs, learnt_spectra, silent, loss, stopped, monotonic() - start)
    return Outcome(steps, traces[0], traces[1], found, judged, verdict, own, reached, edges, *parts)


def _spectra(stack: Stack) -> tuple[list[Spectrum], str]:
    """Those of the course, or none and that Ctrl-C came, which leaves what was found before."""
    try:
        return spectra(stack, 1), ""
    except KeyboardInterrupt:
        return [], "interrupted during the spectra"


def _reached(kind: str, plan: Plan, rates: Sequence[float], trace: Trace, stack: Stack) -> float | None:
    return far(kind, plan, rates, trace.losses, trace.norms[0], entries_of_b(stack)) if trace.norms else None


def _refuse_ignorant(base: Base, loss: float) -> None:
    """Raises Missing for a base that nothing can break, or that is broken."""
    if not isfinite(loss):
        raise Missing(f"the loss of {base.title} itself is not finite, before any adapter: its weights are broken")
    below = log(base.vocabulary) - loss
    if below < LEAST_KNOWN:
        raise Missing(
            f"{base.title} knows too little of the text: its loss of {loss:.1f} nats lies {max(0.0, below):.1f} below "
            f"chance, and from {LEAST_KNOWN} on a ramp tells what breaks"
        )


def _course(plan: Plan, step: int, steps: int) -> float:
    return plan.arm.lr * factor(plan.schedule, (step + 0.5) / steps)


def _others(arm: Arm, verdict: Verdict) -> dict[str, Arm]:
    """Control arms, where the word asks for a cause: with its inputs changed, and in fp32 where the run stores
    them in less. Inputs are no cause of not learning; and what starts from an SVD holds a part of the base, which
    other inputs break before the first step.
    """
    if verdict.word == STABLE:
        return {}
    kinds = () if verdict.word == NOT_LEARNING or arm.init == "svd" else ("scale", "l2", "module")
    arms = {kind: arm._replace(inputs=kind) for kind in kinds}
    return arms | ({"fp32": arm._replace(stored="fp32")} if arm.stored != "fp32" else {})


def _controls(
    arms: dict[str, Arm], base: Base, batches: Sequence[Tensor], watch: Watch, read: Read
) -> tuple[dict[str, Edge], str]:
    """The ramp again with other arms."""
    rates = ramp(next(iter(arms.values())).optimizer, len(batches))
    stack = Stack(base.model, arms.values())
    try:
        tell_medians(stack, read.medians)
        same = [[rate] * len(arms) for rate in rates]
        # What they are for is known once they cross, so they need not go on until they are hopeless.
        traces, stopped = train(
            stack, batches, same.__getitem__, watch, enough=CROSSING, frozen=read.losses, closely=False
        )
    finally:
        stack.close()
    if stopped:
        return {}, stopped
    return {name: edge(rates, trace.losses) for name, trace in zip(arms, traces, strict=True)}, ""


def entries_of_b(stack: Stack) -> int:
    """Numbers in B of all modules of one arm."""
    return sum(slot.size for slot in stack.slots if slot.part == "B")


def _silent(stack: Stack) -> tuple[str, ...]:
    """Modules whose B is still all zeros, so that no step ever reached them."""
    return tuple(name for name, (_, b) in stack.learnt_by(0).items() if not b.any())
