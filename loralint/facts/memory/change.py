"""What would make a run fit: changes of settings that cost the result nothing or little, each worked out anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

from loralint.facts.memory.answers import Range, span
from loralint.facts.memory.plan import Plan
from loralint.facts.memory.weights import eight_bit, four_bit, state_width

_MOST = 3
_USABLE = 0.92  # of a T4's nominal 16 GiB torch can use 14.7: ECC and the driver take the rest; of other cards less
_SHORTEST = 512  # tokens; below it a row of text is seldom whole


class Change(NamedTuple):
    """A setting to write, as `field=value`, and what it makes of a plan; None where it changes nothing."""

    setting: str
    apply: Callable[[Plan], Plan | None]


class Remedy(NamedTuple):
    """Settings to write, as `field=value` with commas between, and the band that they bring a run to."""

    settings: str
    band: Range


def remedies(lean: Plan, rich: Plan, limit: float, can: Callable[[str], bool] = lambda _: True) -> Iterator[Remedy]:
    """Changes by which the whole band fits a card of nominally `limit` GiB: the fewest first, and the mildest of those.

    Up to three at a time, of those whose settings the run `can` have.
    """
    possible = list(_possible(lean, can))
    for count in range(1, min(_MOST, len(possible)) + 1):
        for chosen in combinations(possible, count):
            found = _with(chosen, lean, rich)
            if holds(found.band, limit):
                yield found


def holds(band: Range, limit: float) -> bool:
    """Whether the whole band is within what torch can use of a card of nominally `limit` GiB."""
    return band.high <= limit * _USABLE


def _with(chosen: tuple[Change, ...], lean: Plan, rich: Plan) -> Remedy:
    for one in chosen:
        lean, rich = one.apply(lean) or lean, one.apply(rich) or rich
    return Remedy(",".join(one.setting for one in chosen), span(lean, rich))


def _possible(plan: Plan, can: Callable[[str], bool]) -> Iterator[Change]:
    """Mildest first: the same result slower, then the same within rounding, then another base, then cut rows."""
    halved = max(_SHORTEST, plan.step.length // 2)
    passes = plan.step.passes * plan.step.rows // plan.step.each
    every = (
        Change("memory.gradient_checkpointing=true", _checkpointing),
        Change("model.attention=sdpa", _fused_attention),
        Change(f"batch.micro=1,batch.accumulation={passes}", _one_row),
        Change("kernel.liger=true", _fused_loss),
        Change("optim.name=paged_adamw_8bit", _paged),
        Change("quant.bits=4", _four_bit),
        Change(f"data.sequence_len={halved}", lambda one: _shorter(one, halved)),
    )
    return (one for one in every if one.apply(plan) is not None and can(one.setting))


def _checkpointing(plan: Plan) -> Plan | None:
    return None if plan.step.checkpointed else plan._replace(step=plan.step._replace(checkpointed=True))


def _fused_attention(plan: Plan) -> Plan | None:
    return None if plan.step.attention == "fused" else plan._replace(step=plan.step._replace(attention="fused"))


def _one_row(plan: Plan) -> Plan | None:
    """One row a pass, and more passes for one step, so that gradients wait from pass to pass."""
    step = plan.step
    if step.rows <= step.each:
        return None
    passes = step.passes * step.rows // step.each
    return plan._replace(step=step._replace(rows=step.each, passes=passes, masked=step.masked and step.each > 1))


def _fused_loss(plan: Plan) -> Plan | None:
    return None if plan.step.fused_loss else plan._replace(step=plan.step._replace(fused_loss=True))


def _paged(plan: Plan) -> Plan | None:
    """Where state is what takes the memory: adapters have little of it."""
    trained = plan.trained
    if not trained.full or trained.states <= state_width(2, 8):
        return None
    return plan._replace(trained=trained._replace(states=state_width(2, 8), scratch=0))


def _four_bit(plan: Plan) -> Plan | None:
    """Only a frozen base on one GPU can be quantised as it is loaded; bitsandbytes may leave experts alone."""
    counted = plan.base.shape.counted
    if counted is not None and counted.experts:
        return None
    if plan.trained.full or plan.base.packed <= eight_bit() or plan.shards.weights != 1:
        return None
    return plan._replace(base=plan.base._replace(packed=four_bit(nested=False), quantised=True))


def _shorter(plan: Plan, length: int) -> Plan | None:
    return None if plan.step.length <= length else plan._replace(step=plan.step._replace(length=length))
