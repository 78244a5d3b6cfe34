"""Properties over random programs: literals mean what Python says, and no text raises."""

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.source.document import Document
from loralint.source.python import read_script

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
LITERALS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def plain(node, like):
    if node.kind == "sequence":
        return type(like)(plain(item, one) for item, one in zip(node.items, like, strict=True))
    if node.kind == "mapping":
        return {pair.key: plain(pair.value, like[pair.key]) for pair in node.pairs}
    return node.native


@settings(max_examples=200, deadline=None)
@given(LITERALS, st.sampled_from(["{}", "({})", "(\n {}\n)", "[{}][0]", "dict(x={})['x']", "(lambda v: v)({})"]))
def test_literals_are_what_python_makes_of_them(value, around):
    text = f"# ä\U0001f600\nx = {around.format(repr(value))}\nf(x)"
    call = read_script(text).calls[-1]
    found = plain(call.args[0].node, value)
    assert found == value
    assert repr(found) == repr(ast.literal_eval(repr(value)))


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(repr), st.integers())
def test_spans_hold_what_was_written(text, number):
    program = f"é = 1; g(a={text}, b={number})"
    call = read_script(program).calls[0]
    nodes = [program[one.node.start : one.node.end] for one in call.args]
    assert nodes == [text, str(number)]


SOURCES = [
    "import peft\nc = peft.LoraConfig(r=8, target_modules=['q' 'k', \"v\"])\nfor i in range(3):\n    c.x = i\n",
    "def f(a, *b, c=1, **d):\n    if a:\n        return\n    try:\n        f(*b, **d)\n    except E:\n        1\nf(1)",
    "class A(B):\n    x: int = 8\n    def m(self):\n        return super().m(self.x)\nA(x=[*a]).m(f'{1!r:>{2}}')",
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('--r', default=8)\na = p.parse_args()\ng(a.r)\n",
    "match a:\n    case {'x': [1, *y]} if (z := y): g(z)\nwith a as (b, c): del b[0], c.e\nasync def h(): await a\n",
    "!pip install x\n%env A=1\nx = !ls {y}\n%%bash\necho\n",
]
PIECES = [*"()[]{}'\"\\\n\t \0#=,:.*%!@é\ud800", "lambda", "f'{", "yield"]
EDITS = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 5), st.sampled_from(PIECES)), max_size=4)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SOURCES), EDITS, st.booleans())
def test_no_text_raises(source, edits, in_notebook):
    for at, cut, insert in edits:
        source = source[:at] + insert + source[at + cut :]
    if in_notebook:
        source = json.dumps({"cells": [{"cell_type": "code", "source": source.splitlines(keepends=True)}]})
    script = read_script(Document("t", "notebook" if in_notebook else "python", source))
    for call in script.calls:
        for span in (call.span, call.name_span, *(script.document.span(one.node) for one in call.args)):
            assert 0 <= span.start <= span.end <= len(source)
            assert span.line >= 1
            assert span.column >= 1


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_no_text_raises_as_a_notebook(text):
    script = read_script(Document("n.ipynb", "notebook", '{"cells": [' + text + "]}"))
    assert script.calls == () or script.document.problems == []


@pytest.mark.parametrize("length", [5, 50, 200])
def test_chains_and_nests_of_usual_depth_are_followed(length):
    program = "x = 1\n" + "if a:\n x = 2\n" + "elif b:\n x = 3\n" * length + "f('" + "' + '".join("ab" * 10) + "')"
    call = read_script(program).calls[-1]
    assert call.args[0].node.native == "ab" * 10
