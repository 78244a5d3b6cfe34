"""What Ludwig does not train and what it refuses, beyond what every reader observes (0.17.10)."""

from __future__ import annotations

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look
from loralint.model import Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import value

_NEEDED = {"loftq": "loftq_config", "eva": "eva_config"}


def untrained(document: Document, _: Look) -> list[Observation]:
    """An adapter in a file whose trainer does not train; one with trained weights is there to be used."""
    root = document.root
    pair = root.pair("adapter") if root is not None else None
    if root is None or pair is None or pair.value.tag == "null":
        return []
    trainer = _value(root, "trainer.type")
    if trainer not in (None, "none") or find(root, "adapter.pretrained_adapter_weights") is not None:
        return []
    message = "Ludwig trains with `trainer.type: finetune` only; without it the model is prompted and nothing is learnt"
    return [Observation("ignored", place(document, pair, "adapter"), "lost", message, package="ludwig")]


def rejected(document: Document, _: Look) -> list[Observation]:
    """Initialisations without their section, a quantisation mode without its backend, and two forms of adapters."""
    root = document.root
    if root is None:
        return []
    found = []
    init = str(_value(root, "adapter.init_lora_weights"))
    if init in _NEEDED and find(root, f"adapter.{_NEEDED[init]}") is None:
        found.append(("adapter.init_lora_weights", f"`{init}` needs the section `adapter.{_NEEDED[init]}`"))
    backend = _value(root, "quantization.backend") or "bitsandbytes"
    mode = _value(root, "quantization.mode")
    if backend == "torchao" and mode is None:
        found.append(("quantization.backend", "torchao needs `quantization.mode`"))
    if backend == "bitsandbytes" and mode is not None:
        found.append(("quantization.mode", "only `backend: torchao` has modes"))
    if _is_set(root, "adapter") and _is_set(root, "adapters"):
        found.append(("adapters", "`adapter` and `adapters` exclude each other"))
    return [
        Observation("rejected", place(document, pair, key), "crash", message, package="ludwig")
        for key, message in found
        if (pair := find(root, key)) is not None
    ]


def _is_set(root: Node, key: str) -> bool:
    pair = root.pair(key)
    return pair is not None and pair.value.tag != "null"


def _value(root: Node, key: str) -> object:
    pair = find(root, key)
    return value(pair.value, "pyyaml") if pair is not None and pair.value.kind == "scalar" else None
