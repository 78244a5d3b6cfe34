"""From a config to the numbers of a probe; what the probe cannot speak of ends it, with the reason. No torch here."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from loralint.facts.model import found
from loralint.facts.need import Missing, known, number, optional, positive
from loralint.facts.precision import adapter_dtype
from loralint.facts.scope import Scope
from loralint.model import Unknown
from loralint.probe.arm import OPTIMIZERS, Arm
from loralint.probe.modules import own_targets, targets
from loralint.probe.schedule import SHAPES, Schedule

_TASKS = frozenset({"sft", "pt"})
_FAMILIES = {"adam": "adamw", **{name: name for name in OPTIMIZERS}}
_INITS = {"none": "kaiming", "true": "kaiming", "gaussian": "gaussian", "pissa": "svd"}
_FEWEST = 2  # rows of one step: the bands were measured from there on
_HIGHEST_RANK = 1024
_UNQUANTISED = 16  # bits


class Plan(NamedTuple):
    """What the config means for a probe. rows: of one step. steps: of the whole run, None where unknown.

    assumed: what was taken for granted, in words for the verdict. model: the catalogue's name of the run's base, "" if
    unknown. elsewhere: whether the weights are another model's.
    """

    arm: Arm
    rows: int
    schedule: Schedule
    steps: float | None
    assumed: tuple[str, ...] = ()
    model: str = ""
    elsewhere: bool = False


def compared(made: Plan, scope: Scope, width: int) -> Plan:
    """The same, told whether weights of such a width can be those of the run's own model."""
    own = scope.get("model.hidden").value
    if not isinstance(own, int) or own == width:
        return made
    said = f"that the run's model, of width {own}, breaks where this one of width {width} does"
    return made._replace(assumed=(*made.assumed, said), elsewhere=True)


def plan(scope: Scope, seed: int = 0, layers: tuple[str, ...] = ()) -> Plan:
    """The probe of a run. layers: names of the linear layers of the run's own model, where it trains on that.

    Raises Missing with the reason for what is not measured, or not known.
    """
    _refuse(scope)
    assumed: list[str] = []
    arm = Arm(
        rank=_rank(scope),
        alpha=_alpha(scope),
        targets=own_targets(scope, layers) if layers else targets(scope),
        lr=_positive(scope, "optim.lr", "learning rate"),
        optimizer=_optimizer(scope),
        rslora=known(scope, "adapter.rslora") is True,
        dora=known(scope, "adapter.dora") is True,
        dropout=min(0.95, max(0.0, optional(scope, "adapter.dropout", 0.0))),
        lr_ratio=_ratio(scope),
        beta1=_within(scope, "optim.beta1", 0.9, below=1.0),
        beta2=_within(scope, "optim.beta2", 0.999, below=1.0),
        eps=_within(scope, "optim.eps", 1e-8),
        momentum=_within(scope, "optim.momentum", 0.0),
        weight_decay=_within(scope, "optim.weight_decay", 0.0),
        clip=clip if (clip := optional(scope, "optim.max_grad_norm", 0.0)) > 0 else inf,  # as the Trainer has it
        stored=adapter_dtype(scope),
        init=_init(scope),
        seed=seed,
    )
    _unlike(scope, assumed)
    rows, schedule, steps = _rows(scope, assumed), _schedule(scope, assumed), _steps(scope, assumed)
    return Plan(arm, rows, schedule, steps, tuple(assumed), _model(scope))


def _model(scope: Scope) -> str:
    try:
        model = found(scope)
    except Missing:
        return ""
    return (model.id or "") if model is not None else ""


def _refuse(scope: Scope) -> None:
    """What no bands were measured for."""
    task = known(scope, "train.task")
    if task is not None and task not in _TASKS:
        raise Missing(f"the probe trains on the next token, and this run is of task {task}")
    method = known(scope, "adapter.method")
    if method != "lora":
        what = "trains the whole model" if method == "full" else f"trains by {method}"
        raise Missing(f"the probe is of LoRA, and this run {what}")
    for field, said in (
        ("adapter.rank_pattern", "ranks differ by module"),
        ("adapter.alpha_pattern", "alphas differ by module"),
        ("adapter.target_parameters", "adapters sit on packed experts"),
        ("adapter.layers", "only some layers get adapters"),
        ("adapter.modules_to_save", "whole modules train beside the adapters"),
        ("adapter.exclude", "some modules are left out by name"),
    ):
        if known(scope, field):
            raise Missing(f"{said}, which the probe does not do yet")


