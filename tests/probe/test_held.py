"""Ctrl-C while an arm is taken out of the stack."""

from __future__ import annotations

import signal

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from loralint.probe.adapted import Adapted  # noqa: E402
from loralint.probe.arm import Arm  # noqa: E402
from loralint.probe.base import embedded  # noqa: E402
from loralint.probe.held import held_back  # noqa: E402
from loralint.probe.stack import Stack  # noqa: E402
from loralint.probe.statistics import spectra  # noqa: E402
from loralint.probe.train import train  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("init", ["", "svd"])
def test_ctrl_c_while_an_arm_is_taken_out_mixes_no_arms(monkeypatch, init):
    taken = Adapted.keep_only
    came = []

    def interrupted(self: Adapted, rows: list[int]) -> None:
        if not came:
            came.append(rows)
            signal.raise_signal(signal.SIGINT)
        taken(self, rows)

    monkeypatch.setattr(Adapted, "keep_only", interrupted)
    base = embedded()
    arm = Arm(4, 8.0, ("q_proj",))
    stack = Stack(base.model, [arm._replace(init=init or arm.init)] * 2)
    try:
        traces, stopped = train(stack, base.batches(5, 2, 0), lambda _: (5e4, 1e-3), enough=3.0)
        assert came == [[1]]
        assert stopped.startswith("interrupted after")
        assert len(traces[0].losses) == len(traces[1].losses)
        assert stack.numbers == (1,)
        assert all(part.isfinite().all() for pair in stack.learnt_by(1).values() for part in pair)
        assert spectra(stack, 1)
    finally:
        stack.close()


def test_ctrl_c_arrives_once_it_is_over():
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012 - that it goes on is the test
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
