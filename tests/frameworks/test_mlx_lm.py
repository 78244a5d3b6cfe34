from __future__ import annotations

import pytest

from loralint.frameworks.detect import detect
from loralint.frameworks.readers.mlx_lm import READER
from loralint.knowledge.data import part
from loralint.model import Unknown
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

WHOLE = """\
model: mlx-community/Llama-3.2-3B-Instruct-4bit
train: true
fine_tune_type: dora
optimizer: AdamW
optimizer_config:
  adamw: {betas: [0.9, 0.98], eps: 1e-6, weight_decay: 0.05}
  sgd: {weight_decay: 0.5}
data: ./data
seed: 7
num_layers: 8
batch_size: 2
grad_accumulation_steps: 4
iters: 2000
steps_per_report: 20
steps_per_eval: 400
save_every: 1000
learning_rate: 1e-4
lr_schedule:
  name: cosine_decay
  warmup: 50
  warmup_init: 1e-7
  arguments: [1e-4, 450, 1e-6]
adapter_path: out
resume_adapter_file: old.safetensors
max_seq_length: 1024
grad_checkpoint: true
mask_prompt: true
report_to: wandb,swanlab
lora_parameters:
  keys: [self_attn.q_proj, mlp.down_proj]
  rank: 16
  scale: 2.0
  dropout: 0.1
"""


@pytest.fixture
def mlx():
    """Give the run of a text as `loralint check` assembles it."""

    def load(text: str, version: str = ""):
        document = read_bytes(text.encode(), "c.json" if text.startswith("{") else "c.yaml")
        targets = {"mlx-lm": version} if version else {}
        found = assemble(document, Options(targets=targets, framework="mlx-lm"))
        assert found is not None
        return found.config

    return load


def test_reads_a_whole_file(mlx):
    config = mlx(WHOLE)
    expected = {
        "model.base": "mlx-community/Llama-3.2-3B-Instruct-4bit", "adapter.method": "lora", "adapter.dora": True,
        "adapter.rank": 16, "adapter.alpha": 32.0, "adapter.dropout": 0.1, "adapter.targets": ["q_proj", "down_proj"],
        "adapter.layers": list(range(20, 28)), "adapter.resume_from": "old.safetensors", "adapter.dtype": "fp32",
        "quant.bits": 4, "quant.method": "mlx", "optim.name": "adamw", "optim.lr": 1e-4, "optim.weight_decay": 0.05,
        "optim.beta1": 0.9, "optim.beta2": 0.98, "optim.eps": 1e-6, "optim.max_grad_norm": 0.0,
        "schedule.name": "cosine", "schedule.warmup_steps": 50, "schedule.min_lr": 1e-6, "schedule.steps": 500,
        "batch.micro": 2, "batch.accumulation": 4, "batch.drop_last": True, "train.max_steps": 500, "train.seed": 7,
        "train.report_to": ["wandb", "swanlab"], "train.logging_steps": 5, "data.datasets": ["./data"],
        "data.sequence_len": 1024, "data.train_on_inputs": False, "eval.steps": 100, "checkpoint.save_steps": 250,
        "checkpoint.output_dir": "out", "memory.gradient_checkpointing": True,
    }  # fmt: skip
    assert {field: config.get(field).value for field in expected} == expected
    assert isinstance(config.get("precision.bf16").value, Unknown)
    assert config.layers[0].observations == ()


def test_defaults(mlx):
    config = mlx("model: org/m\ntrain: true\n")
    expected = {
        "adapter.rank": 8, "adapter.alpha": 160.0, "adapter.dropout": 0.0, "adapter.targets": "all-linear",
        "quant.bits": 16, "optim.name": "adam", "optim.lr": 1e-5, "optim.weight_decay": 0.0, "batch.micro": 4,
        "batch.accumulation": 1, "train.max_steps": 1000, "eval.steps": 200, "schedule.name": "constant",
        "data.sequence_len": 2048, "data.train_on_inputs": True, "train.report_to": [],
    }  # fmt: skip
    assert {field: config.get(field).value for field in expected} == expected
    assert isinstance(config.get("adapter.layers").value, Unknown)  # the last 16 of nobody knows how many


def test_a_linear_schedule_that_rises_keeps_the_rate_it_ends_at(mlx):
    risen = mlx("model: m\niters: 200\nlr_schedule: {name: linear_schedule, warmup: 5, arguments: [0, 1e-4, 100]}\n")
    assert [risen.get(field).value for field in ("optim.lr", "schedule.min_lr", "schedule.steps")] == [1e-4, None, 105]
    assert risen.get("optim.lr").pointer == "/lr_schedule/arguments/1"
    fallen = mlx("model: m\niters: 200\nlr_schedule: {name: linear_schedule, arguments: [1e-4, 0, 100]}\n")
    assert [fallen.get(field).value for field in ("optim.lr", "schedule.min_lr")] == [1e-4, 0]


