from __future__ import annotations

import pytest

from loralint.frameworks.readers import ms_swift_script
from loralint.frameworks.readers.ms_swift import READER
from loralint.knowledge.data import part
from loralint.model import Unknown
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

FOURTH = """\
model: Qwen/Qwen2.5-7B-Instruct
torch_dtype: bfloat16
tuner_type: lora
lora_rank: 16
lora_alpha: 64
lora_dropout: 0.1
target_modules: [q_proj, v_proj]
modules_to_save: embed_tokens
lorap_lr_ratio: 16
use_rslora: true
init_weights: lora-ga
lora_dtype: bfloat16
quant_method: bnb
quant_bits: 4
attn_impl: flash_attn
dataset: [org/a#500, org/b#1500]
split_dataset_ratio: 0.1
max_length: 4096
packing: true
learning_rate: 2e-4
num_train_epochs: 2
per_device_train_batch_size: 2
warmup_ratio: 0.03
deepspeed: zero2
"""
SECOND = """\
model_id_or_path: Qwen/Qwen2.5-7B-Instruct
dtype: bf16
sft_type: lora
lora_rank: 8
lora_alpha: 16
lora_dropout_p: 0.1
lora_target_modules: ALL
lora_lr_ratio: 4
quantization_bit: 4
bnb_4bit_comp_dtype: AUTO
use_flash_attn: true
template_type: qwen
dataset: alpaca-en
dataset_test_ratio: 0.02
max_length: 2048
batch_size: 1
eval_steps: 100
"""


@pytest.fixture
def swift():
    """Give the run of a text as `loralint check` assembles it, generation and all."""

    def load(text: str, gpu: str = "", **targets: str):
        document = read_bytes(text.encode(), "c.json" if text.startswith("{") else "c.yaml")
        pins = {name.replace("_", "-"): version for name, version in targets.items()}
        found = assemble(document, Options(gpu=gpu, targets=pins, framework="ms-swift"))
        assert found is not None
        return found.config

    return load


def values(config, expected):
    return {field: config.get(field).value for field in expected}


def test_reads_the_fourth_generation(swift):
    config = swift(FOURTH)
    expected = {
        "model.base": "Qwen/Qwen2.5-7B-Instruct", "model.dtype": "bf16", "model.attention": "flash_attention_2",
        "adapter.method": "lora", "adapter.rank": 16, "adapter.alpha": 64, "adapter.dropout": 0.1,
        "adapter.targets": ["q_proj", "v_proj"], "adapter.modules_to_save": ["embed_tokens"],
        "adapter.loraplus_ratio": 16, "adapter.rslora": True, "adapter.init": "lora_ga", "adapter.dtype": "bf16",
        "quant.bits": 4, "quant.method": "bnb", "quant.type": "nf4", "quant.double": True,
        "quant.compute_dtype": "bf16", "data.datasets": ["org/a#500", "org/b#1500"], "data.val_size": 0.1,
        "data.sequence_len": 4096, "data.packing": True, "data.padding_free": True, "data.packing_isolated": True,
        "optim.name": "adamw_torch_fused",
        "optim.lr": 2e-4, "optim.weight_decay": 0.1, "optim.beta2": 0.95, "schedule.name": "cosine",
        "schedule.warmup_ratio": 0.03, "batch.micro": 2, "batch.accumulation": 8, "train.epochs": 2,
        "train.task": "sft", "precision.bf16": True, "precision.fp16": False, "dist.deepspeed": "zero2",
        "dist.zero_stage": 2, "eval.strategy": "steps", "eval.steps": 500, "memory.gradient_checkpointing": True,
        "run.rows": 1800,
    }  # fmt: skip
    assert values(config, expected) == expected
    assert config.versions.of("ms-swift") == "4.6.0"
    assert config.layers[0].observations == ()


