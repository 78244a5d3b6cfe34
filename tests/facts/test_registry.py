from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.canonical.fields import FIELDS
from loralint.facts import FACTS
from loralint.model import Unknown, Value


def test_facts_and_fields_share_no_name():
    assert not FACTS.keys() & FIELDS.keys()


def test_importing_the_registry_imports_no_fact_and_no_knowledge():
    code = (
        "import sys, loralint.facts\n"
        "print(*(name for name in sorted(sys.modules) if name.startswith(('loralint.facts.', 'loralint.k', 'json'))))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["loralint.facts.need", "loralint.facts.scope"]


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_answers_an_empty_config(name, whole):
    value = whole(name, {})
    assert isinstance(value, Value)
    assert value.origin == "derived"
    assert value.field == name


@pytest.mark.parametrize("name", sorted(FACTS))
def test_a_fact_says_what_it_read(name, whole):
    assert whole(name, {}).reads


@pytest.mark.parametrize("name", sorted(FACTS))
def test_an_unknown_input_makes_the_fact_unknown_with_its_reason(name, fact):
    assert fact(name, dict.fromkeys(FIELDS, Unknown("set by ${X}"))) == ("set by ${X}",)


_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text("ab1.-/ ", max_size=8),
    st.lists(st.just("q_proj"), max_size=2),
    st.just(10**400),
    st.just({"scale_parameter": "True"}),
    st.sampled_from(["lora", "auto", "adamw_torch", "sgd", "gptq", "T4x2", "cosine", "gaussian", "bf16", "gpt2"]),
    st.builds(Unknown, st.just("x")),
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), _ODD, max_size=25))
def test_no_config_breaks_a_fact(fact, values):
    for name in FACTS:
        fact(name, {**values, "adapter.method": "lora"})


@pytest.mark.parametrize(
    "odd", [float("nan"), float("inf"), 10**400, "2e-4", True], ids=["nan", "inf", "huge", "text", "bool"]
)
def test_a_number_that_is_none_breaks_no_fact(odd, fact):
    numbers = [field for field, about in FIELDS.items() if about.type in {"int", "float", "number"}]
    for name in FACTS:
        fact(name, {**dict.fromkeys(numbers, odd), "adapter.method": "lora", "optim.name": "adamw_torch"})
