"""Which tokens a program adds to a vocabulary, and which of its tokens it means."""

from __future__ import annotations

import re

from loralint.frameworks.python.trace import last
from loralint.source.document import Node
from loralint.source.script import Argument, Call

# tokens that vocabularies have already; naming one for padding adds none
_OLD_TOKENS = ("<unk>", "<s>", "</s>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|finetune_right_pad_id|>")
# tokenizers of encoders, which beside a model that writes belong to another part, such as BLIP-2's Q-Former
_ENCODERS = re.compile(r"\bBertTokenizer(?:Fast)?\b")
_OWN_TOKENS = (".eos_token", ".bos_token", ".unk_token", ".pad_token", ".sep_token", ".cls_token", ".mask_token")


def added(call: Call, name: str) -> dict[str, object]:
    """What is added: `only_pad` when nothing that a model would have to write or read."""
    given = call.args[0].node if call.args else None
    made = call.on.made if call.on is not None else None
    encoder = {"of_encoder": made is not None and _ENCODERS.search(made.name) is not None}
    if name == "add_special_tokens" and given is not None and given.kind == "mapping":
        kinds = {pair.key for pair in given.pairs if not _is_old(pair.value)}
        named = {pair.key for pair in given.pairs}
        known_ones = {"pad": "pad_token" in named, "eos": "eos_token" in named}
        return {**encoder, **known_ones, "only_pad": kinds <= {"pad_token"}, "empty": not kinds}
    empty = given is not None and given.kind == "sequence" and not given.items
    return {**encoder, "pad": False, "eos": False, "only_pad": False, "empty": empty}


def _is_old(token: Node) -> bool:
    """Whether a token is one that the vocabulary has: by its text, or because the tokenizer itself is asked for it."""
    return token.native in _OLD_TOKENS or (token.tag != "str" and token.raw.endswith(_OWN_TOKENS))


def is_eos(given: Argument) -> bool | None:
    """Whether it is the end token; None when nobody knows."""
    made = given.thing.made if given.thing is not None else None
    if made is not None and last(made) == "__getattr__":
        return made.args[0].node.raw in ("eos_token", "eos_token_id")
    return False if given.node.tag == "str" and "pad" in given.node.raw.lower() else None
