"""Unsloth: its own functions, and the configs that it puts in the place of TRL's."""

from __future__ import annotations

import pytest

from loralint.model import Unknown

SCRIPT = """
    from unsloth import FastLanguageModel
    from trl import SFTConfig, SFTTrainer
    model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Qwen3-4B", {load})
    model = FastLanguageModel.get_peft_model(model, {wrap})
    SFTTrainer(model=model, tokenizer=tokenizer, train_dataset=rows, args=SFTConfig({args})).train()
"""


def script(load="max_seq_length=4096", wrap="r=32", args='output_dir="out", max_seq_length=2048'):
    return SCRIPT.format(load=load, wrap=wrap, args=args)


def test_its_defaults_are_those_of_its_own_functions(run):
    config, layer = run(script(wrap=""))
    fields = ("adapter.rank", "adapter.alpha", "quant.bits", "quant.type", "memory.gradient_checkpointing")
    assert [config.get(field).value for field in fields] == [16, 16, 4, "nf4", True]
    assert config.get("optim.lr").value == 5e-5
    assert config.get("optim.name").value == "adamw_8bit"
    assert config.get("adapter.rank").key == "get_peft_model.r"
    assert layer.observations == ()  # its trainers take what TRL's no longer do


@pytest.mark.parametrize(
    ("load", "bits", "method"),
    [
        ("load_in_4bit=False", 16, "lora"),
        ("load_in_8bit=True", 8, "lora"),
        ("full_finetuning=True", 16, "full"),
    ],
)
def test_how_it_loads(run, load, bits, method):
    config, _ = run(script(load=load))
    assert (config.get("quant.bits").value, config.get("adapter.method").value) == (bits, method)


def test_the_length_of_the_model_is_the_one_of_the_rows(run):
    assert run(script())[0].get("data.sequence_len").value == 2048
    assert run(script(args='output_dir="out"'))[0].get("data.sequence_len").value == 4096


def test_its_configs_may_have_keywords_of_their_own_but_a_slip_is_told(run):
    _, layer = run(script(args='output_dir="out", vllm_sampling_params=None, learning_rat=1e-4'))
    assert [(one.kind, one.value.key, one.replacement) for one in layer.observations] == [
        ("unknown", "SFTConfig.learning_rat", "SFTConfig.learning_rate")
    ]


def test_an_unknown_switch_leaves_the_bits_unknown(run):
    config, _ = run(script(load="load_in_4bit=choose()"))
    assert isinstance(config.get("quant.bits").value, Unknown)


@pytest.mark.parametrize(
    ("wrap", "told"),
    [("LoraConfig(r=32)", ["get_peft_model.r"]), ("r=LoraConfig(r=32)", ["get_peft_model.r"]), ("32", []),
     ("r=LoraConfig(r=32).r", [])],
)  # fmt: skip
def test_a_config_where_the_rank_belongs(run, wrap, told):
    _, layer = run("\n    from peft import LoraConfig" + script(wrap=wrap))
    assert [one.value.key for one in layer.observations if one.kind == "rejected"] == told


@pytest.mark.parametrize(
    ("load", "rank"),
    [("fast_inference=True", 64), ("fast_inference=True, max_lora_rank=16", 16), ("load_in_4bit=True", None)],
)
def test_the_rank_that_vllm_is_started_for(run, load, rank):
    config, _ = run(script(load=load))
    assert config.get("rl.vllm_rank").value == rank


@pytest.mark.parametrize(
    ("load", "kinds"),
    [
        ("load_in_8bit=True", [("rejected", "crash")]),
        ("load_in_8bit=True, load_in_4bit=False", []),
        ("load_in_16bit=True, load_in_4bit=False", []),
    ],
)
def test_8_bits_asked_for_while_4_stay_on(run, load, kinds):
    _, layer = run(script(load=load))
    assert [(one.kind, one.effect) for one in layer.observations if "load_in" in one.value.key] == kinds
