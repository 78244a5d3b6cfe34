"""TRL: the method switch, the task behind the keys, defaults by release, and what TrlParser refuses."""

from __future__ import annotations

import csv

import pytest

from loralint.frameworks.readers.trl import READER
from loralint.frameworks.readers.trl_task import of_path
from loralint.frameworks.table import SKIP
from loralint.model import Unknown
from loralint.source.read import read_file

BASE = "model_name_or_path: some/model\ndataset_name: some/data\n"
LORA = BASE + "use_peft: true\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("adapter.rank", 16),
        ("adapter.alpha", 32),
        ("adapter.dropout", 0.05),
        ("adapter.bias", "none"),
        ("adapter.task_type", "CAUSAL_LM"),
        ("adapter.rslora", False),
        ("adapter.dora", False),
        ("adapter.dtype", "fp32"),
        ("quant.bits", 16),
        ("quant.type", "nf4"),
        ("quant.double", False),
        ("model.dtype", "fp32"),
        ("optim.name", "adamw_torch_fused"),
        ("optim.lr", 2e-5),
        ("schedule.name", "linear"),
        ("schedule.warmup_steps", 0),
        ("schedule.warmup_ratio", 0.0),
        ("batch.micro", 8),
        ("batch.accumulation", 1),
        ("train.task", "sft"),
        ("train.epochs", 3.0),
        ("train.logging_steps", 10),
        ("train.report_to", []),
        ("precision.bf16", True),
        ("precision.fp16", False),
        ("memory.gradient_checkpointing", True),
        ("memory.reentrant", False),
        ("data.sequence_len", 1024),
        ("data.packing", False),
        ("eval.strategy", "no"),
        ("checkpoint.save_steps", 500),
    ],
)
def test_defaults_of_the_newest_release(reading, field, value) -> None:
    found = reading(READER, LORA).get(field)
    assert (found.value, found.origin) == (value, "default")
    assert found.source == "TRL 1.16.0"


def test_targets_have_no_default(reading) -> None:
    assert reading(READER, LORA).get("adapter.targets").origin == "absent"


def test_without_use_peft_the_whole_model_trains(reading) -> None:
    config = reading(READER, BASE + "lora_r: 64\nlora_alpha: 16\nlora_target_modules: all-linear\n")
    assert config.get("adapter.method").value == "full"
    assert config.get("adapter.method").key == "use_peft"
    assert config.get("adapter.rank").value == 64


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("use_peft: false", "adapter.method", "full"),
        ('use_peft: "True"', "adapter.method", "lora"),
        ("lora_target_modules: [q_proj, v_proj]", "adapter.targets", ["q_proj", "v_proj"]),
        ("lora_target_modules: q_proj,v_proj", "adapter.targets", "q_proj,v_proj"),
        ("lora_target_modules: [q_proj]", "adapter.targets", "q_proj"),
        ("lora_target_modules: [all-linear]", "adapter.targets", "all-linear"),
        ("lora_modules_to_save: lm_head", "adapter.modules_to_save", "lm_head"),
        ("load_in_4bit: true", "quant.bits", 4),
        ("load_in_4bit: true", "quant.method", "bnb"),
        ('load_in_4bit: "true"', "quant.bits", 4),
        ("load_in_8bit: true", "quant.bits", 8),
        ("load_in_4bit: false", "quant.bits", 16),
        ("dtype: bfloat16", "model.dtype", "bf16"),
        ("dtype: bfloat16", "quant.compute_dtype", "bf16"),
        ("torch_dtype: float16", "model.dtype", "fp16"),
        ("bnb_4bit_quant_storage: bfloat16", "quant.storage_dtype", "bf16"),
        ("use_flash_attention_2: true", "model.attention", "flash_attention_2"),
        ("attn_implementation: sdpa", "model.attention", "sdpa"),
        ("learning_rate: 2e-4", "optim.lr", 2e-4),
        ("warmup_steps: 0.1", "schedule.warmup_ratio", 0.1),
        ("warmup_steps: 0.1", "schedule.warmup_steps", 0),
        ("warmup_steps: 20", "schedule.warmup_steps", 20),
        ("warmup_ratio: 0.03", "schedule.warmup_ratio", 0.03),
        ("eval_strategy: no", "eval.strategy", "no"),
        ("evaluation_strategy: steps", "eval.strategy", "steps"),
        ("report_to: none", "train.report_to", []),
        ("report_to: wandb", "train.report_to", ["wandb"]),
        ("fp16: true", "precision.bf16", False),
        ("max_seq_length: 4096", "data.sequence_len", 4096),
        ("packing: true", "data.eval_packing", True),
        ("lr_scheduler_kwargs: {min_lr_rate: 0.1}", "schedule.min_lr_ratio", 0.1),
        ("deepspeed: configs/ds_z3_offload.json", "dist.zero_stage", 3),
        ("deepspeed: configs/ds_z3_offload.json", "memory.reentrant", True),
        ("fsdp: full_shard auto_wrap", "dist.fsdp", True),
        ("fsdp_config: {transformer_layer_cls_to_wrap: [Block]}", "dist.fsdp_wrap_class", "Block"),
        ("fsdp_config: {fsdp_transformer_layer_cls_to_wrap: Block}", "dist.fsdp_wrap_class", "Block"),
        ("gradient_checkpointing_kwargs: {use_reentrant: true}", "memory.reentrant", True),
        ("assistant_only_loss: true", "data.train_on_inputs", False),
        ("completion_only_loss: false", "data.train_on_inputs", True),
    ],
)
def test_what_a_key_means(reading, line, field, value) -> None:
    text = line + "\n" if line.startswith("use_peft") else LORA + line + "\n"
    assert reading(READER, text).get(field).value == value


