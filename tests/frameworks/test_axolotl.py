from __future__ import annotations

import csv
from pathlib import Path

import pytest

from loralint.canonical.fields import FIELDS
from loralint.frameworks.read import read_layer
from loralint.frameworks.readers.axolotl import READER
from loralint.frameworks.table import Layer, Look, Observation
from loralint.model import Unknown, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions
from loralint.source.read import read_file

MINIMAL = """\
base_model: acme/tiny-llama
learning_rate: 2e-4
datasets:
  - path: acme/questions
    type: alpaca
"""
LORA = MINIMAL + "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n"
WHOLE = """\
base_model: acme/tiny-llama
model_type: LlamaForCausalLM
trust_remote_code: true
adapter: qlora
load_in_4bit: true
load_in_8bit: false
lora_r: 32
lora_alpha: 64
lora_dropout: 0.05
lora_target_modules: [q_proj, v_proj]
lora_modules_to_save: [embed_tokens, lm_head]
peft_use_rslora: true
peft_use_dora: false
loraplus_lr_ratio: 16
tokens: ["<think>"]
bnb_config_kwargs: {bnb_4bit_quant_type: fp4, bnb_4bit_use_double_quant: false}
datasets:
  - path: acme/questions
    type: chat_template
  - path: data/more.jsonl
    type: alpaca
test_datasets:
  - path: acme/held-out
    split: test
sequence_len: 4096
sample_packing: true
chat_template: chatml
attn_implementation: flash_attention_2
micro_batch_size: 2
gradient_accumulation_steps: 8
num_epochs: 3
optimizer: AdamW_bnb_8bit
lr_scheduler: cosine
learning_rate: 2e-4
warmup_steps: 20
weight_decay: 0.01
adam_beta2: 0.95
adam_epsilon: 1e-7
max_grad_norm: 0.3
cosine_min_lr_ratio: 0.1
bf16: true
fp16:
tf32: true
gradient_checkpointing: offload
gradient_checkpointing_kwargs: {use_reentrant: false}
deepspeed: deepspeed_configs/zero3_bf16.json
neftune_noise_alpha: 5
wandb_project: tiny
use_mlflow: true
eval_steps: 50
save_steps: 100
early_stopping_patience: 2
output_dir: ./out
lora_mlp_kernel: true
"""


def layer_of(tmp_path: Path, text: str, release: str = "0.21.0") -> tuple[Layer, Versions]:
    path = tmp_path / "config.yml"
    path.write_text(text, encoding="utf-8")
    versions = Versions("axolotl", {"axolotl": release})
    look = Look(lambda _: Value(None), versions.satisfy)
    return read_layer(read_file(str(path), "config.yml"), READER, look), versions


def config_of(tmp_path: Path, text: str, release: str = "0.21.0", **options: str) -> Config:
    layer, versions = layer_of(tmp_path, text, release)
    return Config(READER, (layer,), Options(**options), versions)  # type: ignore[arg-type]


def observed(tmp_path: Path, text: str, release: str = "0.21.0") -> list[Observation]:
    return list(layer_of(tmp_path, text, release)[0].observations)


def only(tmp_path: Path, text: str, release: str = "0.21.0") -> Observation:
    several = observed(tmp_path, text, release)
    assert len(several) == 1, [(one.kind, one.value.key) for one in several]
    return several[0]


