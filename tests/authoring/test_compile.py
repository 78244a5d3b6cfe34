from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from loralint.authoring.__main__ import ROOT, main, stale
from loralint.authoring.compile import compact, compiled, hot_rule, read_rules
from loralint.authoring.load import AuthoringError, load
from loralint.authoring.rule import RuleFile

RULES = sorted((ROOT / "rules").rglob("*.yaml"))
PARAMETERS = sorted((ROOT / "golden" / "parameters").rglob("*.yaml"))


def test_committed_data_is_fresh():
    assert sorted(stale(ROOT)) == [], "run python -m loralint.authoring"


@pytest.mark.parametrize(
    ("schema", "files"), [("rules/_schema.json", RULES), ("golden/_schema.json", PARAMETERS)], ids=["rules", "golden"]
)
def test_every_file_obeys_the_exported_schema(schema, files):
    exported = json.loads((ROOT / schema).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(exported)
    validator = jsonschema.Draft202012Validator(exported)
    faults = {file.name: [fault.message for fault in validator.iter_errors(load(file))] for file in files}
    assert faults == {file.name: [] for file in files}


@pytest.mark.parametrize("change", [{"tier": "C"}, {"typo": 1}, {"when": {"adapter.rnak": 1}}, {"id": "X"}])
def test_the_schema_refuses_what_the_model_refuses(rule, change):
    exported = json.loads((ROOT / "rules/_schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(exported)
    assert validator.is_valid(rule)
    assert not validator.is_valid(rule | change)


def test_a_compiled_rule(rule):
    assert hot_rule(RuleFile.model_validate(rule), "rate") == {
        "id": "LL901",
        "name": "rate-too-high",
        "topic": "rate",
        "preview": False,
        "tiers": [[None, "A"]],
        "frameworks": ["axolotl"],
        "versions": ["transformers>=4.46,<6"],
        "when": [
            "all",
            ["in", "adapter.method", ["lora"]],
            ["in", "train.task", ["sft"]],
            ["gt", "adapter.rank", 0],
            ["lt", "adapter.rank", 512],
        ],
        "each": None,
        "at": ["optim.lr"],
        "uses": "range",
        "with": {"field": "optim.lr", "max": 0.1, "suggest": 0.0002},
        "message": "the loss blows up: {key} {value} is far beyond {get:lora.E}",
        "help": "write {key:optim.lr}: {suggest}",
        "fix": {"set": {"optim.lr": "{suggest}"}, "remove": [], "rewrite": False, "safe": False},
    }


def test_a_rule_without_conditions_compiles_to_none(rule):
    bare = {key: value for key, value in rule.items() if key not in {"applies", "when", "at", "fix"}}
    hot = hot_rule(RuleFile.model_validate(bare), "rate")
    assert (hot["when"], hot["frameworks"], hot["versions"], hot["at"], hot["fix"]) == (None, None, [], [], None)


def _write(folder: Path, rule: dict[str, object], name: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / (name or f"{rule['id']}-{rule['name']}.yaml")).write_text(yaml.safe_dump(rule), "utf-8")


def test_a_file_is_called_after_its_rule(tmp_path, rule):
    _write(tmp_path / "rate", rule, "rate-too-high.yaml")
    with pytest.raises(AuthoringError, match=r"call the file LL901-rate-too-high\.yaml"):
        read_rules(tmp_path)


def test_a_rule_lies_under_a_known_topic(tmp_path, rule):
    _write(tmp_path / "misc", rule)
    with pytest.raises(AuthoringError, match="folder is its topic"):
        read_rules(tmp_path)


@pytest.mark.parametrize("other", [{"id": "LL902"}, {"name": "another-name"}])
def test_ids_and_names_are_unique(tmp_path, rule, other):
    _write(tmp_path / "rate", rule)
    _write(tmp_path / "scale", rule | other)
    with pytest.raises(AuthoringError, match="already used by"):
        read_rules(tmp_path)


def test_a_fault_names_file_place_and_reason(tmp_path, rule):
    _write(tmp_path / "rate", rule | {"tier": "C", "sources": []})
    with pytest.raises(AuthoringError) as caught:
        read_rules(tmp_path)
    text = str(caught.value)
    assert "LL901-rate-too-high.yaml" in text
    assert "\n  tier: " in text
    assert "\n  sources: " in text


def test_compiled_data_is_compact_and_sorted():
    assert compact({"b": [1, 2.5], "a": "ä"}) == '{"a":"ä","b":[1,2.5]}\n'
    with pytest.raises(ValueError, match="JSON"):
        compact(float("nan"))


def test_compiling_twice_gives_the_same_bytes():
    assert compiled(ROOT) == compiled(ROOT)


def test_check_writes_nothing_and_says_so(capsys):
    assert main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_no_compiled_text_is_a_number_in_disguise():
    texts = list(_texts(json.loads(compiled(ROOT)["loralint/_data/golden.json"])))
    assert [text for text in texts if _is_number(text)] == []


def _texts(node):
    if isinstance(node, str):
        yield node
    elif isinstance(node, (dict, list)):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _texts(inner)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_the_command_runs():
    done = subprocess.run([sys.executable, "-m", "loralint.authoring", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0
