"""Sizes that are known otherwise: counts that PEFT prints, parameters of published models, sums by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.facts.memory.activations import block_bytes
from loralint.facts.memory.change import Remedy, remedies
from loralint.facts.memory.peak import parts
from loralint.facts.memory.plan import Base, Pass, Plan, Shards, Trained
from loralint.facts.memory.read import standing
from loralint.facts.memory.shape import shape_of
from loralint.facts.memory.weights import (
    adapter_entries,
    base_bytes,
    gradient_bytes,
    grouped,
    state_bytes,
    state_width,
    weight_bytes,
)
from loralint.facts.need import Missing
from loralint.knowledge.models import find

GIB = 2**30
LLAMA = {
    "model.base": "meta-llama/Llama-3.1-8B",
    "model.dtype": "bf16",
    "adapter.method": "lora",
    "adapter.rank": 16,
    "adapter.targets": "all-linear",
    "adapter.dtype": "fp32",
    "quant.bits": 16,
    "optim.name": "adamw_torch_fused",
    "train.task": "sft",
    "batch.micro": 1,
    "batch.accumulation": 1,
    "data.sequence_len": 2048,
    "data.packing": True,
    "precision.bf16": True,
    "precision.fp16": False,
    "memory.gradient_checkpointing": True,
    "kernel.fused_loss": False,
    "dist.fsdp": False,
}


def shape(name: str):
    return shape_of(find(name), name)


def a_plan(name: str = "meta-llama/Llama-3.1-8B", **step) -> Plan:
    sizes = shape(name)
    usual = Pass(
        1, 2048, 2, autocast=True, attention="fused", masked=False, dropout=False, checkpointed=True, offloaded=False,
        kernels=1.0, fused_loss=False, passes=1,
    )  # fmt: skip
    trained = Trained(False, 16, sizes.linears, 0, 4, 8.0, evicted=False, master=0, scratch=0)
    return Plan(Base(sizes, 2, 2), trained, usual._replace(**step))


def test_parameters_of_published_models():
    assert shape("meta-llama/Llama-3.1-8B").parameters == 8_030_261_248
    assert shape("meta-llama/Llama-2-7b-hf").parameters == 6_738_415_616


def test_trainable_parameters_as_peft_prints_them():
    assert adapter_entries(a_plan()) == 41_943_040  # r=16, all linear layers
    two = [one for one in shape("meta-llama/Llama-2-7b-hf").linears if one.name in ("q_proj", "v_proj")]
    plan = a_plan("meta-llama/Llama-2-7b-hf")
    assert adapter_entries(plan._replace(trained=plan.trained._replace(rank=8, targets=tuple(two)))) == 4_194_304


def test_a_model_whose_layers_do_not_add_up_is_not_told():
    known = find("meta-llama/Llama-3.1-8B")
    with pytest.raises(Missing, match="do not add up"):
        shape_of(known._replace(params=9.0), "x")
    with pytest.raises(Missing, match="`mixtral` models"):
        shape("mistralai/Mixtral-8x7B-v0.1")


def test_weights_by_quantisation(fact):
    linear, outside = 32 * 218_103_808, 2 * 128_256 * 4096 + 65 * 4096
    assert fact("memory.weights", LLAMA) == pytest.approx(2 * (linear + outside) / GIB)
    four = LLAMA | {"quant.bits": 4, "quant.method": "bnb"}
    between = (outside * 2 + outside * 4) / 2  # whether head and embedding are cast to fp32 is left open
    assert fact("memory.weights", four | {"quant.double": False}) == pytest.approx((linear * 0.5625 + between) / GIB)
    assert fact("memory.weights", four | {"quant.double": True}) == pytest.approx(
        (linear * (0.5 + 1 / 64 + 4 / 64 / 256) + between) / GIB
    )
    torchao = {"quant.method": "torchao", "quant.type": "nf4"}
    assert fact("memory.weights", four | torchao) == fact("memory.weights", four | {"quant.double": True})
    eight = LLAMA | {"quant.bits": 8, "quant.method": "bnb"}
    assert fact("memory.weights", eight) == pytest.approx((linear + between) / GIB)


def test_groups_of_gptq_share_a_scale_and_a_zero():
    assert grouped(4) == pytest.approx(0.5 + (2 + 0.5) / 128)
    assert grouped(8) == pytest.approx(1 + 3 / 128)


def test_state_of_the_optimizer(fact):
    count = 41_943_040
    assert fact("memory.optimizer", LLAMA) == pytest.approx(count * 8 / GIB)
    assert fact("memory.optimizer", LLAMA | {"optim.name": "adamw_bnb_8bit"}) == pytest.approx(count * 2.03125 / GIB)
    assert fact("memory.optimizer", LLAMA | {"optim.name": "sgd"}) == 0
    assert fact("memory.optimizer", LLAMA | {"optim.name": "sgd", "optim.momentum": 0.9}) == pytest.approx(
        count * 4 / GIB
    )
    paged = fact("memory.optimizer", LLAMA | {"optim.name": "paged_adamw_32bit"})
    assert paged == pytest.approx(count * 8 / 2 / GIB)  # on the GPU or not
    assert fact("memory.optimizer", LLAMA | {"optim.name": "no-such"})[0].startswith("the size of the state")


def test_full_fine_tuning_holds_weights_gradients_and_state(fact):
    full = LLAMA | {"adapter.method": "full", "adapter.dtype": None, "model.dtype": "fp32"}
    for part, width in (("weights", 4), ("gradients", 4), ("optimizer", 8)):
        assert fact(f"memory.{part}", full) == pytest.approx(8_030_261_248 * width / GIB)
    assert fact("memory.adapters", full) == 0


def test_adapters_are_counted_as_peft_matches_them(fact):
    """q_proj is 4096 x 4096 and v_proj 4096 x 1024 in each of 32 blocks."""
    query, value = 16 * (4096 + 4096), 16 * (4096 + 1024)

    def adapters(**changed):
        return fact("memory.adapters", LLAMA | {f"adapter.{name}": told for name, told in changed.items()})

    assert adapters(targets=".*q_proj") == pytest.approx(32 * query * 4 / GIB)
    assert adapters(targets=None) == pytest.approx(32 * (query + value) * 4 / GIB)  # PEFT's usual ones for llama
    assert adapters(targets=["q_proj"], layers=[0, 1]) == pytest.approx(2 * query * 4 / GIB)
    assert adapters(targets=["q_proj", "v_proj"], rank_pattern={"q_proj": 4}) == pytest.approx(
        32 * (query / 4 + value) * 4 / GIB
    )


def test_blocks_that_differ_widen_the_band(fact):
    some = LLAMA | {"memory.gradient_checkpointing": False, "adapter.targets": ["q_proj", "v_proj"]}
    assert fact("memory.band", some | {"adapter.layers": list(range(31))}) > fact("memory.band", some) + 0.1
    regex = some | {"adapter.targets": ".*[qv]_proj"}
    assert fact("memory.band", regex) == fact("memory.band", some)


def test_magnitudes_of_dora_train_too(fact):
    outputs = 32 * (4096 + 1024 + 1024 + 4096 + 14336 + 14336 + 4096)
    assert fact("memory.adapters", LLAMA | {"adapter.dora": True}) == pytest.approx((41_943_040 + outputs) * 4 / GIB)
    assert fact("memory.measured", LLAMA | {"adapter.dora": True}) is False


PAIRS = LLAMA | {"train.task": "dpo", "data.packing": False}


def test_a_row_of_preferences_is_two_sequences(fact):
    two = LLAMA | {"batch.micro": 2, "data.packing": False}
    for part in ("activations", "weights", "optimizer"):
        assert fact(f"memory.{part}", PAIRS | {"pref.loss": "simpo"}) == fact(f"memory.{part}", two)
    assert fact("memory.logits", PAIRS) > fact("memory.logits", two)  # those of the reference wait as well, perhaps
    assert fact("memory.logits", PAIRS | {"pref.loss": "simpo"}) == fact("memory.logits", two)
    assert fact("memory.logits", PAIRS | {"train.task": "kto"}) < fact("memory.logits", two)  # one sequence a row
    assert fact("memory.measured", PAIRS) is False


def test_a_model_that_trains_whole_has_a_reference_beside_it(fact):
    full = PAIRS | {"adapter.method": "full", "adapter.dtype": None}
    one = 2 * 8_030_261_248 / GIB
    assert fact("memory.weights", full) == pytest.approx(1.5 * one)  # unless its answers were made before
    assert fact("memory.weights", full | {"pref.loss": "simpo"}) == pytest.approx(one)
    named = PAIRS | {"pref.reference_model": "meta-llama/Llama-3.1-8B"}
    assert fact("memory.weights", named) == pytest.approx(2 * one)
    assert fact("memory.weights", PAIRS) == pytest.approx(one)  # an adapter is switched off


def test_a_reward_model_has_no_logits_and_perhaps_no_head(fact):
    reward = PAIRS | {"train.task": "rm"}
    assert fact("memory.logits", reward) < 0.2
    head = 2 * 128_256 * 4096 / GIB
    assert fact("memory.weights", LLAMA) - fact("memory.weights", reward) == pytest.approx(head / 2)


def test_logits_are_held_three_times_in_fp32(fact):
    assert fact("memory.logits", LLAMA) == pytest.approx(2048 * 128_256 * 12 / GIB)
    assert fact("memory.logits", LLAMA | {"kernel.fused_loss": True}) < 0.1


def test_eager_attention_keeps_the_scores():
    fused, eager = a_plan(checkpointed=False), a_plan(checkpointed=False, attention="eager")
    heads, repeated = 32 * 2048**2 * 6, 2 * (4096 - 1024) * 2 * 2048
    result = (4096 * 2 + 32 * 4) * 2048
    assert block_bytes(eager) - block_bytes(fused) == pytest.approx(heads + repeated - result)


def test_products_of_int8_keep_their_inputs_unless_checkpointing_is_reentrant(fact):
    eight = LLAMA | {"quant.bits": 8, "quant.method": "bnb"}
    inputs = 32 * (4096 + 4096 + 4096 + 14336) * 2 * 2048 / GIB
    kept = fact("memory.activations", eight | {"memory.reentrant": False})
    assert kept - fact("memory.activations", eight | {"memory.reentrant": True}) == pytest.approx(inputs)
    assert kept - fact("memory.activations", eight) == pytest.approx(inputs / 2)  # not known, so both ways


def test_a_tied_matrix_needs_its_gradient_more_than_once():
    name = "meta-llama/Llama-3.2-1B"
    plan = a_plan(name, length=16, fused_loss=True)
    whole = plan._replace(
        trained=plan.trained._replace(full=True, targets=()), base=plan.base._replace(packed=4, outside=4)
    )
    one, matrix = 16 * shape(name).parameters, 4 * 128_256 * 2048
    assert parts(whole).total == pytest.approx(one + matrix)
    plain = whole._replace(step=whole.step._replace(autocast=False, compute=4))
    assert parts(plain).total == pytest.approx(one + 2 * matrix)


def test_zero_splits_state_then_gradients_then_weights(fact):
    eight = LLAMA | {"dist.deepspeed": "ds.json", "dist.zero_stage": 2, "gpu.count": 8}
    assert fact("memory.optimizer", eight) == pytest.approx(41_943_040 * (8 + 4) / 8 / GIB)
    buckets = 2 * 500_000_000 * 2 / 2  # two of DeepSpeed's usual size, or hardly any
    assert fact("memory.gradients", eight) == pytest.approx((41_943_040 * 2 / 8 + buckets) / GIB)
    assert fact("memory.weights", eight) == pytest.approx(2 * 8_030_261_248 / GIB)
    third = fact("memory.weights", eight | {"dist.zero_stage": 3})
    assert third == pytest.approx((2 * 8_030_261_248 / 8 + 2 * 2 * 218_103_808) / GIB)
    offloaded = eight | {"dist.zero_stage": 3, "dist.ds_offload_optimizer": "cpu", "dist.ds_offload_param": "cpu"}
    assert fact("memory.optimizer", offloaded) == 0
    assert fact("memory.gradients", offloaded) == pytest.approx(buckets / GIB)


def test_data_parallel_keeps_gradients_twice():
    plan = a_plan()
    assert gradient_bytes(plan._replace(shards=Shards(replicas=2))) == 2 * gradient_bytes(plan)
    assert weight_bytes(plan._replace(shards=Shards(replicas=2))) == base_bytes(plan.base)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"batch.micro": None}, "the config has no batch size"),
        ({"data.sequence_len": None}, "the config gives no sequence length"),
        ({"train.task": "grpo"}, "what the generation of answers keeps, by their number and length, is not known here"),
        ({"train.task": "kd"}, "how much memory a step of this task takes is not known here"),
        (
            {"train.task": "dpo", "pref.reference_model": "acme/other"},
            "the size of the reference model `acme/other` is not known here",
        ),
        ({"model.base": "acme/own"}, "base model `acme/own` is not in the catalogue (give --model-config)"),
        ({"model.dtype": None}, "the config does not say which dtype the base model is loaded in"),
        ({"dist.fsdp": True}, "the number of GPUs is unknown (give --gpu NAMExCOUNT)"),
        ({"dist.deepspeed": "ds.json"}, "which ZeRO stage DeepSpeed is told is not known"),
        ({"dist.visible_devices": 2}, "whether the GPUs share the model or each has the whole of it is not known"),
        (
            {"dist.fsdp": None},
            (
                "whether the GPUs share the model or each has the whole of it is not known"
                " (--gpu NAMEx1 says that there is one)"
            ),
        ),
        ({"dist.launcher": "accelerate"}, "how accelerate spreads the run is not known"),
        ({"gpu.count": 2}, "whether the GPUs share the model or each has the whole of it is not known"),
        ({"quant.bits": 4, "quant.method": "hqq"}, "the bytes of a weight under this quantisation are not known here"),
    ],
)
def test_what_is_not_known_ends_it_with_the_reason(fact, changed, reason):
    known = {name: value for name, value in (LLAMA | changed).items() if value is not None}
    assert fact("memory.peak", known | {"run.gpu": "A100-80GB"}) == (reason,)


def test_processes_that_each_have_a_gpu(fact):
    eight = LLAMA | {"gpu.count": 8, "dist.visible_devices": 8, "dist.launcher_processes": 8}
    assert fact("memory.gradients", eight) == 2 * fact("memory.gradients", LLAMA)  # DDP's buckets
    assert fact("memory.weights", eight | {"dist.launcher_processes": 4})[0].startswith("whether the GPUs share")


def test_weights_are_known_where_the_pass_is_not(fact):
    assert isinstance(fact("memory.weights", LLAMA | {"batch.micro": None}), float)
    assert isinstance(fact("memory.floor", LLAMA | {"batch.micro": None}), float)


def test_what_a_config_leaves_open_widens_the_band(fact):
    known = LLAMA | {"memory.gradient_checkpointing": False}
    plain = fact("memory.band", known)
    assert plain == pytest.approx((fact("memory.peak", known) - 0.625) * (1.1 - 0.95) / (1.1 + 0.95) + 0.375)
    assert fact("memory.band", known | {"kernel.lora": True}) > plain
    assert fact("memory.band", known | {"kernel.fused_loss": None}) > plain
    padded = known | {"batch.micro": 2, "data.packing": False}
    flash = fact("memory.band", padded | {"model.attention": "flash_attention_2"})
    assert fact("memory.band", padded) > flash  # which takes no mask


def remedy(lean: Plan, rich: Plan, limit: float) -> Remedy | None:
    return next(remedies(lean, rich, limit), None)


def test_the_mildest_changes_that_are_enough():
    plan = a_plan(rows=4, checkpointed=False)
    assert remedy(plan, plan, 40).settings == "memory.gradient_checkpointing=true"
    found = remedy(plan, plan, 24)
    assert found.settings == "memory.gradient_checkpointing=true,batch.micro=1,batch.accumulation=4"
    assert found.band.high < 24 * 0.92
    assert remedy(plan, plan, 16).settings.endswith("quant.bits=4")


def test_nothing_that_is_left_to_change_is_enough():
    plan = a_plan(length=512, fused_loss=True)
    small = plan._replace(base=plan.base._replace(packed=0.5625, quantised=True))
    assert remedy(small, small, 4) is None
    assert remedy(plan, plan, 4) is None


def test_eight_bit_state_shares_a_constant_by_block():
    assert state_width(2, 8) == pytest.approx(2 * (1 + 4 / 256))
    assert state_bytes(a_plan()) == 41_943_040 * 8


@given(st.integers(1, 8), st.integers(128, 8192), st.booleans(), st.sampled_from(["eager", "fused"]), st.booleans())
def test_more_rows_or_longer_ones_never_take_less(rows, length, checkpointed, attention, fused):
    step = {"checkpointed": checkpointed, "attention": attention, "fused_loss": fused}
    here = parts(a_plan(rows=rows, length=length, **step)).total
    assert here <= parts(a_plan(rows=rows + 1, length=length, **step)).total
    assert here <= parts(a_plan(rows=rows, length=length + 64, **step)).total
    assert parts(a_plan(rows=rows, length=length, **(step | {"fused_loss": True}))).total <= here


MIXTURE = LLAMA | {"model.base": "mistralai/Mixtral-8x7B-v0.1", "adapter.targets": ["q_proj", "v_proj"]}
ADAPTERS = 32 * 16 * (4096 + 4096 + 4096 + 1024) * 16  # fp32 weights, gradients and two states
FOUR = {"quant.bits": 4, "quant.method": "bnb", "quant.double": True}


def test_of_a_mixture_all_experts_are_there(fact):
    assert fact("memory.weights", MIXTURE) == pytest.approx(46_702_792_704 * 2 / GIB)
    assert fact("memory.floor", MIXTURE) == pytest.approx((46_702_792_704 * 2 + ADAPTERS) * 0.95 / GIB)
    assert fact("memory.measured", MIXTURE) is False


def test_whether_experts_are_packed_is_not_known_but_the_least_is(fact):
    """bitsandbytes replaces linear layers, and Transformers 5 has bare weights in the place of those of experts."""
    packed = MIXTURE | FOUR
    assert fact("memory.weights", packed)[0].startswith("whether bitsandbytes packs the experts")
    outside = 2 * 32000 * 4096 + 32 * 8 * 4096 + 65 * 4096  # embedding, head, routers, norms
    least = (46_702_792_704 - outside) * (0.5 + 1 / 64 + 4 / 64 / 256) + outside * 2
    assert fact("memory.floor", packed) == pytest.approx((least + ADAPTERS) * 0.95 / GIB)


def test_transformers_5_keeps_experts_in_weights_that_bitsandbytes_leaves_alone(fact):
    """Qwen3-30B-A3B: 48 layers of 128 experts, each 3 x 2048 x 768, of 30.5 billion weights in all."""
    model = LLAMA | FOUR | {"model.base": "Qwen/Qwen3-30B-A3B", "adapter.targets": ["q_proj"]}
    newer, older = model | {"version of transformers": "5.24.0"}, model | {"version of transformers": "4.57.6"}
    experts = 48 * 128 * 3 * 2048 * 768
    assert fact("model.experts_unquantised", newer) == ["gate_up_proj", "down_proj"]
    assert fact("memory.floor", newer) > experts * 2 * 0.95 / GIB
    assert fact("model.experts_unquantised", newer | {"quant.experts": True}) is None
    assert fact("model.experts_unquantised", newer | {"kernel.unsloth": True}) is None
    other = {"model.base": "deepseek-ai/DeepSeek-V4-Base"}
    assert fact("model.experts_unquantised", older | other)[0].startswith("how Transformers 4 keeps")
    mixtral = {"model.base": "mistralai/Mixtral-8x7B-v0.1"}
    assert fact("model.experts_unquantised", older | mixtral) is None
    assert 23 < fact("memory.weights", older | mixtral) < 27
    assert fact("memory.weights", newer | mixtral) > 46.7e9 * 2 * 0.95 / GIB


def test_four_bits_are_not_proposed_for_experts(scope):
    def proposed(name: str) -> object:
        lean = standing(scope(MIXTURE | {"model.base": name}), rich=False)
        return remedy(lean, lean, 80)

    assert proposed("mistralai/Mixtral-8x7B-v0.1") is None
    assert proposed("meta-llama/Llama-3.1-70B").settings == "quant.bits=4"


@pytest.mark.parametrize(
    ("name", "billions"),
    [("google-t5/t5-large", 0.738), ("google/gemma-3-27b-pt", 27.4), ("openai-community/gpt2-xl", 1.558)],
)
def test_weights_of_any_architecture(fact, name, billions):
    assert fact("memory.weights", LLAMA | {"model.base": name}) == pytest.approx(billions * 2e9 / GIB, rel=0.01)
    assert isinstance(fact("memory.peak", LLAMA | {"model.base": name}), tuple)
