"""verl: two homes of a model, two engines with adapters of their own, a rank of 0."""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.flags import as_flags
from loralint.frameworks.readers.verl import READER
from loralint.frameworks.readers.verl_sft import READER as SFT
from loralint.model import Unknown

RL = """\
data: {train_files: d.parquet, max_prompt_length: 512}
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  model: {path: org/m, lora_rank: 64, lora_alpha: 32, target_modules: all-linear, use_remove_padding: true}
  actor:
    strategy: fsdp2
    ppo_mini_batch_size: 256
    ppo_micro_batch_size_per_gpu: 4
    kl_loss_coef: 0.001
    optim: {lr: 3e-6, lr_warmup_steps: -1, lr_warmup_steps_ratio: 0.1, weight_decay: 0.01}
    fsdp_config: {model_dtype: bf16, param_offload: true}
  rollout: {n: 5}
trainer: {total_epochs: 15, save_freq: 20, test_freq: -1, logger: [console, wandb]}
"""


def test_reads_the_rl_home(reading, observed):
    config = reading(READER, RL)
    expected = {
        "model.base": "org/m",
        "model.dtype": "bf16",
        "adapter.method": "lora",
        "adapter.rank": 64,
        "adapter.alpha": 32,
        "adapter.targets": "all-linear",
        "adapter.dropout": 0.0,
        "adapter.dtype": "bf16",
        "optim.name": "adamw",
        "optim.lr": 3e-6,
        "schedule.warmup_steps": None,
        "schedule.warmup_ratio": 0.1,
        "batch.micro": 4,
        "batch.global": 256,
        "train.task": "grpo",
        "train.epochs": 15,
        "train.report_to": ["wandb"],
        "precision.bf16": True,
        "data.datasets": ["d.parquet"],
        "data.padding_free": True,
        "eval.strategy": "no",
        "eval.steps": None,
        "checkpoint.save_strategy": "steps",
        "checkpoint.save_steps": 20,
        "dist.fsdp": True,
        "dist.fsdp_version": 2,
        "dist.fsdp_offload": True,
        "pref.beta": 0.001,
        "rl.num_generations": 5,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}


