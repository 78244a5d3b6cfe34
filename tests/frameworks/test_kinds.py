from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from loralint.frameworks.kinds import fits

KINDS = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "list": list,
    "list[str]": list[str],
    "list[int]": list[int],
    "map": dict,
}
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["8", "8.0", "8.5", " 8 ", "1_000", "1e3", "1e-4", "nan", "inf", "on", "No", "TRUE", "abc", ""]),
    st.text(),
)
LOADED = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(), SCALARS, max_size=2))


def taken(made: object, kind: str) -> bool:
    try:
        TypeAdapter(KINDS[kind]).validate_python(made)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
@given(made=LOADED)
def test_what_pydantic_takes_fits(kind: str, made: object) -> None:
    if taken(made, kind):
        assert fits(made, kind)


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (8.5, "int"),
        ("8.5", "int"),
        ("abc", "int"),
        (None, "int"),
        ([8], "int"),
        ("abc", "float"),
        ("", "float"),
        (2, "bool"),
        ("auto", "bool"),
        (7, "str"),
        (False, "str"),
        ("q_proj", "list[str]"),
        ([1], "list[str]"),
        (["a"], "list[int]"),
        ([], "map"),
    ],
)
def test_what_pydantic_refuses_does_not_fit(made: object, kind: str) -> None:
    assert not taken(made, kind)
    assert not fits(made, kind)


def test_words_nulls_and_shares() -> None:
    assert fits("auto", "'auto'")
    assert not fits("Auto", "'auto'")
    assert fits(None, "null")
    assert fits(0.1, "share")
    assert not fits(1, "share")
    assert not fits(0, "share")
