"""What axolotl makes of an absent key when that depends on other keys or on the release."""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.table import SKIP, Look
from loralint.model import Unknown

FSDP2_ONLY = "axolotl>=0.20"
# backends whose packing goes by position ids, and those whose mask axolotl makes block-diagonal
_ISOLATING = frozenset(
    {"flash_attention_2", "flash_attention_3", "flash_attention_4", "flash_attention_torch", "flex_attention", "sdpa",
     "xformers", "sage", "eager", "kernels-community/flash-attn2", "kernels-community/flash-attn3",
     "kernels-community/sage-attention"}
)  # fmt: skip


def of(field: str) -> Callable[[Look], object]:
    """Make a default that is another field's value; absent where that is."""
    return lambda look: _known(look, field)


def of_four_bits(default: object) -> Callable[[Look], object]:
    """Make a default of what axolotl tells bitsandbytes about 4-bit weights; nothing without them."""

    def answer(look: Look) -> object:
        if look.get("quant.bits").value != 4 or look.get("quant.method").value != "bnb":
            return SKIP
        return default(look) if callable(default) else default

    return answer


def model_dtype(look: Look) -> object:
    """Follow resolve_dtype: bf16 where it is on, else fp16 for 8 bits or fp16, else fp32."""
    bf16, asked = look.get("precision.bf16").value, look.get("precision.fp16")
    fp16 = asked.value
    if bf16 == "auto" and fp16 is not True:
        bf16 = _gpu_has_bf16(look)
        fp16 = asked.origin == "default"  # a written `fp16: false` is heeded
    unknown = next((one for one in (bf16, fp16) if isinstance(one, Unknown)), None)
    if unknown is not None and bf16 is not True:
        return unknown
    if bf16 is True:
        return "bf16"
    return "fp16" if fp16 is True or look.get("quant.bits").value == 8 else "fp32"


def autocast(look: Look) -> object:
    """Give `auto`, the default, which gives way to `fp16: true`."""
    return False if look.get("precision.fp16").value is True else "auto"


def tf32(look: Look) -> object:
    """Give off until 0.16 made it `auto`."""
    return False if look.version_is("axolotl<0.16") else "auto"


def optimizer(look: Look) -> object:
    """Give the schema's default, which left Transformers' own AdamW with 0.8."""
    return "adamw_hf" if look.version_is("axolotl<0.8") else "adamw_torch_fused"


def warmup_ratio(look: Look) -> object:
    """Give 3 % of the steps where neither key is set; axolotl stops at 100 of them."""
    return SKIP if look.get("schedule.warmup_steps").value is not None else 0.03


def adapter_dtype(look: Look) -> object:
    """Give fp32, to which PEFT casts an adapter; under FSDP axolotl casts once more for some trainers."""
    return Unknown("FSDP wants one dtype, and axolotl casts the adapter to it") if _on(look, "dist.fsdp") else "fp32"


def task_type(look: Look) -> object:
    """Derive PEFT's task type from the class of the model."""
    name = str(look.get("model.class").value)
    if "SequenceClassification" in name or look.get("train.task").value == "rm":
        return "SEQ_CLS"
    return "TOKEN_CLS" if "TokenClassification" in name or look.get("train.task").value == "prm" else "CAUSAL_LM"


def isolated(look: Look) -> object:
    """Say whether packed rows are kept apart, which the attention decides; without one axolotl keeps nothing apart."""
    name = look.get("model.attention").value
    if not _on(look, "data.packing"):
        return SKIP
    if isinstance(name, Unknown):
        return name
    base = str(name).split(":")[0].split("@")[0]
    return base in _ISOLATING and (base != "eager" or look.version_is("axolotl>=0.18"))


def padded(look: Look) -> object:
    """Pad packed rows to the full length."""
    return _on(look, "data.packing")


def eval_strategy(look: Look) -> object:
    """Evaluate by steps when a number of them or of evaluations is given, and there is data for it."""
    if look.get("data.val_size").value in (0, None) and look.get("data.eval_dataset").value is None:
        return "no"
    return "steps" if look.get("eval.steps").value or look.get("eval.per_epoch").value else "no"


def save_strategy(look: Look) -> object:
    """Save by epochs, unless a number of steps or of saves per epoch is given."""
    steps = look.get("checkpoint.save_steps").value or look.get("checkpoint.saves_per_epoch").value
    return "steps" if steps else "epoch"


def best_at_end(look: Look) -> object:
    """Bring the best checkpoint back with early stopping."""
    return bool(look.get("train.early_stopping_patience").value)


def reentrant(look: Look) -> object:
    """Give true for supervised runs up to 0.20, since 0.21 only with ZeRO-3; RL and frozen models never were."""
    if not _on(look, "memory.gradient_checkpointing"):
        return SKIP
    plain = look.get("train.task").value not in ("dpo", "ipo", "kto", "orpo", "simpo", "grpo", "ebft")
    plain = plain and look.get("train.unfrozen").value is None
    return plain and (look.version_is("axolotl<0.21") or look.get("dist.zero_stage").value == 3)


def fsdp_version(look: Look) -> object:
    """Give FSDP1 until 0.20 removed it."""
    if not _on(look, "dist.fsdp"):
        return SKIP
    return 2 if look.version_is(FSDP2_ONLY) else 1


def fused_lora(look: Look) -> object:
    """Give true since 0.12 turns the fused kernels on where nothing is known to forbid them."""
    if look.get("adapter.method").value != "lora" or look.version_is("axolotl<0.12"):
        return False
    eight = look.get("quant.bits").value == 8 and look.get("adapter.qlora").value is not True
    plain = look.get("train.task").value in ("sft", "pt", "kd", "cls", "rm", "prm")
    return plain and not eight and not _on(look, "model.trust_remote_code") and not _on(look, "dist.fsdp")


def _on(look: Look, field: str) -> bool:
    return look.get(field).value is True


def _known(look: Look, field: str) -> object:
    value = look.get(field)
    return SKIP if value.origin == "absent" else value.value


def _gpu_has_bf16(look: Look) -> object:
    named = look.get("run.gpu").value
    known = None
    if isinstance(named, str):
        from loralint.knowledge.hardware import parse_gpus  # the list is for runs with a card only

        known = parse_gpus(named)[0]
    if known is None or known.bf16 is None:
        return Unknown("bf16 is auto, which takes fp16 where the GPU lacks bf16 (no --gpu, or one that is not listed)")
    return known.bf16
