from __future__ import annotations

import csv

import pytest

from loralint.frameworks.read import read_layer
from loralint.frameworks.readers.torchtune import READER
from loralint.frameworks.table import Look
from loralint.model import Unknown, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions
from loralint.source.read import read_file

WHOLE = """\
output_dir: /tmp/run
model:
  _component_: torchtune.models.llama3_1.lora_llama3_1_8b
  lora_attn_modules: ['q_proj', v_proj, output_proj]
  apply_lora_to_mlp: True
  apply_lora_to_output: False
  lora_rank: 8
  lora_alpha: 16
  lora_dropout: 0.05
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
  path: /tmp/base/tokenizer.model
  max_seq_len: 2048
checkpointer:
  _component_: torchtune.training.FullModelHFCheckpointer
  checkpoint_dir: /tmp/base
  output_dir: ${output_dir}
  model_type: LLAMA3
resume_from_checkpoint: False
dataset:
  _component_: torchtune.datasets.alpaca_dataset
  packed: True
  train_on_input: False
seed: 7
shuffle: True
batch_size: 2
gradient_accumulation_steps: 8
epochs: 1
max_steps_per_epoch: 250
optimizer:
  _component_: torch.optim.AdamW
  fused: True
  weight_decay: 0.1
  betas: [0.9, 0.95]
  lr: 3e-4
lr_scheduler:
  _component_: torchtune.training.lr_schedulers.get_cosine_schedule_with_warmup
  num_warmup_steps: 100
loss:
  _component_: torchtune.modules.loss.LinearCrossEntropyLoss
metric_logger:
  _component_: torchtune.training.metric_logging.WandBLogger
  log_dir: ${output_dir}/logs
log_every_n_steps: 5
clip_grad_norm: null
compile: False
device: cuda
dtype: bf16
enable_activation_checkpointing: True
enable_activation_offloading: False
"""


@pytest.fixture
def load(tmp_path):
    def of(text: str) -> Config:
        path = tmp_path / "recipe.yaml"
        path.write_text(text, encoding="utf-8")
        look = Look(lambda field: Value(None, origin="absent", field=field), lambda _: False)
        layer = read_layer(read_file(str(path), "recipe.yaml"), READER, look)
        return Config(READER, (layer,), Options(), Versions("torchtune", {}))

    return of


