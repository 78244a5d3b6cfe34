"""Keywords put into calls and taken out of them; what comes of it is what Python reads."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.frameworks.python.build import section, tree
from loralint.source.edit import apply, insert_pair, remove_pair, scalar_text, set_value
from loralint.source.python import read_script
from loralint.source.read import read_bytes


def parse(text: str, name: str = "train.py"):
    """The document of the last call and that call's mapping."""
    script = read_script(read_bytes(text.encode(), name))
    document = tree(script.document, [section(script.document, script.calls[-1])])
    return document, document.root.pairs[0].value


def keywords(text: str) -> dict[str, object]:
    call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}


HEAD = "from peft import LoraConfig\n"
FORMS = [
    "LoraConfig(r=8, lora_alpha=16)",
    "LoraConfig(\n    r=8,  # the rank\n    lora_alpha=16,\n)",
    "LoraConfig(r = 8,\n           lora_alpha=16  # twice\n)",
    "N = 8\nLoraConfig(r=N, lora_alpha=16)",
]


@pytest.mark.parametrize("form", FORMS)
def test_putting_a_keyword_in(form):
    document, call = parse(HEAD + form)
    edit = insert_pair(document, call.pairs[-1], "use_rslora", scalar_text(True, "python"))
    fixed = apply(document.text, [edit])
    assert keywords(fixed) == {**keywords(document.text), "use_rslora": "True"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["r", "lora_alpha"])
def test_taking_a_keyword_out(form, name):
    document, call = parse(HEAD + form)
    fixed = apply(document.text, [remove_pair(document, call, call.pair(name))])
    left = keywords(document.text)
    del left[name]
    assert keywords(fixed) == left
    assert "#" not in form or "#" in fixed


def test_inside_a_mapping_keys_have_quotes():
    document, call = parse(HEAD + "LoraConfig(rank_pattern={'q_proj': 4})")
    inner = call.get("rank_pattern")
    edit = insert_pair(document, inner.pairs[0], "v_proj", "8")
    assert ast.literal_eval(keywords(apply(document.text, [edit]))["rank_pattern"]) == {"q_proj": 4, "v_proj": 8}


@pytest.mark.parametrize("form", ["LoraConfig()", "LoraConfig(*given)", "LoraConfig('CAUSAL_LM')"])
def test_without_a_keyword_there_is_no_place(form):
    document, call = parse(HEAD + form)
    if call.pairs:
        with pytest.raises(ValueError, match="no keyword"):
            insert_pair(document, call.pairs[-1], "r", "8")


def test_a_value_that_is_worked_out_keeps_its_keyword():
    document, call = parse(HEAD + "LoraConfig(r=max(4, 8), lora_alpha=16)")
    with pytest.raises(ValueError, match="not plain"):
        remove_pair(document, call, call.pair("r")._replace(value=call.get("lora_alpha")))


def test_cells_of_a_notebook_are_left_alone():
    cell = '{"cells": [{"cell_type": "code", "source": ["from peft import LoraConfig\\n", "LoraConfig(r=8)"]}]}'
    document, call = parse(cell, "a.ipynb")
    with pytest.raises(ValueError, match="notebook"):
        set_value(document, call.get("r"), "16")
    with pytest.raises(ValueError, match="notebook"):
        remove_pair(document, call, call.pair("r"))


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)


@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)))
def test_values_are_written_as_python_reads_them(value):
    assert ast.literal_eval(scalar_text(value, "python")) == value
