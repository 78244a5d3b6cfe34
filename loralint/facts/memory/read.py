"""The plan that a config amounts to. Where it leaves something open that decides little, there are two: lean and rich.

What decides much and is not known ends the reading with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.memory.plan import Base, Pass, Plan, Shards, Trained
from loralint.facts.memory.shape import Linear, Shape, shape_of
from loralint.facts.memory.weights import eight_bit, four_bit, grouped, state_width
from loralint.facts.need import Missing, known, number, optional, positive, text
from loralint.facts.scope import Scope
from loralint.model import Unknown

if TYPE_CHECKING:
    from loralint.knowledge.optimizers import Optimizer

_WIDTHS = {"bf16": 2, "fp16": 2, "fp32": 4}
_IDLE = Pass(
    0, 0, 2, autocast=False, attention="fused", masked=False, dropout=False, checkpointed=False, offloaded=False,
    kernels=1, fused_loss=True, passes=1,
)  # fmt: skip
_NOTHING = Trained(full=False, rank=0, targets=(), saved=0, width=4, states=0, evicted=True, master=0, scratch=0)
_FULL = "full"


def plan(scope: Scope, *, rich: bool) -> Plan:
    """The whole of it. `rich`: what is left open is taken to cost more. Raises Missing with what is not known."""
    own = base(scope, rich=rich)
    return Plan(own, trained(scope, own, rich=rich), step(scope, rich=rich), shards(scope))


def standing(scope: Scope, *, rich: bool) -> Plan:
    """Without the pass, of which nothing needs to be known."""
    own = base(scope, rich=rich)
    return Plan(own, trained(scope, own, rich=rich), _IDLE, shards(scope))


def frozen(scope: Scope, *, rich: bool) -> Plan:
    """Without what trains either."""
    return Plan(base(scope, rich=rich), _NOTHING, _IDLE, shards(scope))


def base(scope: Scope, *, rich: bool) -> Base:
    """The base model: `rich` casts what is not quantised to fp32, as prepare_model_for_kbit_training does."""
    shape = _shape(scope)
    packed = _packed(scope, nested=not rich)
    if packed is None:
        width = _stored(scope)
        return Base(shape, width, width)
    if known(scope, "model.prequantized") in ("gptq", "awq"):
        return Base(shape, packed, 2, quantised=True)
    return Base(shape, packed, 4 if rich else 2, quantised=True)


def _shape(scope: Scope) -> Shape:
    from loralint.knowledge.models import find

    known(scope, "model.family")  # which says why where the model is not known
    name = text(scope, "model.base", "the config names no base model")
    found = find(name)
    if found is None:
        raise Missing(f"base model `{name}` is not in the catalogue")
    return shape_of(found, name)


def _packed(scope: Scope, *, nested: bool) -> float | None:
    """Bytes of a quantised weight; None where it is not quantised. `nested` where nobody says so."""
    before = known(scope, "model.prequantized")
    bits = optional(scope, "quant.bits", 16)
    if before in ("gptq", "awq"):
        return grouped(int(bits) if bits < 16 else 4)
    if before == "bnb-4bit" or (before == "none" and bits == 4 and _by_bnb(scope)):
        told = known(scope, "quant.double")
        return four_bit(nested=nested if told is None or before != "none" else told is True)
    if before == "bnb-8bit" or (before == "none" and bits == 8 and _by_bnb(scope)):
        return eight_bit()
    if before != "none" or bits < 16:
        raise Missing("the bytes of a weight under this quantisation are not known here")
    return None


def _by_bnb(scope: Scope) -> bool:
    return known(scope, "quant.method") in (None, "bnb")


def _stored(scope: Scope) -> int:
    """Bytes of a weight that is not quantised."""
    if known(scope, "adapter.method") == _FULL and known(scope, "adapter.dtype") in _WIDTHS:
        return _WIDTHS[str(known(scope, "adapter.dtype"))]
    if isinstance(scope.get("model.dtype").value, Unknown) and known(scope, "precision.bf16") == "auto":
        return 2  # bf16 or, where the card has none, fp16
    told = known(scope, "model.dtype")
    if told is None and known(scope, "precision.pure_bf16") is True:
        return 2
    word = known(scope, "model.native_dtype") if told == "auto" else told
    if word not in _WIDTHS:
        raise Missing("the config does not say which dtype the base model is loaded in")
    return _WIDTHS[str(word)]


def trained(scope: Scope, own: Base, *, rich: bool) -> Trained:
    """What trains, with its optimizer's state; `rich` keeps paged state on the GPU."""
    method = text(scope, "adapter.method", "the config does not say what it trains")
    if method not in ("lora", _FULL):
        raise Missing(f"how much memory the method `{method}` takes is not known here")
    optimizer, states = _optimizer(scope)
    sharded = _zero_stage(scope) > 0 and _halved(scope)
    width = 2 if sharded else own.outside if method == _FULL else _adapter_width(scope)
    bits = 32 if sharded else optimizer.state_bits or 8 * width
    return Trained(
        full=method == _FULL,
        rank=int(positive(scope, "adapter.rank", "the config gives no rank")) if method == "lora" else 0,
        targets=_targets(scope, own.shape) if method == "lora" else (),
        saved=_saved(scope, own, rich=rich) if method == "lora" else 0,
        width=width,
        states=state_width(states, bits),
        evicted=optimizer.paged and not rich,
        master=4 if sharded else 0,
        scratch=0 if optimizer.fused or optimizer.bnb or not rich else width,
    )


