"""Targets that a program seeks in the loaded model by the class of its layers, as examples of QLoRA do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.python.loads import loaded
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import last
from loralint.frameworks.table import Observation
from loralint.source.document import Document
from loralint.source.script import Script

_BITS = {"Linear4bit": 4, "Linear8bitLt": 8}
_SOUGHT = re.compile(r"\b(?:bnb|bitsandbytes)\.nn\.(Linear4bit|Linear8bitLt)\b")
_PLAIN = re.compile(r"\bnn\.Linear\b")  # of any class of layers that is sought as well
_NAMES = {4: "4 bits", 8: "8 bits", 16: "16 bits"}


def empty_targets(script: Script, document: Document, parts: Parts) -> Iterator[Observation]:
    """Observe targets that are layers of bitsandbytes' class for other bits than the model is loaded in."""
    text = script.text
    classes = set(_SOUGHT.findall(text)) if says(tuple(_BITS), text) and says(_SOUGHT, text) else set()
    if len(classes) != 1 or _PLAIN.search(text) or parts.adapter is None or parts.load is None:
        return
    sought, bits = classes.pop(), loaded(parts.load)["bits"]
    outer = document.root.pair(last(parts.adapter)) if document.root is not None else None
    pair = outer.value.pair("target_modules") if outer is not None else None
    worked_out = pair is not None and not pair.value.items and pair.value.tag not in ("str", "null")
    if outer is None or pair is None or not worked_out or not isinstance(bits, int) or bits == _BITS[sought]:
        return
    other = next((name for name, width in _BITS.items() if width == bits), "Linear")
    message = (
        f"the program seeks layers of the class {sought}, and a model in {_NAMES[bits]} has none: the list is empty"
    )
    module = "bnb.nn" if bits in _BITS.values() else "torch.nn"
    data = {"advice": f"seek {module}.{other}, or write target_modules='all-linear'"}
    key = f"{outer.key}.{pair.key}"
    yield Observation("rejected", place(document, pair, key), "crash", message, data=data)