@pytest.mark.parametrize(
    ("field", "value", "key"),
    [
        ("model.base", "acme/tiny-llama", "base_model"),
        ("model.class", "LlamaForCausalLM", "model_type"),
        ("model.trust_remote_code", True, "trust_remote_code"),
        ("model.attention", "flash_attention_2", "attn_implementation"),
        ("model.new_tokens", ["<think>"], "tokens"),
        ("model.dtype", "bf16", "bf16"),
        ("adapter.method", "lora", "adapter"),
        ("adapter.qlora", True, "adapter"),
        ("adapter.rank", 32, "lora_r"),
        ("adapter.alpha", 64, "lora_alpha"),
        ("adapter.dropout", 0.05, "lora_dropout"),
        ("adapter.bias", "none", "adapter.bias"),
        ("adapter.targets", ["q_proj", "v_proj"], "lora_target_modules"),
        ("adapter.modules_to_save", ["embed_tokens", "lm_head"], "lora_modules_to_save"),
        ("adapter.rslora", True, "peft_use_rslora"),
        ("adapter.dora", False, "peft_use_dora"),
        ("adapter.init", True, "peft_init_lora_weights"),
        ("adapter.loraplus_ratio", 16, "loraplus_lr_ratio"),
        ("adapter.dtype", "fp32", "peft_autocast_adapter_dtype"),
        ("adapter.task_type", "CAUSAL_LM", "model_type"),
        ("quant.bits", 4, "load_in_4bit"),
        ("quant.method", "bnb", "load_in_4bit"),
        ("quant.type", "fp4", "bnb_config_kwargs.bnb_4bit_quant_type"),
        ("quant.double", False, "bnb_config_kwargs.bnb_4bit_use_double_quant"),
        ("quant.compute_dtype", "bf16", "bnb_config_kwargs.bnb_4bit_compute_dtype"),
        ("quant.storage_dtype", "bf16", "bnb_config_kwargs.bnb_4bit_quant_storage"),
        ("optim.name", "adamw_bnb_8bit", "optimizer"),
        ("optim.lr", 2e-4, "learning_rate"),
        ("optim.weight_decay", 0.01, "weight_decay"),
        ("optim.beta1", 0.9, "adam_beta1"),
        ("optim.beta2", 0.95, "adam_beta2"),
        ("optim.eps", 1e-7, "adam_epsilon"),
        ("optim.max_grad_norm", 0.3, "max_grad_norm"),
        ("schedule.name", "cosine", "lr_scheduler"),
        ("schedule.warmup_steps", 20, "warmup_steps"),
        ("schedule.min_lr_ratio", 0.1, "cosine_min_lr_ratio"),
        ("batch.micro", 2, "micro_batch_size"),
        ("batch.accumulation", 8, "gradient_accumulation_steps"),
        ("batch.eval_micro", 2, "eval_batch_size"),
        ("train.task", "sft", "rl"),
        ("train.epochs", 3, "num_epochs"),
        ("train.seed", 42, "seed"),
        ("train.early_stopping_patience", 2, "early_stopping_patience"),
        ("train.neftune_alpha", 5, "neftune_noise_alpha"),
        ("train.report_to", ["wandb", "mlflow"], "wandb_project"),
        ("precision.bf16", True, "bf16"),
        ("precision.fp16", False, "fp16"),
        ("precision.tf32", True, "tf32"),
        ("data.datasets", ["acme/questions", "data/more.jsonl"], "datasets"),
        ("data.sequence_len", 4096, "sequence_len"),
        ("data.packing", True, "sample_packing"),
        ("data.eval_packing", True, "eval_sample_packing"),
        ("data.packing_isolated", True, "attn_implementation"),
        ("data.pad_to_len", True, "pad_to_sequence_len"),
        ("data.train_on_inputs", False, "train_on_inputs"),
        ("data.template", "chatml", "chat_template"),
        ("data.val_size", 0.0, "val_set_size"),
        ("data.eval_dataset", ["acme/held-out"], "test_datasets"),
        ("eval.strategy", "steps", "eval_strategy"),
        ("eval.steps", 50, "eval_steps"),
        ("checkpoint.save_strategy", "steps", "save_strategy"),
        ("checkpoint.save_steps", 100, "save_steps"),
        ("checkpoint.save_total_limit", 4, "save_total_limit"),
        ("checkpoint.load_best", True, "load_best_model_at_end"),
        ("checkpoint.output_dir", "./out", "output_dir"),
        ("memory.gradient_checkpointing", True, "gradient_checkpointing"),
        ("memory.activation_offload", True, "gradient_checkpointing"),
        ("memory.reentrant", False, "gradient_checkpointing_kwargs.use_reentrant"),
        ("dist.deepspeed", "deepspeed_configs/zero3_bf16.json", "deepspeed"),
        ("dist.zero_stage", 3, "deepspeed"),
        ("dist.fsdp", False, "fsdp_config"),
        ("kernel.lora", True, "lora_mlp_kernel"),
    ],
)
def test_a_whole_file_says(tmp_path: Path, field: str, value: object, key: str) -> None:
    config = config_of(tmp_path, WHOLE)
    got = config.get(field)
    assert got.value == value
    assert type(got.value) is type(value)
    assert config.key(field) == key


