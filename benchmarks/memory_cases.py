"""Training runs of language models for the memory benchmarks: sizes, configurations, and how a trainer builds them.

Models are made from sizes alone: no download, and what numbers stand in them does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM

from loralint.facts.memory.plan import Base, Pass, Plan, Trained
from loralint.facts.memory.shape import Shape, shape_of
from loralint.facts.memory.weights import eight_bit, four_bit, state_width
from loralint.knowledge.models import ModelFacts, of_family

GIB = 2**30
KEPT = 0.75  # share of a block that fused kernels keep, as the formulas have it


class Size(NamedTuple):
    family: str
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    tied: bool = False


# the published sizes of Llama 3.2 1B, Llama 3.1 8B, Qwen2.5 0.5B, Qwen3 0.6B and Pythia 160M
SIZES = {
    "llama-1b": Size("llama", 2048, 8192, 16, 32, 8, 64, 128256, tied=True),
    "llama-8b": Size("llama", 4096, 14336, 32, 32, 8, 128, 128256),
    "qwen2-0.5b": Size("qwen2", 896, 4864, 24, 14, 2, 64, 151936, tied=True),
    "qwen3-0.6b": Size("qwen3", 1024, 3072, 28, 16, 8, 128, 151936, tied=True),
    "pythia-160m": Size("gpt_neox", 768, 3072, 12, 12, 12, 64, 50304),
    "tiny": Size("llama", 128, 352, 2, 8, 2, 16, 1000),
}


class Case(NamedTuple):
    """One configuration. base: bf16, fp32, nf4 or int8. kernels: liger, or liger-loss for its loss.

    optimizer: fused, foreach, or bitsandbytes' adamw8bit. pairs: every second row is a rejected answer (DPO).
    """

    name: str
    size: str = "llama-1b"
    base: str = "bf16"
    full: bool = False
    rows: int = 1
    length: int = 2048
    attention: str = "sdpa"
    checkpointing: bool = False
    autocast: bool = True
    targets: str | list[str] = "all-linear"
    rank: int = 16
    dropout: float = 0.0
    accumulation: int = 1
    padded: bool = False
    upcast: bool = False
    kernels: str = ""
    optimizer: str = "fused"
    dora: bool = False
    pairs: bool = False


CASES = [
    Case("1b bf16 lora"),
    Case("1b bf16 lora, checkpointing", checkpointing=True),
    Case("1b bf16 lora, eager, 1024", attention="eager", length=1024),
    Case("1b bf16 lora, eager, checkpointing, 2048", attention="eager", checkpointing=True),
    Case("1b bf16 lora, checkpointing, 4 rows of 512", rows=4, length=512, checkpointing=True),
    Case("1b bf16 lora, dropout", dropout=0.05),
    Case("1b bf16 lora, no autocast", autocast=False),
    Case("1b bf16 lora on q and v, accumulation", targets=["q_proj", "v_proj"], accumulation=2),
    Case("1b fp32 base lora", base="fp32"),
    Case("1b full fine-tune, fp32 weights", base="fp32", full=True),
    Case("1b full fine-tune, fp32 weights, checkpointing", base="fp32", full=True, checkpointing=True),
    Case("1b full fine-tune, bf16 weights, checkpointing", full=True, checkpointing=True, autocast=False),
    Case("8b bf16 lora, checkpointing, 4096", "llama-8b", length=4096, checkpointing=True),
    Case("8b bf16 lora, 512", "llama-8b", length=512),
    Case("8b bf16 lora, checkpointing, 4 rows of 1024", "llama-8b", rows=4, length=1024, checkpointing=True),
    Case("1b bf16 lora, 4 padded rows of 1024", rows=4, length=1024, padded=True),
    Case("8b nf4 lora, checkpointing, 4096", "llama-8b", base="nf4", length=4096, checkpointing=True),
    Case("8b nf4 lora, fp32 head, checkpointing", "llama-8b", base="nf4", checkpointing=True, upcast=True),
    Case("qwen2 0.5b lora", "qwen2-0.5b"),
    Case("qwen3 0.6b lora", "qwen3-0.6b", length=1024),
    Case("pythia 160m lora", "pythia-160m"),
    Case("1b bf16 dora", dora=True),
    Case("1b bf16 dora, checkpointing", dora=True, checkpointing=True),
    Case(
        "8b bf16 dora on q and v, checkpointing",
        "llama-8b",
        dora=True,
        targets=["q_proj", "v_proj"],
        checkpointing=True,
    ),
    Case("1b bf16 lora, dpo, 1 pair of 1024, checkpointing", rows=2, length=1024, pairs=True, checkpointing=True),
    Case("1b bf16 lora, dpo, 2 pairs of 512", rows=4, length=512, pairs=True),
]


# what needs a GPU, bitsandbytes and liger-kernel
ON_GPU = [
    Case("1b bf16 lora, liger loss", kernels="liger-loss"),
    Case("1b bf16 lora, liger", kernels="liger"),
    Case("8b bf16 lora, liger, checkpointing, 4096", "llama-8b", length=4096, checkpointing=True, kernels="liger"),
    Case("8b int8 lora, checkpointing", "llama-8b", base="int8", checkpointing=True),
    Case("1b full fine-tune, bf16, 8-bit AdamW", full=True, autocast=False, checkpointing=True, optimizer="adamw8bit"),
    Case("1b full fine-tune, bf16, foreach", full=True, autocast=False, checkpointing=True, optimizer="foreach"),
    Case("1b full fine-tune, fp32, foreach", base="fp32", full=True, checkpointing=True, optimizer="foreach"),
]


def shape(size: Size) -> Shape:
    """The shapes as the formulas derive them from sizes; the model itself says how many parameters there are."""
    modules = of_family(size.family)["modules"]
    facts = ModelFacts(
        None, by_name=False, family=size.family, params=None, hidden_size=size.hidden, num_layers=size.layers,
        intermediate_size=size.inner, num_heads=size.heads, num_kv_heads=size.kv_heads, head_dim=size.head_dim,
        vocab_size=size.vocabulary, tied=size.tied, modules=modules,
    )  # fmt: skip
    parameters = sum(one.numel() for one in bare(size, "bf16", "sdpa", "meta").parameters())
    return shape_of(facts._replace(params=parameters / 1e9), size.family)


def plan(case: Case) -> Plan:
    """The case as the formulas see it."""
    sizes = shape(SIZES[case.size])
    outside = 4 if case.base == "fp32" or case.upcast else 2
    packed = {"nf4": four_bit(nested=True), "int8": eight_bit()}.get(case.base, float(outside))
    targets = sizes.linears
    if case.targets != "all-linear":
        targets = tuple(one for one in targets if one.name in case.targets)
    width = outside if case.full else 4
    eight = case.optimizer == "adamw8bit"
    trained = Trained(
        case.full, case.rank, () if case.full else targets, 0, width, state_width(2, 8 if eight else 8 * width),
        evicted=False, master=0, scratch=width if case.optimizer == "foreach" else 0, dora=case.dora,
    )  # fmt: skip
    step = Pass(
        case.rows, case.length, 4 if case.base == "fp32" and not case.autocast else 2, case.autocast,
        "eager" if case.attention == "eager" else "fused", case.padded, case.dropout > 0, case.checkpointing,
        offloaded=False, kernels=KEPT if case.kernels == "liger" else 1.0, fused_loss=bool(case.kernels),
        passes=case.accumulation, referenced=case.pairs,
    )  # fmt: skip
    quantised = case.base in ("nf4", "int8")
    return Plan(Base(sizes, packed, outside, quantised, held=case.base == "int8"), trained, step)


class Unpack(torch.autograd.Function):
    """A product with a packed weight, which is unpacked for it both ways, as bitsandbytes' MatMul4Bit does."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, packed: Tensor, out: int) -> Tensor:
        ctx.save_for_backward(packed)
        ctx.into = inputs.shape[-1]
        weight = torch.zeros(out, ctx.into, dtype=inputs.dtype, device=inputs.device)
        return nn.functional.linear(inputs, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        weight = torch.zeros(gradient.shape[-1], ctx.into, dtype=gradient.dtype, device=gradient.device)
        return gradient @ weight, None, None


class Packed(nn.Linear):
    """A frozen layer of as many bytes as nf4 with nested constants takes; its numbers mean nothing."""

    def __init__(self, like: nn.Linear) -> None:
        super().__init__(like.in_features, like.out_features, bias=False, device="meta")
        count = round(like.weight.numel() * four_bit(nested=True))
        self.weight = nn.Parameter(
            torch.empty(count, dtype=torch.uint8, device=like.weight.device), requires_grad=False
        )

    def forward(self, inputs: Tensor) -> Tensor:
        return Unpack.apply(inputs.to(torch.bfloat16), self.weight, self.out_features)


def bare(size: Size, base: str, attention: str, device: str) -> nn.Module:
    """The model alone."""
    config = AutoConfig.for_model(
        size.family, hidden_size=size.hidden, intermediate_size=size.inner, num_hidden_layers=size.layers,
        num_attention_heads=size.heads, num_key_value_heads=size.kv_heads, head_dim=size.head_dim,
        vocab_size=size.vocabulary, tie_word_embeddings=size.tied, use_cache=False, max_position_embeddings=8192,
    )  # fmt: skip
    dtype = torch.float32 if base == "fp32" else torch.bfloat16
    with torch.device(device):
        return AutoModelForCausalLM.from_config(config, attn_implementation=attention, dtype=dtype)


def quantised(layer: nn.Linear, base: str) -> nn.Linear:
    """The layer in bitsandbytes' nf4 with nested constants, or in its int8."""
    from bitsandbytes.nn import Int8Params, Linear4bit, Linear8bitLt, Params4bit

    if base == "int8":
        whole = Linear8bitLt(layer.in_features, layer.out_features, bias=False, has_fp16_weights=False, device="meta")
        whole.weight = Int8Params(layer.weight.data.cpu(), requires_grad=False, has_fp16_weights=False)
        return whole.to(layer.weight.device)
    made = Linear4bit(layer.in_features, layer.out_features, bias=False, compute_dtype=torch.bfloat16, device="meta")
    weight = Params4bit(layer.weight.data, requires_grad=False, quant_type="nf4", compress_statistics=True)
    made.weight = weight.to(layer.weight.device)
    return made


def quantise(model: nn.Module, base: str, *, bitsandbytes: bool) -> None:
    """All linear layers but the head, with the marks by which PEFT knows."""
    for name, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear) and name != "lm_head":
            holder, _, own = name.rpartition(".")
            setattr(model.get_submodule(holder), own, quantised(layer, base) if bitsandbytes else Packed(layer))
    model.is_loaded_in_4bit = bitsandbytes and base == "nf4"
    model.is_loaded_in_8bit = bitsandbytes and base == "int8"