def test_reads_a_whole_recipe(load):
    config = load(WHOLE)
    expected = {
        "model.base": "/tmp/base",
        "model.class": "torchtune.models.llama3_1.lora_llama3_1_8b",
        "model.dtype": "bf16",
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 16,
        "adapter.dropout": 0.05,
        "adapter.targets": ["q_proj", "v_proj", "output_proj", "gate_proj", "up_proj", "down_proj"],
        "adapter.dora": False,
        "adapter.dtype": "bf16",
        "quant.bits": 16,
        "optim.name": "torch.optim.adamw",
        "optim.lr": 3e-4,
        "optim.weight_decay": 0.1,
        "optim.beta1": 0.9,
        "optim.beta2": 0.95,
        "optim.eps": 1e-8,
        "optim.max_grad_norm": 0.0,
        "schedule.name": "cosine",
        "schedule.warmup_steps": 100,
        "batch.micro": 2,
        "batch.accumulation": 8,
        "batch.drop_last": True,
        "train.task": "sft",
        "train.epochs": 1,
        "train.max_steps": 250,
        "train.seed": 7,
        "train.enabled": True,
        "train.report_to": ["wandb"],
        "train.logging_steps": 5,
        "precision.bf16": True,
        "precision.fp16": False,
        "precision.pure_bf16": True,
        "data.datasets": ["torchtune.datasets.alpaca_dataset"],
        "data.sequence_len": 2048,
        "data.packing": True,
        "data.train_on_inputs": False,
        "eval.strategy": "no",
        "checkpoint.output_dir": "/tmp/run",
        "checkpoint.save_strategy": "epoch",
        "memory.gradient_checkpointing": True,
        "memory.activation_offload": False,
        "kernel.compile": False,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("optim.eps").origin == "default"
    assert config.layers[0].observations == ()


def test_each_target_has_its_place(load):
    value = load(WHOLE).get("adapter.targets")
    assert [item.value for item in value.items] == value.value
    places = [(WHOLE[item.span.start : item.span.end], item.span.line, item.key) for item in value.items]
    assert places == [
        ("'q_proj'", 4, "model.lora_attn_modules[0]"),
        ("v_proj", 4, "model.lora_attn_modules[1]"),
        ("output_proj", 4, "model.lora_attn_modules[2]"),
        *[("True", 5, "model.apply_lora_to_mlp")] * 3,
    ]
    assert (value.key, value.span.line) == ("model.lora_attn_modules", 4)


@pytest.mark.parametrize(
    ("lines", "targets"),
    [
        ("lora_attn_modules: [q_proj, o_proj]", ["q_proj", "o_proj"]),  # kept as written: it adapts nothing
        ("lora_attn_modules: []\n  apply_lora_to_output: true", ["lm_head"]),
        ("apply_lora_to_mlp: true", ["gate_proj", "up_proj", "down_proj"]),
        ("lora_attn_modules: [q_proj]\n  apply_lora_to_mlp: false", ["q_proj"]),
        ("lora_rank: 8", None),
    ],
)
def test_targets_are_the_sum_of_three_keys(load, lines, targets):
    assert load(f"model:\n  {lines}\n").get("adapter.targets").value == targets


def test_targets_are_unknown_when_a_part_is(load):
    config = load("model:\n  lora_attn_modules: ${oc.env:MODULES}\n  apply_lora_to_mlp: true\n")
    assert isinstance(config.get("adapter.targets").value, Unknown)


@pytest.mark.parametrize(
    ("component", "method", "bits"),
    [
        ("torchtune.models.llama2.lora_llama2_7b", "lora", 16),
        ("torchtune.models.llama2.qlora_llama2_7b", "lora", 4),
        ("torchtune.models.llama2.llama2_7b", "full", 16),
        ("mine.models.lora_tiny", "lora", 16),
    ],
)
def test_the_builder_tells_the_method(load, component, method, bits):
    config = load(f"model:\n  _component_: {component}\n")
    assert (config.get("adapter.method").value, config.get("quant.bits").value) == (method, bits)
    assert config.get("quant.type").value == ("nf4" if bits == 4 else None)


def test_a_foreign_builder_tells_nothing_unless_its_arguments_do(load):
    assert isinstance(load("model:\n  _component_: mine.build\n").get("adapter.method").value, Unknown)
    config = load("model:\n  _component_: mine.build\n  lora_attn_modules: [q_proj]\n")
    assert config.get("adapter.method").value == "lora"


def test_quantize_base_overrules_the_builder(load):
    text = "model:\n  _component_: torchtune.models.llama2.{}lora_llama2_7b\n  quantize_base: {}\n"
    assert load(text.format("q", "false")).get("quant.bits").value == 16
    assert load(text.format("", "true")).get("quant.bits").value == 4
    assert load(text.format("", "true")).get("quant.method").value == "torchao"


def test_required_keys_have_no_default(load):
    config = load("model:\n  _component_: torchtune.models.llama2.lora_llama2_7b\n")
    for field in ("adapter.rank", "adapter.alpha", "adapter.targets", "train.epochs", "batch.micro", "optim.lr"):
        assert config.get(field).origin == "absent", field
    assert config.get("adapter.rank").key == "model.lora_rank"
    assert (config.get("adapter.dropout").value, config.get("adapter.dropout").origin) == (0.0, "default")


@pytest.mark.parametrize(
    ("optimizer", "lr", "decay", "beta2"),
    [
        ("torch.optim.AdamW", 1e-3, 0.01, 0.999),
        ("bitsandbytes.optim.PagedAdamW8bit", 1e-3, 0.01, 0.999),
        ("torch.optim.Adam", 1e-3, 0.0, 0.999),
        ("torch.optim.SGD", 1e-3, 0.0, None),
        ("mine.Novel", None, None, None),
    ],
)
def test_absent_arguments_are_the_optimizers_own(load, optimizer, lr, decay, beta2):
    config = load(f"optimizer:\n  _component_: {optimizer}\n")
    got = [config.get(f"optim.{name}").value for name in ("name", "lr", "weight_decay", "beta2")]
    assert got == [optimizer.lower(), lr, decay, beta2]


@pytest.mark.parametrize(
    ("lines", "steps", "origin"),
    [
        ("epochs: 1\nmax_steps_per_epoch: 50", 50, "set"),
        ("epochs: 3\nmax_steps_per_epoch: 50", 150, "derived"),
        ("epochs: 3\nmax_steps_per_epoch: null", None, "absent"),
        ("epochs: 3", None, "absent"),
    ],
)
def test_the_cap_on_steps_is_per_epoch(load, lines, steps, origin):
    value = load(lines + "\n").get("train.max_steps")
    assert (value.value, value.origin) == (steps, origin)


@pytest.mark.parametrize("epochs", ["", "epochs: ${oc.env:N}\n", "epochs: many\n"])
def test_the_cap_needs_the_epochs(load, epochs):
    assert isinstance(load(epochs + "max_steps_per_epoch: 50\n").get("train.max_steps").value, Unknown)


@pytest.mark.parametrize(
    ("dtype", "adapter", "bf16", "fp16"),
    [
        ("bf16", "bf16", True, False),
        ("fp32", "fp32", False, False),
        ("fp16", "fp16", False, True),
        ("null", "fp32", False, False),
    ],
)
def test_one_dtype_for_weights_adapter_and_products(load, dtype, adapter, bf16, fp16):
    config = load(f"dtype: {dtype}\n")
    fields = ("model.dtype", "adapter.dtype", "precision.bf16", "precision.pure_bf16", "precision.fp16")
    assert [config.get(field).value for field in fields] == [adapter, adapter, bf16, bf16, fp16]


@pytest.mark.parametrize(
    ("text", "clip", "origin"),
    [
        ("", 0.0, "default"),
        ("clip_grad_norm: null\n", 0.0, "default"),
        ("clip_grad_norm: inf\n", 0.0, "default"),
        ("clip_grad_norm: .inf\n", 0.0, "default"),
        ("clip_grad_norm: 1.0\n", 1.0, "set"),
        ("clip_grad_norm: 0\n", 0, "set"),
    ],
)
def test_gradients_are_clipped_only_when_asked(load, text, clip, origin):
    value = load(text or "seed: 1\n").get("optim.max_grad_norm")
    assert (value.value, value.origin) == (clip, origin)


def test_without_a_scheduler_the_rate_is_constant(load):
    for text in ("seed: 1\n", "lr_scheduler: null\n"):
        config = load(text)
        assert (config.get("schedule.name").value, config.get("schedule.warmup_steps").value) == ("constant", 0)
    config = load("lr_scheduler:\n  _component_: torchtune.modules.get_cosine_schedule_with_warmup\n")
    assert (config.get("schedule.name").value, config.get("schedule.warmup_steps").origin) == ("cosine", "absent")


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("loss:\n  _component_: torchtune.rlhf.loss.DPOLoss\n  beta: 0.05\n", "dpo"),
        ("loss:\n  _component_: torchtune.rlhf.loss.PPOLoss\n", "ppo"),
        ("loss:\n  _component_: torch.nn.CrossEntropyLoss\n", "sft"),
        ("kd_loss:\n  _component_: torchtune.modules.loss.ForwardKLLoss\nloss:\n  _component_: a.CE\n", "kd"),
    ],
)
def test_the_loss_tells_the_task(load, text, task):
    config = load(text)
    assert config.get("train.task").value == task
    assert config.get("pref.beta").value == (0.05 if task == "dpo" else None)


