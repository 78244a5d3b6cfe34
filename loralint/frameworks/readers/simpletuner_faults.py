"""What SimpleTuner 4.8.0 refuses or passes over where one key alone does not tell."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Pair
from loralint.source.scalars import number_text, value

# switches that are on unless a file says false; the text "false" leaves the flag out
_ON = ("gradient_checkpointing", "compress_disk_cache", "fsdp_reshard_after_forward", "model_card_private")
_GONE = {"adafactor": "optimi-stableadamw", "adamw8bit": "optimi-adamw", "dadaptation": "adamw_schedulefree"}
# flags that argparse wants; a file without one is shown in part only
REQUIRED = ("output_dir", "optimizer", "data_backend_config")
_MOST_MEGAPIXELS = 20  # no model takes more
_FEWEST_PIXELS, _LARGEST_LIMIT = 512, 5  # SimpleTuner's own bounds for limits
_PIXELS = 16  # no picture is that small; megapixels are


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe lengths given twice, halves of pairs, optimizers that are gone, and texts that switch nothing off."""
    found = [*_length(document), *_betas(document), *_optimizer(document), *_texts(document), *_unit(document)]
    return [*found, *_together(document)]


def _pair(document: Document, key: str) -> Pair | None:
    root = document.root
    return (root.pair(key) or root.pair(f"--{key}")) if root is not None else None


def _read(document: Document, key: str) -> object:
    """What a key holds; None where it is absent."""
    pair = _pair(document, key)
    made = value(pair.value, "json") if pair is not None else None
    number = number_text(made) if isinstance(made, str) else None
    return made if number is None else number


def _at(document: Document, pair: Pair, effect: str, message: str, to: str = "", rewrite: str = "") -> Observation:
    kind = "rejected" if effect == "crash" else "coerced"
    return Observation(kind, place(document, pair, pair.key), effect, message, to, rewrite, "simpletuner")


def _length(document: Document) -> Iterator[Observation]:
    """Steps and epochs exclude each other, and an absent `num_train_epochs` is 1."""
    steps, epochs = _read(document, "max_train_steps"), _read(document, "num_train_epochs")
    if not isinstance(steps, (int, float)) or steps <= 0 or (isinstance(epochs, (int, float)) and epochs <= 0):
        return
    pair = _pair(document, "num_train_epochs")
    if pair is not None:
        message = "SimpleTuner stops when both `max_train_steps` and `num_train_epochs` are above 0"
        yield _at(document, pair, "crash", message, "0", "value")
        return
    pair = _pair(document, "max_train_steps")
    if pair is not None and all(_pair(document, key) for key in REQUIRED):
        message = "SimpleTuner stops since `num_train_epochs`, which is 1 unless it is set to 0, limits the run too"
        yield _at(document, pair, "crash", message)._replace(data={"advice": "write num_train_epochs: 0 beside it"})


def _betas(document: Document) -> Iterator[Observation]:
    pairs = [_pair(document, key) for key in ("optimizer_beta1", "optimizer_beta2")]
    given = [pair for pair in pairs if pair is not None and pair.value.tag != "null"]
    if len(given) == 1:
        yield _at(document, given[0], "crash", "SimpleTuner wants both betas or none")


def _optimizer(document: Document) -> Iterator[Observation]:
    pair = _pair(document, "optimizer")
    instead = _GONE.get(pair.value.raw) if pair is not None else None
    if pair is not None and instead is not None:
        yield _at(document, pair, "crash", f"SimpleTuner has dropped the optimizer {pair.value.raw}", instead)


def _texts(document: Document) -> Iterator[Observation]:
    for key in _ON:
        pair = _pair(document, key)
        if pair is not None and value(pair.value, "json") in ("false", "False"):
            message = f"SimpleTuner leaves a flag out whose value is the text `{pair.value.raw}`, so this one stays on"
            yield _at(document, pair, "changed", message, "false", "value")


def _unit(document: Document) -> Iterator[Observation]:
    """`resolution: 1` is a megapixel with `resolution_type: area` only; limits are checked, the size itself is not."""
    pair, size = _pair(document, "resolution"), _read(document, "resolution")
    kind = _read(document, "resolution_type") or "pixel_area"
    if pair is not None and kind == "area" and isinstance(size, (int, float)) and size > _MOST_MEGAPIXELS:
        message = f"`resolution_type: area` counts megapixels, and {pair.value.raw} of them fit no model"
        advice = {"advice": "write resolution: 1 for a megapixel, or resolution_type: pixel_area"}
        yield _at(document, pair, "changed", message)._replace(data=advice)
    for key in ("maximum_image_size", "target_downsample_size"):
        limited, limit = _pair(document, key), _read(document, key)
        small = kind == "pixel" and isinstance(limit, (int, float)) and 0 < limit < _FEWEST_PIXELS
        large = kind == "area" and isinstance(limit, (int, float)) and limit > _LARGEST_LIMIT
        if limited is not None and (small or large):
            unit = "pixels, at least 512" if small else "megapixels, at most 5"
            yield _at(document, limited, "crash", f"with `resolution_type: {kind}` SimpleTuner wants {unit}")
    if pair is not None and isinstance(size, (int, float)) and 0 < size <= _PIXELS and kind in ("pixel", "pixel_area"):
        message = f"`resolution_type: {kind}` counts pixels, and pictures {pair.value.raw} pixels wide teach nothing"
        yield _at(document, pair, "changed", message)


def _together(document: Document) -> Iterator[Observation]:
    """What excludes another key, or wants one beside it."""
    mixed, bits = _pair(document, "mixed_precision"), _read(document, "base_model_precision")
    if mixed is not None and mixed.value.raw == "fp8" and bits not in (None, "", "no_change", "fp8-torchao"):
        message = f"SimpleTuner computes in fp8 with no base model in {bits}"
        yield _at(document, mixed, "crash", message, "bf16", "value")
    largest = _pair(document, "maximum_image_size")
    whole = all(_pair(document, key) for key in REQUIRED)
    if largest is not None and largest.value.tag != "null" and whole and not _read(document, "target_downsample_size"):
        message = "SimpleTuner wants `target_downsample_size` beside it: what larger pictures are made of"
        yield _at(document, largest, "crash", message)
    deepspeed = _pair(document, "deepspeed_config")
    if (
        deepspeed is not None
        and _read(document, "deepspeed_config")
        and _read(document, "fsdp_enable") in (True, "true")
    ):
        yield _at(document, deepspeed, "crash", "SimpleTuner shards with FSDP or with DeepSpeed, not with both")
