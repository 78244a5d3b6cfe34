"""Pairs of settings that H2O LLM Studio refuses before it loads anything (1.14.9, python_configs/cfg_checks.py)."""

from __future__ import annotations

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look
from loralint.model import Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import value

_QUANTISED = ("int4", "int8")


def rejected(document: Document, _: Look) -> list[Observation]:
    """Observe DeepSpeed over a quantised base, and a quantised base without pretrained weights."""
    root = document.root
    if root is None:
        return []
    quantised = _value(root, "architecture.backbone_dtype", "int4") in _QUANTISED
    found = []
    if quantised and _value(root, "environment.use_deepspeed", default=False) is True:
        found.append(("environment.use_deepspeed", "DeepSpeed does not go with an int4 or int8 backbone"))
    if quantised and _value(root, "architecture.pretrained", default=True) is False:
        found.append(("architecture.pretrained", "only pretrained weights can be quantised"))
    return [
        Observation("rejected", place(document, pair, key), "crash", message, package="h2o-llmstudio")
        for key, message in found
        if (pair := find(root, key)) is not None
    ]


def _value(root: Node, key: str, default: object) -> object:
    pair = find(root, key)
    return value(pair.value, "pyyaml") if pair is not None and pair.value.kind == "scalar" else default