def test_a_whole_file_is_accepted(tmp_path: Path) -> None:
    assert observed(tmp_path, WHOLE) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("adapter.method", "full"),
        ("adapter.qlora", False),
        ("adapter.rank", None),
        ("adapter.alpha", None),
        ("adapter.dropout", 0.0),
        ("adapter.targets", None),
        ("quant.bits", 16),
        ("quant.type", None),
        ("optim.name", "adamw_torch_fused"),
        ("optim.max_grad_norm", 1.0),
        ("schedule.name", "cosine"),
        ("schedule.warmup_steps", None),
        ("schedule.warmup_ratio", 0.03),
        ("batch.micro", 1),
        ("batch.accumulation", 1),
        ("train.epochs", 1.0),
        ("train.max_steps", None),
        ("train.report_to", []),
        ("precision.bf16", "auto"),
        ("precision.tf32", "auto"),
        ("data.sequence_len", 512),
        ("data.packing", False),
        ("data.pad_to_len", False),
        ("eval.strategy", "no"),
        ("checkpoint.save_strategy", "epoch"),
        ("checkpoint.output_dir", "./model-out"),
        ("checkpoint.load_best", False),
        ("memory.gradient_checkpointing", False),
        ("memory.reentrant", None),
        ("model.attention", "auto"),
        ("kernel.lora", False),
    ],
)
def test_an_absent_key_is_the_default(tmp_path: Path, field: str, value: object) -> None:
    got = config_of(tmp_path, MINIMAL).get(field)
    assert got.value == value
    assert got.origin == ("absent" if value is None else "default")


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("adapter:\n", "adapter.method", "full"),
        ("adapter: ''\nlora_r: 8\n", "adapter.method", "full"),
        ("adapter: llama-adapter\n", "adapter.method", "adaption_prompt"),
        ("unfrozen_parameters: [lm_head]\n", "adapter.method", "freeze"),
        ("adapter: lora\nunfrozen_parameters: [lm_head]\n", "adapter.method", "lora"),
        ("adapter: lora\n", "adapter.qlora", False),
        ("lora_target_linear: true\nlora_target_modules: [embed_tokens]\n", "adapter.targets", "all-linear"),
        ("lora_target_linear: false\nlora_target_modules: '.*q_proj'\n", "adapter.targets", ".*q_proj"),
        ("lora_target_modules: []\n", "adapter.targets", None),
        ("peft_init_lora_weights: pissa\n", "adapter.init", "pissa"),
        ("peft_init_lora_weights: false\n", "adapter.init", True),
        ("peft: {loftq_config: {loftq_bits: 4}}\n", "adapter.init", "loftq"),
        ("peft: {loftq_config: {loftq_bits: 4}}\n", "adapter.loftq_bits", 4),
        ("peft_layers_pattern: [layers]\npeft_layers_to_transform: [0, 1]\n", "adapter.layers_pattern", "layers"),
        ("load_in_8bit: true\n", "quant.bits", 8),
        ("gptq: true\n", "quant.bits", 4),
        ("gptq: true\n", "quant.method", "gptq"),
        ("adapter: qlora\nload_in_4bit: true\n", "quant.double", True),
        ("adapter: qlora\nload_in_4bit: true\n", "quant.type", "nf4"),
        ("optim_args: beta3=0.9, weight_lr_power=2\n", "optim.args", {"beta3": "0.9", "weight_lr_power": "2"}),
        ("lr_scheduler_kwargs: {min_lr: 1e-6}\n", "schedule.min_lr", 1e-6),
        ("warmup_steps: 10\n", "schedule.warmup_ratio", None),
        ("rl: dpo\n", "train.task", "dpo"),
        ("rl: gdpo\n", "train.task", "grpo"),
        ("reward_model: true\n", "train.task", "rm"),
        ("process_reward_model: true\n", "train.task", "prm"),
        ("model_type: AutoModelForSequenceClassification\n", "train.task", "cls"),
        ("model_type: AutoModelForSequenceClassification\n", "adapter.task_type", "SEQ_CLS"),
        ("pretraining_dataset:\n  - path: acme/web\nmax_steps: 9\n", "train.task", "pt"),
        ("pretraining_dataset:\n  - path: acme/web\nmax_steps: 9\n", "data.streaming", True),
        ("noisy_embedding_alpha: 5\n", "train.neftune_alpha", 5),
        ("use_tensorboard: true\nuse_wandb: false\n", "train.report_to", ["tensorboard"]),
        ("wandb_project: ''\n", "train.report_to", []),
        ("flash_attention: true\n", "model.attention", "flash_attention_2"),
        ("sdp_attention: true\n", "model.attention", "sdpa"),
        ("flash_attention: false\n", "model.attention", "auto"),
        ("xformers_attention: true\nflash_attention: true\n", "model.attention", "xformers"),
        ("sample_packing: true\n", "data.packing_isolated", False),
        ("sample_packing: true\nattn_implementation: sdpa\n", "data.packing_isolated", True),
        ("val_set_size: 0.1\nevals_per_epoch: 4\n", "eval.strategy", "steps"),
        ("val_set_size: 0.1\n", "eval.strategy", "no"),
        ("evals_per_epoch: 4\n", "eval.strategy", "no"),
        ("evaluation_strategy: epoch\n", "eval.strategy", "epoch"),
        ("saves_per_epoch: 1\n", "checkpoint.save_strategy", "steps"),
        ("gradient_checkpointing: true\nactivation_offloading: legacy\n", "memory.activation_offload", True),
        ("deepspeed: {zero_optimization: {stage: 2}}\n", "dist.zero_stage", 2),
        ("deepspeed: ''\n", "dist.deepspeed", None),
        ("fsdp:\n", "dist.fsdp", False),
        ("fsdp_config: {version: 2}\n", "dist.fsdp_version", 2),
        ("fsdp_config: {fsdp_offload_params: true}\n", "dist.fsdp_offload", True),
        ("fsdp_config: {fsdp_transformer_layer_cls_to_wrap: ABlock}\n", "dist.fsdp_wrap_class", "ABlock"),
        ("sequence_parallel_degree: 2\n", "dist.context_parallel", 2),
        ("plugins: [axolotl.integrations.liger.LigerPlugin]\nliger_rope: true\n", "kernel.liger", True),
        ("rl: dpo\nrl_beta: 0.2\n", "pref.beta", 0.2),
        ("rl: grpo\ntrl: {beta: 0.04, num_generations: 4}\n", "pref.beta", 0.04),
        ("rl: grpo\ntrl: {beta: 0.04, num_generations: 4}\n", "rl.num_generations", 4),
        ("rl: dpo\ndpo_loss_type: [hinge]\n", "pref.loss", "hinge"),
    ],
)
def test_keys_are_read(tmp_path: Path, lines: str, field: str, value: object) -> None:
    assert config_of(tmp_path, MINIMAL + lines).get(field).value == value


