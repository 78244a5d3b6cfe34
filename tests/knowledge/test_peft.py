"""Values: what PEFT 0.21.2 did with the same settings on models of the same shape, on the meta device."""

from __future__ import annotations

import pytest

from loralint.knowledge import catalogue, peft
from loralint.knowledge.pattern import Unmatchable

SMALL = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
}  # fmt: skip


def model(**changes):
    found = catalogue.from_config({**SMALL, **changes})
    return peft.Model(found.modules, found.model_type, found.head, found.embedding, found.tied, found.experts)


def adapted(made=None, **targets):
    return peft.adapt(made or model(), peft.Targets(**targets))


def test_names_are_ends_of_paths():
    found = adapted(modules=("q_proj", "mlp.down_proj"), rank=4)
    assert len(found.modules) == 6
    assert found.total == 3 * 4 * (64 + 64) + 3 * 4 * (128 + 64)


def test_a_name_without_its_dot_matches_nothing():
    with pytest.raises(peft.Refused, match="no module matches"):
        adapted(modules=("_proj",))


def test_all_linear_leaves_the_head_out():
    found = adapted(modules="All-Linear", rank=1)
    assert len(found.modules) == 21
    assert "lm_head" not in found.modules


def test_an_expression_has_to_match_the_whole_path():
    pytest.importorskip("re2")
    assert len(adapted(modules=r".*\.[01]\..*q_proj").modules) == 2
    with pytest.raises(peft.Refused):
        adapted(modules="q_proj")


def test_what_re2_cannot_read_is_told():
    pytest.importorskip("re2")
    with pytest.raises(Unmatchable):
        adapted(modules=r"(?!.*vision).*q_proj")


def test_an_expression_that_backtracks_forever_elsewhere_ends():
    pytest.importorskip("re2")
    with pytest.raises(peft.Refused):
        adapted(modules="(.*.*.*.*.*.*)*x")


@pytest.mark.parametrize(
    ("layers", "pattern", "count"),
    [(1, None, 1), ((0, 2), None, 2), ((0, 2), "layers", 2), ((0, 7), ("h", "layers"), 1)],
)
def test_chosen_layers(layers, pattern, count):
    assert len(adapted(modules=("q_proj",), layers=layers, layers_pattern=pattern).modules) == count


def test_layers_are_not_asked_of_a_whole_path():
    assert len(adapted(modules=("model.layers.0.mlp.up_proj",), layers=2).modules) == 1


def test_excluded_and_saved_modules_get_no_adapter():
    found = adapted(modules=("q_proj", "lm_head"), exclude=("layers.1.self_attn.q_proj",), saved=("lm_head",))
    assert sorted(found.modules) == ["model.layers.0.self_attn.q_proj", "model.layers.2.self_attn.q_proj"]
    assert found.saved == {"lm_head": 6400}


def test_ranks_by_name():
    found = adapted(modules=("q_proj", "v_proj"), rank=2, rank_pattern={"v_proj": 8, "proj": 99})
    assert found.modules["model.layers.0.self_attn.v_proj"] == 8 * (64 + 32)
    assert found.modules["model.layers.0.self_attn.q_proj"] == 2 * (64 + 64)


def test_a_module_that_takes_no_adapter_stops_it():
    with pytest.raises(peft.Refused, match="LlamaRMSNorm") as raised:
        adapted(modules=("input_layernorm",))
    assert raised.value.path == "model.layers.0.input_layernorm"


def test_single_rows():
    found = adapted(modules=("q_proj",), tokens=(7, 8, 9))
    assert found.rows == {"model.embed_tokens": 3 * 64}


def test_biases_beside_adapters():
    found = adapted(model(attention_bias=True), modules=("q_proj",), rank=1, bias="lora_only")
    assert found.biases == 3 * 64


MIXTRAL = {"model_type": "mixtral", "num_local_experts": 2}


def test_names_of_experts_become_packed_weights():
    """w1 and w3 are one weight in Transformers 5, whose rank PEFT doubles."""
    found = adapted(model(**MIXTRAL), modules=("q_proj", "w1", "w2", "w3"), rank=2)
    assert len(found.modules) == 3
    assert found.parameters["model.layers.0.mlp.experts.gate_up_proj"] == 4 * 2 * (256 + 64)
    assert found.parameters["model.layers.0.mlp.experts.down_proj"] == 2 * 2 * (64 + 128)


def test_half_of_a_packed_weight_stops_it():
    with pytest.raises(peft.Refused, match="w1 needs w3"):
        adapted(model(**MIXTRAL), modules=("w1",))


def test_the_shared_expert_is_left_out_with_the_names_of_experts():
    """The names of layers become names of packed weights, which the shared expert has not."""
    made = model(model_type="qwen3_next", num_experts=2, moe_intermediate_size=32, shared_expert_intermediate_size=48)
    found = adapted(made, modules=("gate_proj", "up_proj", "down_proj"))
    assert not found.modules
    assert found.parameters.keys() == {
        f"model.layers.{i}.mlp.experts.{name}" for i in range(3) for name in ("gate_up_proj", "down_proj")
    }


def test_an_unknown_shape_makes_the_sum_unknown():
    known = catalogue.from_sizes("llama", {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4})
    found = peft.adapt(peft.Model(known.modules), peft.Targets(("q_proj", "up_proj"), rank=2))
    assert found.modules["model.layers.1.self_attn.q_proj"] == 256
    assert found.total is None


@pytest.mark.parametrize("more", [{"dora": True}, {"dropout": 0.05}])
def test_packed_weights_refuse_dora_and_dropout(more):
    with pytest.raises(peft.Refused, match="neither DoRA nor dropout"):
        adapted(model(**MIXTRAL), modules=("q_proj", "w2"), **more)
    assert adapted(model(**MIXTRAL), modules=("q_proj",), **more).modules


def test_rows_that_the_head_shares_do_not_go_with_a_whole_head():
    """RoBERTa's head holds the tied layer: PEFT 0.21.2 looks for it by its old path and raises."""
    found = catalogue.from_config({"model_type": "roberta"}, "masked-lm")
    model = peft.Model(found.modules, found.model_type, found.head, found.embedding, found.tied)
    targets = peft.Targets(("query",), tokens=(0,))
    assert peft.adapt(model, targets).rows == {"roberta.embeddings.word_embeddings": 768}
    with pytest.raises(peft.Refused, match="head shares the rows"):
        peft.adapt(model, targets._replace(saved=("lm_head",)))
    assert peft.adapt(model, targets._replace(saved=("lm_head", "word_embeddings"))).rows  # which PEFT lets pass
