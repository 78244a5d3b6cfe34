"""Entries that mean nothing in the model, at their places in real files."""

from __future__ import annotations

import json

import pytest

from loralint.checks.reach import layers_in_model, unmatched
from loralint.checks.targets import targets_in_model, unadaptable
from loralint.model import Unknown


@pytest.fixture
def hits(run_of):
    """hits(check, args, **settings of PEFT) -> what is told, as (item, data)."""

    def told(check, args, base="meta-llama/Llama-3.1-8B", **settings):
        config = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": base, **settings}
        answer = check(run_of(json.dumps(config)), args, ())
        if isinstance(answer, Unknown):
            return answer.reason
        return [hit.data["item"] for hit in answer]

    return told


def test_names_that_are_no_end_of_a_path(hits):
    args = {"field": "adapter.exclude", "among": "layers"}
    assert hits(unmatched, args, exclude_modules=["lm_head", "donw_proj", "vision"]) == ["donw_proj", "vision"]
    assert hits(unmatched, {**args, "slips": True}, exclude_modules=["donw_proj", "vision"]) == ["donw_proj"]


def test_an_unknown_model_is_not_judged(hits):
    args = {"field": "adapter.exclude", "among": "layers"}
    assert "not in the catalogue" in hits(unmatched, args, base="me/mine", exclude_modules=["x"])
    assert hits(unmatched, args, base="me/mine") == []


def test_an_expression_that_cannot_be_tried_is_not_judged(hits):
    pytest.importorskip("re2")
    args = {"field": "adapter.targets", "among": "layers"}
    assert "RE2" in hits(unmatched, args, target_modules=r"(?!.*vision).*q_proj")
    assert hits(unmatched, args, target_modules=r".*\.h\..*") == [r".*\.h\..*"]
    assert hits(unmatched, args, target_modules=r".*\.31\..*q_proj") == []
    assert hits(unmatched, args, target_modules="ALL-linear") == []


def test_keys_of_a_map_are_looked_for_among_the_targeted_layers(hits):
    pytest.importorskip("re2")
    args = {"field": "adapter.rank_pattern", "among": "targeted"}
    pattern = {"q_proj": 4, "v_proj": 4, "^model.layers.0.*": 2}
    assert hits(unmatched, args, target_modules=["q_proj"], rank_pattern=pattern) == ["v_proj"]
    assert hits(unmatched, args, target_modules=r".*\.v_proj", rank_pattern=pattern) == ["q_proj"]
    assert hits(unmatched, args, target_modules="all-linear", rank_pattern=pattern) == []
    assert hits(unmatched, args, target_modules=r".*\.v_prj", rank_pattern=pattern) == []  # told of the targets


def test_weights_and_saved_modules(hits):
    parameters = ["mlp.experts.down_proj", "7.mlp.experts.gate_up_proj", "q_proj.weight", "experts.w1"]
    args = {"field": "adapter.target_parameters", "among": "weights"}
    assert hits(unmatched, args, base="openai/gpt-oss-20b", target_parameters=parameters) == ["experts.w1"]
    saved = {"field": "adapter.modules_to_save", "among": "modules", "like": ["lm_head", "embed_tokens"]}
    assert hits(unmatched, saved, base="gpt2", modules_to_save=["embed_tokens", "wte", "mine"]) == ["embed_tokens"]


def test_lists_of_layers(hits):
    pytest.importorskip("re2")
    args = {"field": "adapter.layers_pattern", "among": "lists"}
    assert hits(unmatched, args, layers_to_transform=[1], layers_pattern=["h", "layers"]) == ["h"]
    assert hits(unmatched, args, layers_to_transform=[1], layers_pattern="layers") == []
    assert hits(unmatched, args, layers_to_transform=[1], layers_pattern="h") == ["h"]


def test_numbers_of_layers(hits):
    assert hits(layers_in_model, {}, layers_to_transform=[-1, 0, 31, 32]) == [-1, 32]
    assert hits(layers_in_model, {}, layers_to_transform=40) == [40]
    assert hits(layers_in_model, {}) == []


