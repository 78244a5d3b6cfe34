"""What needs no torch: the config's numbers, schedules, edges, bands, causes."""

from __future__ import annotations

import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

from loralint.facts import FACTS
from loralint.facts.need import Missing
from loralint.facts.scope import Scope
from loralint.probe.arm import Arm
from loralint.probe.diagnosis import diagnose
from loralint.probe.plan import Plan, compared, plan
from loralint.probe.ramp import Edge, edge, ramp
from loralint.probe.reach import far, gained, reach
from loralint.probe.schedule import Schedule, factor, mean_factor
from loralint.probe.verdict import Band, band, judge, with_fewer_rows
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_bytes

CONFIG = """base_model: Qwen/Qwen2.5-0.5B
adapter: lora
lora_r: 8
lora_alpha: 16
lora_target_modules: [q_proj, v_proj]
optimizer: adamw_torch
learning_rate: 0.0002
lr_scheduler: cosine
warmup_ratio: 0.1
max_grad_norm: 1.0
micro_batch_size: 4
gradient_accumulation_steps: 1
max_steps: 500
"""


def scope(text: str) -> Scope:
    (one,) = starts(read_bytes(text.encode(), "config.yaml", "yaml"), Options("", None, {}, "axolotl"), Project())
    return Scope(one.config, FACTS)


def test_the_base_is_known_by_its_name_in_the_catalogue():
    assert plan(scope(CONFIG)).model == "Qwen/Qwen2.5-0.5B"
    instruct = CONFIG.replace("Qwen/Qwen2.5-0.5B", "HuggingFaceTB/SmolLM2-135M-Instruct")
    assert plan(scope(instruct)).model == "HuggingFaceTB/SmolLM2-135M"
    assert plan(scope(CONFIG.replace("Qwen/Qwen2.5-0.5B", "somebody/a-model-of-their-own"))).model == ""


def test_a_config_becomes_an_arm():
    found = plan(scope(CONFIG), seed=3)
    assert found.arm[:5] == (8, 16, ("q_proj", "v_proj"), 2e-4, "adamw")
    assert (found.arm.clip, found.arm.seed, found.arm.stored) == (1.0, 3, "fp32")
    assert (found.rows, found.schedule, found.steps) == (4, Schedule("cosine", 0.1), 500)
    assert found.assumed == ()
    assert plan(scope(CONFIG.replace("accumulation_steps: 1", "accumulation_steps: 16"))).rows == 64


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        ("max_grad_norm: 1.0", "max_grad_norm: 0", "clip", inf),
        ("max_grad_norm: 1.0", "max_grad_norm: -1", "clip", inf),
        ("lora_target_modules: [q_proj, v_proj]", "lora_target_modules: [c_attn]", "targets",
         ("q_proj", "k_proj", "v_proj")),
        ("lora_target_modules: [q_proj, v_proj]", "lora_target_modules: '.*mlp.*'", "targets",
         ("gate_proj", "up_proj", "down_proj")),
        ("lora_r: 8", "lora_r: 8\nloraplus_lr_ratio: 16", "lr_ratio", 16),
        ("lora_r: 8", "lora_r: 8\npeft_use_dora: true", "dora", True),
        ("lora_r: 8", "lora_r: 8\npeft_use_rslora: true", "rslora", True),
        ("optimizer: adamw_torch", "optimizer: sgd", "optimizer", "sgd"),
        ("optimizer: adamw_torch", "optimizer: lion_8bit", "optimizer", "lion"),
    ],
)  # fmt: skip
def test_each_setting_reaches_its_place(old, new, field, value):
    if "'" in new:
        pytest.importorskip("re2")
    assert getattr(plan(scope(CONFIG.replace(old, new))).arm, field) == value


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("adapter: lora\n", "", "trains the whole model"),
        ("micro_batch_size", "rl: dpo\nmicro_batch_size", "of task dpo"),
        ("learning_rate: 0.0002\n", "", "no learning rate"),
        ("learning_rate: 0.0002", "learning_rate: -0.1", "^the learning rate is not above 0"),
        ("lora_r: 8", "lora_r: 0", "^the LoRA rank is not above 0"),
        ("[q_proj, v_proj]", "[q_proj, lm_head]", "the embedding or the head .`lm_head`. were not measured"),
        ("[q_proj, v_proj]", "[q_proj, zebra]", "which layers `zebra` are"),
        ("optimizer: adamw_torch", "optimizer: muon", "like `muon`"),
        ("lora_r: 8", "lora_r: 8\nlora_modules_to_save: [embed_tokens]", "whole modules"),
        ("lora_r: 8", "lora_r: 5000", "more than the probe trains"),
        ("lora_r: 8", "lora_r: 0.5", "no whole number"),
        ("lora_r: 8", "lora_r: 8\nloraplus_lr_ratio: -4", "no rate above 0"),
        ("lora_alpha: 16", "lora_alpha: 0", "nothing trains"),
        ("lora_r: 8", "lora_r: 8\nadam_beta2: 1.0", "the optimizer refuses beta2 1,"),
        ("lora_r: 8", "lora_r: 8\nadam_beta1: -0.5", "the optimizer refuses beta1 -0.5"),
        ("lora_r: 8", "lora_r: 8\nadam_epsilon: -1.0", "the optimizer refuses eps -1"),
        ("lora_r: 8", "lora_r: 8\nweight_decay: -0.1", "the optimizer refuses weight_decay -0.1"),
    ],
)
def test_what_was_not_measured_is_not_checked(old, new, reason):
    with pytest.raises(Missing, match=reason):
        plan(scope(CONFIG.replace(old, new)))