def test_reads_the_second_generation(swift):
    config = swift(SECOND)
    expected = {
        "model.base": "Qwen/Qwen2.5-7B-Instruct", "model.dtype": "bf16", "model.attention": "flash_attention_2",
        "adapter.method": "lora", "adapter.alpha": 16, "adapter.dropout": 0.1, "adapter.targets": "all-linear",
        "adapter.loraplus_ratio": 4, "quant.bits": 4, "quant.method": "bnb", "quant.compute_dtype": "bf16",
        "data.template": "qwen", "data.val_size": 0.02, "batch.micro": 1, "batch.accumulation": 16,
        "train.epochs": 1, "schedule.warmup_ratio": 0.05, "eval.strategy": "steps", "eval.steps": 100,
        "checkpoint.save_total_limit": 2, "model.freeze_vision": False,
    }  # fmt: skip
    assert values(config, expected) == expected
    assert config.versions.of("ms-swift") == "2.6.1"
    assert config.layers[0].observations == ()


def test_old_names_under_a_newer_release_are_renamed(swift):
    seen = {one.value.key: one for one in swift(SECOND, ms_swift="4.6.0").layers[0].observations}
    assert {key: one.replacement for key, one in seen.items()} == {
        "model_id_or_path": "model", "dtype": "torch_dtype", "sft_type": "tuner_type",
        "lora_dropout_p": "lora_dropout", "lora_target_modules": "target_modules", "lora_lr_ratio": "lorap_lr_ratio",
        "quantization_bit": "quant_bits", "bnb_4bit_comp_dtype": "bnb_4bit_compute_dtype",
        "use_flash_attn": "attn_impl: flash_attn", "template_type": "template",
        "dataset_test_ratio": "split_dataset_ratio", "batch_size": "per_device_train_batch_size",
    }  # fmt: skip
    assert {(one.kind, one.effect, one.package) for one in seen.values()} == {("renamed", "crash", "ms-swift")}
    assert swift(SECOND, ms_swift="3.12.6").get("adapter.dropout").value == 0.1


def test_the_third_generation_by_its_own_word(swift):
    text = "model: org/m\ntrain_type: full\ndataset: d\nnum_train_epochs: 1\n"
    config = swift(text)
    assert config.versions.of("ms-swift") == "3.12.6"
    assert config.get("optim.lr").value == 1e-5
    assert config.layers[0].observations == ()
    (one,) = swift(text, ms_swift="4.6.0").layers[0].observations
    assert (one.kind, one.value.key, one.replacement, one.rewrite) == ("renamed", "train_type", "tuner_type", "key")
    assert swift(text, ms_swift="4.0.0").layers[0].observations == ()  # still takes the old name


@pytest.mark.parametrize(
    ("field", "value", "now", "second"),
    [
        ("adapter.rank", 32, ("lora_rank", 32), ("lora_rank", 32)),
        ("adapter.dropout", 0.0, ("lora_dropout", 0.0), ("lora_dropout_p", 0.0)),
        ("adapter.targets", "all-linear", ("target_modules", "all-linear"), ("lora_target_modules", "ALL")),
        ("adapter.targets", ["q_proj"], ("target_modules", ["q_proj"]), ("lora_target_modules", ["q_proj"])),
        ("adapter.method", "lora", ("tuner_type", "lora"), ("sft_type", "lora")),
        ("model.dtype", "bf16", ("torch_dtype", "bfloat16"), ("dtype", "bf16")),
        ("quant.bits", 8, ("quant_bits", 8), ("quantization_bit", 8)),
        ("batch.micro", 4, ("per_device_train_batch_size", 4), ("batch_size", 4)),
        ("optim.lr", 1e-4, ("learning_rate", 1e-4), ("learning_rate", 1e-4)),
        ("data.val_size", 0.05, ("split_dataset_ratio", 0.05), ("dataset_test_ratio", 0.05)),
        ("model.attention", "flash_attention_2", ("attn_impl", "flash_attn"), ("attn_impl", "flash_attn")),
    ],
)
def test_writes_what_each_generation_reads(swift, field, value, now, second):
    assert swift("tuner_type: lora\nmodel: m\n").write(field, value) == now
    assert swift("sft_type: lora\nmodel_type: m\n").write(field, value) == second
    for text, (key, out) in (("tuner_type: lora\n", now), ("sft_type: lora\n", second)):
        kept = "" if text.startswith(key) else text
        more = "quant_method: bnb\n" if key == "quant_bits" else ""
        assert swift(f"{kept}{more}{key}: {out}\n").get(field).value == value


def test_a_regular_expression_replaces_the_names(swift):
    config = swift("tuner_type: lora\ntarget_modules: [q_proj]\ntarget_regex: '.*v_proj'\n")
    assert config.get("adapter.targets").value == ".*v_proj"
    assert [(one.kind, one.value.key) for one in config.layers[0].observations] == [("ignored", "target_modules")]


