"""The formulas against real runs: every tensor that torch keeps for tiny models of Transformers with PEFT adapters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")
pytest.importorskip("transformers")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from memory import simulated  # noqa: E402
from memory_cases import CASES, SIZES, Case, Size, model_of, plan, shape, train  # noqa: E402

from loralint.facts.memory.activations import block_bytes, casts, kept_bytes, last_norm_bytes  # noqa: E402
from loralint.facts.memory.peak import parts  # noqa: E402
from loralint.facts.memory.weights import (  # noqa: E402
    adapter_entries,
    base_bytes,
    entries,
    gradient_bytes,
    state_bytes,
)

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

ODD = [  # no two sizes alike, so that none can stand in for another
    Size("llama", 96, 208, 3, 6, 2, 16, 501),
    Size("mistral", 64, 176, 2, 4, 4, 24, 333),
    Size("qwen2", 80, 144, 2, 6, 2, 16, 417, tied=True),
    Size("qwen3", 64, 112, 3, 4, 2, 32, 300),
    Size("gpt_neox", 72, 160, 2, 6, 6, 12, 350),
]
NAMES = [size.family for size in ODD]
SIZES.update({f"odd-{size.family}": size for size in ODD})


@pytest.mark.parametrize("family", NAMES)
def test_parameters_gradients_and_state_are_exact(family):
    for full in (False, True):
        case = Case("odd", f"odd-{family}", base="fp32", full=full, rank=3, length=16, autocast=False)
        model = model_of(case, "cpu")
        phases = train(model, case, "cpu")
        next(phases)
        next(phases)  # after the first backward pass
        wanted = plan(case)
        weights = [one for one in model.parameters() if "lora_" not in name_of(model, one)]
        trained = [one for one in model.parameters() if one.requires_grad]
        biases = sum(one.numel() for one in weights if one.dim() == 1) - norms(case)
        assert sum(one.numel() for one in weights) - biases == wanted.base.shape.parameters
        assert sum(size_of(one) for one in weights) - 4 * biases == base_bytes(wanted.base)
        if not full:
            assert sum(one.numel() for one in trained) == adapter_entries(wanted)
            assert sum(size_of(one.grad) for one in trained) == gradient_bytes(wanted)
            next(phases)
            assert state_bytes(wanted) == 8 * entries(wanted)


def name_of(model, parameter) -> str:
    return next(name for name, one in model.named_parameters() if one is parameter)


def norms(case: Case) -> int:
    """Weights of one dimension that the formulas count: those of norms over the residual stream."""
    sizes = shape(SIZES[case.size])
    return (sizes.norms * sizes.layers + 1) * sizes.hidden


def size_of(tensor) -> int:
    return tensor.numel() * tensor.element_size()


def saved(case: Case) -> int:
    """Bytes of everything that autograd keeps for one backward pass, weights and what stands in them apart."""
    model = model_of(case, "cpu")
    own = {one.untyped_storage().data_ptr() for one in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = (storage.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        next(train(model, case, "cpu"))
    return sum(size for size, _ in kept.values())


MODES = [
    {},
    {"autocast": False},
    {"base": "fp32"},
    {"targets": ["q_proj", "v_proj", "query_key_value"]},
    {"attention": "eager"},
    {"full": True, "base": "fp32", "autocast": False},
    {"rows": 3},
]


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2", "qwen3"])
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_activations_of_one_block(family, mode):
    """Two depths of a model differ by one block, whose tensors are what the formula says."""
    name = f"odd-{family}"
    deep = SIZES[name]
    SIZES["deeper"] = deep._replace(layers=deep.layers + 1)
    case = Case("block", name, length=64, rank=3, **mode)
    more = case._replace(size="deeper")
    block = saved(more) - saved(case)
    wanted = plan(case)
    copies = casts(plan(more)).trained - casts(wanted).trained + casts(wanted).block
    assert block == pytest.approx(block_bytes(wanted) + copies, rel=0.01)


def test_checkpoints_keep_the_residual_stream_alone():
    case = Case("checkpoints", "odd-llama", length=64, rows=2, checkpointing=True)
    logits = 2 * 64 * 501 * 4 + 2 * 64 * 8
    assert saved(case) == pytest.approx(kept_bytes(plan(case)) + last_norm_bytes(plan(case)) + logits, rel=0.02)


def added_in_place(case: Case) -> bool:
    """A GPU adds gradients of a tied matrix in place where autocast made one of them; fake tensors take a copy."""
    return case.full and case.autocast and case.checkpointing


@pytest.mark.parametrize(
    "case",
    [one for one in CASES if one.size != "llama-8b" and not one.dropout and not added_in_place(one)],
    ids=lambda one: one.name,
)
def test_peak_of_a_step(case):
    """The same configurations as the benchmark's, three layers deep."""
    SIZES["shallow"] = SIZES[case.size]._replace(layers=3)
    case = case._replace(size="shallow")
    assert parts(plan(case)).total == pytest.approx(max(simulated(case).values()), rel=0.05)