@pytest.mark.parametrize(
    ("version", "alpha"), [("0.32.2", 160.0), ("0.25.2", 160.0), ("0.21.0", 80.0), ("0.14.0", 160.0)]
)
def test_the_default_multiplier_by_release(mlx, version, alpha):
    assert mlx("model: org/m\n", version).get("adapter.alpha").value == alpha


def test_alpha_counted_until_it_did_not(mlx):
    text = "model: org/m\nlora_parameters: {rank: 8, alpha: 16, scale: 10.0, dropout: 0.0}\n"
    assert mlx(text, "0.14.0").get("adapter.alpha").value == 160.0  # 10 * 16/8 on BA
    assert mlx(text, "0.14.0").layers[0].observations == ()
    now = mlx(text)
    assert now.get("adapter.alpha").value == 80.0  # 10 on BA
    assert [(one.kind, one.value.key) for one in now.layers[0].observations] == [("ignored", "lora_parameters.alpha")]


@pytest.mark.parametrize(
    ("field", "value", "key", "out"),
    [
        ("adapter.alpha", 32, "lora_parameters.scale", 2.0),
        ("adapter.rank", 8, "lora_parameters.rank", 8),
        ("adapter.targets", ["q_proj", "up_proj"], "lora_parameters.keys", ["self_attn.q_proj", "mlp.up_proj"]),
        ("train.max_steps", 300, "iters", 1200),
        ("checkpoint.save_steps", 50, "save_every", 200),
        ("batch.accumulation", 2, "grad_accumulation_steps", 2),
        ("optim.weight_decay", 0.1, "optimizer_config.adamw.weight_decay", 0.1),
        ("schedule.name", "cosine", "lr_schedule.name", "cosine_decay"),
        ("data.train_on_inputs", False, "mask_prompt", True),
        ("adapter.method", "full", "fine_tune_type", "full"),
        ("train.report_to", ["wandb"], "report_to", "wandb"),
    ],
)
def test_writes_what_it_reads(mlx, field, value, key, out):
    config = mlx(WHOLE)
    assert config.write(field, value) == (key, out)


def test_what_cannot_be_written(mlx):
    assert mlx(WHOLE).write("adapter.targets", ".*q_proj") is None
    assert mlx(WHOLE).write("adapter.targets", ["in_proj"]) is None
    assert mlx("model: m\nlora_parameters: {scale: 2.0, dropout: 0.0}\n").write("adapter.alpha", 16) is None
    assert mlx(WHOLE).write("optim.max_grad_norm", 1.0) is None


def test_scale_is_the_multiplier_itself(mlx):
    for rank in (1, 8, 64):
        text = f"model: m\nlora_parameters: {{rank: {rank}, scale: 1.5, dropout: 0.0}}\n"
        config = mlx(text)
        assert config.get("adapter.alpha").value / config.get("adapter.rank").value == 1.5
        assert config.write("adapter.alpha", config.get("adapter.alpha").value) == ("lora_parameters.scale", 1.5)


def test_what_a_mapping_leaves_out_is_no_default(mlx):
    config = mlx("model: m\nlora_parameters: {dropout: 0.0, rank: 8}\n")
    assert isinstance(config.get("adapter.alpha").value, Unknown)
    (one,) = config.layers[0].observations
    assert (one.kind, one.effect, one.value.key) == ("rejected", "crash", "lora_parameters")
    assert "`scale`" in one.message
    assert isinstance(mlx("lora_parameters: {scale: 2.0, dropout: 0}\n").get("adapter.rank").value, Unknown)


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("mlx-community/Qwen2.5-7B-Instruct-4bit", 4),
        ("mlx-community/Mistral-7B-8bit", 8),
        ("mlx-community/Mistral-7B-bf16", 16),
        ("Qwen/Qwen2.5-7B", 16),
        ("./mlx_model", None),
        ("org/orbit-x", 16),
    ],
)
def test_the_model_says_whether_it_is_quantised(mlx, text, bits):
    value = mlx(f"model: {text}\ntrain: true\n").get("quant.bits").value
    assert isinstance(value, Unknown) if bits is None else value == bits


@pytest.mark.parametrize(
    "text", ["num_layers: -1\n", "num_layers: 0\n", "model: mlx-community/Llama-3.2-1B-4bit\nnum_layers: 16\n"]
)
def test_all_blocks(mlx, text):
    config = mlx("model: mlx-community/Llama-3.2-1B-4bit\n" + text if "model" not in text else text)
    assert config.layers[0].values.get("adapter.layers", ()) == ()


def test_floats_as_its_own_loader_reads_them(mlx):
    assert mlx("model: m\nlearning_rate: 1e-5\n").get("optim.lr").value == 1e-5
    assert mlx("model: m\nlearning_rate: 1e-5\n").layers[0].observations == ()
    (one,) = mlx('model: m\nlearning_rate: "1e-5"\n').layers[0].observations
    assert (one.kind, one.effect, one.replacement) == ("coerced", "crash", "1.0e-05")
    (twice,) = mlx("model: m\niters: 5\niters: 6\n").layers[0].observations
    assert (twice.kind, twice.effect) == ("duplicate", "lost")