@pytest.mark.parametrize(
    ("lines", "bf16", "fp16"),
    [
        ("bf16: true\nfp16: true\n", True, False),
        ("bf16: auto\nfp16: true\n", False, True),
        ("fp16: true\n", False, True),
        ("bf16:\n", False, False),
        ("bf16: false\nbfloat16: true\n", True, False),
    ],
)
def test_one_of_bf16_and_fp16_wins(tmp_path: Path, lines: str, bf16: bool, fp16: bool) -> None:
    config = config_of(tmp_path, MINIMAL + lines)
    assert config.get("precision.bf16").value is bf16
    assert config.get("precision.fp16").value is fp16


@pytest.mark.parametrize(
    ("lines", "gpu", "dtype"),
    [
        ("bf16: true\n", "", "bf16"),
        ("bf16: auto\n", "A100", "bf16"),
        ("bf16: auto\n", "A100-80GBx2", "bf16"),
        ("bf16: auto\n", "T4x4", "fp16"),
        ("bf16: auto\n", "T4", "fp16"),
        ("bf16: auto\nfp16: false\n", "T4", "fp32"),
        ("fp16: true\n", "", "fp16"),
        ("bf16: false\nload_in_8bit: true\n", "", "fp16"),
        ("bf16: false\nfloat16: true\n", "", "fp16"),
        ("bf16: true\nfloat16: true\n", "", "bf16"),
        ("bf16:\n", "", "fp32"),
    ],
)
def test_the_base_is_loaded_in_the_dtype_of_the_precision(tmp_path: Path, lines: str, gpu: str, dtype: str) -> None:
    assert config_of(tmp_path, MINIMAL + lines, gpu=gpu).get("model.dtype").value == dtype


def test_auto_without_a_gpu_is_unknown(tmp_path: Path) -> None:
    assert isinstance(config_of(tmp_path, MINIMAL + "bf16: auto\n").get("model.dtype").value, Unknown)


def test_what_a_launcher_fills_in_is_unknown(tmp_path: Path) -> None:
    config = config_of(tmp_path, MINIMAL + "lora_r: ${RANK}\nwarmup_steps: ${WARMUP}\n")
    assert isinstance(config.get("adapter.rank").value, Unknown)
    assert observed(tmp_path, MINIMAL + "lora_r: ${RANK}\nwarmup_steps: ${WARMUP}\ntokens: ['${TOKEN}']\n") == []


def test_an_adapter_in_its_base_dtype_is_unknown(tmp_path: Path) -> None:
    for line in ("peft_autocast_adapter_dtype: false\n", "fsdp_config: {version: 2}\n"):
        assert isinstance(config_of(tmp_path, LORA + line).get("adapter.dtype").value, Unknown)


def test_the_datasets_have_places(tmp_path: Path) -> None:
    first, second = config_of(tmp_path, WHOLE).get("data.datasets").items
    assert (first.value, second.value) == ("acme/questions", "data/more.jsonl")
    assert (first.key, second.key) == ("datasets[0]", "datasets[1]")
    assert second.span is not None
    assert second.span.line == 20


@pytest.mark.parametrize(
    ("release", "field", "value"),
    [
        ("0.21.0", "memory.reentrant", False),
        ("0.20.0", "memory.reentrant", True),
        ("0.15.0", "precision.tf32", False),
        ("0.16.0", "precision.tf32", "auto"),
        ("0.7.1", "optim.name", "adamw_hf"),
        ("0.8.0", "optim.name", "adamw_torch_fused"),
        ("0.19.0", "dist.fsdp_version", 1),
        ("0.20.0", "dist.fsdp_version", 2),
    ],
)
def test_a_default_depends_on_the_release(tmp_path: Path, release: str, field: str, value: object) -> None:
    text = MINIMAL + "gradient_checkpointing: true\nfsdp_config: {offload_params: false}\n"
    assert config_of(tmp_path, text, release).get(field).value == value


def test_checkpointing_stays_reentrant_for_zero3_and_never_was_for_rl(tmp_path: Path) -> None:
    text = MINIMAL + "gradient_checkpointing: true\n"
    assert config_of(tmp_path, text + "deepspeed: zero3.json\n").get("memory.reentrant").value is True
    assert config_of(tmp_path, text + "rl: dpo\n", "0.19.0").get("memory.reentrant").value is False


def test_fused_kernels_come_on_by_themselves(tmp_path: Path) -> None:
    assert config_of(tmp_path, LORA).get("kernel.lora").value is True
    assert config_of(tmp_path, LORA + "load_in_8bit: true\n").get("kernel.lora").value is False
    assert config_of(tmp_path, LORA + "trust_remote_code: true\n").get("kernel.lora").value is False


