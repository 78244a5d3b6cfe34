"""Expressions of configs: what matches a text, and which lines of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.knowledge.pattern import Unmatchable, lines, whole

pytest.importorskip("re2")
ATOMS = ["a", "b", ".", "[^.]", "[^a]", r"\.", r"\d", r"\w", r"\s", "^", "$", r"\A", r"\z", "(?i)A", "|", "()", r"\n"]
EXPRESSIONS = st.lists(
    st.tuples(st.sampled_from(ATOMS), st.sampled_from(("", "*", "+", "?", "{0,2}"))).map("".join), max_size=6
).map("".join)


@given(EXPRESSIONS, st.lists(st.text("ab.A1 ", min_size=1, max_size=6), min_size=1, max_size=6))
def test_lines_match_as_texts_do(expression, texts):
    try:
        alone = whole(expression)
    except Unmatchable:
        return
    assert sum(1 for _ in lines(expression)("\n".join(texts))) == sum(map(alone, texts))


def test_a_line_is_matched_from_end_to_end():
    assert len(list(lines(".*[^x]q")("a.q\na.xq\nb\nq.b"))) == 1  # "b", a new line and "q" are no line
    assert len(list(lines("a|b")("a\nab\nb"))) == 2


def test_look_around_is_refused():
    with pytest.raises(Unmatchable, match="RE2 cannot read"):
        lines("(?!a)b")
