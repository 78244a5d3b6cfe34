"""What scripts that many people start refuse of their flags, where the flags tell whose script it is.

Sources: 2U1/Qwen-VL-Series-Finetune src/train/train_sft.py, QwenLM/Qwen finetune.py (since January 2024),
haotian-liu/LLaVA llava/train/train.py and transformers 4.37 modeling_utils.py (from_pretrained).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.refusals import Refusal, among, given, like, no, off, on, refused
from loralint.frameworks.table import Look, Observation
from loralint.model import Value

_STOPS = "the script stops before it trains"
_VISION = (("model_id", like(r"(?i)(^|/)Qwen[\d.]*-VL")),)
_ZERO3 = like(r"(?i)(zero|stage|z)[_-]?3")
_ROWS = (
    Refusal("freeze_llm", no, "LoRA goes on a language model that is frozen", (("lora_enable", on), *_VISION),
            advice="write --freeze_llm True; the adapters train all the same"),
    Refusal("freeze_vision_tower", no, "adapters go on a vision tower that is frozen", (("vision_lora", on), *_VISION),
            advice="write --freeze_vision_tower True"),
    Refusal("vision_lora", on, "`lora_enable` is off", (("lora_enable", off), *_VISION),
            advice="write --lora_enable True"),
    Refusal("deepspeed", _ZERO3, "LoRA trains the embedding of a base model in full, which "
            "ZeRO-3 does not split there", (("use_lora", on), ("q_lora", off),
            ("model_name_or_path", like(r"(^|/)Qwen-(1_8|7|14|72)B/?$"))),
            advice="take ds_config_zero2.json, or the Chat model"),
    Refusal("bits", among(4, 8, "4", "8"), "LLaVA loads a quantised model with a map of devices, which "
            "Transformers refuses under ZeRO-3",
            (("deepspeed", _ZERO3), ("vision_tower", given), ("mm_projector_type", given)),
            advice="take a config of ZeRO-2"),
)  # fmt: skip


# no row depends on a release
_ANY = Look(lambda _: Value(None, "absent"), lambda _: True)


def refused_by_scripts(launch: Launch) -> Iterator[Observation]:
    """Observe every row that holds for a command line."""
    return refused(launch.flags, _ANY, _ROWS, _STOPS, "flags", "")
