from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.source.clean import clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("q_proj", "q_proj"),
        ("träger 名前 😀", "träger 名前 😀"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb\xadc", "a\\u200bb\\xadc"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\x9b31m\x00\x7f", "\\x9b31m\\x00\\x7f"),
    ],
)
def test_unsafe_characters_become_escapes(text, shown):
    assert clean(text) == shown


def test_long_text_is_cut():
    assert clean("x" * 200) == "x" * 200
    assert clean("x" * 201) == "x" * 199 + "…"
    assert clean("abcdef", limit=4) == "abc…"
    assert clean("\n\n\n", limit=4) == "\\n\\…"
    assert clean("", limit=1) == ""


@given(st.text(), st.integers(1, 50))
def test_the_result_is_one_short_printable_line(text, limit):
    shown = clean(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in shown)
