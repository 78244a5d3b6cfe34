"""The round before a launch, in one go."""

from __future__ import annotations

KEY = "0123456789abcdef0123456789abcdef01234567"
CONFIG = """\
stage: sft
finetuning_type: lora
model_name_or_path: Qwen/Qwen2.5-7B
lora_rank: 16
lora_dropout: -0.1
learning_rate: 1.0e-4
gradient_accumulation_steps: 8
deepspeed: ds.json
"""


def test_the_whole_round(command, folder):
    (folder / "run").mkdir()
    (folder / "run" / "train.yaml").write_text(CONFIG)
    (folder / "run" / "ds.json").write_text('{"gradient_accumulation_steps": 4}')
    (folder / "run" / "run.sh").write_text(
        f"export WANDB_API_KEY={KEY}\nCUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train train.yaml\n"
    )
    done = command("inspect", "run")
    out = done.stdout.decode()
    assert done.returncode == 1
    assert KEY not in out
    _, _, told = out.partition("\nRuns: 1\n")
    assert told.startswith("  run/run.sh + run/train.yaml + run/ds.json (llamafactory): block, score ")
    assert "\nSecrets:\n  run/run.sh:1 WANDB_API_KEY [LL120]\n" in told
    assert "\nParts that disagree:\n  run/ds.json:1 training stops at start: DeepSpeed is told " in told
    assert "run/run.sh:2 CUDA_VISIBLE_DEVICES=0,1 sets dist.visible_devices" in told
    assert "\nNot checked:\n  no --gpu given (1 run)\n" in told
    assert "\nSafe fixes:" in told


def test_a_folder_without_a_run(command, folder):
    (folder / "empty").mkdir()
    done = command("inspect", "empty")
    assert done.returncode == 0
    titles = ("Runs", "Secrets", "Parts that disagree", "Variables that count", "Not checked", "Safe fixes")
    assert done.stdout.decode().endswith("\n\n".join(f"{title}: none" for title in titles) + "\n")
