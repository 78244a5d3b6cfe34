from __future__ import annotations

import loralint
from loralint.frameworks.detect import detect
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

ROLES = """\
rlhf_type: grpo
model: Qwen/Qwen2.5-7B-Instruct
dataset: org/rows#2000
reward_funcs: [accuracy]
micro_batch_size: 2
global_batch_size: 16
num_generations: 8
max_length: 4096
lr: 5e-5
lr_warmup_fraction: 0.0
lora_rank: 64
colocate_groups: [[train, rollout]]
sleep_level: 1
train:
  gpus: 4
  tuner_type: lora
  lora_rank: 8
  lora_alpha: 32
  output_dir: out
rollout:
  gpus: 4
  vllm_max_model_len: 8192
"""


def test_a_role_wins_over_what_all_share():
    document = read_bytes(ROLES.encode(), "c.yaml")
    found = detect(document)
    assert found is not None
    assert found.module == "ms_swift_ray"
    run = assemble(document, Options())
    assert run is not None
    expected = {
        "adapter.method": "lora", "adapter.rank": 8, "adapter.alpha": 32, "optim.lr": 5e-5, "batch.global": 16,
        "train.task": "grpo", "checkpoint.output_dir": "out", "rl.num_generations": 8,
    }  # fmt: skip
    assert {field: run.config.get(field).value for field in expected} == expected
    assert run.config.get("adapter.rank").key == "train.lora_rank"


def test_one_completion_is_enough_beside_a_teacher(tmp_path):
    path = tmp_path / "ray.yaml"
    alone = ROLES + "num_generations: 1\n"
    path.write_text(alone, encoding="utf-8")
    assert "LL333" in {one.rule for one in loralint.check(path).runs[0].findings}
    path.write_text(alone + "teacher_model: Qwen/Qwen3-32B\n", encoding="utf-8")
    assert "LL333" not in {one.rule for one in loralint.check(path).runs[0].findings}


def test_the_sections_of_roles_are_no_unknown_arguments(tmp_path):
    path = tmp_path / "ray.yaml"
    path.write_text(ROLES, encoding="utf-8")
    assert loralint.check(path).runs[0].findings == ()


def test_a_fault_is_found_in_the_role(tmp_path):
    path = tmp_path / "ray.yaml"
    path.write_text(ROLES.replace("  lora_rank: 8\n", "  lora_rank: 0\n"), encoding="utf-8")
    assert [(one.rule, one.key) for one in loralint.check(path).runs[0].findings] == [("LL304", "train.lora_rank")]
