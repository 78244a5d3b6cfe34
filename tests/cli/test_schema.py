"""JSON Schemas for editors: what a loader takes is never refused, what it refuses is."""

from __future__ import annotations

import csv
import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from loralint.authoring.framework_schema import framework_schema
from loralint.authoring.load import load
from loralint.frameworks.detect import NAMES
from loralint.source.read import read_file
from loralint.source.scalars import plain

SHARED = Path(__file__).parents[3] / "shared"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "kubernetes"])
def test_every_framework_has_a_sound_schema(name):
    made = framework_schema(name)
    Draft202012Validator.check_schema(made)
    assert "config" in made["title"]


def _faults(name, text):
    return [one.message for one in Draft202012Validator(framework_schema(name)).iter_errors(yaml.safe_load(text))]


def test_a_key_is_refused_where_the_loader_refuses_it():
    said = _faults("llamafactory", "stage: sft\nlora_rnk: 8\n")
    assert len(said) == 1
    assert "lora_rnk" in said[0]
    assert _faults("llamafactory", "stage: sft\nlora_rank: 8\n_note: {a: 1}\n") == []
    assert _faults("axolotl", "base_model: x\nlora_rnk: 8\n") == []  # which drops it without a word


def test_a_key_says_what_it_is_and_what_is_usual():
    about = framework_schema("axolotl")["properties"]["lora_r"]["description"]
    assert about.startswith("LoRA rank r")
    assert "supervised fine-tuning: 8 to 256" in about
    assert framework_schema("trl")["properties"]["adafactor"]["deprecated"] is True


def test_no_config_that_its_framework_takes_is_refused():
    verdicts = SHARED / "oracles" / "verdicts"
    if not verdicts.is_dir():
        pytest.skip("the corpus is not here")
    refused, seen = [], Counter()
    for table in sorted(verdicts.glob("*.tsv")):
        name = table.stem
        check = Draft202012Validator(framework_schema(name))
        with table.open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row["result"] == "ok" and not row["aside"]]
        for row in rows:
            found = list((SHARED / "corpus").glob(f"*/{row['file']}"))
            if not found or found[0].suffix not in (".yaml", ".yml", ".json"):
                continue
            root = read_file(str(found[0]), row["file"]).root
            if root is None:
                continue
            seen[name] += 1
            refused += [(row["file"], one.message[:200]) for one in check.iter_errors(_texts(plain(root, "pyyaml")))]
    assert sum(seen.values()) > 300, seen
    assert refused == []


def _texts(data):
    """With keys as texts, as JSON has them."""
    if isinstance(data, dict):
        return {str(key): _texts(value) for key, value in data.items()}
    return [_texts(one) for one in data] if isinstance(data, list) else data


@pytest.fixture
def schema(invoke):
    def run(what):
        result = invoke("schema", what)
        assert result.exit_code == 0, result.output
        made = json.loads(result.output)
        Draft202012Validator.check_schema(made)
        return Draft202012Validator(made)

    return run


def test_of_settings(schema):
    text = 'fail-on = "A"\nrules = ["a/*.yaml"]\n[gate]\nrequire-signed = true\n[per-file-ignores]\n"a/**" = ["LL1"]\n'
    assert schema("settings").is_valid(tomllib.loads(text))
    for wrong in ('fail-on = "C"', "rules = 'a'", "selct = []", "[gate]\nallow = true"):
        assert not schema("settings").is_valid(tomllib.loads(wrong)), wrong


def test_every_key_of_the_settings_is_described(schema):
    from loralint.engine.settings_file import KEYS

    made = schema("settings").schema
    assert all(made["properties"][key]["description"] for key in KEYS)


def test_of_rules_and_golden_entries(schema, tmp_path, invoke):
    assert invoke("rules", "new", "X001", "too-large", "--dir", str(tmp_path)).exit_code == 0
    data = load(tmp_path / "X001-too-large.yaml")
    assert schema("rule").is_valid(data)
    assert not schema("rule").is_valid({**data, "teir": "A"})
    assert not schema("rule").is_valid({**data, "id": "LL001"})
    entry = {"id": "X101", "name": "a-b", "key": "a.b", "files": ["*.yaml"], "range": [1, 2], "why": "it is so"}
    for good in (entry, [entry]):
        assert schema("golden").is_valid(good)
    assert not schema("golden").is_valid([{**entry, "ranges": [1, 2]}])


def test_of_the_report(schema, invoke):
    report = json.loads(invoke("check", "block.yaml", "--format", "json").stdout)
    assert schema("report").is_valid(report)


def test_an_unknown_name(invoke):
    result = invoke("schema", "axolot")
    assert result.exit_code == 2
    assert "axolotl" in result.output
