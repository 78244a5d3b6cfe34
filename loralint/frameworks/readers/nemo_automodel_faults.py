"""What NeMo Automodel refuses or passes over, beyond what every reader observes (0.7.0)."""

from __future__ import annotations

import re

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look
from loralint.model import Observation, Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, number_text, value

_COUNTS = ("global_batch_size", "local_batch_size", "num_epochs", "max_steps", "ckpt_every_steps", "val_every_steps")
# names that stand inside a block, so that they are nobody's whole path
_INNER = re.compile(r"(?:\w+_)?(?:proj|qkv|query|key|value|dense|fc1|fc2)|[qkvo]_proj")
_STANDARD = ("TrainFinetune", "FinetuneRecipeForVLM", "Benchmarking")
# what a key of another recipe's schedule is called where LRSchedulerConfig reads the section
_SCHEDULE = {"warmup_steps": "lr_warmup_steps", "schedule": "lr_decay_style", "warmup_ratio": ""}
_READS_RNG = ("TrainEagle", "TrainDFlash", "TrainDSpark", "TrainDomino", "TrainJetSpec", "TrainViSpec")


def rejected(document: Document, _: Look) -> list[Observation]:
    """Settings that stop the run when it starts."""
    root = document.root
    if root is None:
        return []
    found = [*_targets(root), *_counts(root), *_rates(root), *_quantisation(root)]
    return [
        Observation("rejected", place(document, pair, key), "crash", message, package="nemo-automodel")
        for key, message in found
        if (pair := find(root, key)) is not None
    ]


def _targets(root: Node) -> list[tuple[str, str]]:
    chosen, excluded = _filled(root, "peft.target_modules"), _filled(root, "peft.exclude_modules")
    if chosen and excluded:
        return [("peft.exclude_modules", "`target_modules` and `exclude_modules` exclude each other")]
    if _value(root, "peft.match_all_linear") is True and (chosen or excluded):
        key = "peft.target_modules" if chosen else "peft.exclude_modules"
        return [(key, "`match_all_linear: true` allows neither `target_modules` nor `exclude_modules`")]
    return []


def _counts(root: Node) -> list[tuple[str, str]]:
    keys = [f"step_scheduler.{name}" for name in _COUNTS]
    low = [key for key in keys if (number := _number(root, key)) is not None and number <= 0]
    found = [(key, "the step scheduler wants a number above 0") for key in low]
    whole, micro = _number(root, "step_scheduler.global_batch_size"), _number(root, "step_scheduler.local_batch_size")
    if whole and micro and whole > 0 and micro > 0 and whole % micro:
        found.append(("step_scheduler.global_batch_size", f"{whole:g} is no multiple of `local_batch_size` {micro:g}"))
    return found


def _rates(root: Node) -> list[tuple[str, str]]:
    """What the scheduler asserts of its rates and of its warm-up."""
    peak = _number(root, "lr_scheduler.max_lr") or _number(root, "optimizer.lr")
    found = []
    for key in ("lr_scheduler.min_lr", "lr_scheduler.init_lr"):
        rate = _number(root, key)
        if rate is not None and peak is not None and rate > peak:
            found.append((key, f"the scheduler wants no more than the peak rate {peak:g}"))
    warmup = _number(root, "lr_scheduler.lr_warmup_steps")
    decay = _number(root, "lr_scheduler.lr_decay_steps") or _number(root, "step_scheduler.max_steps")
    if warmup is not None and 0 < warmup < 1:
        found.append(("lr_scheduler.lr_warmup_steps", "the warm-up is a number of steps, not a share"))
    elif warmup is not None and decay is not None and warmup >= decay:
        found.append(("lr_scheduler.lr_warmup_steps", f"the warm-up has to end before the {decay:g} steps do"))
    return found


def _quantisation(root: Node) -> list[tuple[str, str]]:
    section = root.get("quantization")
    if section is None or section.kind != "mapping" or section.pair("load_in_4bit") is not None:
        return []
    return [("quantization", "the section needs `load_in_4bit`, be it false")]


def foreign(document: Document, _: Look) -> list[Observation]:
    """Keys of Hugging Face's schedule in a recipe whose scheduler has its own."""
    root = document.root
    section = root.get("lr_scheduler") if root is not None else None
    if root is None or section is None or not _recipe(root).startswith(_STANDARD):
        return []
    return [
        Observation(
            "unknown",
            place(document, pair, f"lr_scheduler.{pair.key}"),
            "crash",
            "the recipe's scheduler has no such argument",
            _SCHEDULE[pair.key],
            "key" if _SCHEDULE[pair.key] else "",
            "nemo-automodel",
        )
        for pair in section.pairs
        if pair.key in _SCHEDULE
    ]


def _recipe(root: Node) -> str:
    return str(_value(root, "recipe") or "").rpartition(".")[2]


def unmatched(document: Document, _: Look) -> list[Observation]:
    """Names without `*`: a pattern matches a module's whole path, so they fit none."""
    pair = find(document.root, "peft.target_modules") if document.root is not None else None
    if pair is None:
        return []
    nodes = list(enumerate(pair.value.items)) if pair.value.kind == "sequence" else [(None, pair.value)]
    wrong = [(index, node) for index, node in nodes if _INNER.fullmatch(node.raw)]
    effect = "crash" if len(wrong) == len(nodes) else "lost"
    return [
        Observation(
            "rejected",
            _at(document, pair, index, node),
            effect,
            f"no module has the path `{node.raw}`, so nothing of that name gets an adapter",
            f'"*.{node.raw}"',
            "value",
            "nemo-automodel",
        )
        for index, node in wrong
    ]


def _at(document: Document, pair: Pair, index: int | None, node: Node) -> Value:
    whole = place(document, pair, "peft.target_modules")
    if index is None:
        return whole
    return whole._replace(
        value=node.raw,
        key=f"peft.target_modules[{index}]",
        pointer=f"/peft/target_modules/{index}",
        text=document.text[node.start : node.end],
        span=document.span(node),
    )


def ignored(document: Document, _: Look) -> list[Observation]:
    """`rng.seed`: the recipes read `seed` at the root, else take 42."""
    root = document.root
    pair = find(root, "rng.seed") if root is not None else None
    if root is None or pair is None or root.pair("seed") is not None or _number(root, "rng.seed") == 42:
        return []
    if _recipe(root).startswith(_READS_RNG):
        return []
    message = "the recipes read `seed` at the root and take 42 without it"
    where = place(document, pair, "rng.seed")
    return [Observation("ignored", where, "harmless", message, "seed", package="nemo-automodel")]


def _filled(root: Node, key: str) -> bool:
    pair = find(root, key)
    return pair is not None and bool(pair.value.items or _value(root, key) not in (None, "none", "None"))


def _value(root: Node, key: str) -> object:
    pair = find(root, key)
    if pair is None or pair.value.kind != "scalar" or is_template(pair.value.raw):
        return None
    made = value(pair.value, "pyyaml")
    return {"true": True, "false": False}.get(made.lower(), made) if isinstance(made, str) else made


def _number(root: Node, key: str) -> float | None:
    made = _value(root, key)
    if isinstance(made, str):
        return number_text(made)
    return made if isinstance(made, (int, float)) and not isinstance(made, bool) else None