OBSERVED = {
    "lora_layers: 8\n": ("renamed", "lora_layers", "lost", "num_layers"),
    "lora_layers: 16\n": ("renamed", "lora_layers", "harmless", "num_layers"),
    "use_dora: true\n": ("renamed", "use_dora", "lost", "fine_tune_type: dora"),
    "use_dora: false\n": ("removed", "use_dora", "harmless", ""),
    "train_file: a.jsonl\n": ("unknown", "train_file", "lost", ""),
    "learnign_rate: 1e-4\n": ("unknown", "learnign_rate", "lost", "learning_rate"),
    "fine_tune_type: qlora\n": ("rejected", "fine_tune_type", "crash", "lora"),
    "optimizer: lion\n": ("rejected", "optimizer", "crash", ""),
    "learning_rate: 1e-4\nlr_schedule: {name: cosine_decay, arguments: [1e-5, 100]}\n": (
        "ignored", "learning_rate", "lost", "",
    ),
    "lora_parameters: {rank: 8, scale: 2.0, dropout: 0, keys: [q_proj]}\n": (
        "ignored", "lora_parameters.keys[0]", "lost", "self_attn.q_proj",
    ),
    "lora_parameters: {rank: 8, scale: 2.0, dropout: 0, rnak: 8}\n": (
        "unknown", "lora_parameters.rnak", "lost", "rank",
    ),
    "rank: 4\n": ("renamed", "rank", "lost", "lora_parameters.rank"),
    "grad_accum: 4\n": ("renamed", "grad_accum", "lost", "grad_accumulation_steps"),
    "lora_parameters: {rank: 8, scale: 20.0, dropout: 0, alpha: 16}\n": (
        "ignored", "lora_parameters.alpha", "lost", "",
    ),
    "lora_parameters: {rank: 8, scale: 2.0, dropout: 0, alpha: 16}\n": (
        "ignored", "lora_parameters.alpha", "harmless", "",
    ),
    "grad_accumulation_steps: 0\n": ("rejected", "grad_accumulation_steps", "crash", "1"),
    "grad_accumulation_steps: 8\niters: 4\n": ("rejected", "grad_accumulation_steps", "lost", ""),
}  # fmt: skip


@pytest.mark.parametrize("text", OBSERVED)
def test_observes(mlx, text):
    found = mlx("model: org/m\n" + text).layers[0].observations
    assert [(one.kind, one.value.key, one.effect, one.replacement) for one in found] == [OBSERVED[text]]


def test_old_releases_read_the_old_names(mlx):
    text = "model: org/m\nlora_layers: 8\nuse_dora: true\n"
    old = mlx(text, "0.14.0")
    assert old.layers[0].observations == ()
    assert old.get("adapter.dora").value is True
    assert mlx(text).get("adapter.dora").value is False


def test_full_fine_tuning_reads_no_lora_parameters(mlx):
    config = mlx("model: m\nfine_tune_type: full\nlora_parameters: {rank: 8}\n")
    assert config.get("adapter.method").value == "full"
    assert config.layers[0].observations == ()


def test_a_saved_adapter_has_the_same_keys(mlx):
    config = mlx(
        '{"fine_tune_type": "lora", "num_layers": 4, "lora_parameters": {"rank": 4, "scale": 5.0, "dropout": 0.0},'
        ' "learning_rate": 1e-05, "lr_schedule": null, "model": "org/m", "config": "c.yaml"}'
    )
    assert config.get("adapter.alpha").value == 20.0
    assert config.get("schedule.name").value == "constant"
    assert config.layers[0].observations == ()


def test_every_key_of_the_table_is_known():
    lists = part("keys-mlx-lm")
    for row in READER.table:
        head, _, rest = row.key.partition(".")
        assert not head or head in lists["keys"][""] or head in lists["moved"], row.key
        if head in ("lora_parameters", "lr_schedule"):
            assert rest in lists["keys"][head] or row.key in lists["moved"], row.key


def test_keys_written_as_flags_are_read_by_nobody():
    text = "model: org/m\niters: 600\nbatch-size: 2\nlearning-rate: 1e-4\nmax-seq-length: 512\nval-batches: -1\n"
    found = detect(read_bytes(text.encode(), "c.yaml"))
    assert found is not None
    assert found.framework == "mlx-lm"
    run = assemble(read_bytes(text.encode(), "c.yaml"), Options())
    assert run is not None
    assert {one.value.key: one.replacement for one in run.config.layers[0].observations} == {
        "batch-size": "batch_size",
        "learning-rate": "learning_rate",
        "max-seq-length": "max_seq_length",
        "val-batches": "val_batches",
    }
