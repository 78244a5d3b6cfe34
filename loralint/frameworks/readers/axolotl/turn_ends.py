"""What a tokenizer lacks: an end of turns that is trained, where the template has another, and a token for padding.

axolotl trains the words of an answer and the tokens in `eot_tokens`, for which the tokenizer's end of text stands in
where nobody writes any. A template that never holds that one leaves its own end of a turn without a loss.
Source: axolotl 067b021c prompt_strategies/chat_template.py (eot_tokens, since 0.9) and utils/chat_templates/templates.

It gives the older tokenizers of Llama a token for padding by itself, by the name of their class, which Llama 3 does
not have; its collators pad every batch. Sources: axolotl 0.13 to 0.19 loaders/tokenizer.py (load_tokenizer);
transformers 5.24.0 gives such files TokenizersBackend, which raises on padding, run here on a small one;
axolotl-ai-cloud/axolotl issue 1570.
"""

from __future__ import annotations

import re

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.model import Unknown
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, plain

# Templates by the end of their turns, and the repositories whose tokenizers are known to end a text otherwise. The
# expressions are compiled where they are asked: most runs of axolotl have no such template.
_GEMMA = r"(?i)(?:^|[/_-])gemma-?[234]?n?-"
_LLAMA_BASE = r"^(?:meta-llama|NousResearch|unsloth)/(?:Meta-)?Llama-3(?!.*(?i:instruct))[^/]*$"
_OTHERS = r"^(?:meta-llama|mistralai|google)/|^(?:NousResearch|unsloth|huggyllama)/(?:Meta-)?[Ll]lama-"
_ENDS = {
    **dict.fromkeys(("gemma", "gemma3", "gemma3n"), ("<end_of_turn>", _GEMMA)),
    **dict.fromkeys(("gemma4", "gemma4_unified"), ("<turn|>", _GEMMA)),
    "llama3": ("<|eot_id|>", _LLAMA_BASE),
    "chatml": ("<|im_end|>", _OTHERS),
}
# What the tokenizer of Gemma's chat models brings itself.
_OWN = ("tokenizer_default", None)
_TUNED = r"(?i)(?:^|/)gemma-(?P<release>[234])n?-.*-it\b"
# Another kind of training, another tokenizer, another way to the labels, or an end that is told.
_OTHERWISE = (
    "rl", "reward_model", "process_reward_model", "processor_type", "skip_prepare_dataset", "tokenizer_config",
    "eot_tokens", "chat_template_jinja", "train_on_inputs", "special_tokens.eos_token",
)  # fmt: skip
# Repositories whose tokenizers have no token for padding, as they are on the hub; mirrors may have added one.
_UNPADDED = (
    r"meta-llama/(?:Meta-Llama-3-|(?:Meta-)?Llama-3\.[12]-)\d+B(?:-Instruct)?"
    r"|NousResearch/Meta-Llama-3-8B(?:-Instruct)?"
)
# a tokenizer that is none of the model's, a token that is named, and trainers that see to padding themselves
_PADDED = ("tokenizer_config", "special_tokens.pad_token", "rl", "reward_model", "process_reward_model",
           "processor_type", "tokenizer_use_mistral_common")  # fmt: skip


def turns_without_end(document: Document, look: Look) -> list[Observation]:
    """Observe the template, or the type of the rows, of a run that never learns to end a turn."""
    root = document.root
    base = _said(root, "base_model")
    if root is None or not isinstance(base, str) or not look.version_is("axolotl>=0.9"):
        return []
    if any(_said(root, key) not in (None, False) for key in _OTHERWISE):
        return []
    rows, template = _typed(root), find(root, "chat_template")
    end = _end(_said(root, "chat_template"), base)
    where = template or rows
    if rows is None or where is None or not end:
        return []
    what = f"turns end with {end}, which is not the tokenizer's own end of text, and no `eot_tokens` names it"
    key = "chat_template" if template is not None else "datasets[0].type"
    advice = {"advice": f'write eot_tokens: ["{end}"]'}
    return [Observation("untaught", place(document, where, key), "changed", what, package="axolotl", data=advice)]


def _end(template: object, base: str) -> str:
    """The end of a turn that nobody trains, "" where the model's tokenizer may know it."""
    if template in _OWN:
        tuned = re.search(_TUNED, base)
        return ("<turn|>" if tuned["release"] == "4" else "<end_of_turn>") if tuned else ""
    end, models = _ENDS.get(str(template), ("", _GEMMA))
    return end if re.search(models, base) else ""


def _typed(root: Node) -> Pair | None:
    """The type of the first dataset, where it is that of a chat and says no template of its own."""
    datasets = root.get("datasets")
    first = next(iter(datasets.items), None) if datasets is not None else None
    kind = first.pair("type") if first is not None and first.pair("chat_template") is None else None
    return kind if kind is not None and kind.value.raw == "chat_template" else None


def _said(root: Node | None, key: str) -> object:
    """What a key holds; anything that is filled in later is not None either."""
    pair = find(root, key) if root is not None else None
    if pair is None:
        return None
    made = "" if is_template(pair.value.raw) else plain(pair.value, "pyyaml")
    return made if made is None or not isinstance(made, Unknown) else ""


def padding_missing(document: Document, _: Look) -> list[Observation]:
    """Observe the base model, where the token is to be written beside."""
    root = document.root
    base = find(root, "base_model") if root is not None else None
    name = plain(base.value, "pyyaml") if base is not None else None
    if root is None or base is None or not isinstance(name, str) or re.fullmatch(_UNPADDED, name) is None:
        return []
    if any((pair := find(root, key)) is not None and pair.value.tag != "null" for key in _PADDED):
        return []
    data = {"model": name, "advice": 'under special_tokens write pad_token: "<|end_of_text|>", which no row holds'}
    return [Observation("padding-missing", place(document, base, "special_tokens.pad_token"), "crash", "", data=data)]
