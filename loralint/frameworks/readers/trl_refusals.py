"""Keys that TRL's trainers refuse beside what other keys say, in its configs and in programs.

Sources: trl f2cd5770 trainer/{sft,dpo,grpo,rloo}_config.py and the trainers beside them, of 0.19.1 to 1.9.0 where Liger
is beside PEFT; each row says the release that came with its check. What is drawn at which temperature: transformers
5.24.0 generation/logits_process.py (TemperatureLogitsWarper).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.trl_task import TASK
from loralint.frameworks.refusals import Refusal, Test, among, below, given, like, off, on, refused
from loralint.frameworks.table import SKIP, Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import plain

_STOPS = "TRL stops when the trainer is made"
_PROGRAMS = ("python", "notebook")
_CONFIGS = {"SFTConfig": "sft", "DPOConfig": "dpo", "KTOConfig": "kto", "GRPOConfig": "grpo", "RLOOConfig": "rloo"}
_PEFT = "use_peft"
_COLD = Refusal("temperature", among(0), "Transformers draws completions at temperatures above 0 only",
                (("use_vllm", off),), advice="write a temperature such as 1.0, so that completions of a group differ",
                stops="TRL stops at the first completion")  # fmt: skip
_WHOLE_GROUPS = Refusal("auto_find_batch_size", on, "a batch that shrinks would cut the groups of completions apart",
                        when="trl>=1.9", advice="leave auto_find_batch_size out")  # fmt: skip
_BASE = "under LoRA the base without the adapter is the reference, which cannot be updated"
_LIGER = "Liger's loss reads the head's weights past PEFT, which these releases allow for no adapter"


def _several(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1


_ROWS: dict[str, tuple[Refusal, ...]] = {
    "grpo": (
        _WHOLE_GROUPS,
        Refusal("sync_ref_model", on, "without `beta` there is no reference model", (("beta", off),), "trl>=0.28",
                "write a beta such as 0.04, or leave sync_ref_model out"),
        Refusal("sync_ref_model", on, _BASE, ((_PEFT, on),), "trl>=0.28", "leave sync_ref_model out"),
        Refusal("top_entropy_quantile", below(1), "Liger's loss passes no token over", (("use_liger_kernel", on),),
                "trl>=0.20", "leave top_entropy_quantile or use_liger_kernel out"),
        Refusal("off_policy_mask_threshold", given, "Liger's loss masks no sequences", (("use_liger_kernel", on),),
                "trl>=0.27"),
        _COLD,
    ),
    "rloo": (_WHOLE_GROUPS, _COLD),
    "dpo": (
        Refusal("sync_ref_model", on, _BASE, ((_PEFT, on),), "trl>=0.29", "leave sync_ref_model out"),
        Refusal("sync_ref_model", on, "what the reference says is worked out once", (("precompute_ref_log_probs", on),),
                "trl>=0.29", "leave sync_ref_model or precompute_ref_log_probs out"),
        Refusal("loss_type", like("^exo_pair$"), "that loss wants smoothed labels", (("label_smoothing", off),),
                "trl>=0.29", "write label_smoothing: 1.0e-3"),
        Refusal("precompute_ref_log_probs", on, "Liger's loss asks the reference itself", (("use_liger_kernel", on),),
                "trl>=0.29", "leave one of the two out"),
        Refusal("loss_type", _several, "Liger has one loss at a time", (("use_liger_kernel", on),), "trl>=0.29"),
        Refusal("use_liger_kernel", on, _LIGER, ((_PEFT, on),), "trl>=1.4,<1.8", "leave use_liger_kernel out"),
    ),
    "kto": (
        Refusal("use_liger_kernel", on, _LIGER, ((_PEFT, on),), "trl>=0.27,<1.8", "leave use_liger_kernel out"),
        Refusal("use_liger_loss", on, _LIGER, ((_PEFT, on),), "trl<0.28", "leave use_liger_loss out"),
    ),
    "sft": (),
}  # fmt: skip


def refused_by_trl(document: Document, look: Look) -> list[Observation]:
    """Observe what the trainers refuse, in a config as in the calls of a program."""
    root = document.root
    if root is None:
        return []
    if document.format not in _PROGRAMS:
        task = _task(root)
        found = [*refused(document, look, _ROWS.get(task, ()), _STOPS, "pyyaml", "trl")]
        return [*found, *_weights(document, "reward_funcs", "reward_weights")] if task == "grpo" else found
    found = []
    for home, task in _CONFIGS.items():
        if root.pair(home) is not None:
            rows = [_called(row, home) for row in _ROWS[task] if _settled(row, document)]
            found += refused(document, look, rows, _STOPS, "python", "trl")
    return [
        *found,
        *_weights(document, "GRPOTrainer.reward_funcs", "GRPOConfig.reward_weights"),
        *_formatted(document, root, look),
    ]


def _task(root: Node) -> str:
    """The kind of training that the keys of a config speak of, "" where none does."""
    for row in TASK:
        pair = find(root, row.key)
        task = row.read(plain(pair.value, "pyyaml")) if pair is not None else SKIP
        if task is not SKIP:
            return str(task)
    return ""


def _settled(row: Refusal, document: Document) -> bool:
    """Whether what a row takes for absent is so, and not among arguments that come from elsewhere."""
    return "**" not in document.text or not any(test is off for _, test in row.beside)


def _called(row: Refusal, home: str) -> Refusal:
    """The row with the names that its keys have as arguments of a call."""
    beside: list[tuple[str, Test]] = [
        ("LoraConfig", given) if key == _PEFT else (f"{home}.{key}", test) for key, test in row.beside
    ]
    return row._replace(key=f"{home}.{row.key}", beside=tuple(beside))


def _formatted(document: Document, root: Node, look: Look) -> Iterator[Observation]:
    """A loss on completions alone, of rows that a function makes texts of."""
    key, maker = "SFTConfig.completion_only_loss", "SFTTrainer.formatting_func"
    only, formats = find(root, key), find(root, maker)
    if only is None or formats is None or formats.value.raw == "None" or not look.version_is("trl>=0.18"):
        return
    if plain(only.value, "python") is True:
        message = f"{_STOPS}, since the formatting function makes one text of prompt and completion"
        advice = {"advice": "leave completion_only_loss out, or give the trainer rows with prompt and completion"}
        other = place(document, formats, maker)
        yield Observation(
            "rejected", place(document, only, key), "crash", message, package="trl", other=other, data=advice
        )


def _weights(document: Document, functions: str, weights: str) -> Iterator[Observation]:
    """Weights of another number than there are rewards."""
    assert document.root is not None
    rewards, weighed = find(document.root, functions), find(document.root, weights)
    if rewards is None or weighed is None or {rewards.value.kind, weighed.value.kind} != {"sequence"}:
        return
    if any(one.raw.startswith("*") for one in (*rewards.value.items, *weighed.value.items)):  # more than one each
        return
    counts = len(rewards.value.items), len(weighed.value.items)
    if all(counts) and counts[0] != counts[1]:
        message = f"{_STOPS}, since there are {counts[0]} rewards and {counts[1]} weights"
        other = place(document, rewards, functions)
        yield Observation("rejected", place(document, weighed, weights), "crash", message, package="trl", other=other)