def _optimizer(scope: Scope) -> tuple[Optimizer, int]:
    """The optimizer and how many numbers it keeps for a trained one; momentum is what SGD keeps, if it has any."""
    from loralint.knowledge.optimizers import find

    name = text(scope, "optim.name", "the config names no optimizer")
    found = find(name)
    if found is not None and found.states is not None:
        return found, found.states
    if found is not None and found.family == "sgd":
        return found, 1 if optional(scope, "optim.momentum", 0) else 0
    raise Missing(f"the size of the state of optimizer `{name}` is not known here")


def _adapter_width(scope: Scope) -> int:
    from loralint.facts.precision import adapter_dtype

    return _WIDTHS[adapter_dtype(scope)]


_EMBEDDINGS = frozenset({"embed_tokens", "embed_in", "wte", "tok_embeddings", "lm_head", "embed_out", "output"})


def _saved(scope: Scope, own: Base, *, rich: bool) -> int:
    """Entries that train as a copy of embedding or head. They keep the base's dtype unless a trainer casts them up:
    `rich` takes that, else they count for as many adapter entries as their bytes are worth.
    """
    names = known(scope, "adapter.modules_to_save")
    listed = [str(name).rpartition(".")[2] for name in names] if isinstance(names, (list, tuple)) else []
    count = len(_EMBEDDINGS.intersection(listed)) * own.shape.vocabulary * own.shape.hidden
    return count if rich else count * own.outside // 4


def _targets(scope: Scope, shape: Shape) -> tuple[Linear, ...]:
    """The layers of a block that get an adapter, the same in every block."""
    if known(scope, "adapter.dora") is True:
        raise Missing("how much memory DoRA takes is not known here")
    special = ("adapter.rank_pattern", "adapter.layers", "adapter.target_parameters", "adapter.exclude")
    if any(known(scope, field) for field in special):
        raise Missing("adapters differ between layers")
    kind = known(scope, "targets.kind")
    if kind == "all-linear":
        return shape.linears
    if kind != "list":
        raise Missing("the config does not list the modules that get an adapter")
    ends = [str(name).rpartition(".")[2] for name in _list(known(scope, "targets.names"))]
    found = tuple(one for one in shape.linears if one.name in ends)
    if not found:
        raise Missing("none of the targets is a layer of the model's blocks")
    return found


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def step(scope: Scope, *, rich: bool) -> Pass:
    """One pass, of rows at their full length. `rich`: batches are padded, and fused kernels save nothing."""
    if known(scope, "train.task") not in ("sft", "pt"):
        raise Missing("how much memory a step of this task takes is not known here")
    rows = int(positive(scope, "batch.micro", "the config has no batch size"))
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
        kernels=_FEWER if not rich and _kernels(scope) else 1.0,
        fused_loss=fused is True
        or (fused is None and not rich)
        or (not rich and known(scope, "kernel.unsloth") is True),
        passes=max(1, int(optional(scope, "batch.accumulation", 1))),
    )


_FEWER = 0.5  # share of a block's activations that fused norms, rotary positions and gated products keep at least