def test_datasets_of_a_mixture_stand_where_they_are_written(reading) -> None:
    config = reading(READER, BASE + "datasets:\n  - path: a/one\n  - path: b/two\n    split: test\n")
    found = config.get("data.datasets")
    assert found.value == ["a/one", "b/two"]
    assert [(item.value, item.span.line) for item in found.items] == [("a/one", 4), ("b/two", 5)]


def test_a_quantised_base_brings_adapters_down_to_bf16(reading) -> None:
    config = reading(READER, LORA + "load_in_4bit: true\n")
    assert config.get("adapter.dtype").value == "bf16"
    assert config.get("quant.compute_dtype").value == "fp32"
    assert config.get("quant.storage_dtype").value == "uint8"
    older = reading(READER, LORA + "load_in_4bit: true\ntorch_dtype: bfloat16\n", pins={"trl": "0.21.0"})
    assert older.get("adapter.dtype").value == "fp32"
    assert older.get("quant.storage_dtype").value == "bf16"


def test_defaults_of_an_old_release(reading) -> None:
    config = reading(READER, LORA, pins={"trl": "0.12.2", "transformers": "4.46.3"})
    assert config.get("precision.bf16").value is False
    assert config.get("memory.gradient_checkpointing").value is False
    assert config.get("train.logging_steps").value == 500
    assert config.get("train.report_to").value == ["all"]
    assert config.get("data.sequence_len").origin == "absent"
    assert config.get("optim.name").value == "adamw_torch"
    assert config.get("model.dtype").value == "fp32"