def fuse(model: nn.Module, case: Case) -> None:
    """What Trainer does with use_liger_kernel, or the loss of it alone."""
    from liger_kernel.transformers import apply_liger_kernel_to_llama

    whole = case.kernels == "liger"
    apply_liger_kernel_to_llama(
        rope=whole, rms_norm=whole, swiglu=whole, cross_entropy=False, fused_linear_cross_entropy=True, model=model
    )


def model_of(case: Case, device: str = "meta", *, bitsandbytes: bool = False) -> nn.Module:
    """The model with its adapter, as a trainer would prepare it. bitsandbytes: quantise with it, or else emulate it."""
    model = bare(SIZES[case.size], case.base, case.attention, device)
    if case.base in ("nf4", "int8"):
        quantise(model, case.base, bitsandbytes=bitsandbytes)
    if case.kernels:
        fuse(model, case)
    if case.upcast:  # what prepare_model_for_kbit_training does
        for one in model.parameters():
            if one.dtype == torch.bfloat16 and type(one).__name__ != "Params4bit":
                one.data = one.data.float()
    return adapted(model, case, device)


def adapted(model: nn.Module, case: Case, device: str) -> nn.Module:
    """Any model with the case's adapter and checkpoints."""
    if not case.full:
        with torch.device(device):
            model = get_peft_model(
                model,
                LoraConfig(
                    r=case.rank,
                    target_modules=case.targets,
                    lora_dropout=case.dropout,
                    use_dora=case.dora,
                    task_type="CAUSAL_LM",
                ),
            )
    if case.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if not case.full:
            model.enable_input_require_grads()
    return model.train()