def test_all_linear_counts_inside_a_list_and_commas_do_not_split(swift):
    assert (
        swift("tuner_type: lora\ntarget_modules: [all-linear, all-embedding]\n").get("adapter.targets").value
        == "all-linear"
    )
    assert swift("tuner_type: lora\ntarget_modules: q_proj,v_proj\n").get("adapter.targets").value == ["q_proj,v_proj"]


@pytest.mark.parametrize(
    ("gpu", "micro", "passes"), [("", 1, 16), ("", 3, 6), ("A100-80GBx8", 1, 2), ("A100-80GBx8", 4, 1), ("T4", 8, 2)]
)
def test_an_absent_accumulation_fills_a_step_with_sixteen_rows(swift, gpu, micro, passes):
    text = f"tuner_type: lora\nmodel: m\nper_device_train_batch_size: {micro}\n"
    assert swift(text, gpu).get("batch.accumulation").value == passes


def test_precision_follows_the_model(swift):
    def switches(text, **targets):
        config = swift(text, **targets)
        return config.get("precision.bf16").value, config.get("precision.fp16").value

    assert switches("tuner_type: lora\nmodel: Qwen/Qwen2.5-7B\n") == (True, False)
    assert switches("tuner_type: lora\ntorch_dtype: float32\n") == (False, True)
    assert switches("sft_type: lora\ndtype: fp32\n") == (False, False)
    assert isinstance(switches("tuner_type: lora\nmodel: ./mine\n")[0], Unknown)
    assert (
        swift("tuner_type: lora\nquant_bits: 4\nquant_method: bnb\ntorch_dtype: float16\n")
        .get("quant.compute_dtype")
        .value
        == "fp32"
    )


def test_defaults_by_release(swift):
    text = "model: m\ndataset: d\nlora_rank: 8\n"
    assert swift("tuner_type: lora\n" + text).get("eval.strategy").value == "no"
    early = swift("train_type: lora\n" + text, ms_swift="3.0.0")
    assert early.get("data.val_size").value == 0.01
    assert early.get("eval.strategy").value == "steps"
    assert early.get("optim.beta2").value == 0.999
    assert swift("rlhf_type: grpo\ntuner_type: lora\n").get("pref.beta").value == 0.04
    assert swift("rlhf_type: simpo\ntuner_type: lora\n").get("pref.beta").value == 2.0
    assert swift("tuner_type: lora\n").get("pref.beta").origin == "absent"


def test_the_loss_of_plain_training_is_no_preference(swift):
    assert swift("tuner_type: lora\ntask_type: embedding\nloss_type: infonce\n").get("pref.loss").origin == "absent"
    assert swift("tuner_type: lora\nrlhf_type: dpo\nloss_type: [hinge]\n").get("pref.loss").value == "hinge"


FAULTS = {
    "quant_bits: 4\n": ("ignored", "quant_bits", "lost"),
    "quant_method: bnb\n": ("rejected", "quant_method", "crash"),
    "quant_method: bnb\nquant_bits: 3\n": ("rejected", "quant_bits", "crash"),
    "packing: true\n": ("rejected", "packing", "crash"),
    "padding_free: true\nattn_impl: sdpa\n": ("rejected", "padding_free", "crash"),
    "packing: true\nattn_impl: flash_attn\nlazy_tokenize: true\n": ("rejected", "packing", "crash"),
    "fsdp: fsdp2\ndeepspeed: zero2\n": ("rejected", "fsdp", "crash"),
    "warmup_ratio: 0.1\nwarmup_steps: 10\n": ("rejected", "warmup_ratio", "crash"),
    "system: null\n": ("coerced", "system", "changed"),
    "eval_steps: null\n": ("rejected", "eval_steps", "crash"),
    "lora_rank: 8.0\n": ("rejected", "lora_rank", "crash"),
    "lora_rnak: 8\n": ("unknown", "lora_rnak", "crash"),
    "torch_dtype: bf16\n": ("rejected", "torch_dtype", "crash"),
    "save_strategy: no\n": ("coerced", "save_strategy", "crash"),
    "eval_strategy: no\nval_dataset: v\n": ("coerced", "eval_strategy", "crash"),
    "overwrite_output_dir: true\n": ("removed", "overwrite_output_dir", "crash"),
}