@pytest.mark.parametrize(
    ("text", "field", "value", "written"),
    [
        (MINIMAL, "adapter.method", "lora", ("adapter", "lora")),
        (MINIMAL, "adapter.method", "full", ("adapter", None)),
        (MINIMAL, "adapter.qlora", True, ("adapter", "qlora")),
        (MINIMAL, "adapter.qlora", False, ("adapter", "lora")),
        (MINIMAL, "adapter.rank", 16, ("lora_r", 16)),
        (MINIMAL, "adapter.targets", "all-linear", ("lora_target_linear", True)),
        (MINIMAL, "adapter.targets", ["q_proj"], ("lora_target_modules", ["q_proj"])),
        (MINIMAL, "adapter.layers_pattern", "layers", ("peft_layers_pattern", ["layers"])),
        (MINIMAL, "adapter.dtype", "fp32", ("peft_autocast_adapter_dtype", True)),
        (MINIMAL, "adapter.bias", "all", None),
        (MINIMAL, "model.attention", "sdpa", ("attn_implementation", "sdpa")),
        (MINIMAL + "flash_attention: true\n", "model.attention", "sdpa", ("attn_implementation", "sdpa")),
        (MINIMAL, "model.dtype", "bf16", ("bf16", True)),
        (MINIMAL, "model.dtype", "fp16", ("fp16", True)),
        (MINIMAL, "quant.bits", 4, ("load_in_4bit", True)),
        (MINIMAL, "quant.bits", 8, ("load_in_8bit", True)),
        (MINIMAL + "load_in_4bit: true\n", "quant.bits", 16, ("load_in_4bit", False)),
        (MINIMAL, "quant.compute_dtype", "bf16", ("bnb_config_kwargs.bnb_4bit_compute_dtype", "bfloat16")),
        (MINIMAL, "train.task", "dpo", ("rl", "dpo")),
        (MINIMAL, "train.task", "rm", ("reward_model", True)),
        (MINIMAL, "train.task", "ppo", None),
        (MINIMAL, "train.report_to", ["mlflow"], ("use_mlflow", True)),
        (MINIMAL, "precision.bf16", False, ("bf16", False)),
        (MINIMAL, "eval.strategy", "steps", ("eval_strategy", "steps")),
        (MINIMAL, "dist.zero_stage", 2, None),
        (MINIMAL, "pref.beta", 0.1, ("rl_beta", 0.1)),
        (MINIMAL, "pref.loss", "ipo", ("dpo_loss_type", ["ipo"])),
        (MINIMAL, "dist.fsdp_offload", True, ("fsdp_config.offload_params", True)),
    ],
)
def test_fields_are_written_back(tmp_path: Path, text: str, field: str, value: object, written: object) -> None:
    assert config_of(tmp_path, text).write(field, value) == written


def test_every_row_names_a_field_and_a_known_key(tmp_path: Path) -> None:
    assert {entry.field for entry in READER.table} <= set(FIELDS)
    text = MINIMAL + "plugins: [axolotl.integrations.liger.LigerPlugin, axolotl.integrations.kd.KDPlugin]\n"
    text += "plugins: [axolotl.integrations.liger.LigerPlugin, axolotl.integrations.kd.KDPlugin, "
    text += "axolotl.integrations.swanlab.SwanLabPlugin, "
    text += "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\n"
    given = {line.split(":")[0] for line in text.splitlines()}
    text += "".join(f"{key}:\n" for entry in READER.table if (key := entry.key) and "." not in key and key not in given)
    unknown = {one.value.key for one in observed(tmp_path, text) if one.kind == "unknown"}
    assert unknown == set()


@pytest.mark.parametrize(
    ("line", "key", "effect", "replacement"),
    [
        ("lora_rnak: 8\n", "lora_rnak", "lost", ""),
        ("load_in_4_bit: true\n", "load_in_4_bit", "lost", "load_in_4bit"),
        ("context_parapllel_size: 2\n", "context_parapllel_size", "lost", "context_parallel_size"),
        ("zebra: 1\n", "zebra", "lost", ""),
        ("zebra:\n", "zebra", "harmless", ""),
        ("liger_rms_norm: true\n", "liger_rms_norm", "lost", ""),
        ("fsdp_config: {offload_parms: true}\n", "fsdp_config.offload_parms", "lost", "offload_params"),
        ("trl: {num_generation: 4}\n", "trl.num_generation", "lost", "num_generations"),
        ("fp8: true\nfp8_config: {recipes: rowwise}\n", "fp8_config.recipes", "crash", "recipe"),
        ("test_datasets:\n  - path: a\n    splt: test\n", "test_datasets[0].splt", "lost", "split"),
    ],
)
def test_unknown_keys(tmp_path: Path, line: str, key: str, effect: str, replacement: str) -> None:
    one = only(tmp_path, MINIMAL + line)
    assert (one.kind, one.value.key, one.effect, one.replacement) == ("unknown", key, effect, replacement)
    assert one.package == "axolotl"


def test_a_plugin_brings_its_keys(tmp_path: Path) -> None:
    missing = only(tmp_path, MINIMAL + "liger_glu_activation: true\n")
    assert "axolotl.integrations.liger.LigerPlugin" in missing.message
    for spelling in ("axolotl.integrations.liger.LigerPlugin", "axolotl.integrations.liger:LigerPlugin"):
        assert observed(tmp_path, MINIMAL + f"plugins:\n  - {spelling}\nliger_glu_activation: true\n") == []


def test_a_foreign_plugin_may_read_any_key_but_a_slip(tmp_path: Path) -> None:
    text = MINIMAL + "plugins: [acme.training.ZebraPlugin]\nzebra: 1\nadapter: zebra\n"
    assert observed(tmp_path, text) == []
    assert only(tmp_path, text + "micro_batchsize: 2\n").replacement == "micro_batch_size"


