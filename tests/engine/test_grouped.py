"""Outdated keywords of one call are one finding: the others beside it, all edits in one fix, comments by line."""

from __future__ import annotations

from click.testing import CliRunner

import loralint
from loralint.cli import main
from loralint.source.edit import apply

PROGRAM = """\
from transformers import TrainingArguments, AutoModelForCausalLM
from peft import LoraConfig
from trl import SFTTrainer
args = TrainingArguments(
    output_dir="out",
    learning_rate=2e-4,
    evaluation_strategy="no",{}
    no_cuda=False,
    use_mps_device=False,
    save_safetensors=True,
)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
SFTTrainer(model, args, train_dataset=rows, peft_config=LoraConfig(r=16, lora_alpha=32, task_type="CAUSAL_LM")).train()
"""


def _run(folder, comment="", target=("transformers=5.24.0",)):
    path = folder / "train.py"
    path.write_text(PROGRAM.format(comment), encoding="utf-8")
    (run,) = loralint.check(path, target=target).runs
    return run, [one for one in run.findings if one.rule in ("LL103", "LL104")]


def test_one_finding_for_each_rule_and_call(tmp_path):
    _, found = _run(tmp_path)
    assert [(one.rule, one.span.line, [other.line for other in one.related]) for one in found] == [
        ("LL103", 7, [8]),
        ("LL104", 9, [10]),
    ]
    assert found[0].message.endswith("so it is with 1 more keyword of the call")
    assert found[0].related[0].message.startswith("write `TrainingArguments.use_cpu`")


def test_its_fix_mends_all_of_them(tmp_path):
    _, found = _run(tmp_path)
    edits = [edit for one in found for edit in one.fix.edits]
    text = apply(PROGRAM.format(""), edits)
    assert 'eval_strategy="no"' in text
    assert "use_cpu=False" in text
    assert "use_mps_device" not in text
    assert "save_safetensors" not in text


def test_a_comment_lifts_its_own_line_only(tmp_path):
    _, found = _run(tmp_path, "  # loralint: ignore[LL103] kept for the old image", target=())
    assert [(one.span.line, one.suppressed is not None) for one in found if one.rule == "LL103"] == [
        (7, True),
        (8, False),
    ]


def test_who_counts_or_mends_them_gets_each(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(""), encoding="utf-8")
    (run,) = loralint.check(path, grouped=False).runs
    assert [(one.rule, one.span.line) for one in run.findings] == [
        ("LL103", 7), ("LL103", 8), ("LL104", 9), ("LL104", 10)
    ]  # fmt: skip
    assert not any(one.related for one in run.findings)


def test_a_baseline_knows_each_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM.format(""), encoding="utf-8")
    assert CliRunner().invoke(main, ["baseline", "train.py"]).exit_code == 0
    found = CliRunner().invoke(main, ["check", "train.py", "--baseline", "loralint-baseline.json", "--fail-on", "B"])
    assert found.exit_code == 0, found.output


COMMAND = """\
deepspeed --module openrlhf.cli.train_sft --seed 1 \\
   --max_len 2048 --dataset a/b \\
   --pretrain meta-llama/Meta-Llama-3-8B \\
   --learning_rate 5e-5 --max_epochs 1
"""


def test_flags_that_one_change_renamed_are_one_finding(tmp_path):
    path = tmp_path / "train.sh"
    path.write_text(COMMAND, encoding="utf-8")
    (run,) = loralint.check(path).runs
    (found,) = [one for one in run.findings if one.rule == "LL103"]
    assert (found.key, found.span.line) == ("seed", 1)
    assert "so it is with 5 more flags of the command" in found.message
    assert [(one.key, one.line) for one in found.related] == [
        ("max_len", 2), ("dataset", 2), ("pretrain", 3), ("learning_rate", 4), ("max_epochs", 4),
    ]  # fmt: skip
    assert found.related[0].message.startswith("write `data.max_len` instead of `max_len`")
    assert len([one for one in loralint.check(path, grouped=False).runs[0].findings if one.rule == "LL103"]) == 6
