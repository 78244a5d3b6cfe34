"""Weights counted module by module against Transformers' own classes, and what a step of a mixture of experts keeps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from memory import simulated_model  # noqa: E402
from memory_cases import Case, adapted  # noqa: E402

from loralint.facts.memory.census import census  # noqa: E402
from loralint.facts.memory.mixture import counted  # noqa: E402
from loralint.facts.memory.peak import parts  # noqa: E402
from loralint.facts.memory.plan import Base, Pass, Plan, Trained  # noqa: E402
from loralint.knowledge import catalogue  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SMALL = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 333}
TEXT = SMALL | {"intermediate_size": 112, "num_key_value_heads": 2, "head_dim": 16}
MOE = TEXT | {"moe_intermediate_size": 48, "num_experts": 8, "num_experts_per_tok": 2}
VISION = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
MODELS = {
    "llama": TEXT | {"attention_bias": True, "tie_word_embeddings": True},
    "qwen3_moe": MOE | {"decoder_sparse_step": 1, "mlp_only_layers": [1]},
    "qwen2_moe": MOE | {"decoder_sparse_step": 1, "mlp_only_layers": [], "shared_expert_intermediate_size": 80},
    "mixtral": TEXT | {"num_local_experts": 4},
    "olmoe": MOE,
    "gpt2": {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 333, "n_positions": 128},
    "falcon": SMALL,
    "bloom": {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 333},
    "bert": SMALL | {"intermediate_size": 112},
    "t5": {"d_model": 64, "d_kv": 16, "d_ff": 112, "num_layers": 2, "num_heads": 4, "vocab_size": 333},
    "bart": {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
             "decoder_attention_heads": 4, "encoder_ffn_dim": 112, "decoder_ffn_dim": 96, "vocab_size": 333},
    "whisper": {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                "decoder_attention_heads": 4, "encoder_ffn_dim": 112, "decoder_ffn_dim": 96},
    "gemma3": {"text_config": TEXT, "vision_config": VISION | {"image_size": 28, "patch_size": 14}},
}  # fmt: skip
CLASSES = (
    ("causal-lm", "CausalLM"),
    ("seq2seq", "Seq2SeqLM"),
    ("image-text-to-text", "ImageTextToText"),
)
CLASSES += ("speech-seq2seq", "SpeechSeq2Seq"), ("masked-lm", "MaskedLM")  # fmt: skip


def built(kind: str):
    """The model on the meta device, and what the catalogue says of it."""
    config = transformers.AutoConfig.for_model(kind, **MODELS[kind])
    tasks = catalogue.tasks(kind)
    task, name = next(one for one in reversed(CLASSES) if one[0] in tasks)
    with torch.device("meta"):
        model = getattr(transformers, f"AutoModelFor{name}").from_config(config, dtype=torch.bfloat16)
    return model, catalogue.from_config(config.to_dict(), task)


@pytest.mark.parametrize("kind", MODELS)
def test_weights_are_counted_exactly(kind):
    model, known = built(kind)
    found = census(known)
    head = model.get_output_embeddings()
    linear = (torch.nn.Linear, transformers.pytorch_utils.Conv1D)
    packed = [one.weight.numel() for one in model.modules() if isinstance(one, linear) and one is not head]
    experts = [one.numel() for name, one in model.named_parameters() if one.dim() == 3 and "experts" in name]
    assert found.parameters == sum(one.numel() for one in model.parameters())
    assert found.packed == sum(packed)
    assert found.experts == sum(experts)


@pytest.mark.parametrize("kind", ["qwen3_moe", "mixtral", "olmoe"])
def test_the_largest_block_is_what_is_gathered(kind):
    model, known = built(kind)
    sizes = [sum(one.numel() for one in layer.parameters()) for layer in model.model.layers]
    assert census(known).block == max(sizes)


@pytest.mark.parametrize("checkpointed", [True, False])
@pytest.mark.parametrize("kind", ["qwen3_moe", "qwen2_moe", "mixtral", "olmoe"])
def test_a_step_of_a_mixture_lies_between_one_expert_and_all(kind, checkpointed):
    model, known = built(kind)
    case = Case("mixture", length=256, targets=["q_proj", "v_proj"], rank=3, checkpointing=checkpointed)
    seen = max(simulated_model(adapted(model, case, "meta"), case, vocabulary=333).values())
    shapes = [counted(census(known), known, "", rich=rich) for rich in (False, True)]
    least, most = (parts(plan(shape, case)).total for shape in shapes)
    assert least * 0.95 < seen < most * 1.1


def plan(shape, case: Case) -> Plan:
    targets = tuple(one for one in shape.linears if one.name in case.targets)
    step = Pass(
        1, case.length, 2, autocast=True, attention="fused", masked=False, dropout=False, kernels=1.0,
        checkpointed=case.checkpointing, offloaded=False, fused_loss=False, passes=1,
    )  # fmt: skip
    trained = Trained(False, 3, targets, 0, 4, 8.0, evicted=False, master=0, scratch=0)
    return Plan(Base(shape, 2, 2), trained, step)