@pytest.mark.parametrize(
    ("line", "kind", "effect", "replacement"),
    [
        ("max_packed_sequence_len: 2048\n", "removed", "crash", ""),
        ("s2_attention: true\n", "removed", "crash", ""),
        ("unsloth_lora_mlp: true\n", "removed", "crash", "lora_mlp_kernel"),
        ("rpo_alpha: 0\n", "removed", "crash", ""),
        ("fsdp: [full_shard, auto_wrap]\n", "removed", "crash", ""),
        ("fsdp_config: {sharding_strategy: FULL_SHARD}\n", "removed", "crash", "fsdp_config.reshard_after_forward"),
        ("fsdp_config: {use_orig_params: true}\n", "ignored", "harmless", ""),
        ("flash_attention: true\n", "renamed", "harmless", "attn_implementation: flash_attention_2"),
        ("evaluation_strategy: epoch\n", "renamed", "harmless", "eval_strategy"),
        ("fsdp_config: {fsdp_offload_params: true}\n", "renamed", "harmless", "fsdp_config.offload_params"),
        ("load_4bit: true\n", "renamed", "lost", "load_in_4bit"),
        ("adam_eps: 1e-6\n", "renamed", "lost", "adam_epsilon"),
        ("relora_steps: 150\n", "renamed", "lost", "jagged_restart_steps"),
        ("eta_min: 1e-6\n", "ignored", "lost", ""),
        ("debug:\n", "ignored", "harmless", ""),
        ("gptq_groupsize: 128\n", "ignored", "harmless", ""),
    ],
)
def test_moved_keys(tmp_path: Path, line: str, kind: str, effect: str, replacement: str) -> None:
    one = only(tmp_path, MINIMAL + line)
    assert (one.kind, one.effect, one.replacement) == (kind, effect, replacement)


@pytest.mark.parametrize(
    "line",
    ["max_packed_sequence_len:\n", "flash_attention:\n", "xformers_attention: false\n", "load_4bit: false\n"],
)
def test_a_moved_key_without_a_value_is_passed_over(tmp_path: Path, line: str) -> None:
    assert observed(tmp_path, MINIMAL + line) == []


def test_removed_keys_still_work_in_older_releases(tmp_path: Path) -> None:
    text = MINIMAL + "s2_attention: true\nflash_attention: true\nfsdp: [full_shard]\nrpo_alpha: 1\n"
    assert observed(tmp_path, text, "0.14.0") == []
    [sharding] = observed(tmp_path, MINIMAL + "fsdp_config: {sharding_strategy: FULL_SHARD}\n", "0.19.0")
    assert (sharding.kind, sharding.effect) == ("ignored", "harmless")


@pytest.mark.parametrize(
    ("line", "key", "replacement", "rewrite"),
    [
        ("warmup_steps: 0.1\n", "warmup_steps", "warmup_ratio", "key"),
        ("warmup_steps: 10.5\n", "warmup_steps", "", ""),
        ("tokens: {bos_token: '<s>'}\n", "tokens", "special_tokens", "key"),
        ("output_dir:\n", "output_dir", "./model-out", "value"),
        ("logging_steps: 0.2\n", "logging_steps", "", ""),
        ("lora_r: 8.5\n", "lora_r", "", ""),
        ("lora_alpha: 16.5\n", "lora_alpha", "", ""),
        ("bf16: full\n", "bf16", "", ""),
        ("gradient_checkpointing: unsloth\n", "gradient_checkpointing", "", ""),
        ("save_strategy: no\n", "save_strategy", '"no"', "value"),
        ("rl: ppo\n", "rl", "", ""),
        ("lora_modules_to_save: lm_head\n", "lora_modules_to_save", "", ""),
        ("attn_implementation: flash\n", "attn_implementation", "flash_attention_2", "value"),
        ("attn_implementation: flash_attention2\n", "attn_implementation", "flash_attention_2", "value"),
        ("chat_template: gemma3_text\n", "chat_template", "", ""),
        ("chat_template: chatmll\n", "chat_template", "chatml", "value"),
        ("fsdp_version: 1\n", "fsdp_version", "2", "value"),
        ("adapter: QLoRA\n", "adapter", "qlora", "value"),
        ("adapter: dora\n", "adapter", "", ""),
    ],
)
def test_values_that_the_schema_refuses(tmp_path: Path, line: str, key: str, replacement: str, rewrite: str) -> None:
    one = only(tmp_path, MINIMAL + line)
    assert (one.kind, one.effect, one.value.key) == ("rejected", "crash", key)
    assert (one.replacement, one.rewrite) == (replacement, rewrite)


@pytest.mark.parametrize(
    "line",
    [
        "warmup_steps: 10.0\n",
        "lora_r: '8'\n",
        "lora_r: 8.0\n",
        "lora_dropout: '0.05'\n",
        "save_steps: 0.25\n",
        "bf16: 'auto'\n",
        "fp16: 'false'\n",
        "wandb_name:\n",
        "attn_implementation: kernels-community/flash-attn3\n",
        "chat_template: tokenizer_default_fallback_chatml\n",
        "deepspeed: {zero_optimization: {stage: 2}}\n",
        "peft_init_lora_weights: gaussian\n",
        "lora_target_modules: [q_proj]\n",
        "fsdp_version: '2'\n",
    ],
)
def test_values_that_the_schema_takes(tmp_path: Path, line: str) -> None:
    assert observed(tmp_path, MINIMAL + line) == []


