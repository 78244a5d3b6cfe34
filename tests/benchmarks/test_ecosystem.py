from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "ecosystem.py"
NOW = f"{sys.executable} -m loralint"
GOOD = """\
base_model: NousResearch/Llama-2-7b-hf
adapter: lora
lora_r: 16
lora_alpha: 16
lora_target_linear: true
micro_batch_size: 1
learning_rate: 0.0002
datasets: [{path: a/b, type: alpaca}]
"""


def compare(folder, old, new, *options):
    command = [sys.executable, str(SCRIPT), str(folder), "--old", old, "--new", new, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_same_version_changes_nothing(tmp_path):
    (tmp_path / "config.yaml").write_text(GOOD.replace("lora_alpha: 16", "lora_alpha: 0"))
    done = compare(tmp_path, NOW, NOW)
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["runs: 1 before, 1 after", "## new: 0 findings", "## lost: 0 findings"]


def test_a_version_that_says_more_is_told_by_rule(tmp_path):
    (tmp_path / "config.yaml").write_text(GOOD.replace("lora_alpha: 16", "lora_alpha: 0"))
    quiet = tmp_path / "quiet.py"
    quiet.write_text("import sys\nfrom loralint.cli import main\nsys.argv += ['--ignore', 'LL206']\nmain()\n")
    done = compare(tmp_path, f"{sys.executable} {quiet}", NOW)
    assert done.returncode == 1
    assert "## new: 1 findings\nS LL206 alpha-zero: 1\n" in done.stdout
    assert "config.yaml  lora_alpha" in done.stdout


def test_options_behind_two_dashes_go_to_both_versions(tmp_path):
    (tmp_path / "config.yaml").write_text(GOOD.replace("lora_alpha: 16", "lora_alpha: 0"))
    silent = tmp_path / "silent.py"
    silent.write_text("import sys\nfrom loralint.cli import main\nsys.argv += ['--ignore', 'ALL']\nmain()\n")
    done = compare(tmp_path, f"{sys.executable} {silent}", NOW, "--", "--ignore", "LL206")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["runs: 1 before, 1 after", "## new: 0 findings", "## lost: 0 findings"]


def test_a_command_that_gives_no_report_ends_it(tmp_path):
    done = compare(tmp_path, f"{sys.executable} -c pass", NOW)
    assert done.returncode == 1
    assert "no report" in done.stderr
