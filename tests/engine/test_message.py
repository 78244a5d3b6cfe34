from __future__ import annotations

import json

import pytest

import loralint
from loralint.checks.hit import Hit
from loralint.engine.message import fill
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

TEXT = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 3.2e1\nlearning_rate: 2.0e-4\noptimizer: {}\n"


def _fill(message, field, optimizer="adamw_torch", **hit):
    assembled = assemble(read_bytes(TEXT.format(optimizer).encode(), "c.yaml"), Options())
    assert assembled is not None
    config = assembled.config
    return fill(message, Hit(config.get(field), **hit), config, Scope(config, FACTS))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("{key} is {value}", "lora_alpha is 3.2e1"),
        ("write {suggest}", "write 16"),
        ("{framework}", "axolotl"),
        ("{key:optim.lr}", "learning_rate"),
        ("{key:schedule.warmup_steps}", "warmup_steps"),
        ("lower {key:optim.lr}{or:adapter.alpha}", "lower learning_rate or lora_alpha"),
        ("lower {key:optim.lr}{or:train.min_snr_gamma}", "lower learning_rate"),
        ("{get:adapter.rank}", "16"),
        ("{get:optim.lr}", "0.0002"),
        ("{get:lora.ratio}", "2"),
        ("{get:run.gpu}", "null"),
        ("{bound} and {names}", "0.1 and q_proj, v_proj"),
        ("{nobody} {get} {}", "{nobody} {get} {}"),
    ],
)
def test_placeholders(message, text):
    data = {"bound": 0.1, "names": ["q_proj", "v_proj"]}
    assert _fill(message, "adapter.alpha", data=data, suggest=16) == text


def test_the_key_of_an_absent_value_is_the_one_to_write():
    assert _fill("{key}", "schedule.warmup_steps") == "warmup_steps"


def test_what_is_filled_in_is_not_filled_again():
    assert _fill("{value} {what}", "optim.name", '"{key} {get:adapter.rank}"', data={"what": "{key}"}) == (
        '"{key} {get:adapter.rank}" {key}'
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r'"\e[31mred\u202e"', r'"\e[31mred\u202e"'),
        ('"left \u202e right"', r'"left \u202e right"'),
        ("'zero\u200bwidth'", r"'zero\u200bwidth'"),
    ],
)
def test_control_characters_are_shown_as_escapes(written, shown):
    text = _fill("{value} | {get:optim.name}", "optim.name", written)
    assert text.startswith(shown)
    assert text.isprintable()


def test_secrets_are_masked():
    secret = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    text = _fill("{value} {get:optim.name} {what}", "optim.name", secret, data={"what": f"x {secret}"})
    assert secret not in text
    assert text.count("***") == 3


def test_a_long_text_is_cut():
    assert len(_fill("{value}", "optim.name", "x" * 5000)) == 200


def test_the_advice_of_a_reader_itself_stands_in_every_part_of_a_run(tmp_path):
    text = "from peft import LoraConfig, get_peft_model\n"
    text += "model = get_peft_model(model, LoraConfig(target_modules=['a' 'b', 'c']))\nmodel.train()\n"
    (tmp_path / "train.py").write_text(text)
    (run,) = loralint.check(str(tmp_path / "train.py")).runs
    assert [one.help for one in run.findings if one.rule == "LL107"] == [
        "write a comma behind every string of the list"
    ]


def test_a_setting_is_shown_as_the_file_would_have_it(tmp_path):
    """TOML has `key = value` with words in quotes; a key of YAML that holds brackets is no text in quotes."""
    from loralint.source.literal import pair_shown

    assert pair_shown("optimizer.lr", "0.0002", "toml") == "optimizer.lr = 0.0002"
    assert pair_shown("model.dtype", "bfloat16", "toml") == 'model.dtype = "bfloat16"'
    assert pair_shown("cache", "false", "toml") == "cache = false"
    assert pair_shown("resolution", '"512,512"', "toml") == 'resolution = "512,512"'
    assert pair_shown("config.process[0].train.dtype", "bf16", "yaml") == "config.process[0].train.dtype: bf16"
    text = 'pretrained_model_name_or_path = "models/sd_xl_base_1.0.safetensors"\ntrain_data_dir = "data/img"\n'
    (tmp_path / "c.toml").write_text(text + 'network_module = "networks.lora"\nnetwork_dim = 0\nlearning_rate = 1e-4\n')
    (finding,) = [one for one in loralint.check(tmp_path / "c.toml").runs[0].findings if one.rule == "LL304"]
    assert finding.help.startswith("write network_dim = 16")


def test_a_text_of_a_notebook_is_shown_without_the_escapes_of_its_file(tmp_path):
    source = 'from peft import LoraConfig\nlora = LoraConfig(r=8, target_modules=["q_proj"], bias="lora_only")\n'
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    (run,) = loralint.check(tmp_path / "a.ipynb").runs
    (said,) = [one.message for one in run.findings if one.rule == "LL346"]
    assert "LoraConfig.bias lora_only" in said
