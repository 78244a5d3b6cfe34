from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from loralint.source.shown import shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0002, "0.0002"),
        (0.00032, "0.00032"),
        (5e-05, "5.0e-05"),
        (2.53e-05, "2.53e-05"),
        (16.0, "16"),
        (1024.0, "1024"),
        (7094.4, "7094"),
        (-7094.4, "-7094"),
        (3e8, "3.0e+08"),
        (0.0, "0"),
        (math.inf, "inf"),
        (True, "true"),
        (None, "null"),
        ([1.0, "a", False], "1, a, false"),
    ],
)
def test_values_as_people_read_them(value, text):
    assert shown(value) == text


@given(st.floats(-1e300, 1e300))
def test_a_number_that_is_copied_into_yaml_is_a_number_there(value):
    read = yaml.safe_load(shown(value))
    assert isinstance(read, (int, float))
    assert read == pytest.approx(value, rel=0.006)
