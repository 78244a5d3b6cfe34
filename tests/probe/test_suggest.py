"""`--probe-suggest` and `--probe-svd`: what a user gets for them, and what they leave alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytestmark = pytest.mark.torch

CONFIG = """base_model: NousResearch/Llama-2-7b-hf
adapter: lora
lora_r: 8
lora_alpha: 16
lora_target_modules: [q_proj, v_proj]
micro_batch_size: 1
max_steps: 500
optimizer: adamw_torch
lr_scheduler: constant
learning_rate: {rate}
"""


@pytest.fixture
def probed(tmp_path: Path, monkeypatch):
    """probed(rate, options ...) -> the tables of the one run, by name."""
    from loralint.cli import main

    monkeypatch.chdir(tmp_path)

    def run(rate: str, *options: str, more: str = "") -> dict[str, dict]:
        (tmp_path / "config.yaml").write_text(CONFIG.format(rate=rate) + more, encoding="utf-8")
        command = ["check", "config.yaml", "--isolated", "--probe", "--format", "json", *options]
        found = json.loads(CliRunner().invoke(main, command).stdout)["runs"][0]
        return {table["name"]: table for table in found["tables"]} | {"notes": found["notes"]}

    return run


def _facts(table: dict) -> dict[str, object]:
    return dict(table["rows"])


def test_the_suggested_rate_is_probed_and_holds(probed):
    tables = probed("0.2", "--probe-suggest")
    asked, suggested = _facts(tables["verdict"]), _facts(tables["suggestion"])
    assert asked["verdict"] == "UNSTABLE"
    assert suggested["change"].startswith("learning rate ")
    assert float(suggested["change"].split()[-1]) <= asked["highest_stable_rate"]
    assert suggested["verdict"] == "STABLE"
    assert suggested["final_loss_minus_base_nats"] < 0.5 < asked["final_loss_minus_base_nats"]
    assert tables["suggestion"]["title"].startswith("suggestion, probed too: learning rate ")


def test_a_run_that_is_too_slow_is_suggested_a_rate_that_learns(probed):
    tables = probed("0.00000001", "--probe-suggest")
    assert _facts(tables["verdict"])["verdict"] == "NOT LEARNING"
    assert _facts(tables["suggestion"])["verdict"] == "STABLE"


def test_nothing_is_suggested_for_a_run_that_is_fine(probed):
    assert "suggestion" not in probed("0.0002", "--probe-suggest")


def test_an_arm_from_an_svd_comes_on_request_only(probed):
    with_svd, without = (probed("0.0002", *options) for options in (["--probe-svd"], []))
    assert [row[0] for row in with_svd["controls"]["rows"]] == ["svd"]
    assert "controls" not in without


def test_a_config_that_starts_from_an_svd_is_probed_as_such_and_only_likely(probed):
    tables = probed("0.0002", more="peft_init_lora_weights: pissa\n")
    assert "likely STABLE" in tables["verdict"]["title"]
    assert any("starts from an SVD" in note["message"] for note in tables["notes"])


def test_rounding_and_precision_are_mended_by_fp32_and_outliers_by_leaving_the_module_out():
    from types import SimpleNamespace

    from loralint.probe.arm import Arm
    from loralint.probe.diagnosis import Cause
    from loralint.probe.plan import Plan
    from loralint.probe.schedule import Schedule
    from loralint.probe.suggest import _changed
    from loralint.probe.verdict import Verdict

    plan = Plan(Arm(8, 16, ("q_proj", "down_proj"), stored="bf16"), 2, Schedule(), 100.0)
    verdict = Verdict("UNSTABLE", 0.1, 3.4e-4, exact=True, certain=True)
    worst = SimpleNamespace(inputs=[SimpleNamespace(kind="down_proj", worst_ratio=9.0)])
    says = {
        name: _changed(plan, worst, verdict, Cause(name, "", "")) for name in ("rounding", "outliers", "rate-scale")
    }
    assert says["rounding"][1].arm.stored == "fp32"
    assert says["outliers"][1].arm.targets == ("q_proj",)
    assert says["rate-scale"] == ("learning rate 0.0003", plan._replace(arm=plan.arm._replace(lr=3e-4)))


def test_sgd_is_judged_by_the_toy_and_told_so(probed, tmp_path):
    config = tmp_path / "config.yaml"
    tables = probed("0.3", "--probe-steps", "2")
    assert "toy" not in tables["verdict"]["title"]
    adam = config.read_text(encoding="utf-8")
    from loralint.probe.arm import Arm
    from loralint.probe.toy import toy_edge

    config.write_text(adam.replace("adamw_torch", "sgd"), encoding="utf-8")
    from loralint.cli import main

    command = ["check", "config.yaml", "--isolated", "--probe", "--format", "json"]
    found = json.loads(CliRunner().invoke(main, command).stdout)["runs"][0]["tables"][0]
    assert "and a toy for the edge of SGD" in found["title"]
    assert "probe: likely " in found["title"]
    arm = Arm(8, 16, ("q_proj", "v_proj"), optimizer="sgd", clip=1.0)
    assert dict(found["rows"])["judged_edge_rate"] in (
        toy_edge(arm).rate,
        toy_edge(arm._replace(clip=float("inf"))).rate,
    )