def test_generation_and_evaluation_train_nothing(load):
    assert load("max_new_tokens: 300\n").get("train.enabled").value is False
    assert load("tasks: [truthfulqa_mc2]\n").get("train.enabled").value is False


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("dataset:\n  _component_: a.chat_dataset\n  source: org/d\n", ["org/d"]),
        ("dataset:\n  _component_: a.chat_dataset\n  source: json\n  data_files: d.json\n", ["d.json"]),
        ("dataset:\n  - _component_: a.one\n  - _component_: a.two\n    source: org/d\n", ["a.one", "org/d"]),
        ("dataset: null\n", None),
    ],
)
def test_datasets(load, lines, names):
    assert load(lines).get("data.datasets").value == names


def test_references_are_followed_and_keep_their_own_place(load):
    config = load(
        "base: /tmp/m\nhalf: ${base}\nrate: 1e-4\n"
        "checkpointer:\n  checkpoint_dir: ${half}\noptimizer:\n  lr: ${rate}\n"
    )  # fmt: skip
    assert config.get("model.base").value == "/tmp/m"
    rate = config.get("optim.lr")
    assert (rate.value, rate.text, rate.span.line, rate.key) == (1e-4, "${rate}", 7, "optimizer.lr")


@pytest.mark.parametrize("text", ["${a}", "${nowhere}", "${oc.env:X}", "/tmp/${name}", "${b}"])
def test_what_cannot_be_followed_is_unknown(load, text):
    config = load(f"a: ${{output_dir}}\nb: x/${{name}}\noutput_dir: {text}\n")
    assert isinstance(config.get("checkpoint.output_dir").value, Unknown)


