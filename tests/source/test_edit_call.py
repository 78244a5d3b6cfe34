"""Keywords put into calls and taken out of them; what comes of it is what Python reads."""

from __future__ import annotations

import ast
import json

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


def cell(*lines: str) -> str:
    """A notebook with one cell, each line a string of its own, as Jupyter writes it."""
    source = [HEAD, *(f"{line}\n" for line in lines[:-1]), lines[-1]]
    return json.dumps({"cells": [{"cell_type": "code", "source": source}]}, indent=1, ensure_ascii=False)


def code(notebook: str) -> str:
    return "".join(json.loads(notebook)["cells"][0]["source"])


CELLS = [
    ("LoraConfig(r=8, bias='none')",),
    ("LoraConfig(", '    r=8,  # the "rank" é', '    bias="none",', ")"),
    ('LoraConfig(bias="none", r=8)',),
]


@pytest.mark.parametrize("lines", CELLS)
def test_in_a_cell_quotes_are_escaped_and_the_rest_stays(lines):
    text = cell(*lines)
    document, call = parse(text, "a.ipynb")
    edits = {
        "set": set_value(document, call.get("bias"), scalar_text('a"b\\', "python")),
        "put": insert_pair(document, call.pairs[-1], "init_lora_weights", scalar_text("pissa", "python")),
        "out": remove_pair(document, call, call.pair("bias")),
    }
    fixed = {how: apply(text, [edit]) for how, edit in edits.items()}
    before = keywords(code(text))
    assert keywords(code(fixed["set"])) == {**before, "bias": repr('a"b\\')}
    assert keywords(code(fixed["put"])) == {**before, "init_lora_weights": "'pissa'"}
    assert keywords(code(fixed["out"])) == {"r": "8"}
    assert all(("é" in one) == ("é" in text) for one in fixed.values())


def test_what_is_spread_over_lines_of_a_cell_is_left_alone():
    document, call = parse(cell("LoraConfig(", "    target_modules=[", '        "q_proj"],', ")"), "a.ipynb")
    with pytest.raises(ValueError, match="several lines"):
        set_value(document, call.get("target_modules"), '"all-linear"')
    with pytest.raises(ValueError, match="several lines"):
        remove_pair(document, call, call.pair("target_modules"))


PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)


@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)))
def test_values_are_written_as_python_reads_them(value):
    assert ast.literal_eval(scalar_text(value, "python")) == value
