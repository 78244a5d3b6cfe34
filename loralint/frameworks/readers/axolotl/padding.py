"""A base model whose tokenizer has no token for padding, in a run that names none.

axolotl gives the older tokenizers of Llama one by itself, by the name of their class, which Llama 3 does not have; its
collators pad every batch. Sources: axolotl 0.13 to 0.19 loaders/tokenizer.py (load_tokenizer); transformers 5.24.0
gives such files TokenizersBackend, which raises on padding, run here on a small one; axolotl-ai-cloud/axolotl issue
1570.
"""

from __future__ import annotations

import re

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document
from loralint.source.scalars import plain

# as their files on the hub are; mirrors may have added one
_WITHOUT = re.compile(
    r"meta-llama/(?:Meta-Llama-3-|(?:Meta-)?Llama-3\.[12]-)\d+B(?:-Instruct)?|NousResearch/Meta-Llama-3-8B(?:-Instruct)?"
)
# a tokenizer that is none of the model's, a token that is named, and trainers that see to padding themselves
_OTHERWISE = ("tokenizer_config", "special_tokens.pad_token", "rl", "reward_model", "process_reward_model",
              "processor_type", "tokenizer_use_mistral_common")  # fmt: skip


def padding_missing(document: Document, _: Look) -> list[Observation]:
    """Observe the base model, where the token is to be written beside."""
    root = document.root
    base = find(root, "base_model") if root is not None else None
    name = plain(base.value, "pyyaml") if base is not None else None
    if root is None or base is None or not isinstance(name, str) or _WITHOUT.fullmatch(name) is None:
        return []
    if any((pair := find(root, key)) is not None and pair.value.tag != "null" for key in _OTHERWISE):
        return []
    data = {"model": name, "advice": 'under special_tokens write pad_token: "<|end_of_text|>", which no row holds'}
    return [Observation("padding-missing", place(document, base, "special_tokens.pad_token"), "crash", "", data=data)]
