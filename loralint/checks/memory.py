"""Whether a run fits the card that it will meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loralint.checks.hit import Hit, Settings, place
from loralint.facts.memory.answers import Range, span
from loralint.facts.memory.change import Remedy, holds, remedies
from loralint.facts.memory.plan import Plan
from loralint.facts.memory.read import plan, standing
from loralint.facts.need import Missing
from loralint.facts.scope import Scope, number
from loralint.model import Unknown

_SURE = "training runs out of memory in its first step, whatever the rows"
_FULL = "training runs out of memory in its first full batch"
_HALF = "training may well run out of memory in its first full batch"
_LONG = "training runs out of memory once a batch holds rows of full length"
_USUAL = 8192  # tokens; what single rows of instruction and preference data stay below
_COMPILED = ("google", "aws")  # XLA plans the whole step, where the formulas follow torch tensor by tensor
# of the models whose steps are told: liger-kernel 0.8.5 monkey_patch.py, MODEL_TYPE_TO_APPLY_LIGER_FN
_LIGER = frozenset({
    "llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3_text", "phi3", "granite",
    "smollm3", "glm4", "olmo2",
})  # fmt: skip
_CLOSE = "training may run out of memory once a batch holds rows of full length"


def fits(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: changes, whether up to three settings would make it fit. One hit where a GPU may not be enough.

    `sure`: by the lower edge of the band every such run needs more than the card nominally has, nothing of that is a
    default that nobody pinned, the GPUs are counted, and such runs were measured. `likely`: by its lower edge a batch
    of full rows does, or by its middle where all are full. Else the upper edge does.
    """
    card = scope.get("gpu.memory_gib")
    limit = number(card)
    if limit is None:
        return card.value if isinstance(card.value, Unknown) else []
    if scope.get("gpu.vendor").value in _COMPILED:
        return Unknown("how much memory a step takes that a compiler laid out is not known here")
    judged = _judged(scope, limit)
    if judged is None or isinstance(judged, Unknown):
        return judged or []
    way = _way(scope, limit)
    if (way is not None) is not args["changes"]:
        return []
    data = judged | {"limit": f"{limit:g}"}
    if way is not None:
        data |= {"changes": Settings(way.settings), "reached": _reached(scope, way)}
    return [Hit(place(scope, ("model.base",) if judged["outcome"] == _SURE else at), data)]


def _reached(scope: Scope, way: Remedy) -> str:
    """What is needed then; without the pass, where that is not known, no more than its least."""
    low, high = way.band
    whole = scope.get("memory.peak").known
    return f"{(low + high) / 2:.1f} ± {(high - low) / 2:.1f}" if whole else f"at least {low:.1f}"


def _way(scope: Scope, limit: float) -> Remedy | None:
    """Changes that help, worked out anew from the settings; of the pass only where all of it is known."""
    for read in (plan, standing, _least):
        try:
            lean, rich = read(scope, rich=False), read(scope, rich=True)
        except Missing:
            continue
        for found in remedies(lean, rich, limit, _able(scope)):
            band = _anew(scope, found, read)
            if band is not None and holds(band, limit):
                return found._replace(band=band)
        return None
    return None


def _least(scope: Scope, *, rich: bool) -> Plan:
    del rich
    return standing(scope, rich=False)


def _anew(scope: Scope, found: Remedy, read: Callable[..., Plan]) -> Range | None:
    """The band of a run with these settings; None where it would not be known."""
    pairs = (one.partition("=") for one in found.settings.split(","))
    changed = scope.changed({field: _meant(text) for field, _, text in pairs} | _follow(found))
    try:
        return span(read(changed, rich=False), read(changed, rich=True))
    except Missing:
        return None


def _follow(found: Remedy) -> dict[str, object]:
    """Fields that the settings change with them: what 4 bits are by default, and Liger's loss."""
    following: dict[str, object] = {"quant.method": "bnb"} if "quant.bits=" in found.settings else {}
    return following | ({"kernel.fused_loss": True} if "kernel.liger=" in found.settings else {})


def _able(scope: Scope) -> Callable[[str], bool]:
    """Whether this run can have some settings: the framework has keys for them, and Liger knows the model."""

    def able(settings: str) -> bool:
        pairs = [one.partition("=") for one in settings.split(",")]
        if any(field == "kernel.liger" for field, _, _ in pairs) and not _patched(scope):
            return False
        return all(scope.writes(field, _meant(text)) for field, _, text in pairs)

    return able


def _patched(scope: Scope) -> bool:
    """Whether Liger makes the loss by pieces: for text alone, and for the models that it knows."""
    return scope.get("train.task").value in ("sft", "pt") and scope.get("model.family").value in _LIGER


def _meant(text: str) -> object:
    return text == "true" or (int(text) if text.isdigit() else text)


def _judged(scope: Scope, limit: float) -> dict[str, object] | Unknown | None:
    """What happens and what is needed, None where the run fits."""
    floor = scope.get("memory.floor")
    least = number(floor)
    if least is not None and least > limit:
        sure = _written(scope, full=False)
        return {"outcome": _SURE, "needed": f"{least:.1f}", "sure": sure, "likely": _alone(scope)}
    low, middle, half = (number(scope.get(f"memory.{name}")) for name in ("least", "peak", "band"))
    if low is None or middle is None or half is None:
        why = scope.get("memory.peak").value
        return why if isinstance(why, Unknown) else None
    if middle + half <= limit:
        return None
    full = scope.get("data.packing").value is True or scope.get("data.pad_to_len").value is True
    likely = (full and middle > limit) or (low > limit and (full or _reached_by_rows(scope)))
    first = _FULL if low > limit else _HALF
    outcome = first if likely and full else _LONG if likely else _CLOSE
    needed = f"{middle:.1f} ± {half:.1f}"
    sure = full and low > limit and _written(scope, full=True) and _without_blocks(scope) > limit
    return {"outcome": outcome, "needed": needed, "sure": sure, "likely": likely and _alone(scope)}


def _reached_by_rows(scope: Scope) -> bool:
    """Whether rows of text may well be as long as they are allowed to be; a model's whole context limits none."""
    length = number(scope.get("data.sequence_len"))
    return length is None or length <= _USUAL


def _without_blocks(scope: Scope) -> float:
    """The lower edge as if fused kernels kept nothing of a block: what they save was not measured but for Liger's."""
    lean = plan(scope, rich=False)
    if lean.step.kernels < 1:
        lean = lean._replace(step=lean.step._replace(kernels=0))
    return span(lean, lean).low


def _alone(scope: Scope) -> bool:
    """Whether one GPU has to hold all of it: a whole model that trains on nobody knows how many is mostly sharded."""
    return _counted(scope) or scope.get("adapter.method").value == "lora"


def _counted(scope: Scope) -> bool:
    return scope.get("gpu.count").known or scope.get("dist.world").known


def _written(scope: Scope, *, full: bool) -> bool:
    """Whether somebody wrote what decides, counts the GPUs, and calls the model by its own id."""
    from loralint.facts.model import found

    model = found(scope)
    if model is None or model.by_name or not _counted(scope) or scope.get("memory.measured").value is not True:
        return False
    deciding = ["batch.micro", "data.sequence_len"] if full else []
    stored = scope.get("model.dtype")
    plain = scope.get("quant.on").value is True or stored.value == "auto" or stored.origin != "default"
    return plain and all(scope.get(field).span is not None for field in deciding)