@pytest.mark.parametrize(
    ("lines", "key", "other"),
    [
        ("batch_size: 16\ngradient_accumulation_steps: 4\n", "batch_size", "gradient_accumulation_steps"),
        ("noisy_embedding_alpha: 5\nneftune_noise_alpha: 5\n", "noisy_embedding_alpha", "neftune_noise_alpha"),
        ("attn_implementation: sdpa\nflash_attention: true\n", "flash_attention", "attn_implementation"),
        ("adapter: lora\nflash_attn_fuse_mlp: true\n", "flash_attn_fuse_mlp", "adapter"),
    ],
)
def test_pairs_that_the_schema_refuses(tmp_path: Path, lines: str, key: str, other: str) -> None:
    [one] = [one for one in observed(tmp_path, MINIMAL + lines) if one.kind == "rejected"]
    assert (one.effect, one.value.key, one.rewrite) == ("crash", key, "remove")
    assert one.other is not None
    assert one.other.key == other


def test_keys_that_may_not_stand_alone(tmp_path: Path) -> None:
    one = only(tmp_path, MINIMAL + "activation_offloading: true\n")
    assert (one.kind, one.effect, one.value.key) == ("rejected", "crash", "activation_offloading")
    assert observed(tmp_path, MINIMAL + "activation_offloading: true\ngradient_checkpointing: true\n") == []
    assert observed(tmp_path, MINIMAL + "activation_offloading: true\ngradient_checkpointing: ${ON}\n") == []
    assert observed(tmp_path, MINIMAL + "relora: false\n") == []


def test_prediction_tables_need_unpacked_evaluation(tmp_path: Path) -> None:
    text = MINIMAL + "eval_table_size: 5\nsample_packing: true\nattn_implementation: sdpa\n"
    assert [one.kind for one in observed(tmp_path, text, "0.14.0")] == ["rejected"]
    assert observed(tmp_path, text + "eval_sample_packing: false\n", "0.14.0") == []


def test_sharegpt_is_gone(tmp_path: Path) -> None:
    text = MINIMAL + "  - path: acme/chats\n    type: sharegpt.load_role\n"
    one = only(tmp_path, text)
    assert (one.kind, one.effect, one.value.key) == ("removed", "crash", "datasets[1].type")
    assert (one.replacement, one.rewrite) == ("chat_template", "value")
    assert one.value.span is not None
    assert one.value.span.line == 7


def test_fp16_beside_bf16_is_passed_over(tmp_path: Path) -> None:
    one = only(tmp_path, MINIMAL + "bf16: true\nfp16: true\n")
    assert (one.kind, one.effect, one.value.key, one.rewrite) == ("ignored", "harmless", "fp16", "remove")
    for lines in ("bf16: auto\nfp16: true\n", "bf16: false\nfp16: true\n", "bf16: true\nfp16: false\n", "fp16: true\n"):
        assert observed(tmp_path, MINIMAL + lines) == []


def test_batch_size_does_not_accumulate(tmp_path: Path) -> None:
    one = only(tmp_path, MINIMAL + "micro_batch_size: 4\nbatch_size: 16\n")
    assert (one.kind, one.effect, one.replacement) == ("ignored", "changed", "gradient_accumulation_steps: 4")
    assert "sees 4 rows per GPU, not 16, and the run ends early" in one.message
    late = only(tmp_path, MINIMAL + "micro_batch_size: 4\nbatch_size: 1\n")
    assert "the run ends late" in late.message
    assert "ends" not in only(tmp_path, MINIMAL + "micro_batch_size: 4\nbatch_size: 16\nmax_steps: 9\n").message
    assert observed(tmp_path, MINIMAL + "micro_batch_size: 4\nbatch_size: 4\n") == []


def test_the_last_of_a_key_written_twice_counts(tmp_path: Path) -> None:
    text = MINIMAL + "output_dir: ./a\noutput_dir: ./b\n"
    one = only(tmp_path, text)
    assert (one.kind, one.effect) == ("duplicate", "lost")
    assert config_of(tmp_path, text).get("checkpoint.output_dir").value == "./b"


def test_the_owner_and_the_reader_agree_on_the_corpus(shared: Path) -> None:
    """What axolotl 0.19 accepts gets no crash, and what it refuses for one key alone does."""
    versions = Versions("axolotl", {"axolotl": "0.19.0"})
    look = Look(lambda _: Value(None), versions.satisfy)
    with (shared / "oracles/verdicts/axolotl.tsv").open(encoding="utf-8") as file:
        verdicts = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong, silent = [], []
    for verdict in verdicts:
        path = shared / "corpus/llm" / verdict["file"]
        layer = read_layer(read_file(str(path), verdict["file"]), READER, look)
        crashes = [one.value.key for one in layer.observations if one.effect == "crash"]
        if verdict["result"] == "ok" and crashes:
            wrong.append((verdict["file"], crashes))
        alone = "Input should be a valid" in verdict["message"] or verdict["result"] == "DeprecationWarning"
        if alone and not verdict["aside"] and not crashes:
            silent.append(verdict["file"])
    assert wrong == []
    assert silent == []
    assert len(verdicts) > 200


