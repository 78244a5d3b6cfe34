"""Number formats that a program gives by name to the config of bitsandbytes, and layers that IA3 does not adapt.

Sources: transformers 4.57.6 and 5.24.0 utils/quantization_config.py (BitsAndBytesConfig), peft 0.21.2
tuners/ia3/config.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import plain

_BNB = "BitsAndBytesConfig"
_FORMATS = ("bnb_4bit_compute_dtype", "bnb_4bit_quant_storage")
# what torch has under that name, of the formats that anybody asks for
_TORCH = frozenset({"float16", "bfloat16", "float32", "float64", "half", "float", "double", "uint8", "int8"})
_MEANT = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "16": "float16", "32": "float32"}
_IA3 = "IA3Config"


def observe_formats(document: Document, _: Look) -> list[Observation]:
    """Observe what these two configs refuse when they are made."""
    root = document.root
    if root is None:
        return []
    configs = [(outer.key, outer.value) for outer in root.pairs if outer.value.tag != "own"]
    return [
        *(one for key, config in configs if key == _BNB for one in _formats(document, config)),
        *(one for key, config in configs if key == _IA3 for one in _feedforward(document, config)),
    ]


def _formats(document: Document, config: Node) -> Iterator[Observation]:
    for key in _FORMATS:
        pair = config.pair(key)
        word = plain(pair.value, "python") if pair is not None and pair.value.tag == "str" else None
        if pair is None or not isinstance(word, str) or word in _TORCH:
            continue
        meant = _MEANT.get(word.lower(), word.rpartition(".")[2])
        if meant in _TORCH:  # of any other word nobody knows whether torch has it
            message = f"torch has no format of the name `{word}`, and Python stops when the config is made"
            where = place(document, pair, f"{_BNB}.{key}")
            data = {"advice": f"write {key}=torch.{meant}, or the text {meant!r}"}
            yield Observation("rejected", where, "crash", message, data=data)


def _feedforward(document: Document, config: Node) -> Iterator[Observation]:
    """Layers that get their vector at the input, and none at all, as they are no targets."""
    inner, targets = config.pair("feedforward_modules"), config.pair("target_modules")
    if inner is None or targets is None:
        return
    lacking = sorted(_names(inner) - _names(targets))
    if lacking and _names(targets):
        message = f"feedforward_modules has to be a part of target_modules, and {', '.join(lacking)} is not among them"
        data = {"advice": f"add {', '.join(lacking)} to target_modules"}
        where, other = place(document, inner, f"{_IA3}.{inner.key}"), place(document, targets, f"{_IA3}.{targets.key}")
        yield Observation("rejected", where, "crash", message, package="peft", other=other, data=data)


def _names(pair: Pair) -> frozenset[str]:
    """The names of a list that is written out, none of any other value."""
    items = pair.value.items if pair.value.kind == "sequence" else []
    return frozenset(item.raw for item in items) if all(item.tag == "str" for item in items) else frozenset()
