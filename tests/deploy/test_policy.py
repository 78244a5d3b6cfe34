"""The rules that CEL holds: each blocks what the engine blocks, and nothing else that anybody ever wrote here."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loralint.knowledge.rules import all_rules, compiled

pytest.importorskip("cel_expr_python", reason="cel-expr-python is not installed")
ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "chart" / "files" / "policy.yaml"


@cache
def _spec():
    return yaml.safe_load(FILE.read_text("utf-8"))["spec"]


@cache
def _validations():
    from loralint.authoring.policy import validations

    return list(validations([compiled(rule) for rule in all_rules()]))


@cache
def _compiled(text):
    from cel_expr_python import cel

    kinds = dict.fromkeys(("object", "oldObject", "request"), cel.Type.DYN)
    kinds |= {f"variables.{one['name']}": cel.Type.DYN for one in _spec()["variables"]}
    return cel.NewEnv(variables=kinds).compile(text)


def _broken(text, before=None):
    """Numbers of the validations that a ConfigMap with this text breaks."""
    given_ = {"object": _map(text), "oldObject": None if before is None else _map(before)}
    for one in _spec()["variables"]:
        given_[f"variables.{one['name']}"] = _eval(one["expression"], given_)
    return {
        number for number, one in enumerate(_spec()["validations"]) if _eval(one["expression"], given_) is False
    }  # fmt: skip


def _eval(text, values):
    return _plain(_compiled(text).eval(data=values))


def _plain(value):
    found = value.value()
    return [_plain(one) if hasattr(one, "value") else one for one in found] if isinstance(found, list) else found


def _map(text, key="train.yaml"):
    return {"data": {key: text}}


def _rules(text, **given_):
    return {_validations()[number].rule for number in _broken(text, **given_)}


def _witness(one):
    from loralint.authoring.policy import witness

    return witness(one.framework, one.held)


def test_it_holds_rules_of_both_frameworks():
    assert len(_validations()) >= 20
    assert len(_validations()) == len(_spec()["validations"])
    assert {one.framework for one in _validations()} == {"axolotl", "llamafactory"}


@pytest.mark.parametrize("number", range(len(_validations())), ids=lambda n: f"{_validations()[n].rule}-{n}")
def test_each_is_found_in_its_witness_and_let_alone_where_it_was_before(number):
    text = _witness(_validations()[number])
    assert number in _broken(text)
    assert number not in _broken(text + "# edited\n", before=text)
    assert number not in _broken("# loralint: ignore\n" + text)
    assert number not in _broken(text + "note: {{ .Values.x }}\n")
    assert number not in _broken("wrapped: |\n" + "".join(f"  {line}\n" for line in text.splitlines()))


@st.composite
def _written(draw):
    """A text in which the lines of a validation have other values that their patterns take."""
    one = draw(st.sampled_from(_validations()))
    text = _witness(one)
    for line in one.held.lines:
        shape = re.sub(r"\\x2([27])", lambda found: chr(int("2" + found[1], 16)), line.pattern)
        value = draw(st.from_regex(rf"\A{shape}\Z", alphabet=st.characters(min_codepoint=33, max_codepoint=126)))
        text = re.sub(rf"(?m)^{line.key}: .*$", lambda _, key=line.key, value=value: f"{key}: {value}", text)
    return one, text


@settings(max_examples=400, deadline=None)
@given(_written())
def test_whatever_a_pattern_takes_the_engine_blocks_as_well(made):
    from loralint.authoring.policy import blocking

    one, text = made
    if one.rule in _rules(text):
        assert one.rule in blocking(text), text


@cache
def _examples():
    from loralint.authoring.compile import read_rules

    return [
        (framework, text)
        for _, rule in read_rules(ROOT / "rules") for example in rule.examples
        for framework, text in (example.bad or example.good or {}).items()
        if framework not in ("shell", "python", "kubernetes")
    ]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_lines_put_into_any_example_are_blocked_only_where_the_engine_does(data):
    from loralint.authoring.policy import blocking

    framework, text = data.draw(st.sampled_from(_examples()))
    one = data.draw(st.sampled_from([one for one in _validations() if one.framework == framework] or _validations()))
    for line in one.held.lines:
        text = _with(text, line.key, line.witness)
    assume("[" * 100 not in text)  # beyond the engine's limits, where it says nothing and these lines are as faulty
    found = _rules(text)
    assert not found or found <= blocking(text), text


def _with(text, key, value):
    line = f"{key}: {value}"
    if re.search(rf"(?m)^{key} *:", text):
        return re.sub(rf"(?m)^{key} *:.*$", line, text, count=1)
    return text.rstrip("\n") + f"\n{line}\n"


def test_no_example_of_any_rule_is_blocked_that_the_engine_lets_through():
    texts = [text for _, text in _examples()]
    assert len(texts) > 500
    assert _wrong(texts) == []


def test_no_config_of_the_corpus_is_blocked_that_the_engine_lets_through(shared):
    files = [one for one in (shared / "corpus").rglob("*") if one.suffix in (".yaml", ".yml") and one.is_file()]
    texts = [one.read_text("utf-8", errors="replace") for one in files]
    assert len(texts) > 500
    assert _wrong(texts) == []


def _wrong(texts):
    from loralint.authoring.policy import blocking

    wrong = []
    for text in texts:
        found = _rules(text)
        if found and not found <= blocking(text):
            wrong.append((found, text))
    return wrong


TRAPS = {
    "a comment": "# learning_rate: 0\n",
    "a longer key": "learning_rate_scale: 0\n",
    "a text over lines in quotes": 'note: "first\nlearning_rate: 0\nlast"\n',
    "a list over lines": "note: [a,\nlearning_rate: 0\n]\n",
    "a second value": "learning_rate: 2e-4\nlearning_rate: 0\n",
    "another document": "note: a\n---\nlearning_rate: 0\n",
    "inside a section": "section:\n  learning_rate: 0\n",
    "inside a block": "note: |\n  learning_rate: 0\n",
    "a small number": "learning_rate: 0.0001\n",
    "a number with an exponent": "learning_rate: 1e-4\n",
    "an anchor": "base: &b {learning_rate: 0}\n<<: *b\n",
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_what_only_looks_like_a_fault_is_none(trap):
    start = "base_model: m/m\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nmicro_batch_size: 1\n"
    assert _rules(start + trap) == set()
    assert _rules(trap + start) == set()
    assert _rules(start + "learning_rate: 0\n") == {"LL403"}


def test_a_text_in_another_key_or_too_long_is_not_looked_at():
    text = _witness(_validations()[0])
    assert _broken(text)
    assert not _broken(text + "# long\n" * 8000)
    given_ = {"object": _map(text, "train.txt"), "oldObject": None}
    assert _eval(_spec()["variables"][0]["expression"], given_) == []
