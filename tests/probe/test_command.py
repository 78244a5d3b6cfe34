"""`check --probe` as a user meets it."""

from __future__ import annotations

import json
import math
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
    assert "--probe needs torch: pip install 'loralint[probe]'" in result.output.replace("\n", " ")


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


@pytest.mark.torch
def test_a_rate_beyond_the_edge_is_found_with_what_to_write(trained):
    run = trained(CONFIG.replace("0.0002", "0.2"), "--select", "LL851,LL852,LL853")
    (finding,) = run["findings"]
    assert (finding["rule"], finding["tier"], finding["key"]) == ("LL851", "A", "learning_rate")
    facts = _facts(run)
    assert (facts["verdict"], facts["cause"]) == ("UNSTABLE", "rate-scale")
    assert [table["name"] for table in run["tables"]] == ["verdict", "controls", "inputs", "spectrum"]
    suggested = float(finding["help"].split("learning_rate: ")[1].split(" ")[0])
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
    assert all(run.notes[0].message.startswith("probe: interrupted after 3 of 36 steps") for run in (first, second))
    assert len(calls) == 3


def test_rows_without_a_probe_are_a_mistake(probe, tmp_path):
    from click.testing import CliRunner

    from loralint.cli import main

    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    result = CliRunner().invoke(main, ["check", "config.yaml", "--isolated", "--probe-data", "rows.jsonl"])
    assert result.exit_code == 2
    assert "--probe-data is the text of --probe" in result.output


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