def train(model: nn.Module, case: Case, device: str, vocabulary: int = 0) -> Iterator[str]:
    """Two optimizer steps as Trainer takes them; yields the name of each phase when it is over.

    `vocabulary`: of a model that is none of the case's size.
    """
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = _optimizer(case, trained, device)
    rows = torch.randint(0, vocabulary or SIZES[case.size].vocabulary, (case.rows, case.length), device=device)
    mask = _mask(case, device)
    for _ in range(2):
        for _ in range(case.accumulation):
            loss = _preference(model, rows, case) if case.pairs else _likelihood(model, rows, mask, case)
            yield "forward"
            loss.backward()
            del loss
            yield "backward"
        optimizer.step()
        yield "step"
        optimizer.zero_grad(set_to_none=True)


def _likelihood(model: nn.Module, rows: Tensor, mask: Tensor | None, case: Case) -> Tensor:
    with torch.autocast(rows.device.type, dtype=torch.bfloat16, enabled=case.autocast):
        return model(input_ids=rows, attention_mask=mask, labels=rows).loss


def _preference(model: nn.Module, rows: Tensor, case: Case) -> Tensor:
    """DPO's loss as trainers make it that keep whole logits, in fp32, and then ask the model without its adapter."""

    def told() -> tuple[Tensor, Tensor]:
        with torch.autocast(rows.device.type, dtype=torch.bfloat16, enabled=case.autocast):
            logits = model(input_ids=rows).logits.float()
        chosen, rejected = logits[:, :-1].log_softmax(-1).gather(-1, rows[:, 1:, None]).sum((1, 2)).chunk(2)
        return chosen - rejected, logits

    preferred, logits = told()  # kept for the log lines
    with torch.no_grad(), model.disable_adapter():
        before = told()[0]
    return -nn.functional.logsigmoid(0.1 * (preferred - before)).mean() + 0 * logits.detach().mean()


def _optimizer(case: Case, trained: list[nn.Parameter], device: str) -> torch.optim.Optimizer:
    if case.optimizer == "adamw8bit":
        from bitsandbytes.optim import AdamW8bit

        return AdamW8bit(trained, lr=1e-5)
    kind = {case.optimizer: True} if device == "cuda" else {}
    return torch.optim.AdamW(trained, lr=1e-5, **kind)


def _mask(case: Case, device: str) -> Tensor | None:
    """The mask that a batch with padding comes with, as Transformers makes it."""
    if not case.padded:
        return None
    mask = torch.ones(case.rows, 1, case.length, case.length, dtype=torch.bool, device=device)
    return mask.tril()
