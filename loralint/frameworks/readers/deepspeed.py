"""DeepSpeed's JSON: a companion of a trainer, which fills in each "auto" and refuses most numbers unlike its own.

At the top DeepSpeed asks for the keys that it knows and never converts; the sections that are pydantic models convert
texts and refuse unknown keys; `params` of the optimizer and the scheduler go as they are to what takes them.
Source: deepspeedai/DeepSpeed@edaa722 deepspeed/runtime/config.py, zero/config.py (offload_param), precision_config.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loralint.frameworks.convert import always, lower, words
from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import number_text, value

SCHEDULES: Mapping[object, object] = {
    "warmuplr": "constant_with_warmup",
    "warmupdecaylr": "linear",
    "warmupcosinelr": "cosine",
    "onecycle": "one_cycle",
}
GATHER = "zero_optimization.stage3_gather_16bit_weights_on_model_save"
_UNCONVERTED = ("optimizer.params", "scheduler.params")
_STAGE = "zero_optimization.stage"
_DEEPEST = 4
_WORDS_IN_PARAMS = frozenset({"auto", "log", "linear"})


def fixed(given: object) -> object:
    """Read "auto" and null as an absent key: the trainer, or DeepSpeed's default, decides."""
    return SKIP if given is None or given == "auto" else given


def schedule(given: object) -> object:
    """Name DeepSpeed's schedule as trainers do."""
    return words(SCHEDULES)(lower(given))


def _beta(index: int) -> Callable[[object], object]:
    def read(given: object) -> object:
        return fixed(given[index]) if isinstance(given, list) and len(given) > index else SKIP

    return read


def defaults(document: Document, values: Values) -> Values:
    """Add what the file decides by keeping silent: ZeRO-3 gathers nothing, and nothing is clipped."""
    root = document.root
    assert root is not None
    added: dict[str, tuple[Value, ...]] = {}
    if "dist.ds_clips" not in values:
        silent = Value(False, "default", "gradient_clipping", source="DeepSpeed", field="dist.ds_clips")
        added["dist.ds_clips"] = (silent,)
    stage = next(iter(values.get("dist.zero_stage", ())), None)
    if stage is not None and "dist.ds_gather" not in values:
        # points at the stage, which is what makes the silence matter
        said = stage._replace(value=False, origin="default", key=GATHER, source="DeepSpeed", field="dist.ds_gather")
        added["dist.ds_gather"] = (said,)
    return added


def observe_params(document: Document, look: Look) -> list[Observation]:
    """Observe numbers in quotes that nothing converts: the optimizer or the schedule gets a text."""
    del look
    return list(_texts(document))


def _texts(document: Document) -> Iterator[Observation]:
    for section in _UNCONVERTED:
        params = find(document.root, section) if document.root is not None else None
        for pair in params.value.pairs if params is not None else ():
            text = value(pair.value, "json") if pair.value.kind == "scalar" else None
            number = number_text(text) if isinstance(text, str) and text not in _WORDS_IN_PARAMS else None
            if number is not None:
                said = f"DeepSpeed hands `{pair.value.raw}` on as a text, with which nothing can calculate"
                at = place(document, pair, f"{section}.{pair.key}")
                yield Observation("coerced", at, "crash", said, repr(number), "value")


def observe_auto(document: Document, look: Look) -> list[Observation]:
    """Observe `Auto` and its like: the trainer fills in what is spelled `auto`, and DeepSpeed gets the text."""
    del look
    pairs = _wrongly_auto(document.root, "") if document.root is not None else ()
    said = "the trainer fills in `auto` and no other spelling, and DeepSpeed gets the text"
    return [Observation("coerced", place(document, pair, key), "crash", said, '"auto"', "value") for key, pair in pairs]


def _wrongly_auto(node: Node, prefix: str, depth: int = 0) -> Iterator[tuple[str, Pair]]:
    for pair in node.pairs if depth < _DEEPEST else ():
        raw = pair.value.raw.strip("\"'") if pair.value.kind == "scalar" else ""
        if raw != "auto" and raw.strip().lower() == "auto":
            yield f"{prefix}{pair.key}", pair
        yield from _wrongly_auto(pair.value, f"{prefix}{pair.key}.", depth + 1)


