"""Facts by name: quantities that rules speak of and no config states, each computed when it is first asked for.

A config that meets ten rules must not pay for every module here, so a fact is known by its place until it is called.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from loralint.facts.need import Missing
from loralint.facts.scope import Fact, Scope, unknown
from loralint.model import Value

PLACES = {
    "optim.family": "optimizer:family",
    "optim.unit_lr": "optimizer:unit_lr",
    "optim.bnb": "optimizer:bnb",
    "optim.paged": "optimizer:paged",
    "optim.state_bits": "optimizer:state_bits",
    "optim.compensated": "optimizer:compensated",
    "lora.on": "lora:on",
    "lora.ratio": "lora:ratio",
    "lora.scale": "lora:scale",
    "lora.alpha_eff": "lora:alpha_eff",
    "lora.lr_b": "lora:lr_b",
    "lora.E": "lora:first_step",
    "lora.P": "lora:product",
    "lr.end": "rate:end",
    "lr.course": "course:course",
    "decay.total": "rate:decay_total",
    "rounding.frozen_share": "rounding:frozen_share",
    "batch.effective": "batch:effective",
    "batch.at_once": "batch:at_once",
    "batch.completions": "batch:completions",
    "batch.eval_at_once": "batch:eval_at_once",
    "rl.eval_group": "batch:eval_group",
    "dist.world": "distributed:world",
    "dist.several": "distributed:several",
    "dist.batch": "distributed:batch",
    "dist.local_batch": "distributed:local_batch",
    "dist.ds_local_batch": "distributed:told_batch",
    "dist.visible_short": "distributed:visible_short",
    "fsdp.wrong_class": "distributed:wrong_class",
    "fsdp.right_class": "distributed:right_class",
    "steps.per_epoch": "schedule:per_epoch",
    "steps.total": "schedule:total",
    "steps.for_each_pass": "schedule:for_each_pass",
    "steps.unsaved": "schedule:unsaved",
    "steps.warmup": "schedule:warmup",
    "steps.warmup_share": "schedule:warmup_share",
    "schedule.idle_share": "schedule:idle_share",
    "schedule.fraction_in_steps": "schedule:fraction_in_steps",
    "precision.compute": "precision:compute",
    "quant.on": "precision:quantised",
    "gpu.name": "hardware:name",
    "gpu.capability": "hardware:capability",
    "gpu.bf16": "hardware:bf16",
    "gpu.tf32": "hardware:tf32",
    "gpu.flash2": "hardware:flash2",
    "gpu.fp8": "hardware:fp8",
    "gpu.vendor": "hardware:vendor",
    "gpu.memory_gib": "hardware:memory_gib",
    "gpu.count": "hardware:count",
    "model.family": "model:family",
    "model.named_family": "diffusion:named_family",
    "model.named_prediction": "diffusion:named_prediction",
    "model.named_dtype": "diffusion:named_dtype",
    "model.hidden": "model:hidden",
    "model.layers": "model:layers",
    "model.billions": "model:billions",
    "model.native_dtype": "model:native_dtype",
    "model.context": "model:context",
    "model.modules": "model:modules",
    "model.paths": "model:paths",
    "model.normalised": "model:normalised",
    "model.tied": "model:tied",
    "model.kind": "model:kind",
    "model.vision": "model:vision",
    "model.moe": "model:moe",
    "model.packed_experts": "experts:packed_experts",
    "model.experts_unquantised": "experts:unquantised",
    "model.vocabulary": "architecture:vocabulary",
    "model.shape": "architecture:shape",
    "model.fp16_unsafe": "model:fp16_unsafe",
    "model.prequantized": "model:prequantized",
    "model.since": "model:since",
    "model.assumed": "model:assumed",
    "data.picture_tokens": "pictures:tokens",
    "task.group": "task:group",
    "memory.weights": "memory.answers:base_weights",
    "memory.adapters": "memory.answers:adapters",
    "memory.gradients": "memory.answers:gradients",
    "memory.optimizer": "memory.answers:optimizer",
    "memory.activations": "memory.answers:activations",
    "memory.logits": "memory.answers:logits",
    "memory.edges": "memory.answers:edges",
    "memory.peak": "memory.answers:highest",
    "memory.band": "memory.answers:half_band",
    "memory.least": "memory.answers:least",
    "memory.measured": "memory.answers:measured",
    "memory.floor": "memory.answers:floor",
    "memory.beside_vllm": "memory.answers:beside_vllm",
    "targets.kind": "targets:kind",
    "targets.parameters_of_layers": "targets:parameters_of_layers",
    "targets.names": "targets:names",
    "targets.embedding": "targets:embedding",
    "targets.packed": "experts:packed",
    "targets.routers": "experts:routers",
    "targets.shared_left": "experts:shared_left",
    "targets.packed_missing": "experts:packed_missing",
    "targets.experts_left": "experts:experts_left",
    "targets.all_excluded": "targets:all_excluded",
    "targets.fused": "targets:fused",
    "targets.towers": "targets:towers",
    "targets.usual": "targets:usual",
    "targets.usual_since": "targets:usual_since",
    "targets.narrowest": "trainable:narrowest",
    "lora.trainable": "trainable:total",
    "lora.trainable_by_module": "trainable:by_module",
    "lora.coverage": "trainable:coverage",
}


@cache
def _fact(place: str) -> Fact:
    module, _, function = place.partition(":")
    fact: Fact = getattr(import_module(f"loralint.facts.{module}"), function)
    return fact


def _later(place: str) -> Fact:
    """The fact at `module:function`; what it needs and does not find becomes an unknown with that reason."""

    def compute(scope: Scope) -> Value:
        try:
            return _fact(place)(scope)
        except Missing as missing:
            return unknown(missing.reason)

    return compute


FACTS: dict[str, Fact] = {name: _later(place) for name, place in PLACES.items()}
