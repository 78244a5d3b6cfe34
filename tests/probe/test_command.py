"""`check --probe` as a user meets it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

CONFIG = """base_model: NousResearch/Llama-2-7b-hf
adapter: lora
lora_r: 8
lora_alpha: 16
lora_target_modules: [q_proj, v_proj]
micro_batch_size: 1
max_steps: 500
optimizer: adamw_torch
lr_scheduler: constant
learning_rate: 0.0002
"""


@pytest.fixture
def probe(tmp_path: Path, monkeypatch):
    """probe(text of the config, options ...) -> what the command gave."""
    from loralint.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LORALINT_TRACEBACK", "1")

    def run(text: str, *options: str) -> Result:
        (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
        return CliRunner().invoke(main, ["check", "config.yaml", "--isolated", "--probe", *options])

    return run


def test_without_torch_it_says_what_to_install(probe, monkeypatch):
    monkeypatch.setattr("loralint.probe.request.find_spec", lambda name: None if name == "torch" else name)
    result = probe(CONFIG)
    assert result.exit_code == 2
    assert "--probe needs torch: pip install '.[probe]' in a checkout" in result.output.replace("\n", " ")


@pytest.fixture
def trained(probe):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")

    def run(text: str, *options: str):
        result = probe(text, "--format", "json", *options)
        return json.loads(result.stdout)["runs"][0]

    return run


def _facts(run) -> dict[str, object]:
    return dict(run["tables"][0]["rows"])


@pytest.mark.torch
def test_a_usual_run_is_stable_and_the_verdict_comes_first(probe, trained):
    lines = probe(CONFIG).output.splitlines()
    assert lines[0].startswith("probe: STABLE. Learning rate 0.0002 is ")
    assert "x below the edge (the embedded model (3.5 M), 36 steps of 2x32 tokens" in lines[0]
    run = trained(CONFIG)
    assert run["verdict"] == "pass"
    assert [table["name"] for table in run["tables"]] == ["verdict", "inputs", "spectrum"]
    assert [one["name"] for one in run["series"]] == ["ramp", "course", "gradient", "update"]
    assert _facts(run)["headroom"] > 5
    assert _facts(run)["course_steps"] == 36


@pytest.mark.torch
@pytest.mark.parametrize(
    ("headroom", "said"),
    [
        (99.6, "100 x below"),
        (572.0, "570 x below"),
        (0.0001, "10,000 x above"),
        (0.21, "4.8 x above"),
        (1.0, "1 x below"),
    ],
)
def test_how_far_the_edge_lies_is_written_as_people_do(headroom, said):
    pytest.importorskip("torch")
    from loralint.probe.report import place
    from loralint.probe.verdict import Verdict

    assert place(Verdict("STABLE", headroom, 1e-3, exact=True, certain=True)) == f"{said} the edge"


@pytest.mark.torch
def test_a_rate_beyond_the_edge_is_found_with_what_to_write(trained):
    run = trained(CONFIG.replace("0.0002", "0.2"), "--select", "LL851,LL852,LL853")
    (finding,) = run["findings"]
    assert (finding["rule"], finding["tier"], finding["key"]) == ("LL851", "A", "learning_rate")
    facts = _facts(run)
    assert (facts["verdict"], facts["cause"]) == ("UNSTABLE", "rate-scale")
    assert [table["name"] for table in run["tables"]] == ["verdict", "controls", "inputs", "spectrum"]
    assert 2 <= facts["course_steps"] < facts["steps"] == 36  # what is hopeless does not go on
    assert facts["edge_rate"] < facts["ramp_edge_rate"]  # a ramp is at each rate for a step only
    assert facts["rate"] > facts["edge_rate"]
    assert "36 steps of 2x32 tokens" in run["tables"][0]["title"]
    assert "its bands are for" not in run["tables"][0]["title"]
    suggested = float(finding["help"].split("write ")[1].split(" or less for learning_rate")[0])
    assert suggested <= facts["highest_stable_rate"]
    again = trained(CONFIG.replace("0.0002", str(suggested)), "--select", "LL851,LL852,LL853")
    assert _facts(again)["verdict"] == "STABLE"


@pytest.mark.torch
def test_the_same_seed_gives_the_same_numbers_and_another_others(trained):
    first, same, other = (trained(CONFIG, "--seed", seed, "--probe-steps", "6")["series"] for seed in "112")
    assert first == same
    assert first != other


@pytest.mark.torch
def test_what_cannot_be_probed_is_a_note(trained):
    run = trained(CONFIG.replace("adapter: lora\n", ""))
    assert "tables" not in run
    (note,) = [one for one in run["notes"] if one["message"].startswith("probe:")]
    assert (note["kind"], note["message"]) == (
        "not-checked",
        "probe: the probe is of LoRA, and this run trains the whole model",
    )


@pytest.mark.torch
@pytest.mark.parametrize("rank", [8, 1024])
def test_a_probe_that_is_out_of_time_says_so_and_nothing_of_what_it_did_not_see(trained, rank):
    run = trained(CONFIG.replace("lora_r: 8", f"lora_r: {rank}"), "--probe-seconds", "0.01")
    assert _facts(run)["verdict"] is None
    (note,) = [note["message"] for note in run["notes"] if "probe:" in note["message"]]
    assert note == "probe: stopped after 0 of 36 steps: the time given is over, which is too early to tell"


@pytest.mark.torch
def test_a_toy_alone_gives_no_verdict_without_a_step(trained):
    run = trained(CONFIG.replace("adamw_torch", "sgd").replace("0.0002", "900"), "--probe-seconds", "0.001")
    assert _facts(run)["verdict"] is None


@pytest.mark.torch
@pytest.mark.parametrize("at", ["controls", "spectra", "suggestion"])
def test_ctrl_c_after_the_ramp_leaves_what_the_ramp_told(probe, monkeypatch, at):
    pytest.importorskip("safetensors.torch")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    name = {"controls": "experiment._controls", "spectra": "experiment.spectra", "suggestion": "suggest.suggested"}[at]
    monkeypatch.setattr(f"loralint.probe.{name}", interrupt)
    result = probe(CONFIG.replace("0.0002", "0.2"), "--no-report", "--probe-suggest", "--format", "json")
    (run,) = json.loads(result.stdout)["runs"]
    assert (result.exit_code, _facts(run)["verdict"]) == (130, "UNSTABLE")
    assert any(note["message"].startswith("probe: interrupted") for note in run["notes"])


@pytest.mark.torch
@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")])
def test_too_little_memory_leaves_the_findings_that_need_no_probe(probe, monkeypatch, error):
    pytest.importorskip("safetensors.torch")

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("torch.bmm", fail)
    result = probe(CONFIG.replace("0.0002", "0.2"), "--no-report")
    assert "LL405" in result.output
    assert result.output.startswith("probe: not checked: this machine has too little memory free for it")


@pytest.mark.torch
@pytest.mark.parametrize(("steps", "said"), [("2", "2 steps are too few"), ("12", "12 steps are too few")])
def test_a_short_ramp_gives_no_verdict_at_a_rate_that_breaks(probe, trained, steps, said):
    hot = CONFIG.replace("0.0002", "0.2")
    assert _facts(trained(hot))["verdict"] == "UNSTABLE"
    run = trained(hot, "--probe-steps", steps)
    assert _facts(run)["verdict"] is None
    assert len(run["series"][0]["points"]) == int(steps)
    assert probe(hot, "--probe-steps", steps).output.startswith(f"probe: no verdict: {said}, since a shorter ramp")


@pytest.mark.torch
def test_a_long_ramp_breaks_earlier_and_gives_no_verdict_on_a_run_that_is_stable(probe, trained):
    assert _facts(trained(CONFIG))["verdict"] == "STABLE"
    assert probe(CONFIG, "--probe-steps", "40").output.startswith(
        "probe: no verdict: 40 steps are too many, since a longer ramp breaks earlier; the bands are for 36"
    )


@pytest.mark.torch
def test_stable_says_where_it_was_not_judged_whether_the_run_learns(probe):
    pytest.importorskip("safetensors.torch")
    endless = CONFIG.replace("max_steps: 500\n", "num_epochs: 1\n").replace("0.0002", "0.00000001")
    line = probe(endless).output.splitlines()[0]
    assert "STABLE" in line
    assert "whether it learns was not judged: its length is unknown, give --rows" in line
    assert "e+0" not in line
    packed = probe(endless + "sample_packing: true\n", "--rows", "2000").output.splitlines()[0]
    assert "its length is unknown, give a number of steps" in packed  # which no number of rows tells
    assert probe(endless, "--rows", "2000").output.startswith("probe: NOT LEARNING")
    assert "was not judged" not in probe(CONFIG).output.splitlines()[0]


@pytest.mark.torch
def test_what_does_not_learn_has_no_control_arms_and_is_told_how_far_its_rate_may_rise(trained):
    run = trained(CONFIG.replace("0.0002", "0.00000001"), "--select", "LL853")
    assert _facts(run)["verdict"] == "NOT LEARNING"
    assert "controls" not in [table["name"] for table in run["tables"]]
    highest = float(run["findings"][0]["help"].split("rates up to ")[1].split(" ")[0])
    assert 0.0002 < highest <= _facts(run)["highest_stable_rate"]


@pytest.mark.torch
def test_a_start_from_an_svd_is_not_held_against_other_inputs(trained):
    run = trained(CONFIG.replace("0.0002", "0.05") + "peft_init_lora_weights: pissa\n")
    assert _facts(run)["verdict"] in ("BORDERLINE", "UNSTABLE")
    assert "controls" not in [table["name"] for table in run["tables"]]


@pytest.mark.torch
def test_a_borderline_cause_is_none_that_is_certain(probe):
    pytest.importorskip("safetensors.torch")
    said = probe(CONFIG.replace("0.0002", "0.02")).output
    assert "BORDERLINE" in said.splitlines()[0]
    assert "the edge; if it breaks: " in said.splitlines()[0]
    assert "; if it breaks: " in said.split("LL852")[1]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("optimizer", "rate", "word"), [("sgd", "0.0005", "likely STABLE"), ("adamw_torch", "0.000002", "STABLE")]
)
def test_what_may_be_too_slow_for_a_real_model_is_told_in_the_first_line(probe, optimizer, rate, word):
    pytest.importorskip("safetensors.torch")
    line = probe(CONFIG.replace("adamw_torch", optimizer).replace("0.0002", rate)).output.splitlines()[0]
    assert line.startswith(f"probe: {word}. Learning rate {float(rate):g} is ")
    assert "; on some models a run this slow learns nothing, --probe-model tells (" in line


@pytest.mark.torch
@pytest.mark.parametrize("format_", ["full", "concise"])
def test_of_several_runs_each_verdict_names_its_file(probe, tmp_path, format_):
    pytest.importorskip("safetensors.torch")
    (tmp_path / "b.yaml").write_text(CONFIG.replace("lora_r: 8", "lora_r: 4"), encoding="utf-8")
    lines = probe(CONFIG, "b.yaml", "--format", format_, "--no-report").output.splitlines()
    heads = [line for line in lines if "probe: STABLE" in line]
    assert [line.partition(": probe: STABLE")[0] for line in heads] == ["config.yaml", "b.yaml"]


@pytest.mark.torch
@pytest.mark.parametrize("at", ["safetensors.torch.load_file", "torch.nn.functional.cross_entropy"])
def test_ctrl_c_before_training_leaves_the_findings_that_need_no_probe(probe, monkeypatch, at):
    pytest.importorskip("safetensors.torch")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(at, interrupt)
    result = probe(CONFIG.replace("0.0002", "0.2"), "--no-report")
    assert result.exit_code == 130
    assert "LL405" in result.output
    assert "probe: not checked: interrupted before" in result.output


@pytest.mark.torch
def test_inputs_are_read_while_there_is_time_and_once_at_least():
    pytest.importorskip("torch")
    from loralint.probe.train import Watch

    assert list(Watch(until=0.0).in_time([1, 2, 3])) == [1]
    assert list(Watch().in_time([1, 2, 3])) == [1, 2, 3]


@pytest.mark.torch
def test_a_run_that_stands_in_no_model_is_refused(probe):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    result = probe(CONFIG, "--probe-model", "no/such-model")
    assert result.exit_code == 2
    assert "no such folder or file" in result.output


@pytest.mark.torch
def test_an_interrupted_probe_reports_what_it_saw():
    torch = pytest.importorskip("torch")
    from loralint.probe.arm import Arm
    from loralint.probe.base import embedded
    from loralint.probe.stack import Stack
    from loralint.probe.train import train

    def rates(step: int) -> tuple[float]:
        if step == 2:
            raise KeyboardInterrupt
        return (1e-4,)

    base = embedded()
    traces, stopped = train(Stack(base.model, [Arm(4, 8, ("q_proj",))]), base.batches(5, 2, 0), rates)
    assert stopped == "interrupted after 2 of 5 steps"
    assert [len(part) for part in traces[0][:5]] == [2] * 5
    assert torch.isfinite(torch.tensor(traces[0].losses)).all()


@pytest.mark.torch
def test_a_probe_without_a_step_is_reported_with_its_page(probe):
    pytest.importorskip("torch")
    pytest.importorskip("jinja2")
    result = probe(CONFIG, "--probe-seconds", "0.000001")
    assert result.exit_code == 0, result.output
    assert "stopped after 0 of 36 steps" in result.output
    assert Path("loralint-report.html").is_file()


@pytest.mark.torch
def test_the_embedded_model_knows_its_text():
    pytest.importorskip("torch")
    from loralint.probe.base import LEAST_KNOWN, embedded, loss_of

    base = embedded()
    assert base.rows.shape == (288, 32)
    assert loss_of(base, 288) < math.log(base.vocabulary) - LEAST_KNOWN
    assert sum(one.numel() for one in base.model.parameters()) == 3_542_208


@pytest.mark.torch
def test_after_an_interrupt_no_other_run_is_probed(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    import loralint
    from loralint.probe.request import Request

    def interrupt(steps: int) -> None:
        del steps
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    calls: list[int] = []
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(CONFIG, encoding="utf-8")
    first, second = loralint.check(tmp_path, probe=Request(progress=interrupt)).runs
    assert dict(first.tables[0].rows)["verdict"] is None
    assert second.tables == ()
    assert first.notes[0].message.startswith("probe: interrupted after 3 of 36 steps")
    assert second.notes[0].message == "probe: interrupted before it began"
    assert len(calls) == 3


@pytest.mark.parametrize(
    "options",
    [["--probe-data", "rows.jsonl"], ["--probe-model", "m"], ["--probe-steps", "36"], ["--probe-seconds", "9"],
     ["--probe-suggest"], ["--probe-svd"], ["--device", "cpu"], ["--seed", "0"]],
)  # fmt: skip
def test_what_a_probe_is_told_is_a_mistake_without_one(tmp_path, options):
    from loralint.cli import main

    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    result = CliRunner().invoke(main, ["check", str(tmp_path / "config.yaml"), "--isolated", *options])
    assert result.exit_code == 2
    assert f"{options[0]} needs --probe" in result.output


@pytest.mark.torch
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [("--probe-model", "", "--probe-model is empty"), ("--probe-data", "", "--probe-data is empty"),
     ("--probe-seconds", "nan", "--probe-seconds nan is no time above 0"), ("--seed", str(2**70), "--seed")],
)  # fmt: skip
def test_values_that_nothing_can_go_by_are_refused(probe, option, value, said):
    result = probe(CONFIG, option, value)
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.torch
@pytest.mark.parametrize("asked", [{"device": "gpu"}, {"steps": 0}, {"seed": -1}, {"seed": 2**32}, {"seconds": 0.0}])
def test_a_request_from_python_is_refused_likewise(asked):
    from loralint.probe.request import Request, prober

    with pytest.raises(ValueError, match=f"{next(iter(asked))}"):
        prober(Request(**asked))


@pytest.mark.torch
def test_the_embedded_model_is_not_fed_the_user_s_rows(probe, trained, tmp_path):
    (tmp_path / "rows.txt").write_text("the cat sat on the mat, " * 200, encoding="utf-8")
    run = trained(CONFIG, "--probe-data", "rows.txt")
    assert "tables" not in run
    (note,) = [one for one in run["notes"] if one["message"].startswith("probe:")]
    assert note["message"].startswith(
        "probe: the embedded model reads its own text only; --probe-data needs --probe-model"
    )
    result = probe(CONFIG, "--probe-data", "gone.jsonl")
    assert result.exit_code == 2
    assert "gone.jsonl" in result.output


def test_a_config_that_is_not_there_is_told_before_torch_is_loaded(tmp_path):
    code = "import sys; from loralint.cli import main; main(['check', 'gone.yaml', '--probe'], standalone_mode=False)"
    asked = f"try:\n    {code}\nexcept Exception as error:\n    print(error, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "gone.yaml: no such file or folder False\n"