@pytest.mark.parametrize(
    ("text", "name", "task", "rate"),
    [
        ("packing: true", "train.yaml", "sft", 2e-5),
        ("beta: 0.05", "train.yaml", "dpo", 1e-6),
        ("loss_type: ipo", "train.yaml", "dpo", 1e-6),
        ("loss_type: [sigmoid, sft]", "train.yaml", "dpo", 1e-6),
        ("loss_type: nll", "dpo/train.yaml", "sft", 2e-5),
        ("loss_type: dapo", "train.yaml", "grpo", 1e-6),
        ("num_generations: 4", "train.yaml", "grpo", 1e-6),
        ("num_generations: 4\nnormalize_advantages: true", "train.yaml", "rloo", 1e-6),
        ("desirable_weight: 1.3\nbeta: 0.1", "train.yaml", "kto", 1e-6),
        ("center_rewards_coefficient: 0.01", "train.yaml", "rm", 1e-4),
        ("beta: 0.05", "orpo/config.yaml", "orpo", 1e-6),
        ("max_prompt_length: 512", "recipes/kto.yaml", "kto", 1e-6),
        ("beta: 0.05", "sft/config.yaml", "dpo", 1e-6),
    ],
)
def test_the_task_follows_from_keys_and_the_path_only_helps(reading, text, name, task, rate) -> None:
    config = reading(READER, LORA + text + "\n", name)
    assert config.get("train.task").value == task
    assert config.get("optim.lr").value == rate


def test_a_path_alone_makes_the_task_unknown(reading) -> None:
    config = reading(READER, LORA, "dpo/config.yaml")
    assert isinstance(config.get("train.task").value, Unknown)
    assert isinstance(config.get("optim.lr").value, Unknown)
    assert reading(READER, LORA, "sft/config.yaml").get("train.task").value == "sft"


def test_the_file_name_beats_the_folder() -> None:
    assert of_path("orpo/kto_run.yaml") == "kto"
    assert of_path("home/dpo/models/config.yaml") == ""


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("adapter.method", "lora", ("use_peft", True)),
        ("adapter.method", "full", ("use_peft", False)),
        ("adapter.rank", 8, ("lora_r", 8)),
        ("adapter.targets", "all-linear", ("lora_target_modules", "all-linear")),
        ("quant.bits", 4, ("load_in_4bit", True)),
        ("quant.bits", 8, ("load_in_8bit", True)),
        ("model.dtype", "bf16", ("dtype", "bfloat16")),
        ("quant.compute_dtype", "bf16", ("dtype", "bfloat16")),
        ("model.attention", "sdpa", ("attn_implementation", "sdpa")),
        ("schedule.warmup_ratio", 0.05, ("warmup_steps", 0.05)),
        ("schedule.warmup_steps", 10, ("warmup_steps", 10)),
        ("eval.strategy", "steps", ("eval_strategy", "steps")),
        ("data.sequence_len", 2048, ("max_length", 2048)),
        ("train.report_to", [], ("report_to", "none")),
        ("adapter.bias", "all", None),
        ("train.task", "dpo", None),
    ],
)
def test_the_way_back(reading, field, value, written) -> None:
    assert reading(READER, LORA).write(field, value) == written


def test_the_way_back_in_an_old_release(reading) -> None:
    config = reading(READER, LORA, pins={"trl": "0.15.2", "transformers": "4.48.3"})
    assert config.write("data.sequence_len", 2048) == ("max_seq_length", 2048)
    assert config.write("model.dtype", "bf16") == ("torch_dtype", "bfloat16")
    assert config.write("schedule.warmup_ratio", 0.05) == ("warmup_ratio", 0.05)


def test_a_written_old_name_is_not_written_again(reading) -> None:
    assert reading(READER, LORA + "max_seq_length: 512\n").write("data.sequence_len", 2048) == ("max_length", 2048)


@pytest.mark.parametrize(
    ("key", "kind", "replacement", "rewrite", "package"),
    [
        ("evaluation_strategy", "renamed", "eval_strategy", "key", "transformers"),
        ("warmup_ratio", "renamed", "warmup_steps", "key", "transformers"),
        ("overwrite_output_dir", "removed", "", "remove", "transformers"),
        ("torch_dtype", "renamed", "dtype", "key", "trl"),
        ("max_seq_length", "renamed", "max_length", "key", "trl"),
        ("max_prompt_length", "renamed", "max_length", "", "trl"),
        ("use_flash_attention_2", "renamed", "attn_implementation: flash_attention_2", "", "trl"),
        ("lora_rnak", "unknown", "", "", "trl"),
        ("learning_rat", "unknown", "learning_rate", "key", "trl"),
        ("lora_alfa", "unknown", "lora_alpha", "key", "trl"),
    ],
)
def test_keys_that_trl_refuses(reading, observed, key, kind, replacement, rewrite, package) -> None:
    found = observed(reading(READER, f"{LORA}{key}: 1\n"))
    assert list(found) == [key]
    one = found[key]
    assert (one.kind, one.effect, one.rewrite, one.package) == (kind, "crash", rewrite, package)
    assert one.replacement == replacement or key == "lora_rnak"
    assert one.value.key_span.line == 4