def test_an_adapter_on_the_head_is_not_passed_over_on_a_model_of_the_run_s_own():
    layers = ("model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.v_proj")
    assert plan(scope(CONFIG), layers=layers).arm.targets == layers
    with pytest.raises(Missing, match="the embedding or the head"):
        plan(scope(CONFIG.replace("[q_proj, v_proj]", "[q_proj, lm_head]")), layers=layers)


def test_what_the_run_has_and_the_probe_has_not_is_said():
    assert plan(scope(CONFIG)).assumed == ()
    (said,) = plan(scope(CONFIG.replace("adapter: lora", "adapter: qlora\nload_in_4bit: true"))).assumed
    assert said == "the base's weights as they are read, not rounded to 4 bits"
    assert plan(scope(CONFIG + "fp16: true\n")).assumed == ("no number beyond fp16's range",)


def test_what_is_unknown_is_assumed_aloud():
    found = plan(scope(CONFIG.replace("max_steps: 500\n", "").replace("micro_batch_size: 4\n", "")))
    assert found.steps is None
    assert "long enough" in found.assumed[-1]


def test_schedules_are_those_of_transformers():
    linear = Schedule("linear", 0.1)
    assert [factor(linear, at) for at in (0.05, 0.1, 0.55, 1.0)] == pytest.approx([0.5, 1.0, 0.5, 0.0])
    assert factor(Schedule("cosine", 0.0, 0.1), 1.0) == pytest.approx(0.1)
    assert factor(Schedule("cosine"), 0.5) == pytest.approx(0.5)
    assert factor(Schedule("constant_with_warmup", 0.5), 0.25) == 0.5
    assert mean_factor(Schedule("linear")) == pytest.approx(0.5)
    assert mean_factor(Schedule("linear", 5.0)) == pytest.approx(0.1)


def test_a_run_that_ends_while_it_warms_up_never_sees_its_peak():
    found = plan(scope(CONFIG.replace("max_steps: 500\n", "max_steps: 2\nwarmup_steps: 10\n")))
    assert (found.schedule.warm, mean_factor(found.schedule)) == (5.0, pytest.approx(0.1))


def test_the_edge_lies_between_the_steps_around_the_crossing():
    rates = ramp("adamw", 6)
    assert rates[0] == 1e-5
    assert rates[-1] == pytest.approx(1.0)
    assert edge(rates, [0, -0.1, -0.2, 0.5, 1.5, 0.2]) == Edge(
        pytest.approx((rates[3] * rates[4]) ** 0.5), reached=True
    )
    assert edge(rates, [3.0]) == Edge(rates[0], reached=True)
    assert edge(rates, [0, -0.1, inf]) == Edge(rates[1], reached=True)
    assert edge(rates, [0, -0.1, -0.2]) == Edge(rates[2], reached=False)
    assert edge(rates, []) == Edge(0.0, reached=False)


BAND = Band(0.1, 0.2, 0.5, 0.02)


def _plan(lr: float, steps: float | None = None) -> Plan:
    return Plan(Arm(8, 16, ("q_proj",), lr=lr), 2, Schedule(), steps)


@pytest.mark.parametrize(
    ("lr", "word"), [(0.001, "STABLE"), (0.0099, "STABLE"), (0.03, "BORDERLINE"), (0.051, "UNSTABLE"), (1, "UNSTABLE")]
)
def test_the_place_among_the_bands(lr, word):
    verdict = judge(_plan(lr), Edge(0.1, reached=True), BAND, whole=True)
    assert (verdict.word, verdict.headroom) == (word, pytest.approx(0.02 / lr))
    assert verdict.safe == pytest.approx(0.01)