def _rank(scope: Scope) -> int:
    value = _positive(scope, "adapter.rank", "LoRA rank")
    if value > _HIGHEST_RANK:
        raise Missing(f"a rank of {value:g} is more than the probe trains, which is {_HIGHEST_RANK}")
    if value != int(value):
        raise Missing(f"a rank of {value:g} is no whole number")
    return int(value)


def _alpha(scope: Scope) -> float:
    value = number(scope, "adapter.alpha", "the config has no LoRA alpha")
    if value == 0:
        raise Missing("an alpha of 0 multiplies the adapter by zero, so nothing trains")
    return value


def _within(scope: Scope, name: str, default: float, below: float = inf) -> float:
    """A setting of the optimizer; torch refuses those below 0, and betas of 1 and more."""
    value = optional(scope, name, default)
    if not 0 <= value < below:
        raise Missing(f"the optimizer refuses {name.rpartition('.')[2]} {value:g}, so nothing trains")
    return value


def _positive(scope: Scope, field: str, title: str) -> float:
    """A number above 0, which the reasons call as people do."""
    try:
        return positive(scope, field, f"the config has no {title}")
    except Missing as missing:
        raise Missing(missing.reason.replace(field, f"the {title}")) from None


def _ratio(scope: Scope) -> float:
    value = optional(scope, "adapter.loraplus_ratio", 1.0)
    if value <= 0:
        raise Missing(f"a LoRA+ ratio of {value:g} gives B no rate above 0")
    return value


def _optimizer(scope: Scope) -> str:
    family = known(scope, "optim.family")
    if known(scope, "optim.unit_lr") or family not in _FAMILIES:
        raise Missing(f"no runs with an optimizer like `{known(scope, 'optim.name')}` were measured")
    return _FAMILIES[str(family)]


def _init(scope: Scope) -> str:
    said = str(known(scope, "adapter.init")).lower()
    name = said.partition("_niter_")[0]  # pissa_niter_16: so many rounds of a fast SVD
    if name not in _INITS:
        raise Missing(f"adapters that start from `{said[:30]}` were not measured")
    if _INITS[name] == "svd" and known(scope, "adapter.dora") is True:
        raise Missing("DoRA that starts from an SVD was not measured")
    return _INITS[name]


def _unlike(scope: Scope, assumed: list[str]) -> None:
    """What the run has and the probe has not."""
    bits = scope.get("quant.bits").value
    if isinstance(bits, (int, float)) and bits < _UNQUANTISED:
        assumed.append(f"the base's weights as they are read, not rounded to {bits:g} bits")
    if scope.get("precision.fp16").value is True:
        assumed.append("no number beyond fp16's range")


def _rows(scope: Scope, assumed: list[str]) -> int:
    rows = scope.get("batch.effective").value
    if isinstance(rows, Unknown) or not isinstance(rows, (int, float)):
        assumed.append(f"{_FEWEST} rows a step, since the batch size is unknown")
        return _FEWEST
    return int(max(_FEWEST, rows))


def _schedule(scope: Scope, assumed: list[str]) -> Schedule:
    """Unknown shapes count as constant, which is the hardest of them."""
    name = scope.get("schedule.name").value
    warm = scope.get("steps.warmup_share").value
    share = max(0.0, float(warm)) if isinstance(warm, (int, float)) else 0.0  # above 1 the peak is never reached
    if name not in SHAPES:
        assumed.append("a constant rate" + ("" if name is None or isinstance(name, Unknown) else f" for `{name}`"))
        name = "constant"
    return Schedule(str(name), share, _floor(scope))


def _floor(scope: Scope) -> float:
    share = scope.get("schedule.min_lr_ratio").value
    return min(1.0, max(0.0, float(share))) if isinstance(share, (int, float)) else 0.0


def _steps(scope: Scope, assumed: list[str]) -> float | None:
    steps = scope.get("steps.total").value
    if isinstance(steps, (int, float)):
        return float(steps)
    reason = steps.reason if isinstance(steps, Unknown) else "the length of the run is unknown"
    assumed.append(f"a run long enough to learn: {reason}")
    return None
