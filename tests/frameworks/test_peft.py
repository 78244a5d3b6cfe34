"""PEFT's adapter_config.json: fields, defaults by method, the release that wrote it, and keys that go nowhere."""

from __future__ import annotations

import csv
import json

import pytest

from loralint.frameworks.read import read_layer
from loralint.frameworks.readers.peft import READER
from loralint.frameworks.table import Look
from loralint.model import Unknown
from loralint.source.read import read_file

NAME = "adapter_config.json"


@pytest.fixture
def config(reading):
    def read(**fields):
        return reading(READER, json.dumps({"peft_type": "LORA", **fields}, indent=2), NAME)

    return read


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("adapter.method", "lora"),
        ("adapter.rank", 8),
        ("adapter.alpha", 8),
        ("adapter.dropout", 0.0),
        ("adapter.bias", "none"),
        ("adapter.rslora", False),
        ("adapter.dora", False),
        ("adapter.init", "true"),
        ("adapter.rank_pattern", {}),
        ("adapter.fan_in_fan_out", False),
        ("adapter.inference", False),
    ],
)
def test_defaults_of_lora(config, field, value) -> None:
    assert config().get(field).value == value


@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ({"r": 32}, "adapter.rank", 32),
        ({"r": "32"}, "adapter.rank", 32),
        ({"lora_alpha": 16.5}, "adapter.alpha", 16.5),
        ({"target_modules": ["q_proj"]}, "adapter.targets", ["q_proj"]),
        ({"target_modules": "all-linear"}, "adapter.targets", "all-linear"),
        ({"target_modules": "q_proj,v_proj"}, "adapter.targets", "q_proj,v_proj"),
        ({"modules_to_save": "lm_head"}, "adapter.modules_to_save", "lm_head"),
        ({"init_lora_weights": False}, "adapter.init", "false"),
        ({"init_lora_weights": "PiSSA"}, "adapter.init", "pissa"),
        ({"init_lora_weights": "loftq"}, "adapter.loftq_bits", 4),
        ({"init_lora_weights": "loftq", "loftq_config": {"loftq_bits": 2}}, "adapter.loftq_bits", 2),
        ({"layers_to_transform": 3}, "adapter.layers", [3]),
        ({"rank_pattern": {"q_proj": 4}}, "adapter.rank_pattern", {"q_proj": 4}),
        ({"alpha_pattern": {"q_proj": 4}}, "adapter.alpha_pattern", {"q_proj": 4}),
        ({"inference_mode": True}, "adapter.inference", True),
        ({"base_model_name_or_path": "some/model"}, "model.base", "some/model"),
        ({"trainable_token_indices": [1, 2]}, "adapter.trainable_tokens", [1, 2]),
    ],
)
def test_what_a_key_means(config, fields, field, value) -> None:
    assert config(**fields).get(field).value == value


def test_another_method_has_none_of_loras_defaults(config) -> None:
    found = config(peft_type="LN_TUNING")
    assert found.get("adapter.method").value == "ln_tuning"
    assert found.get("adapter.rank").origin == "absent"
    assert found.get("adapter.dropout").origin == "absent"


def test_without_a_type_the_method_is_unknown(reading) -> None:
    assert isinstance(reading(READER, "{}", NAME).get("adapter.method").value, Unknown)


def test_it_has_no_training_fields(config) -> None:
    fields = set(config().fields())
    assert not {field for field in fields if field.split(".")[0] not in ("adapter", "model")}


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("adapter.rank", 16, ("r", 16)),
        ("adapter.method", "lora", ("peft_type", "LORA")),
        ("adapter.method", "full", None),
        ("adapter.init", "false", ("init_lora_weights", False)),
        ("adapter.init", "gaussian", ("init_lora_weights", "gaussian")),
        ("adapter.targets", ["q_proj"], ("target_modules", ["q_proj"])),
        ("optim.lr", 1e-4, None),
    ],
)
def test_the_way_back(config, field, value, written) -> None:
    assert config().write(field, value) == written


@pytest.mark.parametrize(
    ("text", "version"), [("0.13.2", "0.13.2"), ("0.17.2.dev0@abc", "0.17.2"), ("UNKNOWN", "0.21.2")]
)
def test_the_file_says_which_release_wrote_it(config, text, version) -> None:
    assert config(peft_version=text).versions.of("peft") == version


def test_keys_that_go_nowhere(config, observed) -> None:
    found = observed(config(lora_aplha=16, enable_lora=None, merge_weights=True, oft_block_size=4, runtime_config={}))
    assert {key: (one.kind, one.effect, one.replacement, one.rewrite) for key, one in found.items()} == {
        "lora_aplha": ("unknown", "lost", "lora_alpha", "key"),
        "enable_lora": ("unknown", "harmless", "", "remove"),
        "merge_weights": ("unknown", "lost", "", "remove"),
        "oft_block_size": ("ignored", "lost", "", "remove"),
        "runtime_config": ("unknown", "harmless", "", "remove"),
    }
    assert found["lora_aplha"].value.key_span.line == 3


def test_what_is_not_known_here_is_not_judged(config, observed) -> None:
    assert not observed(config(peft_type="FUTURE", anything=1))
    assert not observed(config(peft_version="0.30.0", anything=1))


def test_a_duplicate_key_is_told(reading, observed) -> None:
    found = observed(reading(READER, '{"peft_type": "LORA", "r": 8, "r": 16}', NAME))
    assert (found["r"].kind, found["r"].effect) == ("duplicate", "lost")


def test_agreement_with_pefts_own_loader(shared, reading) -> None:
    settings = reading(READER, "{}", NAME)
    with (shared / "oracles" / "verdicts" / "peft.tsv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["result"] != "not-peft"]
    assert len(rows) >= 60
    for row in rows:
        document = read_file(str(shared / "corpus" / "llm" / row["file"]), NAME)
        layer = read_layer(document, READER, Look(settings.get, settings.versions.satisfy))
        ignored = [word.strip("[]' ") for word in row["detail"].split(",")] if row["result"] == "ignored-keys" else []
        assert sorted(one.value.key for one in layer.observations) == sorted(ignored), row["file"]
        assert all(one.effect == "harmless" for one in layer.observations)


def test_the_type_counts_in_capitals_only(reading, observed) -> None:
    found = observed(reading(READER, '{"peft_type": "lora", "r": 8}', NAME))["peft_type"]
    assert (found.kind, found.effect, found.replacement) == ("rejected", "crash", '"LORA"')
    assert not observed(reading(READER, '{"peft_type": "Something New"}', NAME))


def test_a_key_that_came_after_the_release_stops_it_until_peft_0_14(reading, observed):
    text = '{"peft_type": "LORA", "r": 8, "exclude_modules": null, "use_rslora": true}'
    found = observed(reading(READER, text, pins={"peft": "0.13.2"}))
    assert {key: one.effect for key, one in found.items()} == {"exclude_modules": "crash"}
    assert observed(reading(READER, text, pins={"peft": "0.14.0"})) == {}
    assert set(observed(reading(READER, text, pins={"peft": "0.7.1"}))) == {"exclude_modules", "use_rslora"}
