"""Weights that bitsandbytes quantised, back in fp32 without it: 4 bits (NF4, FP4) and 8 bits (LLM.int8).

Layouts as bitsandbytes 0.50 saves them: 4 bits, two values a byte, the first in the high half, a code book of 16 values
and a largest value for every block, itself quantised in 8 bits where the state is nested; 8 bits by row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor

_STATE = ".quant_state.bitsandbytes__"
_KINDS = ("nf4", "fp4")
_EIGHT = 127  # the largest of a row's 8-bit values
_LARGEST_STATE, _LARGEST_BLOCK = 1 << 16, 1 << 12
_MOST_IN_ONE = 16  # values in a number of the packed tensor, which may be stored in any type
_ODD = "what says how {} was quantised does not fit it"


def refuse_quantisation(folder: str) -> None:
    """Raise ValueError where a folder's config says that its weights are quantised in a way that is not read here."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    found = config.get("quantization_config") if isinstance(config, dict) else None
    method = str(found.get("quant_method", "bitsandbytes")).lower() if isinstance(found, dict) else ""
    if method not in ("", "bitsandbytes"):
        raise ValueError(f"weights quantised by {method[:30]} are not read; give the unquantised model")


def sizes(raw: dict[str, tuple[int, ...]], whole: Callable[[str], Tensor]) -> dict[str, tuple[int, ...]]:
    """Shapes as they are once dequantised, without the tensors that only serve that."""
    found = {}
    for key, shape in raw.items():
        if _serves(key, raw):
            continue
        state = _state(key, raw, whole)
        found[key] = shape if state is None else _unpacked(key, shape, state, raw)
    return found


def _unpacked(
    key: str, packed: tuple[int, ...], state: dict[str, Any], raw: dict[str, tuple[int, ...]]
) -> tuple[int, ...]:
    """The shape that a tensor of 4 bits had. Raises ValueError where that and its tensors are not about as large."""
    shape, stored = tuple(state["shape"]), prod(packed)
    beside = max((prod(raw[one]) for one in raw if one.startswith(f"{key}.")), default=0)
    right = all(isinstance(size, int) and size > 0 for size in shape)
    if not right or not stored <= prod(shape) <= _MOST_IN_ONE * stored or beside > stored + _LARGEST_STATE:
        raise ValueError(_ODD.format(key))
    return shape


def _serves(key: str, raw: dict[str, tuple[int, ...]]) -> bool:
    """Whether a tensor belongs to another one's quantisation."""
    stem, found, _ = key.rpartition(".weight.")
    return (bool(found) and f"{stem}.weight" in raw) or key.endswith((".SCB", ".weight_format"))


def _state(key: str, raw: dict[str, tuple[int, ...]], whole: Callable[[str], Tensor]) -> dict[str, Any] | None:
    for kind in _KINDS:
        if (name := f"{key}{_STATE}{kind}") in raw:
            if prod(raw[name]) > _LARGEST_STATE:
                raise ValueError(_ODD.format(key))
            state: dict[str, Any] = json.loads(bytes(whole(name).tolist()))
            return state
    return None


def dequantised(key: str, raw: dict[str, tuple[int, ...]], whole: Callable[[str], Tensor]) -> Tensor:
    """A tensor as it is, or as it was before it was quantised."""
    stored, state = whole(key), _state(key, raw, whole)
    if state is not None:
        return _four_bits(stored, state, key, whole)
    scale = f"{key.removesuffix('weight')}SCB"
    if stored.dtype == torch.int8 and scale in raw:
        if raw[scale] != raw[key][:1]:
            raise ValueError(_ODD.format(key))
        return stored.float() * (whole(scale).float() / _EIGHT).unsqueeze(1)
    if not stored.is_floating_point():
        raise ValueError(f"the weights {key} are quantised in a way that is not read; give the unquantised model")
    return stored


def _four_bits(packed: Tensor, state: dict[str, Any], key: str, whole: Callable[[str], Tensor]) -> Tensor:
    packed = packed.flatten().view(torch.uint8)
    codes = torch.stack((packed >> 4, packed & 15), dim=1).flatten().long()
    values = whole(f"{key}.quant_map").float()[codes]
    largest = whole(f"{key}.absmax")
    if "nested_blocksize" in state:
        book = whole(f"{key}.nested_quant_map").float()[largest.long()]
        largest = _scaled(book, whole(f"{key}.nested_absmax"), state["nested_blocksize"]) + state["nested_offset"]
    shape = torch.Size(state["shape"])
    return _scaled(values, largest, state["blocksize"])[: shape.numel()].view(shape)


def _scaled(values: Tensor, largest: Tensor, block: int) -> Tensor:
    """Each block of values times its own factor."""
    if not 0 < block <= _LARGEST_BLOCK or not len(values) <= len(largest) * block < len(values) + block:
        raise ValueError("what says how its weights were quantised names blocks of another size")
    return values * largest.float().repeat_interleave(block)[: len(values)]
