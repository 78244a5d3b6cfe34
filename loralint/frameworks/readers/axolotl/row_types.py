"""Types of axolotl's datasets that another kind of training has: each kind looks in a folder of its own.

A type `head.function` is a module of axolotl.prompt_strategies, or of its folder dpo, kto or orpo. Only names that one
of these has are judged, since a module of the user's own may have any other.
Source: axolotl 067b021c prompt_strategies/**, utils/data/rl.py (_load_split), utils/data/wrappers.py.
"""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document
from loralint.source.scalars import is_template

_PAIRS = ("default", "argilla_chat", "icr", "intel", "prompt_pairs", "ultra")
_JUDGED = ("argilla", "argilla_chat", "intel", "prompt_pairs", "ultra")
_DPO = {
    "chat_template": ("default", "argilla_chat"), "chatml": _PAIRS, "llama3": _PAIRS, "zephyr": ("nectar",),
    "passthrough": ("default",), "user_defined": ("default",),
}  # fmt: skip
_TYPES: dict[str, dict[str, tuple[str, ...]]] = {
    "dpo": _DPO, "ipo": _DPO, "simpo": _DPO,
    "kto": {"chatml": _JUDGED, "llama3": _JUDGED, "user_defined": ("default",)},
    "orpo": {"chat_template": ("load", "argilla")},
    "grpo": {"passthrough": ("default",)}, "gdpo": {"passthrough": ("default",)},
}  # fmt: skip
# Heads that supervised training has, and that only preference training has.
_SUPERVISED = frozenset(
    {"alpaca", "alpaca_chat", "alpaca_instruct", "alpaca_w_system", "chat_template", "completion", "context_qa",
     "creative_acr", "input_output", "llama2_chat", "metharme", "orcamini", "pygmalion"}
)  # fmt: skip
_PREFERENCE = frozenset({"chatml", "llama3", "zephyr", "passthrough"})
# Kinds of training whose rows hold a prompt, and whose answers are made on the way.
_GENERATED = ("grpo", "gdpo")


def types_of_another_task(document: Document, _: Look) -> list[Observation]:
    """Observe types of rows that axolotl does not find for this `rl`, or without one."""
    root = document.root
    datasets = root.get("datasets") if root is not None else None
    if root is None or datasets is None or root.get("reward_model") is not None:
        return []
    rl = root.get("rl")
    task = "" if rl is None or rl.raw in ("", "null", "~") else rl.raw
    found = []
    for index, item in enumerate(datasets.items):
        pair = item.pair("type")
        if pair is not None and pair.value.kind == "scalar" and _foreign(pair.value.raw, task):
            why = f"under `rl: {task}`" if task else "for supervised training"
            message = f"axolotl finds no strategy of this name {why}, and stops before the rows are read"
            if task in _GENERATED and _pairs(pair.value.raw):
                if item.pair("field_chosen") is not None or item.pair("field_rejected") is not None:
                    continue
                message = f"axolotl reads `chosen` and `rejected` of each row by it, and rows {why} have neither"
            where = place(document, pair, f"datasets[{index}].type")
            found.append(Observation("rejected", where, "crash", message, package="axolotl", data=_advice(task)))
    return found


def _foreign(name: str, task: str) -> bool:
    head, _, function = name.partition(".")
    if is_template(name) or head not in _SUPERVISED | _PREFERENCE:
        return False
    if not task:
        return head in _PREFERENCE
    known = _TYPES.get(task)
    return known is not None and (function or "default") not in known.get(head, ())


def _pairs(name: str) -> bool:
    """Whether axolotl finds the strategy under GRPO, too, since it looks among those of DPO."""
    head, _, function = name.partition(".")
    return (function or "default") in _DPO.get(head, ())


def _advice(task: str) -> dict[str, object]:
    if task in _GENERATED:
        return {"advice": "write a function of your own that makes the prompt of a row, as module.function"}
    names = [f"{head}.{function}" for head, functions in _TYPES.get(task, {}).items() for function in functions[:1]]
    other = "take `chat_template` or another type of supervised training, or say the task by `rl`"
    return {"advice": f"take one of its own, such as {', '.join(names)}" if names else other}
