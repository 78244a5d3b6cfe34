"""An outcome in the words and records of a report; no torch here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from loralint.model import Note, Observation, Probed, Series, Table, Value
from loralint.probe.base import Base
from loralint.probe.diagnosis import Cause, diagnose
from loralint.probe.experiment import Outcome
from loralint.probe.plan import Plan
from loralint.probe.ramp import STEPS
from loralint.probe.suggest import Suggestion
from loralint.probe.train import Trace
from loralint.probe.verdict import BORDERLINE, NOT_LEARNING, STABLE, UNSTABLE, Verdict, rounded_down

_KINDS = {"UNSTABLE": "probe-unstable", "BORDERLINE": "probe-borderline", "NOT LEARNING": "probe-not-learning"}


def probed(
    plan: Plan, base: Base, outcome: Outcome, rate: Value, cause: Cause | None, suggestion: Suggestion | None
) -> Probed:
    """Everything to report of one run. rate: the value of `optim.lr`, where a finding points. cause: see `cause_of`."""
    observation = _observation(plan, base, outcome, cause, rate)
    return Probed(
        (observation,) if observation is not None else (),
        tuple(_notes(plan, base, outcome, suggestion)),
        tuple(_tables(plan, base, outcome, cause, suggestion)),
        tuple(_series(outcome)),
    )


def cause_of(outcome: Outcome) -> Cause | None:
    """Why the verdict is what it is; None for STABLE, or no verdict."""
    if outcome.verdict is None or outcome.verdict.word == STABLE:
        return None
    unmoved = outcome.course.unmoved
    return diagnose(
        outcome.verdict.word,
        outcome.found,
        outcome.edges,
        outcome.inputs,
        first_rate=outcome.ramp.rates[0],
        broken_at=outcome.course.broken[0],
        unmoved=sum(unmoved) / max(1, len(unmoved)),
    )


def _observation(plan: Plan, base: Base, outcome: Outcome, cause: Cause | None, rate: Value) -> Observation | None:
    verdict = outcome.verdict
    if verdict is None or cause is None:
        return None
    data = {
        "model": base.title,
        "own": base.kind == "own" and not plan.elsewhere,
        "certain": verdict.certain,
        "place": place(verdict),
        "cause": f"if it breaks: {cause.says}" if verdict.word == BORDERLINE else cause.says,
        "change": _change(verdict, cause),
        "safe": rounded_down(verdict.safe),
    }
    wanted = "" if verdict.word == NOT_LEARNING else f"{data['safe']}"
    return Observation(_KINDS[verdict.word], rate, "changed", cause.says, wanted, data=data)


def place(verdict: Verdict) -> str:
    """Where the rate lies, such as "3.1 x below the edge"."""
    times = verdict.headroom if verdict.headroom >= 1 else 1 / verdict.headroom
    least = "" if verdict.exact else "at least "
    return f"{least}{_number(times)} x {'below' if verdict.headroom >= 1 else 'above'} the edge"


def _number(times: float) -> str:
    """Two digits that count, as people write them: 4.8, 34, 560,000."""
    two = float(f"{times:.2g}")
    return f"{two:,.0f}" if two >= 100 else f"{two:.2g}"


def _may_stall(outcome: Outcome) -> bool:
    """Where a run on the embedded model gets further than most that stalled, but not than all."""
    stable = outcome.verdict is not None and outcome.verdict.word == STABLE
    return stable and outcome.reached is not None and outcome.reached < outcome.own.may_stall


def _change(verdict: Verdict, cause: Cause) -> str:
    """What to do about the cause, with how far a rate may rise where it is too low. Of UNSTABLE, what the rate's key
    stands behind: where it breaks at any rate, none is to be written.
    """
    if verdict.word == UNSTABLE:
        least = f", or write {rounded_down(verdict.safe):g} or less for"
        return f"{cause.change}, which break at any" if cause.name == "base" else cause.change + least
    if verdict.word != NOT_LEARNING:
        return cause.change
    return f"{cause.change}; rates up to {rounded_down(verdict.safe):g} are called STABLE"


def _notes(plan: Plan, base: Base, outcome: Outcome, suggestion: Suggestion | None) -> Iterator[Note]:
    if outcome.verdict is None:
        yield Note("not-checked", f"probe: {_untold(outcome)}")
    elif outcome.stopped:
        yield Note("not-checked", f"probe: {outcome.stopped}; the rest was not tried")
    if outcome.verdict is not None and not outcome.verdict.certain:
        start = "no real run that starts from an SVD was measured; the band is that of other starts"
        yield Note("info", f"probe: {outcome.own.doubt or start}")
    if suggestion is not None and suggestion.outcome.stopped:
        yield Note("not-checked", f"probe: {suggestion.outcome.stopped}, of the run with what is suggested")
    if (rows := base.rows_for(plan.rows)) < plan.rows:
        yield Note("info", f"probe: {rows} rows a step for {plan.rows} of the run, whose edge may lie higher")
    by_model = base.kind == "embedded" and outcome.judged is outcome.found
    if by_model and outcome.verdict is not None and outcome.verdict.word not in (STABLE, NOT_LEARNING):
        yield Note("info", "probe: the edge of real models lies at 0.25 to 1 times that of the embedded one")
    if plan.assumed:
        yield Note("info", f"probe: assumed {'; '.join(plan.assumed)}")
    if outcome.silent:
        yield Note(
            "info", f"probe: no gradient ever reached {len(outcome.silent)} modules, such as {outcome.silent[0]}"
        )


def _tables(
    plan: Plan, base: Base, outcome: Outcome, cause: Cause | None, suggestion: Suggestion | None
) -> Iterator[Table]:
    yield _verdict_table(plan, base, outcome, cause)
    if suggestion is not None:
        yield _suggestion(suggestion)
    if outcome.edges:
        yield _controls(outcome)
    if outcome.inputs:
        worst = max(outcome.inputs, key=lambda one: one.worst_ratio)
        title = f"inputs: the largest norm is {_number(worst.worst_ratio)} x the median, in {worst.worst_module}"
        columns = ("module", "median norm", "p99", "max", "worst max/median", "worst module")
        yield Table("inputs", title, columns, tuple(map(tuple, outcome.inputs)))
    if outcome.spectra:
        first = max(outcome.spectra, key=lambda one: one.largest)
        title = f"spectrum: the update's largest singular value ends at {_number(first.largest)} ({first.kind})"
        yield Table("spectrum", title, ("module", "largest", "share of the first", "slope"), tuple(outcome.spectra))


def _verdict_table(plan: Plan, base: Base, outcome: Outcome, cause: Cause | None) -> Table:
    verdict, course = outcome.verdict, outcome.course
    far = "gained_nats" if base.kind == "own" else "reach"
    toy = "" if outcome.judged is outcome.found else " and a toy for the edge of SGD"
    steps = f"{_steps(outcome.steps)} of {base.rows_for(plan.rows)}x{base.rows.shape[1]} tokens"
    setting = f"{base.title}{toy}, {steps}"
    rows: list[tuple[object, object]] = [
        ("verdict", verdict.word if verdict is not None else None),
        ("headroom", verdict.headroom if verdict is not None else None),
        ("edge_rate", verdict.headroom * plan.arm.lr if verdict is not None else None),
        ("edge_reached", outcome.judged.reached),
        ("highest_stable_rate", verdict.safe if verdict is not None else None),
        ("cause", cause.name if cause is not None else None),
        ("model", base.title),
        ("base_loss_nats", outcome.base_loss),
        ("rate", plan.arm.lr),
        ("ramp_edge_rate", outcome.found.rate),
        ("ramp_edge_reached", outcome.found.reached),
        ("judged_edge_rate", outcome.judged.rate),
        (far, outcome.reached),
        (f"{far}_that_learns", outcome.own.learns),
        ("final_loss_minus_base_nats", course.losses[-1] if course.losses else None),
        ("steps", outcome.steps),
        ("course_steps", len(course.losses)),
        ("first_not_finite_step", course.broken[0] if course.broken[0] >= 0 else None),
        ("first_not_finite_tensor", course.broken[1] or None),
        ("share_unmoved", sum(course.unmoved) / max(1, len(course.unmoved))),
        ("largest_update_over_weight", max(course.ratios, default=0.0)),
        ("modules_without_gradient", len(outcome.silent)),
        ("seed", plan.arm.seed),
    ]
    title = _headline(plan, cause, setting, outcome)
    return Table("verdict", title, ("what", "value"), tuple(rows))


def _headline(plan: Plan, cause: Cause | None, setting: str, outcome: Outcome) -> str:
    spent, verdict = f"{setting}, {outcome.seconds:.0f} s", outcome.verdict
    if verdict is None:
        return f"probe: no verdict: {_untold(outcome)} ({spent})"
    steps = "" if outcome.steps == STEPS else f"; its bands are for {STEPS} steps"
    why = _why(verdict, cause) if cause is not None else _unlearnt(plan, outcome)
    return f"probe: {_said(verdict)}. Learning rate {plan.arm.lr:g} is {place(verdict)}{why} ({spent}{steps})"


def _why(verdict: Verdict, cause: Cause) -> str:
    return f"; if it breaks: {cause.says}" if verdict.word == BORDERLINE else f": {cause.says}"


def _unlearnt(plan: Plan, outcome: Outcome) -> str:
    """What STABLE leaves open: whether a run learns, where its length is unknown, or where only some models would."""
    if plan.steps is None:
        give = "--rows or a number of steps" if any("--rows" in one for one in plan.assumed) else "a number of steps"
        return f"; whether it learns was not judged: its length is unknown, give {give}"
    return "; on some models a run this slow learns nothing, --probe-model tells" if _may_stall(outcome) else ""


def _untold(outcome: Outcome) -> str:
    """Why there is no verdict."""
    if outcome.stopped:
        return f"{outcome.stopped}, which is too early to tell"
    few, many = "few, since a shorter ramp breaks later", "many, since a longer ramp breaks earlier"
    return f"{outcome.steps} steps are too {few if outcome.steps < STEPS else many}; the bands are for {STEPS}"


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _suggestion(suggestion: Suggestion) -> Table:
    outcome = suggestion.outcome
    verdict, losses = outcome.verdict, outcome.course.losses
    word = f"{_said(verdict)}, {place(verdict)}" if verdict is not None else f"no verdict: {_untold(outcome)}"
    rows: tuple[tuple[object, object], ...] = (
        ("change", suggestion.says),
        ("verdict", verdict.word if verdict is not None else None),
        ("headroom", verdict.headroom if verdict is not None else None),
        ("final_loss_minus_base_nats", losses[-1] if losses else None),
    )
    return Table("suggestion", f"suggestion, probed too: {suggestion.says}: {word}", ("what", "value"), rows)


def _said(verdict: Verdict) -> str:
    return verdict.word if verdict.certain else f"likely {verdict.word}"


_CONTROLS = {
    "scale": "every input token at its module's median norm",
    "l2": "every input token at norm 1 (like a lower rate)",
    "module": "every module's inputs at one median norm",
    "fp32": "adapter and optimizer state in fp32",
    "svd": "A and B from the largest singular values of the base's matrices (PiSSA)",
}


def _controls(outcome: Outcome) -> Table:
    factors = {name: one.rate / outcome.found.rate for name, one in outcome.edges.items()}
    said = ", ".join(f"{name} {_number(times)}" for name, times in factors.items())
    rows = tuple((name, _CONTROLS[name], outcome.edges[name].rate, times) for name, times in factors.items())
    title = f"controls: the edge moves by a factor of {said}"
    return Table("controls", title, ("arm", "what is changed", "edge rate", "factor"), rows)


def _series(outcome: Outcome) -> Iterator[Series]:
    ramp, course = outcome.ramp, outcome.course
    yield Series("ramp", "learning rate", "loss minus the base's (nats)", _points(ramp.rates, ramp.losses))
    for name, unit, values in _of_course(course):
        yield Series(name, "step", unit, _points([float(step) for step in range(len(values))], values))


def _of_course(course: Trace) -> Iterator[tuple[str, str, list[float]]]:
    yield "course", "loss minus the base's (nats)", course.losses
    yield "gradient", "norm of the gradient before clipping", course.norms
    yield "update", "largest |s BA| / |W|", course.ratios


def _points(xs: Sequence[float], ys: Sequence[float]) -> tuple[tuple[float, float | None], ...]:
    return tuple((x, y if math.isfinite(y) else None) for x, y in zip(xs, ys, strict=True))
