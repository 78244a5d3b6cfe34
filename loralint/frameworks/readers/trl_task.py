"""Which of TRL's trainers a file is for: the subcommand says so, not a key.

Keys that one trainer alone has tell it. Keys that several share leave it to the folder's or file's name. With neither
it is SFT, or unknown where the name speaks against it.
"""

from __future__ import annotations

import os
import re

from loralint.frameworks.convert import always, never
from loralint.frameworks.table import SKIP, Entry, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_LOSSES = {
    "sft": "nll dft chunked_nll",
    "dpo": "sigmoid hinge ipo exo_pair nca_pair robust bco_pair sppo_hard aot aot_pair aot_unpaired apo_zero apo_down "
    "discopop sigmoid_norm sft",
    "kto": "kto apo_zero_unpaired",
    "simpo": "simpo",
    "grpo": "grpo dr_grpo dapo bnpo cispo sapo luspo vespo",
}
_TASK_OF_LOSS = {loss: task for task, losses in _LOSSES.items() for loss in losses.split()}
# Keys of one trainer only; GRPO's and RLOO's common ones count as GRPO's, whose defaults differ in little.
_TASK_OF_KEY = {
    "normalize_advantages": "rloo",
    "reward_clip_range": "rloo",
    "rloo_k": "rloo",
    "num_generations": "grpo",
    "reward_funcs": "grpo",
    "scale_rewards": "grpo",
    "num_iterations": "grpo",
    "generation_batch_size": "grpo",
    "steps_per_generation": "grpo",
    "desirable_weight": "kto",
    "undesirable_weight": "kto",
    "center_rewards_coefficient": "rm",
    "teacher_model_name_or_path": "kd",
    "rpo_alpha": "dpo",
    "reference_free": "dpo",
    "f_divergence_type": "dpo",
    "assistant_only_loss": "sft",
    "completion_only_loss": "sft",
    "packing": "sft",
    "dataset_text_field": "sft",
}
_SHARED = ("precompute_ref_log_probs", "max_prompt_length", "beta", "label_smoothing")
_TASK_OF_WORD = {
    "sft": "sft", "dpo": "dpo", "kto": "kto", "orpo": "orpo", "simpo": "simpo", "grpo": "grpo", "rloo": "rloo",
    "reward": "rm", "rm": "rm", "gkd": "kd", "distillation": "kd", "ppo": "ppo", "prm": "prm",
}  # fmt: skip


def of_loss(value: object) -> object:
    """Read the task that a loss, or the first known one of several, belongs to."""
    losses = value if isinstance(value, list) else [value]
    return next((task for loss in losses if (task := _TASK_OF_LOSS.get(str(loss)))), SKIP)


def is_sft_loss(loss: object) -> bool:
    """Say whether a loss is one of SFT's own and no choice between preferences."""
    return str(loss) in _LOSSES["sft"].split()


TASK: tuple[Entry, ...] = (
    Entry("train.task", "loss_type", of_loss, never),
    *(Entry("train.task", key, always(task), never) for key, task in _TASK_OF_KEY.items()),
    *(Entry("train.task", key, always("dpo"), never) for key in _SHARED),
    Entry("train.task", "", write=never, default="sft"),
)


def choose(document: Document, values: Values) -> Values:
    """Let the path choose the task where no key of one trainer alone does."""
    found = values.get("train.task", ())
    if found and found[0].key not in _SHARED:
        return {}
    named = of_path(document.name)
    if found:
        return {"train.task": (found[0]._replace(value=named),)} if named not in ("", "sft") else {}
    if named in ("", "sft"):
        return {}
    doubt = Unknown(f"no key tells the task, and the path says {named}")
    return {"train.task": (Value(doubt, origin="derived", field="train.task"),)}


def of_path(file: str) -> str:
    """Give the task that the file's or its folder's name says, the file's first; "" for none."""
    folder, name = os.path.split(file)
    for part in (name, os.path.basename(folder)):
        for word in re.findall(r"[a-z]+", part.lower()):
            if word in _TASK_OF_WORD:
                return _TASK_OF_WORD[word]
    return ""
