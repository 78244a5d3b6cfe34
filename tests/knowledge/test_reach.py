"""Names of a model type whatever the class, the sizes and the generation of Transformers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.knowledge import catalogue, reach
from loralint.knowledge.usual import usual_targets


def test_layers_modules_and_bare_weights_are_told_apart():
    found = reach.names("gpt_oss")
    assert found is not None
    assert "model.layers.*.self_attn.q_proj" in found.layers
    assert found.others["model.layers.*.mlp.experts"] == "GptOssExperts"
    assert "model.layers.*.mlp.experts.down_proj" in found.weights
    assert not set(found.layers) & found.others.keys()


def test_single_experts_have_whole_paths():
    """PEFT tries an expression on the paths that Transformers 4 had."""
    found = reach.names("qwen3_moe")
    assert found is not None
    assert "model.layers.*.mlp.experts.*.gate_proj" in found.layers


def test_a_model_with_an_open_part_has_no_certain_names():
    assert reach.names("llava") is None


@pytest.mark.parametrize(
    ("path", "name", "means"),
    [
        ("model.layers.*.mlp.up_proj", "up_proj", True),
        ("model.layers.*.mlp.up_proj", "3.mlp.up_proj", True),
        ("model.layers.*.mlp.up_proj", "x.mlp.up_proj", False),
        ("model.layers.*.mlp.up_proj", "p_proj", False),
        ("lm_head", "model.lm_head", False),
    ],
)
def test_ends(path, name, means):
    assert reach.ends(path, name) is means


def test_an_expression_is_tried_with_the_numbers_that_it_names():
    pytest.importorskip("re2")
    assert reach.trial(r"model\.layers\.977\..*")("model.layers.*.mlp.up_proj")
    assert not reach.trial(r"layers\.\d+\..*")("model.layers.*.mlp.up_proj")


def test_everywhere_wants_every_number():
    pytest.importorskip("re2")
    some = reach.trial(r".*\.(3|4)\..*", everywhere=True)
    assert not some("model.layers.*.mlp.up_proj")
    assert reach.trial(r".*up_proj", everywhere=True)("model.layers.*.mlp.up_proj")


@given(st.sampled_from(["llama", "mixtral", "t5", "gpt2", "qwen2_5_vl"]), st.data())
def test_every_end_of_a_real_path_is_meant(model_type, data):
    """Names of a built model are among the names of its type."""
    found = reach.names(model_type)
    assert found is not None
    path = data.draw(st.sampled_from(found.layers))
    words = path.replace("*", "2").split(".")
    end = ".".join(words[-data.draw(st.integers(1, len(words))) :])
    assert reach.ends(path, end)


def test_packed_names_follow_the_family():
    assert reach.packed("mixtral")["w1"] == "gate_up_proj"
    assert reach.packed("llama") == {}


@pytest.mark.torch
def test_usual_targets_are_those_of_peft():
    constants = pytest.importorskip("peft.utils.constants")
    table = constants.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
    for model_type, targets in table.items():
        ours = usual_targets(model_type)
        assert (list(ours) if isinstance(ours, tuple) else ours) == targets
    absent = [name for name in ("phi3", "qwen3_moe", "olmo", "granite") if name not in table]
    assert [usual_targets(name) for name in absent] == [None] * len(absent)


def test_what_a_type_is_for():
    assert "seq2seq" in catalogue.tasks("t5")
    assert "causal-lm" in catalogue.tasks("llama")
