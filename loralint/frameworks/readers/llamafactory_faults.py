"""What LLaMA-Factory makes of a file against its words, where one key alone does not tell.

Source: llamafactory 0.9.3 to 0.9.5, `hparams/finetuning_args.py`, `model/adapter.py`, `model/model_utils/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.key_list import top_keys
from loralint.frameworks.lookup import loader
from loralint.frameworks.observe import place
from loralint.frameworks.readers.llamafactory_refusals import REFUSALS
from loralint.frameworks.readers.llamafactory_templates import foreign
from loralint.frameworks.refusals import refused
from loralint.frameworks.table import Look, Observation
from loralint.model import Unknown
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, value

_STOPS = "LLaMA-Factory stops once the arguments are read"
_ON_THE_FLY = ("bnb", "hqq", "eetq")
# What the parser of `llamafactory-cli eval` takes besides (0.9.2 `hparams/evaluation_args.py`).
_BENCHMARK = frozenset({"task", "task_dir", "batch_size", "seed", "lang", "n_shot", "save_dir", "download_mode"})
_WHOLE = ("use_galore", "use_apollo", "use_badam")
_ADAPTER_ONLY = ("use_dora", "use_rslora", "pissa_init", "loraplus_lr_ratio", "adapter_name_or_path")
# What a picture and a frame are scaled to by default: the bounds may not cross.
_PIXELS = {"image": (768 * 768, 32 * 32), "video": (256 * 256, 16 * 16)}
# Keys whose list is one text with commas: argparse hands on one word of them.
_LISTED = (
    "lora_target", "additional_target", "oft_target", "galore_target", "apollo_target", "freeze_trainable_modules",
    "freeze_extra_modules", "dataset", "eval_dataset", "adapter_name_or_path", "add_tokens", "add_special_tokens",
    "interleave_probs",
)  # fmt: skip
# A key that LLaMA-Factory refuses to see switched on while another one says something: which, and why.
_CLASHES: tuple[tuple[str, str, str], ...] = (
    ("resize_vocab", "quantization_bit", "the embedding of a quantised model cannot be resized"),
    ("create_new_adapter", "quantization_bit", "no second adapter is made on a quantised model"),
    ("use_galore", "deepspeed", "GaLore does not run under DeepSpeed"),
    ("use_apollo", "deepspeed", "APOLLO does not run under DeepSpeed"),
    ("predict_with_generate", "compute_accuracy", "one evaluation either generates or scores tokens"),
)


def observe_faults(document: Document, look: Look) -> list[Observation]:
    """Observe values that are replaced, and keys that another key overrules."""
    if document.root is None:
        return []
    alone = (foreign, _alpha, _checkpointing, _spread, _oft, _reward, _unsloth, _clashing, _benchmark, _best)
    return [
        *(one for look_at in alone for one in look_at(document, document.root)),
        *_method(document, look),
        *refused(document, look, REFUSALS, _STOPS, "omegaconf", "llamafactory"),
        *_bounds(document, look),
        *_shares(document, document.root),
    ]


def _written(root: Node, key: str) -> tuple[Pair, object] | None:
    """Give a pair with a scalar that is known before the run starts, and what the loader makes of it."""
    pair = root.pair(key)
    if pair is None or pair.value.kind != "scalar" or is_template(pair.value.raw):
        return None
    return pair, value(pair.value, loader(pair, "omegaconf"))


def _alpha(document: Document, root: Node) -> Iterator[Observation]:
    found = _written(root, "lora_alpha")
    if found is not None and found[1] is not None and not isinstance(found[1], str) and not found[1]:
        yield Observation(
            "coerced",
            place(document, found[0], "lora_alpha"),
            "changed",
            "LLaMA-Factory takes an alpha of 0 for none and uses twice the rank",
        )


def _checkpointing(document: Document, root: Node) -> Iterator[Observation]:
    found = _written(root, "gradient_checkpointing")
    if found is not None and found[1] is False and root.pair("disable_gradient_checkpointing") is None:
        yield Observation(
            "ignored",
            place(document, found[0], "gradient_checkpointing"),
            "changed",
            "activations are still recomputed, which only `disable_gradient_checkpointing: true` ends",
        )


def _spread(document: Document, root: Node) -> Iterator[Observation]:
    """A list of a command line that blanks take apart: the parser has no use for the words after the first."""
    for pair in root.pairs if document.format == "flags" else ():
        if pair.key not in _LISTED or pair.value.kind != "sequence":
            continue
        words = ["" if isinstance(item.native, Unknown) else item.raw for item in pair.value.items]
        if len(words) > 1 and all(words):
            meant = ",".join(word.strip(",") for word in words)
            message = "it is one word with commas, and LLaMA-Factory stops at the words after the first"
            yield Observation("rejected", place(document, pair, pair.key), "crash", message, meant)


def _method(document: Document, look: Look) -> Iterator[Observation]:
    root = document.root
    found = _written(root, "quantization_method") if root is not None else None
    bits = _written(root, "quantization_bit") if root is not None else None
    if found is None or bits is None or bits[1] is None or not look.version_is("llamafactory>=0.9.3"):
        return
    if found[1] not in _ON_THE_FLY and found[1] is not None:
        yield Observation(
            "rejected",
            place(document, found[0], "quantization_method"),
            "lost",
            "no method of that name exists, and nothing is quantised while loading",
            "bnb",
            "value",
            "llamafactory",
        )


def _oft(document: Document, root: Node) -> Iterator[Observation]:
    found = _written(root, "oft_target")
    if found is not None and found[1] not in (None, "all") and root.pair("lora_target") is None:
        yield Observation(
            "ignored",
            place(document, found[0], "oft_target"),
            "lost",
            "OFT takes its modules from `lora_target`, and nothing reads `oft_target`",
            "lora_target",
            "key",
            "llamafactory",
        )


def _reward(document: Document, root: Node) -> Iterator[Observation]:
    """An adapter beside a reward model that is one itself: `reward_model_type` is lora unless it is written."""
    found, kind, stage = (_written(root, key) for key in ("reward_model_adapters", "reward_model_type", "stage"))
    lora = kind is None if root.pair("reward_model_type") is None else kind is not None and kind[1] == "lora"
    if found is not None and found[1] and lora and stage is not None and stage[1] == "ppo":
        message = "with `reward_model_type: lora` the adapter is what `reward_model` names, and nothing reads this key"
        yield Observation(
            "ignored",
            place(document, found[0], "reward_model_adapters"),
            "lost",
            message,
            package="llamafactory",
            data={"advice": "write the adapter as reward_model, or reward_model_type: full for a base with adapters"},
        )


def _best(document: Document, root: Node) -> Iterator[Observation]:
    """A metric for the best checkpoint that no evaluation gives."""
    named = _written(root, "metric_for_best_model")
    kept = _on(root, "load_best_model_at_end") if root.pair("metric_for_best_model") is None else None
    found = named or kept
    message, advice = _unmet(root, str(named[1]) if named is not None else "loss")
    if found is not None and message:
        data = {"advice": advice, "outcome": "training stops after the first evaluation"}
        where = place(document, found[0], found[0].key)
        yield Observation("rejected", where, "crash", message, package="llamafactory", data=data)


def _unmet(root: Node, metric: str) -> tuple[str, str]:
    """Why no evaluation gives a metric, and what to write."""
    name, stage = metric.removeprefix("eval_"), _written(root, "stage")
    if name == "loss" and _on(root, "eval_on_each_dataset") is not None and root.pair("eval_dataset") is not None:
        why = "each evaluation set has a loss of its own, called eval_NAME_loss"
        return why, "write metric_for_best_model: eval_NAME_loss, with the set that decides"
    scored = root.pair("compute_accuracy") is not None or stage is None or stage[1] != "sft"
    if name == "accuracy" and not scored:
        return "no evaluation of this stage gives an accuracy by itself", "write compute_accuracy: true"
    return "", ""


def _unsloth(document: Document, root: Node) -> Iterator[Observation]:
    """PiSSA, which is not among what Unsloth is told when it builds the adapter."""
    found = _on(root, "pissa_init")
    if found is not None and _on(root, "use_unsloth") is not None:
        yield Observation(
            "ignored",
            place(document, found[0], "pissa_init"),
            "changed",
            "Unsloth builds the adapter, and it is not told of PiSSA: A is random and B is zero",
            package="llamafactory",
            data={"advice": "leave out use_unsloth, or pissa_init"},
        )


def _benchmark(document: Document, root: Node) -> Iterator[Observation]:
    """A key that the config of a benchmark may not have; the list of all keys does without those configs."""
    known = _BENCHMARK | top_keys("llamafactory")
    for pair in root.pairs if root.pair("n_shot") and root.pair("task") else ():
        if pair.key not in known and not is_template(pair.key):
            message = "`llamafactory-cli eval` refuses a key it does not know"
            yield Observation("unknown", place(document, pair, pair.key), "crash", message, package="llamafactory")


def _bounds(document: Document, look: Look) -> Iterator[Observation]:
    """A largest size that is below the smallest."""
    root = document.root
    assert root is not None
    for what, defaults in _PIXELS.items() if look.version_is("llamafactory>=0.9.3") else ():
        keys = [f"{what}_max_pixels", f"{what}_min_pixels"]
        found = [_written(root, key) for key in keys]
        most, least = (one[1] if one else usual for one, usual in zip(found, defaults, strict=True))
        pair = next((one[0] for one in found if one is not None), None)
        if pair is not None and isinstance(most, int) and isinstance(least, int) and most < least:
            message = f"{_STOPS}, since {keys[0]} {most} is below {keys[1]} {least}"
            yield Observation("rejected", place(document, pair, pair.key), "crash", message, package="llamafactory")


def _shares(document: Document, root: Node) -> Iterator[Observation]:
    """Shares of another number than there are datasets."""
    names, shares = _written(root, "dataset"), _written(root, "interleave_probs")
    if names is not None and shares is not None and isinstance(shares[1], str) and isinstance(names[1], str):
        counts = [len(text.split(",")) for text in (names[1], shares[1])]
        if counts[0] != counts[1]:
            message = f"{_STOPS}, since there are {counts[0]} datasets and {counts[1]} shares"
            beside = place(document, names[0], "dataset")
            yield Observation(
                "rejected", place(document, shares[0], "interleave_probs"), "crash", message, other=beside
            )


def _clashing(document: Document, root: Node) -> Iterator[Observation]:
    method = _written(root, "finetuning_type")
    tuned = method[1] if method is not None else "lora" if root.pair("finetuning_type") is None else None
    for key in _WHOLE if tuned == "lora" else ():
        yield from _refused(document, root, key, "it trains the whole model, and finetuning_type is lora", method)
    for key in _ADAPTER_ONLY if tuned in ("full", "freeze") else ():
        yield from _refused(document, root, key, f"it is for LoRA, and finetuning_type is {tuned}", method)
    stage = _written(root, "stage")
    if stage is not None and stage[1] in ("kto", "ppo"):
        yield from _refused(document, root, "pissa_init", f"PiSSA is not for the stage {stage[1]}", stage)
    for key, other, why in _CLASHES:
        beside = _on(root, other)
        if beside is not None:
            yield from _refused(document, root, key, f"`{other}` is set: {why}", beside)


def _on(root: Node, key: str) -> tuple[Pair, object] | None:
    found = _written(root, key)
    return found if found is not None and found[1] not in (None, False, "", 0) else None


def _refused(
    document: Document, root: Node, key: str, why: str, other: tuple[Pair, object] | None
) -> Iterator[Observation]:
    found = _on(root, key)
    if found is not None:
        beside = place(document, other[0], other[0].key) if other is not None else None
        message = f"{_STOPS}, since {why}"
        yield Observation("rejected", place(document, found[0], key), "crash", message, other=beside)
