"""What NeMo-RL refuses of an adapter when it starts (0.7.0, models/{automodel,megatron}/setup.py)."""

from __future__ import annotations

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.hydra import inherits
from loralint.frameworks.table import Look
from loralint.model import Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, value

_LORA, _PEFT = "policy.dtensor_cfg.lora_cfg", "policy.megatron_cfg.peft"


def rejected(document: Document, _: Look) -> list[Observation]:
    """Observe a backend's adapter that is on and can't be built, or two backends that are on."""
    root = document.root
    if root is None:
        return []
    found = [*_backends(root), *_automodel(root), *_megatron(root, whole=not inherits(document))]
    return [
        Observation("rejected", place(document, pair, key), "crash", message, package="nemo-rl")
        for key, message in found
        if (pair := find(root, key)) is not None
    ]


def _backends(root: Node) -> list[tuple[str, str]]:
    if all(_value(root, f"policy.{name}.enabled") is True for name in ("dtensor_cfg", "megatron_cfg")):
        return [("policy.megatron_cfg.enabled", "only one of `dtensor_cfg` and `megatron_cfg` can be enabled")]
    return []


def _automodel(root: Node) -> list[tuple[str, str]]:
    """Triton kernels under tensor parallelism, and two ways to say the targets at once."""
    if _value(root, f"{_LORA}.enabled") is not True:
        return []
    found = []
    size = _value(root, "policy.dtensor_cfg.tensor_parallel_size")
    if _value(root, f"{_LORA}.use_triton") is True and isinstance(size, int) and size > 1:
        found.append((f"{_LORA}.use_triton", "the Triton kernels do not work with tensor parallelism"))
    if _value(root, f"{_LORA}.match_all_linear") is True:
        listed = [key for key in ("target_modules", "exclude_modules") if _filled(root, f"{_LORA}.{key}")]
        found += [(f"{_LORA}.{key}", "`match_all_linear: true` allows no list of modules") for key in listed]
    return found


def _megatron(root: Node, *, whole: bool) -> list[tuple[str, str]]:
    """Both lists at once, and an adapter without its size where no other file can give it."""
    if _value(root, f"{_PEFT}.enabled") is not True:
        return []
    found = []
    if _filled(root, f"{_PEFT}.target_modules") and _filled(root, f"{_PEFT}.exclude_modules"):
        found.append((f"{_PEFT}.exclude_modules", "`target_modules` and `exclude_modules` exclude each other"))
    missing = [key for key in ("dim", "alpha") if whole and find(root, f"{_PEFT}.{key}") is None]
    return found + [(f"{_PEFT}.enabled", f"an adapter on Megatron needs `{key}`") for key in missing]


def _filled(root: Node, key: str) -> bool:
    pair = find(root, key)
    return pair is not None and bool(pair.value.items)


def _value(root: Node, key: str) -> object:
    pair = find(root, key)
    if pair is None or pair.value.kind != "scalar" or is_template(pair.value.raw):
        return None
    return value(pair.value, "omegaconf")
