"""The toy that stands for SGD on the embedded model."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from loralint.probe.arm import Arm  # noqa: E402
from loralint.probe.ramp import Edge  # noqa: E402
from loralint.probe.toy import edge_for, toy_edge  # noqa: E402

pytestmark = pytest.mark.torch
ARM = Arm(8, 16, ("q_proj",), optimizer="sgd")


def test_it_breaks_within_the_ramp_and_the_same_every_time():
    found = toy_edge(ARM)
    assert found.reached
    assert 1e-3 < found.rate < 100
    assert toy_edge(ARM) == found


def test_what_makes_steps_larger_lowers_the_edge():
    plain = toy_edge(ARM).rate
    assert toy_edge(ARM._replace(alpha=64)).rate < plain / 2
    assert toy_edge(ARM._replace(momentum=0.9)).rate < plain / 1.5
    assert toy_edge(ARM._replace(lr_ratio=16.0)).rate < plain / 2
    assert toy_edge(ARM._replace(clip=0.3)).rate > 2 * plain


def test_only_sgd_on_the_embedded_model_is_judged_by_it():
    found = Edge(0.1, reached=True)
    assert edge_for("embedded", ARM._replace(optimizer="adamw"), found) is found
    assert edge_for("own", ARM, found) is found
    assert edge_for("embedded", ARM, found) == toy_edge(ARM)


@pytest.mark.parametrize(
    ("arm", "rate", "broke"),
    [  # real runs: rate in, and what became of them; see benchmarks/probe/results
        (Arm(32, 22.6, ("down_proj",), optimizer="sgd", rslora=True, lr_ratio=16.0), 0.00463, True),
        (Arm(32, 64, ("q_proj",), optimizer="sgd", lr_ratio=16.0, momentum=0.9), 0.00592, True),
        (Arm(32, 16, ("q_proj",), optimizer="sgd", lr_ratio=16.0, clip=0.3), 0.0709, False),
    ],
)
def test_it_tells_apart_runs_that_the_embedded_model_does_not(arm, rate, broke):
    assert (rate / toy_edge(arm).rate > 0.1) == broke