def test_reads_the_sft_home(reading):
    text = (
        "data: {train_batch_size: 32, micro_batch_size_per_gpu: 16, max_length: 2048}\n"
        "model: {partial_pretrain: org/m, strategy: fsdp2, lora_rank: 32, fsdp_config: {model_dtype: bfloat16}}\n"
        "optim: {lr: 2e-4, betas: [0.9, 0.95], lr_scheduler: cosine, clip_grad: 1.0}\ntrainer: {total_epochs: 1}\n"
    )
    config = reading(SFT, text)
    expected = {
        "model.base": "org/m",
        "adapter.method": "lora",
        "adapter.rank": 32,
        "adapter.alpha": 16,
        "adapter.targets": "all-linear",
        "adapter.dtype": "bf16",
        "optim.lr": 2e-4,
        "optim.beta1": 0.9,
        "optim.max_grad_norm": 1.0,
        "schedule.name": "cosine",
        "batch.micro": 16,
        "batch.global": 32,
        "train.task": "sft",
        "data.sequence_len": 2048,
        "dist.fsdp": True,
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_rank_0_trains_everything(reading):
    config = reading(
        SFT, "model: {lora_rank: 0, lora_alpha: 16, target_modules: all-linear, lora: {rank: 0, alpha: 32}}\n"
    )
    assert config.get("adapter.method").value == "full"
    for field in ("adapter.rank", "adapter.alpha", "adapter.targets", "adapter.dropout"):
        assert config.get(field).value is None, field


def test_the_adapter_of_the_megatron_engine_wins(reading):
    section = (
        "lora: {rank: 16, target_modules: ['*.linear_qkv']}, lora_rank: 8, lora_alpha: 4, target_modules: all-linear"
    )
    config = reading(READER, f"actor_rollout_ref: {{model: {{{section}}}}}\n")
    assert [config.get(f"adapter.{name}").value for name in ("method", "rank", "alpha")] == ["lora", 16, 32]
    assert config.get("adapter.targets").value == ["linear_qkv"]
    assert config.get("adapter.rank").shadowed == ()
    off = reading(READER, "actor_rollout_ref: {model: {lora: {rank: 0, alpha: 32}, lora_rank: 8}}\n")
    assert [off.get(f"adapter.{name}").value for name in ("method", "rank", "alpha")] == ["lora", 8, 16]


def test_what_is_inherited_is_unknown(reading):
    config = reading(READER, "defaults:\n  - ppo_trainer\n  - _self_\nactor_rollout_ref: {model: {lora_rank: 8}}\n")
    assert config.get("adapter.rank").value == 8
    assert isinstance(config.get("adapter.alpha").value, Unknown)
    assert isinstance(config.get("optim.lr").value, Unknown)


def test_observes_a_dropout_that_nobody_reads(reading, observed):
    found = observed(reading(SFT, "model: {lora_rank: 8, lora_dropout: 0.1}\n"))
    assert (found["model.lora_dropout"].kind, found["model.lora_dropout"].effect) == ("ignored", "harmless")
    assert observed(reading(SFT, "model: {lora_rank: 8, lora_dropout: 0.0}\n")) == {}


def test_writes_back(reading):
    config = reading(READER, "actor_rollout_ref: {model: {lora_rank: 8}}\n")
    assert config.write("adapter.rank", 16) == ("actor_rollout_ref.model.lora_rank", 16)
    assert config.write("adapter.method", "full") == ("actor_rollout_ref.model.lora_rank", 0)
    assert config.write("adapter.alpha", 32) == ("actor_rollout_ref.model.lora_alpha", 32)
    assert config.write("schedule.name", "constant_with_warmup") == (
        "actor_rollout_ref.actor.optim.lr_scheduler_type",
        "constant",
    )
    assert reading(SFT, "model: {lora_rank: 8}\n").key("optim.lr") == "optim.lr"


def test_fsdp_multiplies_in_the_dtype_that_is_asked_for(reading):
    for home in ("dtype: float16", "mixed_precision: {param_dtype: fp16}"):
        config = reading(READER, f"actor_rollout_ref: {{actor: {{strategy: fsdp2, fsdp_config: {{{home}}}}}}}\n")
        assert (config.get("precision.bf16").value, config.get("precision.fp16").value) == (False, True)
    engine = reading(SFT, "engine: {strategy: fsdp2, dtype: float16}\nmodel: {lora_rank: 8}\n")
    assert engine.get("precision.bf16").value is False
    assert engine.write("precision.fp16", True) == ("engine.dtype", "float16")


STEP = (
    "data: {{train_batch_size: {rows}}}\n"
    "actor_rollout_ref: {{actor: {{ppo_mini_batch_size: 64{more}}}, rollout: {{n: {n}}}}}\n"
)
WORLD = "trainer: {n_gpus_per_node: 8, nnodes: 1}\n"
SPLIT = (
    "actor_rollout_ref: {{model: {{use_remove_padding: {padding}}}, "
    "actor: {{ulysses_sequence_parallel_size: 2{more}}}}}\n"
)
LONG = (
    "data: {{max_prompt_length: 1024, max_response_length: 8192}}\n"
    "actor_rollout_ref: {{rollout: {{max_num_batched_tokens: {limit}, enable_chunked_prefill: {chunked}}}}}\n"
)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (STEP.format(rows=16, n=8, more=""), {"actor_rollout_ref.actor.ppo_mini_batch_size"}),
        (STEP.format(rows=64, n=8, more=""), set()),
        (STEP.format(rows=16, n=8, more=", use_dynamic_bsz: true"), set()),
        (STEP.format(rows=16, n=8, more="") + "async_training: {staleness_threshold: 0.1}\n", set()),
        (STEP.format(rows="${rows}", n=8, more=""), set()),
        (STEP.format(rows=65, n=1, more="") + WORLD, {"data.train_batch_size"}),
        (STEP.format(rows=65, n=8, more="") + WORLD, set()),
        (STEP.format(rows=65, n=1, more=", strategy: megatron") + WORLD, set()),
        (
            "critic: {ppo_micro_batch_size: 4, ppo_micro_batch_size_per_gpu: 1}\n",
            {"critic.ppo_micro_batch_size"},
        ),
        (
            "actor_rollout_ref: {rollout: {log_prob_micro_batch_size_per_gpu: 0}}\n",
            {"actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu"},
        ),
        ("actor_rollout_ref: {ref: {log_prob_micro_batch_size: 0}, actor: {use_dynamic_bsz: true}}\n", set()),
        (SPLIT.format(padding="false", more=""), {"actor_rollout_ref.model.use_remove_padding"}),
        (SPLIT.format(padding="true", more=""), set()),
        (SPLIT.format(padding="${padding}", more=""), set()),
        (LONG.format(limit=8192, chunked="false"), {"actor_rollout_ref.rollout.max_num_batched_tokens"}),
        (LONG.format(limit=9216, chunked="false"), set()),
        (LONG.format(limit=8192, chunked="true"), set()),
    ],
)
def test_batches_that_verl_does_not_take_together(reading, observed, text, keys):
    assert {key for key, one in observed(reading(READER, text)).items() if one.kind == "rejected"} == keys