def test_grpo_has_no_length_of_prompts_any_more(reading, observed) -> None:
    found = observed(reading(READER, f"{LORA}num_generations: 8\nmax_prompt_length: 512\n"))["max_prompt_length"]
    assert (found.kind, found.replacement, found.rewrite) == ("removed", "", "remove")


def test_an_old_stack_takes_its_own_keys(reading, observed) -> None:
    text = LORA + "torch_dtype: bfloat16\nmax_seq_length: 512\nevaluation_strategy: steps\nwarmup_ratio: 0.1\n"
    assert not observed(reading(READER, text, pins={"trl": "0.15.2", "transformers": "4.46.3"}))


def test_keys_of_every_trainer_of_the_launcher_and_env_are_known(reading, observed) -> None:
    text = "env:\n  SOME: thing\nnum_processes: 4\naccelerate_config: zero3\ndesirable_weight: 1\nnum_generations: 8\n"
    assert not observed(reading(READER, LORA + text))


def test_a_dataset_takes_its_own_keys_only(reading, observed) -> None:
    found = observed(reading(READER, BASE + "datasets:\n  - path: a/one\n    colunms: [text]\n"))
    assert [(key, one.effect, one.replacement) for key, one in found.items()] == [
        ("datasets[0].colunms", "crash", "columns")
    ]


def test_words_that_are_none(reading, observed) -> None:
    found = observed(reading(READER, LORA + "optim: adamw_torhc\nlr_scheduler_type: consine\nsave_strategy: best\n"))
    assert {key: (one.kind, one.effect, one.replacement) for key, one in found.items()} == {
        "optim": ("rejected", "crash", "adamw_torch"),
        "lr_scheduler_type": ("rejected", "crash", "cosine"),
    }


def test_an_unquoted_no_is_no_strategy(reading, observed) -> None:
    found = observed(reading(READER, LORA + 'eval_strategy: no\nsave_strategy: "no"\n'))
    assert [(one.kind, one.effect, one.replacement, one.rewrite) for one in found.values()] == [
        ("coerced", "crash", '"no"', "value")
    ]


def test_texts_become_numbers(reading, observed) -> None:
    assert not observed(reading(READER, LORA + 'learning_rate: 2e-4\nlora_r: "8"\n'))


def test_every_default_and_every_way_back_answers(reading) -> None:
    config = reading(READER, LORA)
    for field in config.fields():
        assert config.get(field).value is not SKIP
        config.write(field, config.get(field).value)


def test_agreement_with_trls_own_parser(shared, reading) -> None:
    """The oracle parsed each file as SFT or DPO, so that ORPO's beta counted as unknown there."""
    from loralint.frameworks.read import read_layer
    from loralint.frameworks.table import Look

    config = reading(READER, LORA)
    with (shared / "oracles" / "verdicts" / "trl.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    rejected = [row for row in rows if row["result"] == "unknown-keys"]
    assert len(rejected) >= 20
    for row in rejected:
        document = read_file(str(shared / "corpus" / "llm" / row["file"]), row["file"])
        layer = read_layer(document, READER, Look(config.get, config.versions.satisfy))
        ours = {one.value.key for one in layer.observations if one.effect == "crash"}
        assert ours == set(row["detail"].split(",")) - {"beta"}, row["file"]


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("attn_implementation: flash_attention2", "flash_attention_2"),
        ("attn_implementation: kernels-community/vllm-flash-attn3", None),
        ("attn_implementation: my_own_kernel", None),
        ("dtype: bf16", "bfloat16"),
        ("dtype: bfloat16", None),
        ("dtype:", None),
    ],
)
def test_words_of_torch_and_transformers(reading, observed, line: str, instead: str | None) -> None:
    found = observed(reading(READER, f"model_name_or_path: m\n{line}\n"))
    assert [one.replacement for one in found.values()] == ([instead] if instead else [])


