"""Two precisions asked of Unsloth's loader at once, of which 4 bits are asked for by default.

Source: unsloth 2026.9.4 and 2026.10.9 `models/loader.py`.
"""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import plain

_CHECKED = "unsloth>=2026.10"  # before, only FastModel and its kin looked, to which 8 bits are handed on


def observe_precisions(document: Document, look: Look) -> list[Observation]:
    """Observe 16 or 8 bits asked for while 4 bits stay on; of 8 beside 4 that are both written LL190 speaks."""
    outer = document.root.pair("from_pretrained") if document.root is not None else None
    owner = outer.value.get("class") if outer is not None else None
    if outer is None or owner is None or not owner.raw.startswith("Fast"):
        return []
    whole, four = outer.value.pair("full_finetuning"), outer.value.pair("load_in_4bit")
    asked = _asked(outer.value, alone=four is None)
    if asked is None or whole is not None:
        return []
    if four is not None and plain(four.value, "python") is not True:
        return []
    crashes = owner.raw != "FastLanguageModel" or asked.key == "load_in_8bit" or look.version_is(_CHECKED)
    told = "and the loader takes one width only" if crashes else "which wins: the base is loaded in 4 bits"
    message = f"load_in_4bit is on{'' if four is not None else ' by default'}, {told}"
    where = place(document, asked, f"{outer.key}.{asked.key}")
    data = {"advice": "write load_in_4bit=False beside it"}
    kind, effect = ("rejected", "crash") if crashes else ("ignored", "changed")
    return [Observation(kind, where, effect, message, package="unsloth", data=data)]


def _asked(call: Node, *, alone: bool) -> Pair | None:
    names = ("load_in_16bit", "load_in_8bit") if alone else ("load_in_16bit",)
    found = (pair for pair in map(call.pair, names) if pair is not None and plain(pair.value, "python") is True)
    return next(found, None)
