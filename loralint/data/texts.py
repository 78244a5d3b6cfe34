"""What a text holds that it should not: control characters, signs of a chat template, secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loralint.source.secrets import find, hinted

# Not the ones that text is made of: tab, line feed, form feed, carriage return; nor \x1e, which stands between ours.
# In UTF-8 these bytes stand for nothing else, and to delete them is six times as fast as to search.
_CONTROLS = bytes([*range(9), 11, *range(14, 30), 31, 127])


class Family(NamedTuple):
    """One way to write turns. signs: literals that stand in no other text. names: what configs call the template."""

    name: str
    signs: tuple[str, ...]
    names: tuple[str, ...]


FAMILIES = (
    Family("ChatML", ("<|im_start|>", "<|im_end|>"), ("chatml", "qwen", "qwen2", "qwen2_5", "qwen_25", "qwen3", "yi")),
    Family("Llama 3", ("<|start_header_id|>", "<|eot_id|>"), ("llama3", "llama-3", "llama_3", "llama3_1")),
    Family("Llama 2", ("[/INST]", "<</SYS>>"), ("llama2", "llama-2", "mistral", "inst", "mistral_v1", "mistral_small")),
    Family("Gemma", ("<start_of_turn>", "<end_of_turn>"), ("gemma", "gemma2", "gemma3")),
    Family("Phi", ("<|assistant|>", "<|end|>"), ("phi", "phi3", "phi_3", "phi_35", "phi4", "phi_4", "zephyr")),
    Family("Llama 4", ("<|header_start|>", "<|eot|>"), ("llama4", "llama-4")),
    Family("DeepSeek", ("<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>"), ("deepseek", "deepseek_v2", "deepseek3")),
    Family("harmony", ("<|start|>", "<|message|>"), ("harmony", "gpt", "gpt_oss")),
    Family("Alpaca", ("### Instruction:", "### Response:"), ("alpaca",)),
    Family("Vicuna", ("### Human:", "### Assistant:"), ("vicuna_v0",)),
)
_SIGNS = re.compile("|".join(re.escape(sign) for family in FAMILIES for sign in family.signs))
# Every sign holds one of these, and these hold a character that most texts lack.
_HINTS = (("<", ("<|", "SYS>>", "_of_turn>", "<\uff5c")), ("]", ("INST]",)), ("#", ("### ",)))
# Passwords in URLs and bearer tokens are everyday content of code and manuals.
_LOOSE = frozenset({"password in a URL", "bearer token"})


def markers(text: str) -> str:
    """The first sign of a chat template that stands in a text; empty for none."""
    if not any(sign in text and any(map(text.__contains__, hints)) for sign, hints in _HINTS):
        return ""
    found = _SIGNS.search(text)
    return found[0] if found else ""


def family_of(sign: str) -> str:
    """The name of the family that a sign belongs to."""
    return next((family.name for family in FAMILIES if sign in family.signs), "")


def family_named(template: str) -> str:
    """The name of the family of a config's template; empty where it is not known."""
    return next((family.name for family in FAMILIES if template.lower() in family.names), "")


def unclean(text: str, data: bytes) -> Iterator[tuple[str, str]]:
    """(kind of fault, detail) of what no text should hold; data: the same in UTF-8."""
    if len(data.translate(None, _CONTROLS)) != len(data):
        yield "data-control", next(f"U+{byte:04X}" for byte in data if byte in _CONTROLS)
    if not text.isascii() and "\ufffd" in text:
        yield "data-replacement", "U+FFFD"
    secret = find("", text) if hinted(text) else None
    if secret and secret not in _LOOSE:
        yield "data-secret", secret
