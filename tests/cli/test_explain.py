from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from loralint.cli import main
from loralint.knowledge.rules import all_rules


def run(*arguments: str, stdin: str = "", **environment: str):
    return CliRunner(env={"NO_COLOR": "", "FORCE_COLOR": "", **environment}).invoke(
        main, ["explain", *arguments], stdin
    )


@pytest.mark.parametrize("name", ["LL214", "ll214", "bf16-unsupported-gpu"])
def test_a_rule_by_code_or_name(name):
    result = run(name)
    assert result.exit_code == 0
    assert result.output.startswith("LL214 bf16-unsupported-gpu\n\ntier A; topic precision; ")
    assert "\nTraining crawls under emulation, or stops at start with PyTorch 2.2 and older:\n" in result.output


@pytest.mark.parametrize("rule", all_rules(), ids=[rule.id for rule in all_rules()])
def test_every_rule_has_a_page_that_fits_100_columns(rule):
    result = run(rule.id)
    assert result.exit_code == 0, result.output
    head = result.output[: result.output.index("\nExamples\n")]
    assert max(len(line) for line in head.splitlines() if " " in line[2:]) <= 100
    assert not re.search(r"\{(key|get):", result.output)


def test_no_colour_in_a_pipe_but_where_it_is_forced():
    assert "\x1b" not in run("LL214").output
    assert "\x1b[1mLL214 bf16-unsupported-gpu\x1b[0m" in run("LL214", FORCE_COLOR="1").output
    assert "\x1b" not in run("LL214", FORCE_COLOR="1", NO_COLOR="1").output


def test_the_page_as_markdown_and_json():
    assert run("LL214", "--format", "markdown").output.startswith("# LL214 bf16-unsupported-gpu\n\ntier A; ")
    body = json.loads(run("LL214", "--format", "json").output)
    assert (body["id"], body["name"], body["tiers"]) == ("LL214", "bf16-unsupported-gpu", [[None, "A"]])
    assert body["sources"]


def test_an_unknown_rule_gets_near_names():
    result = run("bf16-unsuported-gpu")
    assert result.exit_code == 2
    assert "no rule is called `bf16-unsuported-gpu`; perhaps bf16-unsupported-gpu" in result.output
    assert "`loralint rules` lists them" in run("zzzzzz").output


@pytest.mark.parametrize("arguments", [(), ("LL214", "--symptom", "x")])
def test_a_rule_or_a_symptom_is_needed(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "give a rule, or --symptom TEXT" in result.output


def test_a_symptom_leads_to_its_rule():
    result = run("--symptom", "ValueError: Your setup doesn't support bf16/gpu.")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[2] == "LL214 bf16-unsupported-gpu  tier A"
    assert lines[3].startswith(
        "    training crawls under emulation, or stops at start with PyTorch 2.2 and older: <gpu.name> has no bf16"
    )


def test_a_traceback_may_come_on_standard_input():
    text = 'Traceback:\n  File "train.py", line 3\nValueError: Your setup doesn\'t support bf16/gpu.\n'
    assert "LL214" in run("--symptom", "-", stdin=text).output
    found = json.loads(run("--symptom", "-", "--format", "json", stdin=text).output)
    assert found[0] == {"rule": "LL214", "name": "bf16-unsupported-gpu"}


def test_what_is_not_known_is_said_to_be_unknown():
    result = run("--symptom", "the coffee machine is broken")
    assert result.exit_code == 0
    assert result.output.startswith("No rule knows of this. That does not mean that the config is fine")
    assert json.loads(run("--symptom", "the coffee machine is broken", "--format", "json").output) == []
