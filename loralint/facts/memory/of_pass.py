"""What a config says of one forward and backward pass."""

from __future__ import annotations

from loralint.facts.memory.plan import Pass
from loralint.facts.need import Missing, known, number, optional, positive, text
from loralint.facts.scope import Scope

WIDTHS = {"bf16": 2, "fp16": 2, "fp32": 4}  # bytes of an entry
_LIGER = 0.75  # share of a block's activations that Liger's kernels keep beside adapters: 0.78 on an H200
_OTHERS = 0.5  # of Unsloth's, axolotl's and compiled ones, which were not measured
_TEXT = ("sft", "pt")
_PAIRS = ("dpo", "orpo", "simpo", "ipo", "cpo", "rm")  # a row is a pair: trl dpo_trainer.py and reward_trainer.py
_UNREFERENCED = ("orpo", "simpo", "cpo")
_SCORES = ("rm", "prm", "cls")  # a score or a label in place of logits, by a head of their size
_PREFERENCES = ("dpo", "ipo", "kto", *_UNREFERENCED)
_GENERATING = ("ppo", "grpo", "rloo", "gkd", "online_dpo")


def step(scope: Scope, *, rich: bool) -> Pass:
    """One pass, of rows at their full length. `rich`: batches are padded, and fused kernels save nothing."""
    task = known(scope, "train.task")
    if task in _GENERATING:
        raise Missing("what the generation of answers keeps, by their number and length, is not known here")
    if task not in _TEXT + _PREFERENCES + _SCORES:
        raise Missing("how much memory a step of this task takes is not known here")
    each = 2 if task in _PAIRS else 1
    rows = int(positive(scope, "batch.micro", "the config has no batch size")) * each
    autocast = _autocast(scope)
    attention = known(scope, "model.attention")
    whole = known(scope, "data.padding_free") is True or known(scope, "data.pad_to_len") is True
    masked = rows > 1 and not whole and known(scope, "data.packing") is not True
    fused = known(scope, "kernel.fused_loss")
    return Pass(
        rows,
        _length(scope),
        compute=2 if autocast else _computed(scope),
        autocast=autocast,
        attention="eager" if attention == "eager" else "fused",
        masked=rich and masked and not str(attention).startswith("flash"),
        dropout=optional(scope, "adapter.dropout", 0) > 0,
        checkpointed=known(scope, "memory.gradient_checkpointing") is True
        or known(scope, "dist.fsdp_checkpointing") is True,
        offloaded=known(scope, "memory.activation_offload") is True
        or known(scope, "memory.checkpoint_offload") is True,
        kernels=1.0 if rich else _kernels(scope),
        fused_loss=fused is True
        or scores(scope)
        or (fused is None and not rich)
        or (not rich and known(scope, "kernel.unsloth") is True),
        passes=max(1, int(optional(scope, "batch.accumulation", 1))),
        referenced=rich and referenced(scope),
        each=each,
    )


def referenced(scope: Scope) -> bool:
    """Whether the loss asks what the model said before it trained."""
    task, loss = known(scope, "train.task"), known(scope, "pref.loss")
    return task in _PREFERENCES and task not in _UNREFERENCED and loss not in _UNREFERENCED


def scores(scope: Scope) -> bool:
    """Whether the head gives scores or labels and no logits of the vocabulary."""
    return known(scope, "train.task") in _SCORES


def _kernels(scope: Scope) -> float:
    if any(known(scope, f"kernel.{name}") is True for name in ("unsloth", "lora", "compile")):
        return _OTHERS
    return _LIGER if known(scope, "kernel.liger") is True else 1.0


def _length(scope: Scope) -> int:
    given = "data.sequence_len" if known(scope, "data.sequence_len") is not None else "model.loaded_len"
    return int(positive(scope, given, "the config gives no sequence length"))


def halved(scope: Scope) -> bool:
    """Whether mixed precision is on, in either format."""
    return known(scope, "precision.bf16") in (True, "auto") or known(scope, "precision.fp16") is True


def _autocast(scope: Scope) -> bool:
    """Whether torch casts; DeepSpeed's engine and weights that are all 16-bit need no casts."""
    return halved(scope) and known(scope, "precision.pure_bf16") is not True and zero_stage(scope) == 0


def _computed(scope: Scope) -> int:
    if halved(scope) or known(scope, "precision.pure_bf16") is True:
        return 2
    return WIDTHS[text(scope, "precision.compute", "the config says nothing of its precision")]


def zero_stage(scope: Scope) -> int:
    """ZeRO stage, 0 without DeepSpeed."""
    if known(scope, "dist.deepspeed") is None:
        return 0
    return int(number(scope, "dist.zero_stage", "which ZeRO stage DeepSpeed is told is not known"))
