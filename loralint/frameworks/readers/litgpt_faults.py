"""What litgpt's finetuning commands refuse, where a key's name and type alone do not tell.

Source: litgpt 0.5.13 `finetune/lora.py`, `finetune/full.py`, `args.py`, `utils.py`, `config.py` and `lora.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.litgpt_values import SWITCHES
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, number_text, value

_MIXED = ("bf16-mixed", "16-mixed", "16", "bf16", "transformer-engine", "transformer-engine-float16")
_OPTIMIZER = "optimizer.class_path"
# Models that litgpt/config.py gives a shorter context than their config.json: no LongRoPE, no sliding window.
_SHORTER = {r"Phi-3\.5-mini-instruct": 4096, r"Mistral-7B-(?:Instruct-)?v0\.1": 4096}


def observe_faults(document: Document, look: Look) -> list[Observation]:
    """Observe quantisation that cannot start, batches that fill no step, a warm-up of nothing and LoRA on nothing."""
    del look
    root = document.root
    if root is None:
        return []
    found = (_quantised, _batches, _warmup, _nothing, _reach)
    return [fault for look_at in found for fault in look_at(document, root)]


def _value(root: Node, key: str) -> object:
    """A scalar as loaded, a number in quotes too; None for an absent key, the text for one that is filled in later."""
    pair = find(root, key)
    if pair is None or pair.value.kind != "scalar":
        return None
    if is_template(pair.value.raw):
        return pair.value.raw
    made = value(pair.value, "jsonargparse")
    number = number_text(made) if isinstance(made, str) else None
    return made if number is None else number


def _refused(document: Document, key: str, message: str, to: str = "") -> Observation:
    pair = find(document.root, key) if document.root is not None else None
    assert pair is not None
    return Observation("rejected", place(document, pair, key), "crash", message, to, "value" if to else "")


def _quantised(document: Document, root: Node) -> Iterator[Observation]:
    if not str(_value(root, "quantize")).startswith("bnb."):
        return
    precision, counts = _value(root, "precision"), (_value(root, "devices"), _value(root, "num_nodes"))
    if precision is None:
        message = "without `precision` litgpt trains in mixed precision, which quantised weights exclude"
        yield _refused(document, "quantize", message)
    elif str(precision) in _MIXED:
        yield _refused(document, "precision", "quantised weights exclude mixed precision", "bf16-true")
    for key, count in zip(("devices", "num_nodes"), counts, strict=True):
        if isinstance(count, int) and count > 1:
            yield _refused(document, key, "quantised weights train on one device only", "1")
    chosen = _OPTIMIZER if find(root, _OPTIMIZER) is not None else "optimizer"
    name = _value(root, chosen)
    if isinstance(name, str) and "AdamW" not in name and not is_template(name):
        yield _refused(document, chosen, "quantised weights take no optimizer but AdamW")


def _batches(document: Document, root: Node) -> Iterator[Observation]:
    """Rows per step over devices and rows per pass have to leave one pass at least."""
    found = [_value(root, key) for key in ("train.global_batch_size", "devices", "num_nodes", "train.micro_batch_size")]
    defaults = (16, 1, 1, 1)
    counts = [default if one is None else one for one, default in zip(found, defaults, strict=True)]
    whole = [one for one in counts if isinstance(one, int) and not isinstance(one, bool) and one > 0]
    if len(whole) < len(counts):
        return
    rows, devices, nodes, micro = whole
    each = rows // (devices * nodes)
    if each // micro == 0:
        written = found[3] is not None
        key, fits = ("train.micro_batch_size", each) if written else ("train.global_batch_size", devices * nodes)
        if find(root, key) is not None:
            message = f"rows of a pass ({micro}) by devices ({devices * nodes}) are more than rows of a step ({rows})"
            yield _refused(document, key, message, str(fits) if fits else "")


def _warmup(document: Document, root: Node) -> Iterator[Observation]:
    """The rate of a step is the step over the warm-up, from the first step 0 on."""
    pair = find(root, "train.lr_warmup_steps")
    if pair is not None and pair.value.kind == "scalar" and value(pair.value, "jsonargparse") in (0, None):
        message = "the finetuning commands divide by the number of warm-up steps"
        yield _refused(document, "train.lr_warmup_steps", message, "1")


def _reach(document: Document, root: Node) -> Iterator[Observation]:
    """Rows longer than litgpt builds the model for, where that is less than was published."""
    name, length = str(_value(root, "checkpoint_dir")).rpartition("/")[2], _value(root, "train.max_seq_length")
    reach = next((tokens for pattern, tokens in _SHORTER.items() if re.fullmatch(pattern, name)), None)
    if reach is not None and isinstance(length, int) and length > reach:
        message = f"litgpt builds {name} for {reach} tokens, and stops when the longest row is longer"
        yield _refused(document, "train.max_seq_length", message, str(reach))._replace(package="litgpt")


def _nothing(document: Document, root: Node) -> Iterator[Observation]:
    switches = {key: on if find(root, key) is None else _value(root, key) for key, (on, _) in SWITCHES.items()}
    if all(on is False for on in switches.values()):
        yield _refused(
            document, next(key for key in SWITCHES if find(root, key) is not None), "no module gets an adapter", "true"
        )
