from __future__ import annotations

import pytest

import loralint
from loralint.frameworks.readers.litgpt import READER
from loralint.knowledge.data import part
from loralint.model import Unknown
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

WHOLE = """\
checkpoint_dir: checkpoints/meta-llama/Meta-Llama-3-8B
out_dir: out/x
precision: bf16-true
quantize: bnb.nf4-dq
devices: 1
num_nodes: 1
lora_r: 32
lora_alpha: 16
lora_dropout: 0.1
lora_query: true
lora_key: false
lora_value: true
lora_projection: true
lora_mlp: true
lora_head: false
data:
  class_path: litgpt.data.Alpaca2k
  init_args:
    mask_prompt: true
    val_split_fraction: 0.05
    prompt_style: llama3
train:
  save_interval: 200
  log_interval: 1
  global_batch_size: 8
  micro_batch_size: 2
  lr_warmup_steps: 10
  epochs: 2
  max_tokens:
  max_steps: 300
  max_seq_length: 512
  tie_embeddings:
  max_norm:
  min_lr: 6.0e-05
eval:
  interval: 50
  max_new_tokens: 100
  max_iters: 100
logger_name: wandb
seed: 7
optimizer:
  class_path: torch.optim.AdamW
  init_args:
    lr: 2e-4
    weight_decay: 0.1
    betas: [0.9, 0.95]
"""


@pytest.fixture
def litgpt():
    """Give the run of a text as `loralint check` assembles it."""

    def load(text: str, version: str = ""):
        targets = {"litgpt": version} if version else {}
        found = assemble(read_bytes(text.encode(), "c.yaml"), Options(targets=targets, framework="litgpt"))
        assert found is not None
        return found.config

    return load


def test_reads_a_whole_file(litgpt):
    config = litgpt(WHOLE)
    expected = {
        "model.base": "meta-llama/Meta-Llama-3-8B", "model.dtype": "bf16", "adapter.method": "lora",
        "adapter.rank": 32, "adapter.alpha": 16, "adapter.dropout": 0.1,
        "adapter.targets": ["q_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        "adapter.dtype": "bf16", "quant.bits": 4, "quant.method": "bnb", "quant.type": "nf4", "quant.double": True,
        "quant.compute_dtype": "bf16", "optim.name": "torch.optim.adamw", "optim.lr": 2e-4,
        "optim.weight_decay": 0.1, "optim.beta1": 0.9, "optim.beta2": 0.95, "optim.eps": 1e-8,
        "optim.max_grad_norm": 0.0, "schedule.name": "cosine", "schedule.min_lr": 0.0, "schedule.warmup_steps": 10,
        "batch.global": 8, "batch.micro": 2, "batch.accumulation": 4, "train.epochs": 2, "train.max_steps": 300,
        "train.seed": 7, "train.report_to": ["wandb"], "precision.bf16": True, "precision.fp16": False,
        "precision.pure_bf16": True, "data.datasets": ["Alpaca2k"], "data.sequence_len": 512,
        "data.train_on_inputs": False, "data.template": "llama3", "data.val_size": 0.05, "eval.strategy": "steps",
        "eval.steps": 50, "checkpoint.output_dir": "out/x", "checkpoint.save_steps": 200, "run.gpu_count": 1,
        "memory.gradient_checkpointing": False,
    }  # fmt: skip
    assert {field: config.get(field).value for field in expected} == expected
    assert config.layers[0].observations == ()


def test_defaults(litgpt):
    config = litgpt("checkpoint_dir: c\nlora_r: 4\n")
    expected = {
        "adapter.rank": 4, "adapter.alpha": 16, "adapter.dropout": 0.05, "adapter.targets": ["q_proj", "v_proj"],
        "quant.bits": 16, "optim.lr": 1e-3, "optim.weight_decay": 0.01, "schedule.warmup_steps": 100,
        "batch.global": 16, "batch.micro": 1, "batch.accumulation": 16, "train.epochs": 5, "train.seed": 1337,
        "eval.steps": 100, "checkpoint.save_steps": 1000, "adapter.dtype": "fp32", "precision.bf16": "auto",
        "data.datasets": ["Alpaca"], "train.report_to": [],
    }  # fmt: skip
    assert {field: config.get(field).value for field in expected} == expected
    assert litgpt("checkpoint_dir: c\nlora_r: 4\n", "0.3.0").get("optim.lr").value == 3e-4


def test_only_keys_tell_the_command(litgpt):
    assert litgpt("lora_query: false\n").get("adapter.method").value == "lora"
    full = litgpt("checkpoint_dir: c\nresume: false\n")
    assert full.get("adapter.method").value == "full"
    assert full.get("eval.steps").value == 600
    assert isinstance(litgpt("checkpoint_dir: c\ntrain: {epochs: 1}\n").get("adapter.method").value, Unknown)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lora_key: true\n", ["q_proj", "k_proj", "v_proj"]),
        ("lora_query: false\n", ["v_proj"]),
        ("lora_head: true\nlora_value: false\n", ["q_proj", "head"]),
        ("lora_query: false\nlora_value: false\nlora_mlp: true\n", ["gate_proj", "up_proj", "down_proj"]),
    ],
)
def test_switches_add_up_with_those_that_are_absent(litgpt, text, names):
    value = litgpt(text).get("adapter.targets")
    assert value.value == names
    assert [item.value for item in value.items] == names
    written = {line.partition(":")[0] for line in text.splitlines()}
    assert all((item.span is not None) == (item.key in written) for item in value.items)