def test_numbers_as_omegaconf_reads_them(load):
    config = load("optimizer:\n  lr: 2e-4\n  weight_decay: 1e-2\n")
    assert (config.get("optim.lr").value, config.get("optim.weight_decay").value) == (2e-4, 0.01)
    assert config.layers[0].observations == ()
    (one,) = load('optimizer:\n  lr: "2e-4"\n').layers[0].observations
    assert (one.kind, one.effect, one.value.key, one.replacement) == ("coerced", "crash", "optimizer.lr", "0.0002")


@pytest.mark.parametrize(
    ("field", "value", "key", "out"),
    [
        ("adapter.rank", 16, "model.lora_rank", 16),
        ("adapter.targets", ["q_proj", "o_proj"], "model.lora_attn_modules", ["q_proj", "output_proj"]),
        ("adapter.dora", True, "model.use_dora", True),
        ("adapter.dtype", "fp32", "dtype", "fp32"),
        ("quant.bits", 4, "model.quantize_base", True),
        ("quant.bits", 16, "model.quantize_base", False),
        ("optim.lr", 2e-4, "optimizer.lr", 2e-4),
        ("optim.max_grad_norm", 1.0, "clip_grad_norm", 1.0),
        ("schedule.warmup_steps", 10, "lr_scheduler.num_warmup_steps", 10),
        ("precision.bf16", True, "dtype", "bf16"),
        ("precision.bf16", False, "dtype", "fp32"),
        ("batch.accumulation", 4, "gradient_accumulation_steps", 4),
        ("data.sequence_len", 512, "tokenizer.max_seq_len", 512),
        ("data.packing", False, "dataset.packed", False),
        ("memory.gradient_checkpointing", True, "enable_activation_checkpointing", True),
        ("checkpoint.output_dir", "out", "output_dir", "out"),
    ],
)
def test_writes_what_a_user_would(load, field, value, key, out):
    assert load("seed: 1\n").write(field, value) == (key, out)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("adapter.targets", ["gate_proj"]), ("adapter.targets", "all-linear"), ("adapter.dtype", "fp16"),
        ("quant.bits", 8), ("precision.fp16", True), ("train.max_steps", 9),
        ("adapter.method", "lora"), ("batch.drop_last", False),
    ],
)  # fmt: skip
def test_what_one_key_cannot_say_is_not_written(load, field, value):
    assert load(WHOLE).write(field, value) is None


