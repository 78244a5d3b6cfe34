"""`loralint watch` as a user meets it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

GOOD = [round(2.0 * 0.97**step + 0.3, 4) for step in range(60)]
BROKEN = [1.6, 1.5, 1.55, 1.6, 1.5, *[7.5] * 8]


def _write(path: Path, losses, steps: int = 0) -> None:
    entries = [{"loss": loss, "grad_norm": 0.4, "step": step} for step, loss in enumerate(losses, 1)]
    path.write_text(json.dumps({"log_history": entries, "max_steps": steps or len(losses)}, indent=1), encoding="utf-8")


def test_a_good_log_passes(invoke, folder):
    _write(folder / "trainer_state.json", GOOD)
    result = invoke("watch", "trainer_state.json")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "  trainer_state to step 60 of 60: loss 2.3 to 0.632, grad_norm 0.4 to 0.4",
        "",
        "trainer_state.json (trainer_state): pass, score 100/100; no findings",
    ]


def test_a_diverging_log_fails_with_what_to_do(invoke, folder):
    _write(folder / "trainer_state.json", BROKEN)
    result = invoke("watch", ".")
    assert result.exit_code == 1
    assert "[S] the adapter gets worse and does not come back  LL862 log-diverging" in result.output
    assert "why:   loss stands at 7.5, and it began at 1.55 (from step 8 on)" in result.output
    assert "help:  stop it and go on from a checkpoint before step 8, with learning_rate at a third" in result.output


def test_json_holds_the_curves(invoke, folder):
    _write(folder / "trainer_state.json", GOOD)
    (run,) = json.loads(invoke("watch", "trainer_state.json", "--format", "json").output)["runs"]
    assert [one["name"] for one in run["series"]] == ["loss", "grad_norm"]
    assert run["series"][0]["points"][0] == [1, 2.3]
    assert run["tables"][0]["rows"][0] == ["loss", 60, 2.3, GOOD[-1], 2.3, GOOD[-1]]
    assert [note["message"] for note in run["notes"]] == []


@pytest.mark.parametrize(
    ("options", "code"), [((), 0), (("--fail-on", "B"), 1), (("--fail-on", "B", "--ignore", "LL869"), 0)]
)
def test_what_fails_is_chosen(invoke, folder, options, code):
    rows = "".join(
        f"{step},{loss},{held}\n" for step, loss, held in zip(range(9), GOOD, [1.5, 1.2, *[1.4] * 7], strict=False)
    )
    (folder / "log.csv").write_text("step,loss,eval_loss\n" + rows, encoding="utf-8")
    assert invoke("watch", "log.csv", *options).exit_code == code


@pytest.mark.parametrize("path", ["gone.json", "none.yaml", "."])
def test_what_is_no_log_is_a_mistake(invoke, path):
    result = invoke("watch", path)
    assert result.exit_code == 2
    assert result.output.startswith("Usage:")


def test_an_unknown_rule_is_a_mistake(invoke, folder):
    _write(folder / "trainer_state.json", GOOD)
    assert "no rule matches" in invoke("watch", "trainer_state.json", "--select", "zebra").output


def test_following_ends_with_the_run(invoke, folder):
    path = folder / "trainer_state.json"

    def train() -> None:
        for end in range(10, 61, 10):
            _write(path, GOOD[:end], 60)
            time.sleep(0.15)

    runner = threading.Thread(target=train)
    runner.start()
    result = invoke("watch", ".", "--follow", "--every", "0.1", "--idle", "20")
    runner.join()
    assert result.exit_code == 0
    assert "to step 60 of 60" in result.output


def test_following_tells_at_once_and_ends_where_it_fails(invoke, folder):
    _write(folder / "trainer_state.json", BROKEN, 1000)
    started = time.monotonic()
    result = invoke("watch", ".", "--follow", "--every", "0.1", "--idle", "60")
    assert time.monotonic() - started < 20
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "step 13: S LL862 the adapter gets worse and does not come back: loss stands at 7.5"
    )


def test_following_a_run_that_stands_still_ends(invoke, folder):
    _write(folder / "trainer_state.json", GOOD[:10], 60)
    result = invoke("watch", ".", "--follow", "--every", "0.1", "--idle", "0.3")
    assert result.exit_code == 0
    assert "to step 10 of 60" in result.output
    assert invoke("watch", "elsewhere", "--follow", "--every", "0.1", "--idle", "0.2").exit_code == 2


def test_an_interrupt_leaves_what_was_seen(folder):
    _write(folder / "trainer_state.json", GOOD[:10], 60)
    # a job in the background of a shell has the interrupt switched off, and so have its children
    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from loralint.__main__ import run\nrun()"
    command = [sys.executable, "-c", code, "watch", ".", "--follow", "--every", "0.2"]
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, text=True, env={"PYTHONPATH": root}
    )
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert "interrupted" in err
    assert "to step 10 of 60" in out
    assert process.returncode == 0


def test_watching_loads_neither_torch_nor_readers_of_configs(folder):
    _write(folder / "trainer_state.json", GOOD)
    code = (
        "import sys; sys.argv = ['loralint', 'watch', '.']\nfrom loralint.__main__ import run\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('torch', 'numpy', 'tensorboard') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
