"""Rules with an expression in CEL: faults are told when they are read, they end, and what is not known is not found."""

from __future__ import annotations

import json
import time

import pytest

pytest.importorskip("cel_expr_python")

RULE = """\
id: X010
name: step-times-rank
uses: cel
with: {cel: CEL}
at: adapter.rank
tier: A
message: "the run leaves what we tried: {key} is {value}"
help: "lower {key} or {key:optim.lr}"
why: We tried products of rate and rank up to a hundredth, and none above.
examples:
  - bad: {axolotl: "base_model: x/y\\nadapter: lora\\nlora_r: 64\\nlearning_rate: 0.001\\n"}
    finds: {key: lora_r, line: 3}
  - good: {axolotl: "base_model: x/y\\nadapter: lora\\nlora_r: 8\\nlearning_rate: 0.001\\n"}
"""
PRODUCT = "optim.lr * double(adapter.rank) > 0.01"


@pytest.fixture
def judged(folder, invoke):
    """judged(expression, config, code) -> (codes found, reasons of notes on the rule)."""
    (folder / "loralint.toml").write_text('rules = ["x.yaml"]\n', "utf-8")

    def run(expression, config="lora_r: 64\nlearning_rate: 0.001\n"):
        (folder / "x.yaml").write_text(RULE.replace("CEL", json.dumps(expression)), "utf-8")
        (folder / "c.yaml").write_text(f"base_model: x/y\nadapter: lora\n{config}", "utf-8")
        result = invoke("check", "c.yaml", "--select", "X010", "--format", "json")
        if result.exit_code == 2:
            return result.output
        (found,) = json.loads(result.stdout)["runs"]
        return [one["rule"] for one in found["findings"]], [
            one["message"] for one in found["notes"] if "X010" in one["rules"]
        ]

    return run


def test_arithmetic_over_fields_and_facts(judged, invoke):
    assert judged(PRODUCT) == (["X010"], [])
    assert invoke("rules", "test").output == "1 rule, 0 faults\n"
    assert judged(PRODUCT, "lora_r: 8\nlearning_rate: 0.001\n") == ([], [])
    assert judged("adapter.rank % 8 != 0", "lora_r: 12\n") == (["X010"], [])
    assert judged("lora.ratio > 0.1", "lora_r: 8\nlora_alpha: 16\n") == (["X010"], [])
    assert judged("adapter.targets.exists(t, t.startsWith('q_'))", "lora_r: 8\nlora_target_modules: [q_proj]\n")[0]


def test_what_is_not_known_is_not_checked(judged):
    found, notes = judged(PRODUCT, "lora_r: ${RANK}\nlearning_rate: 0.001\n")
    assert found == []
    assert len(notes) == 1
    assert judged(f"{PRODUCT} || optim.lr > 0.0001", "lora_r: ${RANK}\nlearning_rate: 0.001\n")[0] == ["X010"]
    assert judged(f"{PRODUCT} && optim.lr > 1.0", "lora_r: ${RANK}\nlearning_rate: 0.001\n") == ([], [])


def test_what_has_no_value_is_silent(judged):
    assert judged("adapter.loraplus_ratio > 5.0") == ([], [])


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("adapter.rnk > 3", "undeclared reference to 'adapter.rnk'"),
        ("adapter.rank > ", "Syntax error"),
        ("optim.lr * adapter.rank > 0.01", "no matching overload"),
        ("adapter.rank + 1", "the expression is no question"),
        ("item > 1", "the rule needs each"),
    ],
)
def test_errors_come_when_the_rule_is_read(judged, expression, said):
    output = judged(expression)
    assert "x.yaml:1: " in output
    assert said in output


def test_it_ends(judged):
    start = time.perf_counter()
    many = ", ".join(f"m{number}" for number in range(2000))
    nested = "adapter.targets.all(a, adapter.targets.all(b, adapter.targets.all(c, a + b + c != '')))"
    found, notes = judged(nested, f"lora_r: 8\nlora_target_modules: [{many}]\n")
    assert found == []
    assert "does not end well" in notes[0]
    assert judged("model.base.matches('^(a+)+$')", "lora_r: 8\n") == ([], [])
    assert time.perf_counter() - start < 10