@pytest.mark.parametrize(
    ("precision", "dtype", "mixed"),
    [
        ("bf16-true", "bf16", (True, False, True)),
        ("bf16-mixed", "fp32", (True, False, False)),
        ("16-true", "fp16", (False, True, False)),
        ("16-mixed", "fp32", (False, True, False)),
        ("32-true", "fp32", (False, False, False)),
    ],
)
def test_precision(litgpt, precision, dtype, mixed):
    config = litgpt(f"checkpoint_dir: c\nlora_r: 8\nprecision: {precision}\n")
    assert config.get("adapter.dtype").value == config.get("model.dtype").value == dtype
    assert tuple(config.get(f"precision.{one}").value for one in ("bf16", "fp16", "pure_bf16")) == mixed
    assert config.layers[0].observations == ()


@pytest.mark.parametrize(
    ("field", "value", "key", "out"),
    [
        ("adapter.rank", 8, "lora_r", 8),
        ("adapter.alpha", 32, "lora_alpha", 32),
        ("quant.bits", 4, "quantize", "bnb.nf4"),
        ("quant.bits", 8, "quantize", "bnb.int8-training"),
        ("quant.type", "fp4", "quantize", "bnb.fp4"),
        ("quant.double", True, "quantize", "bnb.nf4-dq"),
        ("precision.bf16", True, "precision", "bf16-true"),
        ("precision.fp16", True, "precision", "16-true"),  # WHOLE is quantised, which excludes mixed precision
        ("model.dtype", "fp16", "precision", "16-true"),
        ("optim.lr", 1e-4, "optimizer.init_args.lr", 1e-4),
        ("batch.global", 32, "train.global_batch_size", 32),
        ("train.epochs", 3, "train.epochs", 3),
        ("data.train_on_inputs", True, "data.init_args.mask_prompt", False),
    ],
)
def test_writes_what_it_reads(litgpt, field, value, key, out):
    assert litgpt(WHOLE).write(field, value) == (key, out)
    head, _, rest = key.partition(".")
    shown = {True: "true", False: "false"}.get(out, out) if isinstance(out, bool) else out
    middle, _, last = rest.rpartition(".")
    body = (
        f"{head}: {{{middle + ': {' if middle else ''}{last}: {shown}{'}' if middle else ''}}}"
        if rest
        else f"{head}: {shown}"
    )
    assert litgpt(f"checkpoint_dir: c\n{body}\n").get(field).value == value


def test_the_old_place_of_the_rate(litgpt):
    text = "checkpoint_dir: c\nlora_r: 8\ntrain:\n  learning_rate: 0.0002\n  beta1: 0.8\n"
    now = litgpt(text)
    assert now.get("optim.lr").value == 2e-4
    assert {one.value.key: (one.kind, one.replacement) for one in now.layers[0].observations} == {
        "train.learning_rate": ("renamed", "optimizer.init_args.lr"),
        "train.beta1": ("renamed", "optimizer.init_args.betas"),
    }
    old = litgpt(text, "0.3.0")
    assert old.layers[0].observations == ()
    assert old.write("optim.lr", 1e-4) == ("train.learning_rate", 1e-4)


def test_devices_count_on_every_node(litgpt):
    config = litgpt("lora_r: 8\ndevices: 4\nnum_nodes: 2\ntrain: {global_batch_size: 64, micro_batch_size: 2}\n")
    assert config.get("run.gpu_count").value == 8
    assert config.get("batch.accumulation").value == 4
    assert config.get("memory.gradient_checkpointing").value is True
    assert isinstance(litgpt("lora_r: 8\ndevices: auto\n").get("run.gpu_count").value, Unknown)


