"""Scripts that take their settings from variables: of the line that starts them, of a manifest, else their defaults."""

from __future__ import annotations

import textwrap

import pytest

import loralint
from loralint.model import Unknown

SCRIPT = """\
import os
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
lora = LoraConfig(r=int(os.environ.get("RANK_OF_LORA", "8")), lora_alpha=os.getenv("ALPHA", 16))
args = SFTConfig(output_dir="out", learning_rate=float(os.environ["RATE"]))
SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, peft_config=lora).train()
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: train
        image: x
        command: [python, /code/train.py]
        env: [{name: RATE, value: '3'}, {name: RANK_OF_LORA, value: '4'}]
        resources: {limits: {nvidia.com/gpu: 1}}
        volumeMounts: [{name: code, mountPath: /code}]
      volumes: [{name: code, configMap: {name: code}}]
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: code}\ndata:\n  train.py: |\n"


def _settings(folder, start, text="", script=SCRIPT, **options):
    (folder / "train.py").write_text(script, encoding="utf-8")
    if text:
        (folder / start).write_text(text, encoding="utf-8")
    (run,) = loralint.check(folder / start, show_settings=True, **options).runs
    values = {row.parameter: row.value for row in run.settings}
    found = [values[field] for field in ("optim.lr", "adapter.rank", "adapter.alpha")]
    return run, found, [None if isinstance(one.value, Unknown) else one.value for one in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("RATE=3 python train.py", [3, 8, 16]),
        ("export RATE=3 ALPHA=64\nRANK_OF_LORA=4 python train.py", [3, 4, 64]),
        ("RATE=$1 python train.py", [None, 8, 16]),
        ("python train.py", [None, 8, 16]),
    ],
)
def test_a_line_sets_what_the_script_reads(tmp_path, line, expected):
    assert _settings(tmp_path, "run.sh", f"{line}\n")[2] == expected


def test_it_is_told_of_the_variable_where_it_is_set(tmp_path):
    run, (rate, _, alpha), _ = _settings(tmp_path, "run.sh", "RATE=3 python train.py\n")
    assert (rate.key, rate.origin, rate.span.file) == ("RATE", "env", str(tmp_path / "run.sh"))
    assert alpha.span.file == str(tmp_path / "train.py")
    (found,) = [one for one in run.findings if one.rule == "LL405"]
    assert (found.tier, found.key, found.span.line, found.span.column) == ("S", "RATE", 1, 6)
    assert found.help.startswith("write RATE=0.0002 ")


def test_a_manifest_sets_it_too(tmp_path):
    text = f"{MAP}{textwrap.indent(SCRIPT, '    ')}---\n{JOB}"
    run, found, values = _settings(tmp_path, "job.yaml", text)
    assert values == [3, 4, 16]
    assert found[0].span.line == text[: text.index("RATE, value")].count("\n") + 1
    assert "LL405" in {one.rule for one in run.findings}


def test_a_default_is_only_assumed_where_nobody_sees_the_launch(tmp_path):
    script = SCRIPT.replace('os.environ["RATE"]', 'os.environ.get("RATE", "3")')
    run, _, values = _settings(tmp_path, "train.py", script=script)
    assert values == [3, 8, 16]
    assert [one.tier for one in run.findings if one.rule == "LL405"] == ["A"]
    assert _settings(tmp_path, "train.py", script=script, env={"RATE": "1e-4"})[2] == [1e-4, 8, 16]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("source .env\npython train.py", [3, 8, 48]),
        ("set -a\n. ./.env\nset +a\nRATE=2e-4 python train.py", [2e-4, 8, 48]),
        ("python train.py\nsource .env", [None, 8, 16]),
        ("if [ -f .env ]; then\n  source .env\nfi\npython train.py", [3, 8, 48]),
        ("case $1 in a) source .env;; *) source b.env;; esac\npython train.py", [None, 8, 16]),
    ],
)
def test_a_file_of_variables_that_the_line_sources(tmp_path, line, expected):
    (tmp_path / ".env").write_text("RATE=3\nALPHA='48'\nCUDA_VISIBLE_DEVICES=0\n", encoding="utf-8")
    run, found, values = _settings(tmp_path, "run.sh", f"{line}\n")
    assert values == expected
    if expected[0] == 3:
        assert (found[0].span.file, found[0].span.line) == (str(tmp_path / ".env"), 1)
        assert "LL405" in {one.rule for one in run.findings}


def test_the_callers_variables_and_files_of_them(tmp_path):
    (tmp_path / "my.env").write_text("RATE=3\nRANK_OF_LORA=4\n", encoding="utf-8")
    given = {"companions": (str(tmp_path / "my.env"),), "env": {"ALPHA": "48", "RATE": "5"}}
    assert _settings(tmp_path, "run.sh", "python train.py\n", **given)[2] == [3, 4, 48]
    assert _settings(tmp_path, "train.py", **given)[2] == [3, 4, 48]


def test_what_the_script_puts_there_itself_counts(tmp_path):
    script = SCRIPT.replace("lora =", 'os.environ["RATE"] = "2e-4"\nlora =')
    assert _settings(tmp_path, "run.sh", "RATE=3 python train.py\n", script)[2] == [2e-4, 8, 16]


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("load_dotenv()", [3, 8, 48]),
        ("load_dotenv('.env')", [3, 8, 48]),
        ("load_dotenv('other.env')", [None, 8, 16]),
        ("load_dotenv(find_dotenv())", [None, 8, 16]),
    ],
)
def test_a_file_of_variables_that_the_script_loads(tmp_path, load, expected):
    (tmp_path / ".env").write_text("RATE=3\nALPHA=48\n", encoding="utf-8")
    script = SCRIPT.replace("import os\n", f"import os\nfrom dotenv import find_dotenv, load_dotenv\n{load}\n")
    assert _settings(tmp_path, "run.sh", "python train.py\n", script)[2] == expected
    assert _settings(tmp_path, "train.py", script=script)[2] == expected
    if expected[0] == 3:
        assert _settings(tmp_path, "run.sh", "RATE=2e-4 python train.py\n", script)[2] == [2e-4, 8, 48]