def test_modules_that_take_no_adapter(hits):
    assert hits(unadaptable, {}, target_modules=["q_proj", "mlp", "norm", "q_porj", "lm_head"]) == ["mlp", "norm"]
    assert hits(unadaptable, {}, target_modules="all-linear") == []


def test_more_entries_than_can_be_tried_are_not_judged(hits):
    args = {"field": "adapter.rank_pattern", "among": "targeted"}
    settings = {"base": "mistralai/Mixtral-8x7B-v0.1", "target_modules": "all-linear"}
    plain = {f"layers.{n}.self_attn.q_proj": 4 for n in range(2000)}
    assert hits(unmatched, args, rank_pattern=plain, **settings) == []
    assert "more than 100" in hits(unmatched, args, rank_pattern={f"x{n}": 4 for n in range(101)}, **settings)


def test_an_expression_with_very_many_numbers_is_not_judged(hits):
    pytest.importorskip("re2")
    expression = rf".*\.({'|'.join(map(str, range(3000)))})\.nothing"
    args = {"field": "adapter.targets", "among": "layers"}
    assert "more numbers" in hits(unmatched, args, target_modules=expression)


@pytest.mark.parametrize(
    ("base", "named", "instead"),
    [
        ("openai-community/gpt2", ["q_proj", "v_proj"], "c_attn"),
        ("openai-community/gpt2", ["o_proj", "up_proj"], "c_proj, c_fc"),
        ("microsoft/Phi-3-mini-4k-instruct", ["q_proj", "up_proj"], "qkv_proj, gate_up_proj"),
        ("microsoft/phi-2", ["q_proj", "o_proj", "gate_proj"], "dense, fc1"),
        ("meta-llama/Llama-3.1-8B", ["qkv_proj"], "q_proj, k_proj, v_proj"),
        ("meta-llama/Llama-3.1-8B", ["query", "v_porj"], "q_proj, v_proj"),
        ("google/flan-t5-base", ["q_proj", "v_proj"], "q, v"),
        ("meta-llama/Llama-3.1-8B", ["mixer"], "q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj"),
    ],
)
def test_what_does_the_same_work_is_named_instead(run_of, base, named, instead):
    config = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": base, "target_modules": named}
    [hit] = targets_in_model(run_of(json.dumps(config)), {}, ())
    assert hit.suggest == instead


@pytest.mark.parametrize(("named", "stops"), [(["query_key_value"], True), (["query_key_value", "o_proj"], False)])
def test_without_any_layer_training_stops(run_of, named, stops):
    config = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": "Qwen/Qwen2.5-7B", "target_modules": named}
    [hit] = targets_in_model(run_of(json.dumps(config)), {}, ())
    assert (hit.data["outcome"] == "training stops when the adapter is built") == stops


@pytest.mark.parametrize(
    ("base", "named", "wanted"),
    [
        ("nvidia/Nemotron-H-8B-Base-8K", ["q_proj", "gate_proj", "up_proj"], [(["gate_proj"], True)]),
        ("nvidia/Nemotron-H-8B-Base-8K", ["q_proj", "gate_proj"], [(["gate_proj"], False)]),  # up_proj has none
        ("openai-community/gpt2", ["c_attn", "q_attn"], [(["q_attn"], True)]),
        ("openai-community/gpt2", ["c_attn", "c_atn", "q_attn"], [(["c_atn"], False), (["q_attn"], True)]),
        ("openai-community/gpt2", ["q_attn"], [(["q_attn"], False)]),
        ("microsoft/Phi-3-mini-4k-instruct", ["o_proj", "q_proj", "v_proj"], [(["q_proj", "v_proj"], False)]),
        ("microsoft/Phi-3-mini-4k-instruct", ["qkv_proj", "q_proj", "v_proj"], [(["q_proj", "v_proj"], True)]),
    ],
)
def test_a_name_is_missed_unless_all_that_does_its_work_is_named_too(run_of, base, named, wanted):
    config = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": base, "target_modules": named}
    answer = targets_in_model(run_of(json.dumps(config)), {}, ())
    assert [(hit.data["names"], hit.data["spare"]) for hit in answer] == wanted
