"""The change that a diagnosis names, put through the same probe."""

from __future__ import annotations

from typing import NamedTuple

from loralint.probe.base import Base
from loralint.probe.diagnosis import Cause
from loralint.probe.experiment import Limits, Outcome, experiment
from loralint.probe.plan import Plan
from loralint.probe.verdict import Verdict, rounded_down


class Suggestion(NamedTuple):
    """says: what is changed, as a clause. outcome: of the run with it."""

    says: str
    outcome: Outcome


def suggested(plan: Plan, base: Base, outcome: Outcome, cause: Cause | None, limits: Limits) -> Suggestion | None:
    """Probe the change; None where the run is fine, the probe was broken off, or nothing of the run is at fault."""
    if cause is None or outcome.verdict is None or outcome.stopped or cause.name == "base":
        return None
    says, changed = _changed(plan, outcome, outcome.verdict, cause)
    return Suggestion(says, experiment(changed, base, limits, controls=False))


def _changed(plan: Plan, outcome: Outcome, verdict: Verdict, cause: Cause) -> tuple[str, Plan]:
    arm = plan.arm
    if cause.name in ("precision", "rounding"):
        return "adapter and optimizer state in fp32", plan._replace(arm=arm._replace(stored="fp32"))
    if cause.name == "outliers":
        kind = max(outcome.inputs, key=lambda one: one.worst_ratio).kind
        left = tuple(one for one in arm.targets if one.rpartition(".")[2] != kind)
        if left:
            return f"no adapter on {kind}", plan._replace(arm=arm._replace(targets=left))
    rate = rounded_down(verdict.safe)
    return f"learning rate {rate:g}", plan._replace(arm=arm._replace(lr=rate))