@pytest.mark.parametrize("text", FAULTS)
def test_observes(swift, text):
    found = swift("model: m\ntuner_type: lora\ndataset: d\n" + text).layers[0].observations
    assert [(one.kind, one.value.key, one.effect) for one in found] == [FAULTS[text]]


@pytest.mark.parametrize(
    "text",
    [
        "eval_strategy: no\n",  # replaced by "no", as there is nothing to evaluate on
        "quant_method: fp8\n",
        "learning_rate: 2e-4\nlora_alpha: 16.5\n",
        "ENV: {A: b}\nuse_ray: true\ndevice_groups: {nproc_per_node: 4}\n",
        "packing: true\nattn_impl: flash_attention_3\n",
        "warmup_ratio: 0.05\nwarmup_steps: 0\n",
    ],
)
def test_lets_pass(swift, text):
    assert swift("model: m\ntuner_type: lora\ndataset: d\n" + text).layers[0].observations == ()


@pytest.mark.parametrize(
    ("more", "release", "found"),
    [
        ("", "3.4.1", True),
        ("", "3.5.3", True),
        ("", "3.3.0", False),
        ("", "3.7.0", False),
        ("quant_method: bnb\nquant_bits: 4\n", "3.5.3", False),
    ],
)
def test_unsloth_is_asked_for_the_whole_model(swift, more, release, found):
    layer = swift(f"model: m\ntrain_type: lora\ntuner_backend: unsloth\n{more}", ms_swift=release).layers[0]
    told = [(one.kind, one.value.key, one.effect) for one in layer.observations]
    assert told == [("ignored", "train_type", "changed")] * found


def test_without_a_method_nothing_is_quantised(swift):
    assert swift("tuner_type: lora\nquant_bits: 4\n").get("quant.bits").value == 16


def test_rows_are_counted_only_where_every_name_counts(swift):
    assert swift("tuner_type: lora\ndataset: [a#5, b]\n").get("run.rows").origin == "absent"
    assert swift("tuner_type: lora\ndataset: a#5x\n").get("run.rows").origin == "absent"
    assert swift("tuner_type: lora\ndataset: a#500\nstreaming: true\n").get("run.rows").origin == "absent"
    assert swift("tuner_type: lora\ndataset: a#500\n").get("run.rows").value == 500


def test_json_is_read_alike(swift):
    config = swift('{"tuner_type": "lora", "lora_rank": 8, "learning_rate": 1e-4, "target_modules": "all-linear"}')
    assert config.get("adapter.targets").value == "all-linear"
    assert config.get("optim.lr").value == 1e-4


def test_the_benchmark_script_reads_below_args(swift):
    text = '{"cmd": "sft", "args": {"sft_type": "lora", "lora_rank": 4, "lora_target_modules": "ALL", "batch_size": 2}}'
    config = swift(text)
    assert config.reader is ms_swift_script.READER
    assert config.get("adapter.rank").value == 4
    assert config.get("adapter.targets").value == "all-linear"
    assert config.get("batch.micro").key == "args.batch_size"
    assert config.layers[0].observations == ()


def test_every_key_of_the_table_is_known():
    lists = part("keys-ms-swift")
    known = {*lists["keys"][""], *lists["moved"]}
    extra = {"evaluation_strategy", "per_gpu_train_batch_size", "activation_checkpointing"}
    for row in READER.table:
        head = row.key.partition(".")[0]
        assert not head or head in known or row.key in extra or head.startswith(("fsdp_", "activation_")), row.key


@pytest.mark.parametrize(
    ("name", "stage", "gathers", "moved"),
    [
        ("zero3", 3, True, None),
        ("zero2_offload", 2, False, "cpu"),
        ("default-zero3", 3, True, None),
        ("conf/ds.json", None, False, None),
    ],
)
def test_files_of_deepspeed_that_come_with_it(reading, name, stage, gathers, moved):
    config = reading(READER, f"model: Qwen/Qwen2.5-7B\ntuner_type: lora\ndeepspeed: {name}\n")
    assert config.get("dist.zero_stage").value == stage
    assert (config.get("dist.ds_gather").value is True) == gathers
    assert config.get("dist.ds_offload_optimizer").value == moved
