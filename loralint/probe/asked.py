"""Whether a config asks for no more than a model has: libraries believe it, and loop for hours or fill all memory."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules import module as hooks

MOST_LAYERS = 1000
_COUNTS = re.compile(r"(?:^|_)(layers?|blocks|labels)$")
_POSITIONS = re.compile(r"(?:^|_)(positions?)(?:_embeddings)?$")
# Of the kinds that fill a table of positions one number at a time; no other has so few that an hour would go by.
_FILLED = ("flaubert", "marian", "pegasus", "roformer", "xlm")
_MOST_FILLED = 1 << 14
_MOST_PARTS = 100_000  # a thousand layers have some 20,000
_MOST_TABLES = 1 << 30  # bytes


def refuse_odd_config(folder: str) -> None:
    """Raise ValueError for a config that names more layers than any model has: lists are made of so many."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for part in _parts(config):
        filled = part.get("model_type") in _FILLED
        for name, value in part.items():
            most = MOST_LAYERS if (found := _COUNTS.search(name)) else _MOST_FILLED if filled else math.inf
            found = found or _POSITIONS.search(name)
            if found and isinstance(value, int) and value > most:
                raise ValueError(f"its config names {value} {found[1]}")


def _parts(config: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a config."""
    ahead = [config]
    while ahead:
        one = ahead.pop()
        if isinstance(one, dict):
            yield one
        ahead += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


@contextmanager
def few_parts() -> Iterator[None]:
    """Within it a model of more parts than any has raises ValueError while it is made."""
    count = 0

    def see(*_: Any) -> None:
        nonlocal count
        count += 1
        if count > _MOST_PARTS:
            raise ValueError(f"its config asks for more than {_MOST_PARTS:,} layers and parts of such")

    handles = [
        hooks.register_module_module_registration_hook(see),
        hooks.register_module_parameter_registration_hook(see),
    ]
    try:
        yield
    finally:
        for one in handles:
            one.remove()


def refuse_large_tables(model: nn.Module) -> None:
    """Raise ValueError for a model, made without data, that would fill memory with what no tensor gives: positions."""
    if sum(one.numel() * one.element_size() for one in model.buffers()) > _MOST_TABLES:
        raise ValueError("its config asks for larger tables of positions than the probe makes")
