"""Which chat template a program writes its rows in, and by which marks it looks for the answers in them.

Sources: chat templates of the models on the Hub; unsloth 2026.10.9 chat_templates.py.
"""

from __future__ import annotations

import re

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.trace import argument, last
from loralint.source.script import Call, Script

_MARKS = {
    "<|im_start|>": "ChatML",
    "<|start_header_id|>": "Llama 3",
    "<start_of_turn>": "Gemma",
    "[INST]": "Mistral",
    "[/INST]": "Mistral",
    "<|user|>": "Phi 3",
}
_TEMPLATES = {
    "chatml": "ChatML", "qwen-2.5": "ChatML", "qwen2.5": "ChatML", "qwen-3": "ChatML", "qwen3": "ChatML",
    "llama-3": "Llama 3", "llama3": "Llama 3", "llama-3.1": "Llama 3", "llama-3.2": "Llama 3", "llama-3.3": "Llama 3",
    "gemma": "Gemma", "gemma2": "Gemma", "gemma-2": "Gemma", "gemma3": "Gemma", "gemma-3": "Gemma",
    "mistral": "Mistral", "phi-3": "Phi 3", "phi-3.5": "Phi 3",
}  # fmt: skip
_MODELS = (
    (r"qwen[123](?:\.5)?-.*(?:instruct|chat)", "ChatML"),
    (r"llama-3(?:\.[123])?-.*instruct", "Llama 3"),
    (r"gemma-[23]-.*-it", "Gemma"),
    (r"mistral-7b-instruct", "Mistral"),
    (r"phi-3(?:\.5)?-.*instruct", "Phi 3"),
)


def marked(script: Script, call: Call) -> dict[str, object]:
    """What an event says of masked prompts. written, sought: templates, where both are certain.

    Marks that stand anywhere else in the program may be in rows that it writes itself; then nobody knows.
    """
    parts = [
        one.node.raw for name, at in (("instruction_part", 1), ("response_part", 2)) if (one := call.arg(name, at))
    ]
    sought = {_MARKS[mark] for mark in _MARKS for part in parts if mark in part}
    text = script.text
    elsewhere = any(
        text.count(mark) > sum(part.count(mark) for part in parts) for mark in _MARKS if mark in "".join(parts)
    )
    written = _template(script)
    if len(sought) != 1 or elsewhere or not written:
        return {"differs": None}
    return {"differs": written not in sought, "written": written, "sought": sought.pop()}


def _template(script: Script) -> str:
    """The template that the tokenizer is given, else the one that the model brings along; empty where nobody knows."""
    chosen = [call for call in script.calls if last(call) == "get_chat_template"]
    if chosen:
        names = [
            one.node.raw.lower() for call in chosen if (one := call.arg("chat_template", 1)) and one.node.tag == "str"
        ]
        return _TEMPLATES.get(names[0], "") if len(names) == 1 == len(chosen) else ""
    loads = [call for call in script.calls if (what := of(call)) is not None and what.role == "load"]
    if len(loads) != 1 or "chat_template" in script.text:
        return ""
    given = argument(loads[0], "model_name", of(loads[0])) or loads[0].arg("pretrained_model_name_or_path", 0)
    name = given.node.raw.lower() if given is not None and given.node.tag == "str" else ""
    return next((template for pattern, template in _MODELS if re.search(pattern, name)), "")