def test_a_ramp_that_was_broken_off_says_only_what_it_saw():
    assert judge(_plan(0.001), Edge(0.1, reached=False), BAND, whole=False).word == "STABLE"
    assert judge(_plan(0.05), Edge(0.1, reached=False), BAND, whole=False) is None
    assert judge(_plan(0.05), Edge(0.0, reached=False), BAND, whole=False) is None
    assert judge(_plan(0.9), Edge(1.0, reached=False), BAND, whole=True).word == "BORDERLINE"


@pytest.mark.parametrize(("reached", "word"), [(0.019, "NOT LEARNING"), (0.021, "STABLE"), (None, "STABLE")])
def test_a_run_that_travels_too_little_does_not_learn(reached, word):
    assert judge(_plan(1e-5), Edge(0.1, reached=True), BAND, reached, whole=True).word == word


def test_only_a_stable_run_can_be_one_that_does_not_learn():
    assert judge(_plan(0.03), Edge(0.1, reached=True), BAND, 0.0, whole=True).word == "BORDERLINE"


def test_the_reach_of_adam_is_its_steps_times_the_gradient_over_b():
    assert reach(_plan(1e-3, 100), norm=0.5, entries=400) == pytest.approx(0.1 * 0.5 * 20)
    faster = Plan(Arm(8, 16, ("q_proj",), lr=1e-3, lr_ratio=16.0), 2, Schedule("linear"), 100)
    assert reach(faster, norm=0.5, entries=400) == pytest.approx(0.1 / 2 * 16 * 0.5 * 20)
    assert reach(_plan(1e-3), norm=0.5, entries=400) is None


@pytest.mark.parametrize(
    ("momentum", "clip", "wanted"),
    [(0.0, inf, 0.1 * 4), (0.9, inf, 0.1 * 10 * 4), (0.0, 0.5, 0.1 * 2 * 0.5), (1.0, inf, 0.1 * 50 * 4)],
)
def test_the_reach_of_sgd_follows_the_clipped_gradient_and_its_momentum(momentum, clip, wanted):
    arm = Arm(8, 16, ("q_proj",), lr=1e-3, optimizer="sgd", momentum=momentum, clip=clip)
    assert reach(Plan(arm, 2, Schedule(), 100), norm=2.0, entries=400) == pytest.approx(wanted)


RATES = [1e-4, 1e-3, 1e-2]


@pytest.mark.parametrize(
    ("lr", "steps", "losses", "wanted"),
    [
        (1.1e-4, 10, [0.0, -0.1, -0.3], 0.3),  # the first two rates, of which the third loss tells
        (5.5e-5, 10, [0.0, -0.1, -0.3], 0.15),  # half of them
        (1e-6, 1, [0.0, -0.1, -0.3], 0.001),
        (1.1e-4, 10, [0.0, -0.4, 0.2], 0.4),  # the best until then
        (1e-2, 10, [0.0, -0.1, -0.3], 0.3),  # more than the whole ramp
        (1.1e-4, 10, [0.0, -0.1], None),  # broken off before
        (1e-6, 1, [0.0, -0.1], 0.001),
        (1e-4, 10, [0.0, 0.1, inf], 0.0),
    ],
)
def test_a_ramp_tells_what_a_run_gains_by_the_sum_of_its_rates(lr, steps, losses, wanted):
    found = gained(_plan(lr, steps), RATES, losses)
    assert found == (wanted if wanted is None else pytest.approx(wanted))


def test_of_a_run_without_a_length_nobody_knows_what_it_gains():
    assert gained(_plan(1e-4), RATES, [0.0, -0.1, -0.3]) is None


def test_only_the_own_model_is_asked_what_it_gains():
    ramped = (_plan(1.1e-4, 10), RATES, [0.0, -0.1, -0.3], 0.5, 400)
    assert far("own", *ramped) == pytest.approx(0.3)
    assert far("embedded", *ramped) == far("cut", *ramped) == pytest.approx(1.1e-3 * 0.5 * 20)


def test_bands_rise_and_are_borrowed_where_no_run_set_them():
    for kind in ("embedded", "own", "cut"):
        for optimizer in ("adamw", "sgd"):
            own = band(kind, optimizer)
            assert own.stable < own.edge < own.unstable
            assert bool(own.doubt) == (kind == "embedded" and optimizer == "sgd")
    for kind in ("own", "cut"):
        assert band(kind, "lion")[:5] == band(kind, "adamw")[:5]
        assert band(kind, "lion").doubt.endswith("of such a model; the band is that of adamw")


