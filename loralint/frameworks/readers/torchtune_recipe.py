"""Settings of torchtune's configs on the command line of a recipe, whose name says whether an adapter is trained.

A config that comes with torchtune is not at hand; that of a user's own says these things itself.
Sources: torchtune bd2a0fc _recipe_registry.py, and recipes/configs: all 78 with LoRA in their name take AdamW.
"""

from __future__ import annotations

from functools import lru_cache, partial

from loralint.frameworks.flags import as_flags
from loralint.frameworks.readers.torchtune import READER
from loralint.frameworks.table import Reader, Values
from loralint.model import Value
from loralint.source.document import Document

_TASKS = {"lora_finetune": "sft", "qat_lora_finetune": "sft", "lora_dpo": "dpo"}


@lru_cache(maxsize=64)
def reader_of(recipe: str) -> Reader | None:
    """The reader of what `tune run` hands to a recipe; None for one that trains no adapter or is the user's own."""
    task = next((task for start, task in _TASKS.items() if recipe.startswith(start)), "")
    return as_flags(READER)._replace(combine=partial(_combine, task)) if task else None


def _combine(task: str, document: Document, values: Values) -> Values:
    """What the settings say; where they do not, what every config does that comes with the recipe."""
    fields = dict(READER.combine(document, values)) if READER.combine is not None else {}
    config = document.root.get("config") if document.root is not None else None
    if config is None or "." in config.raw:
        return fields
    for field, value in (("adapter.method", "lora"), ("train.task", task), ("optim.name", "torch.optim.adamw")):
        if not values.get(field) and field not in fields:
            fields[field] = (Value(value, "derived", field=field, source="the recipe"),)
    return fields
