"""`network_args` of kohya's trainers: what the words say, texts instead of lists, words for another network."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.kohya_gui import READER as GUI
from loralint.frameworks.readers.sd_scripts import READER
from loralint.frameworks.readers.sd_scripts_flags import reader_of

BASE = 'pretrained_model_name_or_path = "m"\nnetwork_module = "{}"\nnetwork_dim = 16\n'
WORDS = 'network_args = ["conv_dim=4", "conv_alpha=1", "loraplus_lr_ratio=16", "dora_wd=True"]\n'


def test_words_say_fields(reading):
    config = reading(READER, BASE.format("lycoris.kohya") + WORDS, "c.toml")
    expected = {
        "adapter.conv_rank": 4,
        "adapter.conv_alpha": 1,
        "adapter.loraplus_ratio": 16,
        "adapter.dora": True,
        "adapter.rslora": None,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("adapter.conv_rank").key == "network_args[0]"
    assert config.get("adapter.conv_rank").span.line == 4


def test_one_word_behind_a_flag(started):
    flags = {"network_module": "networks.lora", "network_args": "conv_dim=8"}
    assert started(reader_of("train_network"), flags).get("adapter.conv_rank").value == 8


@pytest.mark.parametrize("key", ["network_args", "optimizer_args"])
def test_a_text_is_taken_letter_by_letter(reading, observed, key):
    found = observed(reading(READER, BASE.format("networks.lora") + f'{key} = "a=1 b=2"\n', "c.toml"))
    assert {name: (one.kind, one.effect, one.replacement) for name, one in found.items()} == {
        key: ("rejected", "crash", '["a=1", "b=2"]')
    }


def test_words_for_another_network(reading, observed):
    text = 'network_args = ["algo=lokr", "conv_dim=4"]\n'
    found = observed(reading(READER, BASE.format("networks.lora") + text, "c.toml"))
    assert {name: (one.kind, one.effect) for name, one in found.items()} == {"network_args[0]": ("ignored", "lost")}
    assert observed(reading(READER, BASE.format("lycoris.kohya") + text, "c.toml")) == {}


@pytest.mark.parametrize(
    "word", ["weight_decay=0.01 betas=0.9,0.99", "decouple=true", "decouple", "mode=fast", "eps=1e-8,"]
)
def test_arguments_that_are_no_python(started, observed, word):
    flags = {"network_module": "networks.lora", "optimizer_args": ["eps=1e-8", word]}
    found = observed(started(reader_of("train_network"), flags))
    assert {name: (one.kind, one.effect) for name, one in found.items()} == {"optimizer_args[1]": ("rejected", "crash")}


def test_arguments_that_are_python(started, observed):
    words = ["decouple=True", "betas=0.9,0.99", "d_coef=2", "mode='fast'", "eps=(1e-30,1e-3)", "growth_rate=${G}"]
    flags = {"network_module": "networks.lora", "optimizer_args": words}
    assert observed(started(reader_of("train_network"), flags)) == {}


@pytest.mark.parametrize(
    ("words", "wrong"),
    [(["conv_dim 8", "algo=lora"], ["network_args[0]"]), (["preset=full", "conv_dim=4=2", "${MORE}"], []), ([""], [])],
)
def test_arguments_of_the_network_have_an_equals_sign(started, observed, words, wrong):
    flags = {"network_module": "lycoris.kohya", "network_args": words}
    assert list(observed(started(reader_of("train_network"), flags))) == wrong


@pytest.mark.parametrize(
    ("text", "faulty"),
    [("scale_parameter=Flase relative_step=False", True), ("scale_parameter=False relative_step=False", False),
     ("eps=(1e-30,1e-3) weight_decay=0.1", False), ("betas=(0.9,0.99)", True), ("", False)],
)  # fmt: skip
def test_arguments_of_the_window_in_one_text(reading, observed, text, faulty):
    preset = f'{{"LoRA_type": "Standard", "network_dim": 8, "optimizer": "Adafactor", "optimizer_args": "{text}"}}'
    found = observed(reading(GUI, preset, "preset.json"))
    assert [(key, one.effect) for key, one in found.items()] == ([("optimizer_args", "crash")] if faulty else [])


def test_commas_between_the_words_of_a_preset(reading, observed):
    text = '{{"LoRA_type": "Standard", "optimizer": "Prodigy", "optimizer_args": "{}"}}'
    (one,) = observed(reading(GUI, text.format("weight_decay=0.5, betas=0.9,0.99, decouple=True"), "p.json")).values()
    assert (one.effect, one.replacement) == ("crash", "weight_decay=0.5 betas=0.9,0.99 decouple=True")
    assert observed(reading(GUI, text.format("weight_decay=0.5 betas=0.9,0.99"), "p.json")) == {}
