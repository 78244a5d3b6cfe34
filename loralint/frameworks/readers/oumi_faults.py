"""Pairs of settings that oumi refuses when it starts (0.9, core/configs/training_config.py and train.py)."""

from __future__ import annotations

from loralint.frameworks.convert import dtype
from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look
from loralint.model import Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, value

_MIXED = ("BF16", "FP16")
_UNKNOWN = "filled in later"


def rejected(document: Document, _: Look) -> list[Observation]:
    """Observe each such pair at the key that is more likely the wrong one."""
    root = document.root
    if root is None:
        return []
    found = [*_precision(root), *_devices(root), *_storage(root)]
    return [
        Observation("rejected", place(document, pair, key), "crash", message, package="oumi")
        for key, message in found
        if (pair := find(root, key)) is not None
    ]


def _precision(root: Node) -> list[tuple[str, str]]:
    """Mixed precision wants fp32 weights; `auto` counts as another dtype."""
    mixed = str(_value(root, "training.mixed_precision_dtype", "NONE")).rpartition(".")[2]
    weights = _value(root, "model.torch_dtype_str", "auto")
    if mixed not in _MIXED or weights == _UNKNOWN or dtype(weights) == "fp32":
        return []
    return [("training.mixed_precision_dtype", "mixed precision needs `model.torch_dtype_str: float32`")]


def _devices(root: Node) -> list[tuple[str, str]]:
    found = []
    if _value(root, "fsdp.enable_fsdp") is True and _value(root, "deepspeed.enable_deepspeed") is True:
        found.append(("deepspeed.enable_deepspeed", "FSDP and DeepSpeed exclude each other"))
    if _value(root, "training.compile") is True and _value(root, "fsdp.use_orig_params") is False:
        found.append(("fsdp.use_orig_params", "compilation needs `fsdp.use_orig_params: true`"))
    if _value(root, "model.compile") is True:
        found.append(("model.compile", "oumi compiles by `training.compile`"))
    return found


def _storage(root: Node) -> list[tuple[str, str]]:
    """QLoRA under FSDP: the packed weights and the others share one dtype, which has to be named."""
    switches = ("fsdp.enable_fsdp", "peft.q_lora", "training.use_peft")
    if not all(_value(root, key) is True for key in switches):
        return []
    storage = _value(root, "peft.bnb_4bit_quant_storage", "uint8")
    weights = _value(root, "model.torch_dtype_str", "auto")
    if _UNKNOWN in (storage, weights) or (dtype(storage) == dtype(weights) and weights != "auto"):
        return []
    key = "peft.bnb_4bit_quant_storage" if find(root, "peft.bnb_4bit_quant_storage") is not None else "peft.q_lora"
    return [(key, "under FSDP `peft.bnb_4bit_quant_storage` has to be the dtype of `model.torch_dtype_str`")]


def _value(root: Node, key: str, default: object = None) -> object:
    pair = find(root, key)
    if pair is None or pair.value.kind != "scalar":
        return default
    return _UNKNOWN if is_template(pair.value.raw) else value(pair.value, "omegaconf")
