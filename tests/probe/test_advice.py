"""What LL851 to LL853 say to do: it ends in the rate's key where a run is UNSTABLE."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from loralint.probe.diagnosis import Cause
from loralint.probe.report import _change
from loralint.probe.verdict import Verdict

pytestmark = pytest.mark.torch

ALPHA = Cause("rate-scale", "it is too large", "lower alpha")
BASE = Cause("base", "it breaks at any rate", "check the base, data and loss")


@pytest.mark.parametrize(
    ("word", "cause", "says"),
    [
        ("UNSTABLE", ALPHA, "lower alpha, or write 0.0003 or less for"),
        ("UNSTABLE", BASE, "check the base, data and loss, which break at any"),
        ("BORDERLINE", ALPHA, "lower alpha"),
        ("NOT LEARNING", ALPHA, "lower alpha; rates up to 0.0003 are called STABLE"),
    ],
)
def test_a_lower_rate_is_asked_for_only_where_it_helps(word, cause, says):
    assert _change(Verdict(word, 0.1, 3.4e-4, exact=True, certain=True), cause) == says