@pytest.mark.parametrize(
    ("line", "piecewise"),
    [
        ("", False),
        ("cut_cross_entropy: true\n", True),
        ("liger_fused_linear_cross_entropy: true\n", True),
        ("plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\n", True),
        ("plugins: [axolotl.integrations.liger.LigerPlugin]\n", False),
    ],
)
def test_losses_that_are_made_piece_by_piece(tmp_path: Path, line: str, piecewise: bool) -> None:
    assert config_of(tmp_path, LORA + line).get("kernel.fused_loss").value is piecewise


@pytest.mark.parametrize(
    ("rl", "name", "refused"),
    [
        ("dpo", "alpaca", True),
        ("dpo", "chat_template", False),
        ("dpo", "chatml.intel", False),
        ("dpo", "my_package.rows", False),
        ("orpo", "chat_template.argilla", False),
        ("orpo", "chat_template", True),
        ("orpo", "llama3.default", True),
        ("kto", "chatml.argilla", False),
        ("kto", "chat_template.default", True),
        ("grpo", "alpaca", True),
        ("grpo", "chat_template", True),
        ("grpo", "passthrough", False),
        ("gdpo", "rewards.transform", False),
        ("", "alpaca", False),
        ("", "chatml.intel", True),
    ],
)
def test_types_of_rows_belong_to_a_kind_of_training(reading, observed, rl, name, refused):
    task = f"rl: {rl}\n" if rl else ""
    text = f"base_model: m\nadapter: lora\n{task}datasets:\n  - path: org/rows\n    type: {name}\n"
    assert ("datasets[0].type" in observed(reading(READER, text))) is refused


def test_pairs_that_are_named_may_hold_the_prompts_of_grpo(reading, observed):
    text = "base_model: m\nadapter: lora\nrl: grpo\ndatasets:\n  - path: org/rows\n    type: chat_template\n"
    assert "datasets[0].type" not in observed(reading(READER, f"{text}    field_chosen: good\n"))


@pytest.mark.parametrize(
    ("base", "lines", "told"),
    [
        ("google/gemma-2-9b", "chat_template: gemma\n", "chat_template"),
        ("google/gemma-4-E2B-it", "chat_template: gemma4\n", "chat_template"),
        ("google/gemma-4-E2B-it", "chat_template: tokenizer_default\n", "chat_template"),
        ("unsloth/gemma-3-4b-it", "", "datasets[0].type"),
        ("google/gemma-2-9b", "", ""),  # no template at all
        ("google/gemma-2-9b", "chat_template: gemma\neot_tokens: [<end_of_turn>]\n", ""),
        ("google/gemma-2-9b", "chat_template: gemma\ntrain_on_inputs: true\n", ""),
        ("google/gemma-2-9b", "chat_template: gemma\nrl: dpo\n", ""),
        ("google/gemma-2-9b", "chat_template: ${template}\n", ""),
        ("NousResearch/Meta-Llama-3-8B", "chat_template: llama3\n", "chat_template"),
        ("NousResearch/Meta-Llama-3-8B-Instruct", "chat_template: llama3\n", ""),
        ("NousResearch/Meta-Llama-3-8B", "chat_template: llama3\nspecial_tokens: {eos_token: <|eot_id|>}\n", ""),
        ("mistralai/Mistral-7B-v0.3", "chat_template: chatml\n", "chat_template"),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "chat_template: chatml\n", ""),
        ("Qwen/Qwen2.5-7B", "chat_template: chatml\n", ""),
    ],
)
def test_ends_of_turns_that_nobody_trains(reading, observed, base, lines, told):
    text = f"base_model: {base}\nadapter: lora\n{lines}datasets:\n  - path: org/rows\n    type: chat_template\n"
    found = [key for key, one in observed(reading(READER, text)).items() if one.kind == "untaught"]
    assert found == ([told] if told else [])


def test_a_template_of_the_dataset_has_an_end_of_its_own(reading, observed):
    text = "base_model: google/gemma-2-9b\nchat_template: gemma\ndatasets:\n  - {path: org/rows, type: chat_template"
    assert "chat_template" in observed(reading(READER, text + "}\n"))
    assert "chat_template" not in observed(reading(READER, text + ", chat_template: llama3}\n"))


def test_rows_named_by_their_files_alone(reading) -> None:
    text = "base_model: m\ndatasets:\n  - {ds_type: json, data_files: [rows.jsonl], type: chatml.intel}\n"
    assert reading(READER, text).get("data.datasets").value == ["rows.jsonl"]


def test_a_form_to_be_filled_in_has_no_faults_where_it_is_empty(reading, observed) -> None:
    """Cloudera's studio writes the base model, the epochs and the rate into its template."""
    text = "base_model:\nnum_epochs:\nlearning_rate:\nmicro_batch_size: 2\nsequence_len: 512\nadapter: lora\n"
    assert observed(reading(READER, text)) == {}
    filled = text.replace("base_model:", "base_model: m")
    assert set(observed(reading(READER, filled))) == {"num_epochs", "learning_rate"}