@pytest.mark.parametrize(
    ("text", "kind", "effect", "key", "replacement"),
    [
        ("epochs: 1\nepochs: 2\n", "duplicate", "crash", "epochs", ""),
        ("clip_grad_nrom: 1.0\n", "unknown", "lost", "clip_grad_nrom", "clip_grad_norm"),
        ("model:\n  lora_attn_module: [q_proj]\n", "unknown", "crash", "model.lora_attn_module", "lora_attn_modules"),
        (
            "model:\n  _component_: torchtune.models.llama2.lora_llama2_7b\n  use_rslora: true\n",
            "unknown",
            "crash",
            "model.use_rslora",
            "",
        ),
        (
            "model:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_8b\n  max_seq_len: 8192\n",
            "unknown",
            "crash",
            "model.max_seq_len",
            "",
        ),
        (
            "model:\n  _component_: torchtune.models.qwen2.lora_qwen2_0_5b\n  apply_lora_to_output: true\n",
            "unknown",
            "crash",
            "model.apply_lora_to_output",
            "",
        ),
        ("optimizer:\n  weight_deacy: 0.1\n", "unknown", "crash", "optimizer.weight_deacy", "weight_decay"),
        ("enable_activation_offloading: true\n", "rejected", "crash", "enable_activation_offloading", ""),
        ("dataset:\n  packed: true\ntokenizer:\n  max_seq_len: null\n", "rejected", "crash", "dataset.packed", ""),
        ("optimizer_in_bwd: true\nclip_grad_norm: 1.0\n", "rejected", "crash", "clip_grad_norm", ""),
        (
            "resume_from_checkpoint: true\ncheckpointer:\n  adapter_checkpoint: epoch_0/adapter_model.safetensors\n",
            "rejected",
            "crash",
            "checkpointer.adapter_checkpoint",
            "",
        ),
    ],
)
def test_observes(load, text, kind, effect, key, replacement):
    (one,) = load(text).layers[0].observations
    assert (one.kind, one.effect, one.value.key, one.replacement) == (kind, effect, key, replacement)


@pytest.mark.parametrize(
    "text",
    [
        "base_model_dir: /tmp/m\ncheckpointer:\n  checkpoint_dir: ${base_model_dir}\n",
        "my_note: anything\n",
        "output_dirs: /tmp/all\noutput_dir: ${output_dirs}\n",
        "epoch: 3\nepochs: 3\n",  # beside the real key it is the user's own
        "model:\n  _component_: mine.build\n  width: 8\n",
        "enable_activation_offloading: true\nenable_activation_checkpointing: ${on}\n",
        "dataset:\n  packed: true\ntokenizer:\n  max_seq_len: ${len}\n",
        "optimizer_in_bwd: true\nclip_grad_norm: null\n",
        "dataset:\n  - packed: true\n",
        "resume_from_checkpoint: true\ncheckpointer:\n  adapter_checkpoint: epoch_0/adapter_model.pt\n",
        "resume_from_checkpoint: ${on}\ncheckpointer:\n  adapter_checkpoint: adapter_model.safetensors\n",
        "model:\n  _component_: torchtune.models.llama3_1.lora_llama3_1\n  max_seq_len: 8192\n",
        "model:\n  _component_: torchtune.models.llama3_2.lora_llama3_2_1b\n  tie_word_embeddings: false\n",
        "model:\n  _component_: torchtune.models.llama4.lora_llama4_scout_17b_16e\n  decoder_trainable: lora\n",
    ],
)
def test_has_nothing_to_say_of_legal_files(load, text):
    assert load(text).layers[0].observations == ()


def test_a_file_of_another_shape_is_no_fault(load):
    odd = ("model: lora\noptimizer: [1]\n", "model:\n  - 1\n", "max_steps_per_epoch: [1]\nepochs: {}\n", "- 1\n", "")
    for text in odd:
        config = load(text)
        for field in config.fields():
            config.get(field)


def test_the_corpus(shared, load):
    with open(shared / "corpus" / "INDEX.tsv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["framework"] == "torchtune"]
    assert rows
    for row in rows:
        config = load((shared / "corpus" / row["file"]).read_text(encoding="utf-8"))
        values = {field: config.get(field).value for field in config.fields()}
        assert values["adapter.method"] in {"lora", "full"}, row["file"]
        assert (values["adapter.rank"] is None) is (values["adapter.method"] == "full"), row["file"]
        assert {one.kind for one in config.layers[0].observations} <= {"duplicate"}, row["file"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("all-linear", ["all-linear"]),
        ("q_proj,v_proj", ["q_proj", "v_proj"]),
        ("output_proj", ["output_proj"]),
    ],
)
def test_a_text_in_place_of_the_list_of_layers_is_asked_for_their_names(load, written, read):
    config = load(f"model:\n  _component_: torchtune.models.llama2.lora_llama2_7b\n  lora_attn_modules: {written}\n")
    assert config.get("adapter.targets").value == read