def _kernels(scope: Scope) -> bool:
    return any(known(scope, f"kernel.{name}") is True for name in ("unsloth", "liger", "lora", "compile"))


def _length(scope: Scope) -> int:
    given = "data.sequence_len" if known(scope, "data.sequence_len") is not None else "model.loaded_len"
    return int(positive(scope, given, "the config gives no sequence length"))


def _halved(scope: Scope) -> bool:
    """Whether mixed precision is on, in either format."""
    return known(scope, "precision.bf16") in (True, "auto") or known(scope, "precision.fp16") is True


def _autocast(scope: Scope) -> bool:
    """Whether torch casts; DeepSpeed's engine and weights that are all 16-bit need no casts."""
    return _halved(scope) and known(scope, "precision.pure_bf16") is not True and _zero_stage(scope) == 0


def _computed(scope: Scope) -> int:
    if _halved(scope) or known(scope, "precision.pure_bf16") is True:
        return 2
    return _WIDTHS[text(scope, "precision.compute", "the config says nothing of its precision")]


def _zero_stage(scope: Scope) -> int:
    if known(scope, "dist.deepspeed") is None:
        return 0
    return int(number(scope, "dist.zero_stage", "which ZeRO stage DeepSpeed is told is not known"))


def shards(scope: Scope) -> Shards:
    """How DeepSpeed or FSDP splits a run over its GPUs, whose number has to be known then."""
    if optional(scope, "dist.tensor_parallel", 1) > 1 or optional(scope, "dist.context_parallel", 1) > 1:
        raise Missing("how tensor or sequence parallelism splits memory is not known here")
    if known(scope, "kernel.ktransformers") is True:
        raise Missing("how much of the model waits in the CPU's memory is not known here")
    stage = _zero_stage(scope)
    if known(scope, "dist.fsdp") is True:
        return _fsdp(scope)
    if stage == 0:
        return Shards(replicas=_replicas(scope))
    told, where = scope.get("dist.deepspeed"), scope.get("dist.zero_stage")
    if told.key and told.key == where.key:
        raise Missing("what DeepSpeed is told beside its stage is not known")
    count = int(_count(scope))
    states = 0 if _off(scope, "dist.ds_offload_optimizer") else count
    weights = 0 if _off(scope, "dist.ds_offload_param") else count
    gradients = (0 if states == 0 else count) if stage >= 2 else 1
    return Shards(weights if stage >= 3 else 1, gradients, states, count, gathers=stage >= 3)


def _fsdp(scope: Scope) -> Shards:
    if known(scope, "dist.fsdp_offload") is True:
        return Shards(0, 0, 0, gathers=True)
    count = int(_count(scope))
    return Shards(count, count, count, count, gathers=True)


def _off(scope: Scope, field: str) -> bool:
    return known(scope, field) in ("cpu", "nvme")


def _count(scope: Scope) -> float:
    """GPUs that share the run."""
    if scope.get("dist.world").known:
        return positive(scope, "dist.world")
    return positive(scope, "gpu.count")


def _replicas(scope: Scope) -> int:
    """Processes that exchange gradients; one where neither they nor the GPUs are counted."""
    if known(scope, "dist.launcher") == "accelerate" and known(scope, "dist.launcher_type") is None:
        raise Missing("how accelerate spreads the run is not known")
    if scope.get("gpu.count").known and positive(scope, "gpu.count") == 1:
        return 1
    _whole(scope)
    return int(positive(scope, "dist.world")) if scope.get("dist.world").known else 1


def _whole(scope: Scope) -> None:
    """Raises Missing unless each of perhaps several GPUs holds the whole model.

    A recipe or a launcher may shard without a key that says so; a process that sees several GPUs may spread its layers.
    """
    unsaid = "whether the GPUs share the model or each has the whole of it is not known"
    if scope.get("dist.fsdp").origin == "absent":
        raise Missing(unsaid)
    processes = optional(scope, "dist.world", 1) if scope.get("dist.world").known else 1
    machines = max(1, optional(scope, "dist.launcher_nodes", 1))
    for seen in ("gpu.count", "dist.visible_devices"):
        there = number(scope, seen) if scope.get(seen).known and scope.get(seen).value is not None else 1
        if there > max(1, processes / machines):
            raise Missing(unsaid)
