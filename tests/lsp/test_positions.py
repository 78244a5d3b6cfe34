from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pygls")

from lsprotocol import types

from loralint.lsp.edits import changed
from loralint.lsp.positions import Positions

TEXTS = st.text(st.sampled_from("ab \n\r\u2028\x0bé𝄞🦙"), max_size=40)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(TEXTS, ENCODINGS, st.data())
def test_a_place_leads_back_to_its_offset(text, encoding, data):
    places = Positions(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    behind = text[max(offset - 2, 0) : offset + 1]
    back = places.offset(places.position(offset))
    # inside a CR LF is no place of its own, so an offset there is that of the line's end
    assert back == offset - (behind.endswith("\r\n") and text[offset - 1 : offset] == "\r")


def test_columns_count_code_units():
    text = "é🦙x"
    assert [Positions(text, name).position(2).character for name in ("utf-8", "utf-16", "utf-32")] == [6, 3, 2]


@given(TEXTS, ENCODINGS, st.integers(0, 50), st.integers(0, 50))
def test_any_place_that_an_editor_may_send_is_one_of_the_text(text, encoding, line, character):
    assert 0 <= Positions(text, encoding).offset(types.Position(line, character)) <= len(text)


@given(TEXTS, TEXTS)
def test_edits_make_the_new_text_and_cut_no_line_break_in_two(before, after):
    text = before
    for start, end, new in reversed(list(changed(before, after))):
        for place in (start, end):
            assert before[max(place - 1, 0) : place + 1] != "\r\n"
        text = text[:start] + new + text[end:]
    assert text == after


@given(TEXTS)
def test_what_is_the_same_is_not_edited(text):
    assert list(changed(text, text)) == []