def test_a_line_of_settings_rests_on_fsdp_and_its_optimizer(started):
    flags = {"actor_rollout_ref.model.lora_rank": 32, "actor_rollout_ref.actor.optim.lr": 3e-6}
    config = started(as_flags(READER), flags)
    assert (config.get("dist.fsdp").value, config.get("optim.name").value) == (True, "adamw")
    other = started(as_flags(READER), {**flags, "actor_rollout_ref.actor.strategy": "megatron"})
    assert (other.get("dist.fsdp").value, other.get("optim.name").value) == (False, None)


@pytest.mark.parametrize(
    ("word", "home"),
    [
        ("actor_rollout_ref.rollout.ppo_micro_batch_size_per_gpu=4", "actor_rollout_ref.actor"),
        ("actor_rollout_ref.actor.lora_rank=16", "actor_rollout_ref.model"),
        ("actor_rollout_ref.target_modules=all-linear", "actor_rollout_ref.model"),
    ],
)
def test_a_key_in_a_part_that_has_none_is_refused(tmp_path, word, home):
    key = word.partition("=")[0]
    command = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.lora_rank=8"
    found = {}
    for form in (word, f"+{word}"):
        (tmp_path / "run.sh").write_text(f"{command} {form}\n")
        [run] = check(tmp_path / "run.sh").runs
        found[form] = [(one.rule, one.key, home in one.message) for one in run.findings if one.key == key]
    assert found == {word: [("LL108", key, True)], f"+{word}": []}


ACTOR = "actor_rollout_ref.actor."
MAIN = (
    "size=null\npython3 -m {module} algorithm.adv_estimator=grpo data.train_batch_size=16 "
    "actor_rollout_ref.rollout.n=5 trainer.n_gpus_per_node=64 trainer.nnodes=1 {more}\n"
)


@pytest.mark.parametrize(
    ("module", "more", "told"),
    [
        ("verl.trainer.main_ppo", "", ["data.train_batch_size"]),
        ("verl.trainer.main_ppo", "model_engine=megatron", []),
        (
            "verl.trainer.main_ppo",
            f"{ACTOR}use_dynamic_bsz=True {ACTOR}ppo_micro_batch_size=${{size}} {ACTOR}ppo_micro_batch_size_per_gpu=2",
            [],
        ),
        ("verl.experimental.vla.main_ppo", "actor_rollout_ref.actor.ppo_mini_batch_size=128", []),
        ("verl.trainer.main_ppo", "model_engine=megatron actor@actor_rollout_ref.actor=mlite_actor", []),
    ],
)
def test_what_a_line_of_settings_does_not_ask_for_is_not_refused(tmp_path, module, more, told):
    (tmp_path / "run.sh").write_text(MAIN.format(module=module, more=more))
    [run] = check(tmp_path / "run.sh").runs
    assert [one.key for one in run.findings if one.rule in ("LL101", "LL102", "LL108")] == told


LIST = "common=(\n    data.train_batch_size=64\n    actor_rollout_ref.rollout.n=4\n{again})\n"
STARTED = 'python3 -m verl.trainer.main_ppo "${common[@]}"'
DEFINED = (
    "train() {\n  python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=4 $@\n}\n"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            LIST.format(again="    actor_rollout_ref.rollout.n=8\n")
            + 'python3 -m verl.trainer.main_ppo "${common[@]}"\n',
            1,
        ),
        (LIST.format(again="") + f"{STARTED} actor_rollout_ref.rollout.n=8\n", 0),
        (DEFINED + "train actor_rollout_ref.rollout.n=8\n", 0),
        ("python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=4 actor_rollout_ref.rollout.n=8\n", 1),
    ],
)
def test_a_word_over_those_of_a_list_or_function_is_meant(tmp_path, text, told):
    (tmp_path / "run.sh").write_text(text)
    [run] = check(tmp_path / "run.sh").runs
    assert [one.key for one in run.findings if one.rule == "LL106"] == ["actor_rollout_ref.rollout.n"] * told