OBSERVED = {
    "lora_rank: 8\n": ("unknown", "lora_rank", "crash"),
    "train: {epohcs: 1}\n": ("unknown", "train.epohcs", "crash"),
    "lora_r: 8.0\n": ("rejected", "lora_r", "crash"),
    "lora_mlp: maybe\n": ("rejected", "lora_mlp", "crash"),
    "train: {epochs: 1.5}\n": ("rejected", "train.epochs", "crash"),
    "quantize: nf4\nprecision: bf16-true\n": ("rejected", "quantize", "crash"),
    "precision: fp16\n": ("rejected", "precision", "crash"),
    "quantize: bnb.nf4\n": ("rejected", "quantize", "crash"),
    "quantize: bnb.nf4\nprecision: bf16-mixed\n": ("rejected", "precision", "crash"),
    "quantize: bnb.nf4\nprecision: bf16-true\ndevices: 2\n": ("rejected", "devices", "crash"),
    "quantize: bnb.nf4\nprecision: bf16-true\noptimizer: SGD\n": ("rejected", "optimizer", "crash"),
    "train: {micro_batch_size: 32}\n": ("rejected", "train.micro_batch_size", "crash"),
    "devices: 8\ntrain: {global_batch_size: 4}\n": ("rejected", "train.global_batch_size", "crash"),
    "train: {lr_warmup_steps: 0}\n": ("rejected", "train.lr_warmup_steps", "crash"),
    "train: {max_norm: 1.0}\n": ("removed", "train.max_norm", "crash"),
    "train: {lr_warmup_fraction: 0.1}\n": ("renamed", "train.lr_warmup_fraction", "crash"),
    "lora_query: false\nlora_value: false\n": ("rejected", "lora_query", "crash"),
}


@pytest.mark.parametrize("text", OBSERVED)
def test_observes(litgpt, text):
    found = litgpt("checkpoint_dir: c\n" + text).layers[0].observations
    assert [(one.kind, one.value.key, one.effect) for one in found] == [OBSERVED[text]]


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("train: {micro_batch_size: 32}\n", "16"),
        ("devices: 4\ntrain: {global_batch_size: 8, micro_batch_size: 4}\n", "2"),
        ("devices: 8\ntrain: {global_batch_size: 4}\n", "8"),
        ("devices: 8\ntrain: {global_batch_size: 4, micro_batch_size: 1}\n", ""),
    ],
)
def test_a_step_without_a_whole_pass_is_told_once_with_what_fits(litgpt, text, fits):
    config = litgpt("checkpoint_dir: c\nlora_r: 8\n" + text)
    assert [one.replacement for one in config.layers[0].observations] == [fits]
    assert not config.get("batch.accumulation").known


@pytest.mark.parametrize(
    "text",
    [
        'lora_r: "8"\nlora_dropout: "5e-2"\n',  # jsonargparse converts
        "train: {max_norm: null, max_tokens: null, tie_embeddings: null}\n",
        "optimizer: AdamW\nlogger_name: tensorboard\n",
        "quantize: bnb.int8-training\nprecision: 16-true\n",
        "data: Alpaca\n",
        "seed: 1_000\n",
        "model_name: pythia-14m\ntrain: {max_tokens: 1000000}\nunknown_of_pretraining: 1\n",
    ],
)
def test_lets_pass(litgpt, text):
    assert litgpt("checkpoint_dir: c\n" + text).layers[0].observations == ()


def test_every_key_of_the_table_is_known():
    lists = part("keys-litgpt")
    for row in READER.table:
        head, _, rest = row.key.partition(".")
        assert not head or head in lists["keys"][""], row.key
        if head in ("train", "eval"):
            assert rest in lists["keys"][head] or row.key in lists["moved"], row.key


LINE = "litgpt finetune_lora microsoft/{} --data JSON --data.json_path a.json --optimizer.lr 2e-4 {}\n"


def run_of(tmp_path, text):
    (tmp_path / "run.sh").write_text(text, encoding="utf-8")
    (run,) = loralint.check(tmp_path / "run.sh", show_settings=True).runs
    return run


def test_what_a_class_takes_may_stand_beside_its_name(tmp_path):
    run = run_of(tmp_path, LINE.format("phi-2", "--optimizer AdamW"))
    values = {row.parameter: row.value.value for row in run.settings}
    assert [values[field] for field in ("data.datasets", "optim.lr", "model.base", "adapter.method")] == [
        ["a.json"], 2e-4, "microsoft/phi-2", "lora",
    ]  # fmt: skip
    assert run.findings == ()


@pytest.mark.parametrize(
    ("model", "length", "told"),
    [("Phi-3.5-mini-instruct", 10000, {"LL108"}), ("Phi-3.5-mini-instruct", 4096, set()), ("phi-2", 2048, set())],
)
def test_some_models_reach_less_far_than_they_were_published_for(tmp_path, model, length, told):
    run = run_of(tmp_path, LINE.format(model, f"--train.max_seq_length {length}"))
    assert {one.rule for one in run.findings} == told
