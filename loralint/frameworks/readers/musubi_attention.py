"""Kernels of attention that HunyuanVideo of musubi-tuner (30c658c) does not take, or not as they are asked for.

Of several switches the first of a fixed order counts. Source: training/trainer_base.py, hunyuan_model/attention.py.
"""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document

SCRIPTS = frozenset({"hv_train_network", "hv_train"})
_ORDER = ("sdpa", "flash_attn", "sage_attn", "xformers", "flash3")


def observe_attention(document: Document, _: Look) -> list[Observation]:
    """Observe xFormers over whole batches, and FlashAttention 3."""
    root = document.root
    chosen = next((pair for key in _ORDER if root is not None and (pair := root.pair(key)) is not None), None)
    if root is None or chosen is None or chosen.value.native is not True:
        return []
    if chosen.key == "xformers" and root.pair("split_attn") is None:
        message = "HunyuanVideo lets xFormers attend over one row at a time only, and stops at the first step"
        data = {"advice": "add --split_attn, or take --sdpa"}
    elif chosen.key == "flash3":
        message, data = (
            "HunyuanVideo has no FlashAttention 3, and stops at the first step",
            {"advice": "take --flash_attn"},
        )
    else:
        return []
    where = place(document, chosen, chosen.key)
    return [Observation("rejected", where, "crash", message, package="musubi-tuner", data=data)]
