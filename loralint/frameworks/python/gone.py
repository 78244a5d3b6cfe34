"""Names that a release of the training libraries took away: the import stops the program before it does anything.

The list is data (`gone` of the knowledge part `keys-python`): {full name: {when, package, to}}. A program that says
what to do when an import fails is left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loralint.frameworks.table import Look, Observation
from loralint.knowledge.data import part
from loralint.model import Value
from loralint.source.document import Document
from loralint.source.script import Call, Script

_TITLES = {"transformers": "Transformers", "trl": "TRL", "peft": "PEFT"}
_GUARD = "ImportError"
Observer = Callable[[Document, Look], list[Observation]]


def observe_gone(script: Script) -> Observer:
    """An observer of what a program takes from the libraries and these releases do not have."""
    gone: Any = part("keys-python")["gone"]
    used = {
        name: call
        for call in reversed(script.calls)
        if (name := _named(call, gone)) and _GUARD not in script.text_at(call.name_span)
    }

    def observe(_: Document, look: Look) -> list[Observation]:
        return [
            _observation(name, call, gone[name]) for name, call in used.items() if look.version_is(gone[name]["when"])
        ]

    return observe


def _named(call: Call, gone: Any) -> str:
    """The name that is gone, of `AutoModelForVision2Seq.from_pretrained(...)` the class; empty for every other call."""
    if call.on is not None or not call.sure:
        return ""
    owner = call.name.rpartition(".")[0]
    return call.name if call.name in gone else owner if owner in gone else ""


def _observation(name: str, call: Call, entry: dict[str, str]) -> Observation:
    package, _, release = entry["when"].partition(">=")
    short = name.rpartition(".")[2]
    where = Value(None, key=short, pointer=f"/{short}", span=call.name_span, key_span=call.name_span)
    to = entry.get("to", "")
    message = f"{_TITLES[package]} has no `{short}` since {release}, and the import stops with an ImportError"
    data = {"advice": f"use {to}" if to else f"pin {package}<{release}"}
    return Observation("removed", where, "crash", message, package=package, data=data)