def test_where_lion_and_adafactor_ran_for_real_their_bands_are_their_own():
    adamw, lion = band("embedded", "adamw"), band("embedded", "lion")
    assert lion.stable < adamw.stable
    assert lion.doubt.startswith("of 18 real runs with Lion ")
    assert band("embedded", "adafactor")[:5] == adamw[:5]


@pytest.mark.parametrize("optimizer", ["adamw", "lion", "adafactor", "sgd"])
def test_between_what_stalls_on_all_models_and_on_none_it_is_told_as_open(optimizer):
    own = band("embedded", optimizer)
    assert own.learns < own.may_stall


@pytest.mark.parametrize("optimizer", ["adamw", "lion", "adafactor"])
def test_a_model_whose_real_runs_stall_further_on_has_a_bound_of_its_own(optimizer):
    own = band("embedded", optimizer, "HuggingFaceTB/SmolLM2-135M")
    assert own == band("embedded", optimizer)._replace(learns=0.08)
    assert band("embedded", optimizer, "google/gemma-3-270m") == band("embedded", optimizer)
    assert band("own", optimizer, "HuggingFaceTB/SmolLM2-135M") == band("own", optimizer)


def test_fewer_rows_than_the_run_has_widen_the_band_upwards():
    assert with_fewer_rows(BAND, 2, 2) == BAND
    assert with_fewer_rows(BAND, 8, 2) == BAND._replace(unstable=1.0, learns=0.01)
    assert with_fewer_rows(BAND, 128, 2) == BAND._replace(unstable=1.0, learns=0.0025)  # more than 8 were not measured
    wide = judge(_plan(0.08), Edge(0.1, reached=True), with_fewer_rows(BAND, 8, 2), whole=True)
    assert (wide.word, wide.headroom) == ("BORDERLINE", pytest.approx(0.25))


def test_a_doubt_or_a_start_from_an_svd_makes_a_verdict_only_likely():
    assert judge(_plan(0.001), Edge(0.1, reached=True), BAND, whole=True).certain
    assert not judge(_plan(0.001), Edge(0.1, reached=True), BAND._replace(doubt="why"), whole=True).certain
    plan = _plan(0.001)
    from_svd = plan._replace(arm=plan.arm._replace(init="svd"))
    assert not judge(from_svd, Edge(0.1, reached=True), BAND, whole=True).certain


def _causes(edges, **more):
    given = {"first_rate": 1e-5, "broken_at": -1, "unmoved": 0.0, **more}
    moved = {name: Edge(0.1 * times, reached=True) for name, times in edges.items()}
    return diagnose(given.pop("word", "UNSTABLE"), Edge(0.1, reached=True), moved, (), **given).name


def test_the_decision_table():
    still = {"scale": 1.0, "l2": 4.0, "module": 1.4}
    assert _causes(still) == "rate-scale"
    assert _causes({**still, "scale": 2.7}) == "outliers"
    assert _causes({**still, "module": 2.7}) == "input-scale"
    assert _causes({**still, "module": 2.7, "scale": 2.7}) == "rate-scale"
    assert _causes({**still, "fp32": 2.7}) == "precision"
    assert _causes(still, broken_at=1) == "precision"
    assert _causes(still, first_rate=0.1) == "base"
    assert _causes({}, word="NOT LEARNING") == "too-little"
    assert _causes({}, word="NOT LEARNING", unmoved=0.9) == "rounding"


def test_none_of_this_needs_torch():
    code = (
        "import sys; sys.modules['torch'] = None; import loralint.probe.plan, loralint.probe.verdict, "
        "loralint.probe.diagnosis, loralint.probe.request; print('torch' in sys.modules and sys.modules['torch'])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "None"


def test_a_rate_next_to_nothing_is_far_below_the_edge():
    found = judge(_plan(5e-324), Edge(1000.0, reached=False), Band(0.05, 0.1, 0.2, 0.02), whole=True)
    assert found is not None
    assert (found.word, found.headroom) == ("STABLE", inf)


@pytest.mark.parametrize(
    ("base", "width", "elsewhere"),
    [("Qwen/Qwen2.5-0.5B", 896, False), ("Qwen/Qwen2.5-0.5B", 576, True), ("a/b", 576, False)],
)
def test_weights_of_another_width_are_another_model_s(base, width, elsewhere):
    asked = scope(CONFIG.replace("Qwen/Qwen2.5-0.5B", base))
    told = compared(plan(asked), asked, width)
    assert told.elsewhere == elsewhere
    assert any("of width 576" in one for one in told.assumed) == elsewhere