def observe_stage(document: Document, look: Look) -> list[Observation]:
    """Observe a ZeRO stage in quotes, which DeepSpeed takes for a number and the trainer does not."""
    del look
    pair = find(document.root, _STAGE) if document.root is not None else None
    text = value(pair.value, "json") if pair is not None and pair.value.kind == "scalar" else None
    if pair is None or not isinstance(text, str) or number_text(text) is None:
        return []
    said = f"DeepSpeed runs stage {text}, and the trainer, which compares with a number, takes the model for whole"
    return [Observation("coerced", place(document, pair, _STAGE), "changed", said, text, "value")]


def observe_offload(document: Document, look: Look) -> list[Observation]:
    """Observe weights that are to go to the CPU below ZeRO-3, where every GPU keeps all of them."""
    del look
    key = "zero_optimization.offload_param.device"
    stage, device = (find(document.root, one) if document.root is not None else None for one in (_STAGE, key))
    whole = stage is not None and stage.value.kind == "scalar" and value(stage.value, "json") in (1, 2)
    if device is None or not whole or device.value.raw not in ("cpu", "nvme"):
        return []
    message = "only ZeRO-3 splits the weights and can keep them elsewhere; below it each GPU holds them all"
    told = {"advice": f"write `{_STAGE}`: 3, or take `offload_param` out"}
    return [Observation("ignored", place(document, device, key), "harmless", message, package="deepspeed", data=told)]


TABLE: tuple[Entry, ...] = (
    Entry("dist.zero_stage", "zero_optimization.stage", fixed),
    Entry("dist.ds_gather", GATHER, fixed),
    Entry("dist.ds_gather", "zero_optimization.stage3_gather_fp16_weights_on_model_save", fixed),
    Entry("dist.ds_gather", "zero_optimization.gather_16bit_weights_on_model_save", fixed),
    Entry("dist.ds_offload_optimizer", "zero_optimization.offload_optimizer.device", fixed),
    Entry("dist.ds_offload_param", "zero_optimization.offload_param.device", fixed),
    Entry("dist.ds_train_batch", "train_batch_size", fixed),
    Entry("dist.ds_micro", "train_micro_batch_size_per_gpu", fixed),
    Entry("dist.ds_accumulation", "gradient_accumulation_steps", fixed),
    Entry("dist.ds_clipping", "gradient_clipping", fixed),
    Entry("dist.ds_clips", "gradient_clipping", always(canonical=True)),
    Entry("dist.ds_fp16", "fp16.enabled", fixed),
    Entry("dist.ds_bf16", "bf16.enabled", fixed),
    Entry("dist.ds_bf16", "bfloat16.enabled", fixed),
    Entry("dist.ds_optimizer", "optimizer.type", lower),
    Entry("dist.ds_lr", "optimizer.params.lr", fixed),
    Entry("dist.ds_beta1", "optimizer.params.betas", _beta(0)),
    Entry("dist.ds_beta2", "optimizer.params.betas", _beta(1)),
    Entry("dist.ds_eps", "optimizer.params.eps", fixed),
    Entry("dist.ds_weight_decay", "optimizer.params.weight_decay", fixed),
    Entry("dist.ds_scheduler", "scheduler.type", schedule),
    Entry("dist.ds_warmup_lr", "scheduler.params.warmup_max_lr", fixed),
    Entry("dist.ds_warmup_steps", "scheduler.params.warmup_num_steps", fixed),
    Entry("dist.ds_total_steps", "scheduler.params.total_num_steps", fixed),
)

READER = Reader(
    name="deepspeed",
    title="DeepSpeed",
    dialect="json",
    table=TABLE,
    keys="deepspeed",
    coerces=False,
    coerces_inside=True,
    packages=("deepspeed", "transformers", "accelerate"),
    observe=(observe_params, observe_auto, observe_stage, observe_offload),
    combine=defaults,
)
