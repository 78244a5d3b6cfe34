"""A width asked for by a switch of old beside the config that took its place.

Sources: transformers 4.34.0, 4.37.2 and 4.38.0 modeling_utils.py (from_pretrained). Up to 4.37 the switches of the
config replace those of the call in silence.
"""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node, Pair

_REFUSED = "transformers>=4.38"
_SWITCHES = ("load_in_4bit", "load_in_8bit")


def observe_widths(document: Document, look: Look) -> list[Observation]:
    """Observe `load_in_8bit=True` beside quantization_config; Unsloth's loader takes both."""
    loads = [pair.value for pair in document.root.pairs if pair.key == "from_pretrained"] if document.root else []
    refused = look.version_is(_REFUSED)
    return [_observed(document, pair, refused=refused) for call in loads for pair in _beside(call)]


def _beside(call: Node) -> list[Pair]:
    owner, config = call.get("class"), call.get("quantization_config")
    if config is None or config.tag == "null" or (owner is not None and owner.raw.startswith("Fast")):
        return []
    return [pair for pair in map(call.pair, _SWITCHES) if pair is not None and pair.value.native is True]


def _observed(document: Document, pair: Pair, *, refused: bool) -> Observation:
    where = place(document, pair, f"from_pretrained.{pair.key}")
    config = document.root.get("BitsAndBytesConfig") if document.root is not None else None
    asked = config.get(pair.key) if config is not None else None
    effect = "harmless" if asked is not None and asked.native is True else "lost"
    if not refused:
        return Observation("ignored", where, effect, "quantization_config decides alone", "", "remove", "transformers")
    what = f"Transformers takes either `{pair.key}` or quantization_config, and raises when both are given"
    return Observation("rejected", where, "crash", what, "", "remove", "transformers")
