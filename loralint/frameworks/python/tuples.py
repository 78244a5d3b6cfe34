"""A comma behind a call, which makes a tuple of what the call gives: `args = SFTConfig(...),`."""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node

# arguments of trainers and loaders that take one object, never several
_SINGLE = frozenset({"args", "peft_config", "quantization_config", "data_collator"})


def observe_tuples(document: Document, _: Look) -> list[Observation]:
    """Observe one object in a tuple or list where the object itself belongs."""
    found = []
    for outer in document.root.pairs if document.root is not None else ():
        for pair in outer.value.pairs if outer.value.tag != "own" else ():
            if pair.key in _SINGLE and pair.key_node.tag != "own" and _of_one_call(pair.value):
                name = pair.value.items[0].raw.partition("(")[0]
                message = f"{outer.key} gets a tuple that holds a {name}, and Python stops at what a tuple lacks"
                advice = {"advice": f"leave out the comma behind {name}(...)"}
                at = place(document, pair, f"{outer.key}.{pair.key}")
                found.append(Observation("rejected", at, "crash", message, data=advice))
    return found


def _of_one_call(value: Node) -> bool:
    return value.kind == "sequence" and len(value.items) == 1 and value.items[0].tag == "object"