@pytest.mark.parametrize(("version", "effect"), [("0.18.1", "lost"), ("0.19.0", "crash")])
def test_an_unknown_key_was_dropped_before_the_parser_raised(reading, version, effect):
    text = "model_name_or_path: m\noutput_dir: o\nuse_peft: true\nlora_r: 8\nlearning_rate: 1.0e-4\nforeign_key: 1\n"
    layer = reading(READER, text, pins={"trl": version}).layers[0]
    (found,) = [one for one in layer.observations if one.kind == "unknown"]
    assert (found.value.key, found.effect) == ("foreign_key", effect)


@pytest.mark.parametrize(
    ("version", "extra", "piecewise"),
    [
        ("1.16.0", "", True),
        ("1.15.0", "loss_type: nll\n", True),
        ("1.14.1", "loss_type: nll\n", False),
        ("1.14.1", "loss_type: nll\nuse_liger_kernel: true\n", True),
        ("1.6.0", "", True),
        ("1.5.1", "", False),
        ("1.5.1", "loss_type: chunked_nll\n", True),
        ("1.5.1", "use_liger_kernel: true\n", True),
        ("0.29.0", "", False),
    ],
)
def test_when_the_loss_is_made_by_pieces(reading, version, extra, piecewise) -> None:
    """Whether logits are there as a whole, which decides the memory of a large vocabulary (trl sft_trainer.py)."""
    assert reading(READER, LORA + extra, pins={"trl": version}).get("kernel.fused_loss").value is piecewise


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("true", ("renamed", "train_sampling_strategy: group_by_length")),
        ("false", ("removed", "")),
    ],
)
def test_a_switch_that_became_a_word_asks_for_nothing_where_it_is_off(reading, given, told) -> None:
    config = reading(READER, LORA + f"group_by_length: {given}\n")
    (one,) = [one for layer in config.layers for one in layer.observations]
    assert (one.kind, one.replacement) == told


@pytest.mark.parametrize(("line", "value"), [("max_length: null", None), ("max_length: 512", 512), ("", 1024)])
def test_a_length_of_null_cuts_no_row(reading, line, value) -> None:
    found = reading(READER, LORA + line + "\n").get("data.sequence_len")
    assert (found.value, found.origin) == (value, "set" if line else "default")


@pytest.mark.parametrize(
    ("text", "release", "where"),
    [
        ("use_vllm: true\n", "1.16.0", "colocate"),
        ("use_vllm: true\n", "0.24.0", "server"),
        ("use_vllm: true\nvllm_mode: server\n", "1.16.0", "server"),
        ("use_vllm: false\n", "1.16.0", None),
    ],
)
def test_where_vllm_runs_by_release(reading, text, release, where):
    config = reading(READER, f"output_dir: out\nnum_generations: 8\n{text}", pins={"trl": release})
    assert config.get("rl.vllm").value == where


def test_old_keys_fare_as_unknown_ones_where_trl_dropped_these(reading) -> None:
    """VLM-R1 pins 0.17, whose TrlParser drops what no class has: `preprocessing_num_workers` stopped nothing."""
    config = reading(READER, f"{LORA}preprocessing_num_workers: 8\n", pins={"trl": "0.17.0"})
    (one,) = config.layers[0].observations
    assert (one.kind, one.effect, one.replacement) == ("renamed", "lost", "dataset_num_proc")
