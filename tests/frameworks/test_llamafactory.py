"""LLaMA-Factory's flat file: what it means, what it is written as, and what its loader does to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from loralint.frameworks.read import read_layer
from loralint.frameworks.readers.llamafactory import READER
from loralint.frameworks.table import Layer, Look
from loralint.model import Observation, Unknown, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions
from loralint.source.read import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

TRAINING = "stage: sft\ndo_train: true\nmodel_name_or_path: some/model\ndataset: demo\noutput_dir: out\n"
V5: Mapping[str, str] = {"llamafactory": "0.9.5", "transformers": "5.2.0"}
V4: Mapping[str, str] = {"llamafactory": "0.9.3", "transformers": "4.52.4"}


class Reading(Protocol):
    """Reads a text under pinned versions."""

    def __call__(self, text: str, pins: Mapping[str, str] = V5) -> Config:
        """Give the run that the text starts."""


@pytest.fixture
def run(tmp_path: Path) -> Reading:
    """Read a text as LLaMA-Factory of the pinned release would."""

    def read(text: str, pins: Mapping[str, str] = V5) -> Config:
        file = tmp_path / "train.yaml"
        file.write_text(text, encoding="utf-8")
        versions = Versions("llamafactory", pins)
        look = Look(lambda field: Value(None, origin="absent", field=field), versions.satisfy)
        return Config(READER, (read_layer(read_file(str(file), "train.yaml"), READER, look),), Options(), versions)

    return read


def seen(config: Config) -> dict[str, Observation]:
    """Give the observations by key."""
    layer: Layer = config.layers[0]
    return {one.value.key: one for one in layer.observations}


def test_an_empty_file_has_the_frameworks_defaults(run: Reading) -> None:
    config = run(TRAINING)
    defaults = {
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 16,
        "adapter.dropout": 0.0,
        "adapter.targets": "all-linear",
        "adapter.dtype": "fp32",
        "adapter.init": True,
        "quant.bits": 16,
        "optim.lr": 5e-5,
        "batch.micro": 8,
        "batch.accumulation": 1,
        "train.epochs": 3.0,
        "schedule.name": "linear",
        "data.sequence_len": 2048,
        "data.packing": False,
        "memory.gradient_checkpointing": True,
        "memory.reentrant": True,
        "model.attention": "auto",
        "precision.bf16": False,
        "model.freeze_vision": True,
        "dist.ddp_find_unused": False,
    }
    assert {field: config.get(field).value for field in defaults} == defaults
    assert all(config.get(field).origin == "default" for field in defaults)
    assert not seen(config)


def test_defaults_follow_other_keys_and_the_release(run: Reading) -> None:
    config = run("stage: pt\nlora_rank: 32\nfinetuning_type: full\npure_bf16: true\n")
    assert config.get("adapter.alpha").value == 64
    assert config.get("data.packing").value is True
    assert config.get("adapter.dtype").value == "bf16"
    assert config.get("dist.ddp_find_unused").origin == "absent"
    assert run(TRAINING, {"llamafactory": "0.9.0"}).get("data.sequence_len").value == 1024


def test_comma_lists_are_split_with_their_places(run: Reading) -> None:
    config = run("lora_target: q_proj, v_proj\nadditional_target: embed_tokens,lm_head\n")
    value = config.get("adapter.targets")
    assert value.value == ["q_proj", "v_proj"]
    assert [(item.value, item.span and item.span.start, item.span and item.span.end) for item in value.items] == [
        ("q_proj", 13, 19),
        ("v_proj", 21, 27),
    ]
    assert config.get("adapter.modules_to_save").value == ["embed_tokens", "lm_head"]


@pytest.mark.parametrize(
    ("text", "value"), [("all", "all-linear"), ("all,q_proj", ["all", "q_proj"]), ("[q_proj]", ["q_proj"])]
)
def test_all_means_every_linear_layer_only_when_it_stands_alone(run: Reading, text: str, value: object) -> None:
    targets = run(f"lora_target: {text}\n").get("adapter.targets")
    assert targets.value == value
    assert [item.value for item in targets.items] == (value if isinstance(value, list) else [])


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("pissa_init: true", "adapter.init", "pissa"),
        ("flash_attn: fa2", "model.attention", "flash_attention_2"),
        ("flash_attn: disabled", "model.attention", "eager"),
        ("disable_gradient_checkpointing: true", "memory.gradient_checkpointing", False),
        ("use_unsloth_gc: true", "memory.activation_offload", True),
        ("quantization_method: bitsandbytes", "quant.method", "bnb"),
        ("report_to: none", "train.report_to", []),
        ("report_to: wandb", "train.report_to", ["wandb"]),
        ("deepspeed: examples/deepspeed/ds_z3_offload_config.json", "dist.zero_stage", 3),
        ("deepspeed: examples/deepspeed/ds_z0_config.json", "dist.zero_stage", 0),
        ("neat_packing: true", "data.packing", True),
        ("neat_packing: true", "data.packing_isolated", True),
        ("use_galore: true", "optim.name", "galore"),
        ("use_muon: true\noptim: sgd", "optim.name", "muon"),
        ("add_tokens: <a>,<b>", "model.new_tokens", ["<a>", "<b>"]),
        ("add_tokens: <a>", "model.resize_vocab", True),
        ("resize_vocab: true", "adapter.modules_to_save", ["embed_tokens", "lm_head"]),
        ("interleave_probs: 0.7,0.3", "data.mix_probs", [0.7, 0.3]),
        ("early_stopping_steps: 5", "train.early_stopping_patience", 5),
        ("do_eval: true", "eval.enabled", True),
        ("eval_strategy: steps", "eval.enabled", True),
        ("dpo_beta: 0.3", "pref.beta", 0.3),
        ("evaluation_strategy: steps", "eval.strategy", "steps"),
        ("lora_rank: 32\nlora_alpha: 0", "adapter.alpha", 64),
        ("bf16: 1", "precision.bf16", True),
        ("dataset: null", "data.datasets", None),
    ],
)
def test_reading(run: Reading, line: str, field: str, value: object) -> None:
    assert run(f"{line}\n").get(field).value == value


def test_warm_up_shares_changed_keys_with_transformers_5(run: Reading) -> None:
    assert run("warmup_steps: 0.1\n").get("schedule.warmup_ratio").value == 0.1
    assert run("warmup_steps: 0.1\n", V4).get("schedule.warmup_steps").value == 0.1
    assert run("warmup_ratio: 0.1\n").get("schedule.warmup_ratio").value == 0.1
    assert not seen(run("warmup_ratio: 0.1\n"))
    moved = seen(run("warmup_ratio: 0.1\n", {"transformers": "5.24.0"}))["warmup_ratio"]
    assert (moved.effect, moved.replacement, moved.package) == ("crash", "warmup_steps", "transformers")


def test_four_bit_weights_compute_in_the_training_dtype(run: Reading) -> None:
    config = run("quantization_bit: 4\nbf16: true\n")
    read = {name: config.get(f"quant.{name}").value for name in ("bits", "method", "type", "double", "compute_dtype")}
    assert read == {"bits": 4, "method": "bnb", "type": "nf4", "double": True, "compute_dtype": "bf16"}
    assert config.get("quant.storage_dtype").value == "bf16"
    assert run("quantization_bit: 8\nbf16: true\n").get("quant.type").origin == "absent"
    assert isinstance(run("quantization_bit: 4\n").get("quant.compute_dtype").value, Unknown)


def test_preference_settings_exist_only_in_their_stages(run: Reading) -> None:
    assert run("stage: dpo\n").get("pref.beta").value == 0.1
    assert run("stage: dpo\n").get("pref.loss").value == "sigmoid"
    assert run("stage: sft\n").get("pref.beta").origin == "absent"


@pytest.mark.parametrize(
    ("text", "trains"),
    [
        (TRAINING, True),
        ("stage: sft\ndataset: demo\noutput_dir: out\n", True),
        ("finetuning_type: lora\nlora_rank: 16\n", True),
        ("model_name_or_path: m\nadapter_name_or_path: a\ntemplate: qwen\nfinetuning_type: lora\n", False),
        ("model_name_or_path: m\ntemplate: qwen\ninfer_backend: huggingface\n", False),
        ("model_name_or_path: m\nadapter_name_or_path: a\nexport_dir: out\nexport_size: 5\n", False),
        ("stage: sft\ndo_predict: true\neval_dataset: demo\noutput_dir: out\n", False),
        ("model_name_or_path: m\ntask: mmlu_test\nn_shot: 5\nlang: en\nbatch_size: 4\n", False),
        ("do_train: 0\ndataset: demo\noutput_dir: out\n", False),
        (TRAINING + "infer_backend: huggingface\n", True),
    ],
)
def test_only_files_that_train_are_training(run: Reading, text: str, trains: bool) -> None:
    config = run(text)
    assert config.get("train.enabled").value is trains
    assert not seen(config)


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("adapter.targets", "all-linear", ("lora_target", "all")),
        ("adapter.targets", ["q_proj", "v_proj"], ("lora_target", "q_proj,v_proj")),
        ("adapter.targets", r".*\.(q|v)_proj", None),
        ("adapter.init", "pissa", ("pissa_init", True)),
        ("adapter.init", True, ("pissa_init", False)),
        ("adapter.init", "eva", None),
        ("adapter.dtype", "fp32", ("pure_bf16", False)),
        ("model.attention", "flash_attention_2", ("flash_attn", "fa2")),
        ("memory.gradient_checkpointing", False, ("disable_gradient_checkpointing", True)),
        ("quant.bits", 4, ("quantization_bit", 4)),
        ("optim.name", "adamw_torch", ("optim", "adamw_torch")),
        ("optim.name", "muon", ("use_muon", True)),
        ("schedule.warmup_ratio", 0.1, ("warmup_steps", 0.1)),
        ("train.report_to", [], ("report_to", "none")),
        ("train.enabled", True, ("do_train", True)),
        ("eval.strategy", "steps", ("eval_strategy", "steps")),
        ("model.new_tokens", ["<a>", "<b>"], ("add_special_tokens", "<a>,<b>")),
        ("pref.beta", 0.2, ("pref_beta", 0.2)),
        ("model.dtype", "bf16", None),
    ],
)
def test_writing(run: Reading, field: str, value: object, written: object) -> None:
    assert run("").write(field, value) == written


def test_a_key_in_use_is_preferred_when_writing(run: Reading) -> None:
    assert run("lora_rank: 4\n").key("adapter.alpha") == "lora_alpha"
    assert run("warmup_ratio: 0.1\n", V4).write("schedule.warmup_ratio", 0.03) == ("warmup_ratio", 0.03)


def test_an_unknown_key_stops_the_start_and_a_slip_is_named(run: Reading) -> None:
    faults = seen(run("lora_rnak: 8\nmy_own: 1\n"))
    slip, other = faults["lora_rnak"], faults["my_own"]
    assert (slip.kind, slip.effect, slip.replacement, slip.rewrite) == ("unknown", "crash", "lora_rank", "key")
    assert (other.effect, other.replacement, other.package) == ("crash", "", "llamafactory")


@pytest.mark.parametrize(
    ("key", "pins", "replacement"),
    [
        ("evaluation_strategy", V5, "eval_strategy"),
        ("new_special_tokens", V5, "add_special_tokens"),
        ("train_mm_proj_only", V5, ""),
        ("dpo_ftx", V5, "pref_ftx"),
        ("resources_per_worker", V5, ""),
        ("save_safetensors", V5, ""),
    ],
)
def test_keys_of_older_releases(run: Reading, key: str, pins: Mapping[str, str], replacement: str) -> None:
    moved = seen(run(f"{key}: x\n", pins))[key]
    assert (moved.effect, moved.replacement) == ("crash", replacement)
    assert moved.kind in {"renamed", "removed"}


def test_keys_are_judged_by_the_pinned_release(run: Reading) -> None:
    assert not seen(run("save_safetensors: true\nresources_per_worker: null\nwarmup_ratio: 0.1\n", V4))
    assert not seen(run("new_special_tokens: <a>\n", {"llamafactory": "0.9.2"}))
    assert not seen(run("evaluation_strategy: steps\n", {"llamafactory": "0.9.0", "transformers": "4.45.0"}))


def test_keys_of_other_backends_are_not_called_unknown(run: Reading) -> None:
    text = "use_kt: true\nkt_config:\n  kt_backend: AMXBF16\ntensor_model_parallel_size: 2\nray_num_workers: 4\n"
    assert not seen(run(text))


def test_numbers_in_quotes_stay_text(run: Reading) -> None:
    config = run('learning_rate: "2e-4"\nlora_rank: "8"\n')
    assert config.get("optim.lr").value == 2e-4
    fault = seen(config)["learning_rate"]
    assert (fault.kind, fault.effect, fault.replacement, fault.rewrite) == ("coerced", "crash", "0.0002", "value")
    assert seen(config)["lora_rank"].effect == "crash"


def test_a_bare_exponent_is_text_only_for_the_old_loader(run: Reading) -> None:
    text = "learning_rate: 2e-4\nbf16: yes\n"
    assert not seen(run(text))
    assert run(text).get("optim.lr").value == 2e-4
    old = run(text, V4)
    assert seen(old)["learning_rate"].effect == "crash"
    assert old.get("precision.bf16").value is True


def test_a_duplicate_key_stops_only_the_new_loader(run: Reading) -> None:
    assert seen(run("lora_rank: 8\nlora_rank: 16\n"))["lora_rank"].effect == "crash"
    assert seen(run("lora_rank: 8\nlora_rank: 16\n", V4))["lora_rank"].effect == "lost"


def test_false_in_quotes_counts_as_true(run: Reading) -> None:
    config = run('use_dora: "false"\n')
    assert config.get("adapter.dora").value is True
    assert seen(config)["use_dora"].effect == "changed"


def test_an_alpha_of_zero_is_replaced(run: Reading) -> None:
    fault = seen(run("lora_alpha: 0\n"))["lora_alpha"]
    assert (fault.kind, fault.effect) == ("coerced", "changed")


def test_transformers_switch_for_checkpointing_is_overruled(run: Reading) -> None:
    fault = seen(run("gradient_checkpointing: false\n"))["gradient_checkpointing"]
    assert (fault.kind, fault.effect) == ("ignored", "changed")
    assert run("gradient_checkpointing: false\n").get("memory.gradient_checkpointing").value is True
    assert not seen(run("gradient_checkpointing: false\ndisable_gradient_checkpointing: true\n"))


def test_the_old_name_of_bitsandbytes_quantises_nothing(run: Reading) -> None:
    text = "quantization_bit: 4\nquantization_method: bitsandbytes\n"
    fault = seen(run(text))["quantization_method"]
    assert (fault.kind, fault.effect, fault.replacement) == ("rejected", "lost", "bnb")
    assert not seen(run(text, {"llamafactory": "0.9.2"}))
    assert not seen(run("quantization_method: bitsandbytes\n"))


@pytest.mark.parametrize(
    ("text", "key", "beside"),
    [
        ("quantization_bit: 4\nresize_vocab: true\n", "resize_vocab", "quantization_bit"),
        ("use_galore: true\n", "use_galore", None),
        ("finetuning_type: lora\nuse_badam: true\n", "use_badam", "finetuning_type"),
        ("finetuning_type: full\nuse_dora: true\n", "use_dora", "finetuning_type"),
        ("finetuning_type: freeze\nadapter_name_or_path: saves/x\n", "adapter_name_or_path", "finetuning_type"),
        ("finetuning_type: full\nuse_apollo: true\ndeepspeed: ds_z2.json\n", "use_apollo", "deepspeed"),
        ("stage: kto\npissa_init: true\n", "pissa_init", "stage"),
        (
            "model_name_or_path: Qwen/Qwen2-7B-Instruct-GPTQ-Int4\nadapter_name_or_path: saves/a,saves/b\n",
            "adapter_name_or_path",
            "model_name_or_path",
        ),
        ("stage: sft\nmetric_for_best_model: accuracy\n", "metric_for_best_model", None),
        ("eval_dataset: a,b\neval_on_each_dataset: true\nmetric_for_best_model: loss\n", "metric_for_best_model", None),
        (
            "eval_dataset: a,b\neval_on_each_dataset: true\nload_best_model_at_end: true\n",
            "load_best_model_at_end",
            None,
        ),
    ],
)
def test_pairs_that_it_refuses(run: Reading, text: str, key: str, beside: str | None) -> None:
    fault = seen(run(text))[key]
    assert (fault.kind, fault.effect) == ("rejected", "crash")
    assert (fault.other.key if fault.other else None) == beside


@pytest.mark.parametrize(
    "text",
    [
        "quantization_bit: null\nresize_vocab: true\n",
        "model_name_or_path: Qwen/Qwen2-7B-Instruct-GPTQ-Int4\nadapter_name_or_path: saves/a\n",
        "model_name_or_path: Qwen/Qwen2-7B-Instruct\nadapter_name_or_path: saves/a,saves/b\n",
        "stage: sft\ncompute_accuracy: true\nmetric_for_best_model: accuracy\n",
        "stage: rm\nmetric_for_best_model: accuracy\n",
        "eval_dataset: a,b\neval_on_each_dataset: true\nmetric_for_best_model: eval_a_loss\n",
        "eval_dataset: a,b\nload_best_model_at_end: true\n",
        "quantization_bit: 4\nresize_vocab: false\n",
        "finetuning_type: full\nuse_galore: true\nuse_dora: false\n",
        "finetuning_type: ${METHOD}\nuse_dora: true\nuse_galore: true\n",
        "adapter_name_or_path: saves/x\n",
        "stage: sft\npissa_init: true\n",
    ],
)
def test_pairs_that_it_takes(run: Reading, text: str) -> None:
    assert "rejected" not in {fault.kind for fault in seen(run(text)).values()}


def test_oft_reads_no_targets_of_its_own(run: Reading) -> None:
    assert seen(run("finetuning_type: oft\noft_target: q_proj\n"))["oft_target"].replacement == "lora_target"
    assert not seen(run("finetuning_type: oft\noft_target: all\n"))


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("stage: sfT", "sft"),
        ("finetuning_type: qlora", "lora"),
        ("flash_attn: true", "auto"),
        ("lr_scheduler_type: cosin", "cosine"),
        ("optim: adamw_torchh", "adamw_torch"),
        ("quantization_type: nf5", ""),
        ("template: qwen3_nothnk", "qwen3_nothink"),
    ],
)
def test_words_that_a_key_does_not_take(run: Reading, line: str, replacement: str) -> None:
    fault = seen(run(f"{line}\n"))[line.partition(":")[0]]
    assert (fault.kind, fault.effect, fault.replacement) == ("rejected", "crash", replacement)


def test_a_template_of_ones_own_and_a_word_filled_in_later_are_left_alone(run: Reading) -> None:
    assert not seen(run("template: our_house_style\nstage: ${STAGE}\n"))


def test_an_unquoted_no_is_told_once(run: Reading) -> None:
    layer = run("eval_strategy: no\n").layers[0]
    assert [(one.kind, one.replacement) for one in layer.observations] == [("coerced", '"no"')]


PPO = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: ppo\nfinetuning_type: lora\nreward_model: saves/reward\n"


@pytest.mark.parametrize(
    ("kind", "told"), [("", True), ("reward_model_type: lora\n", True), ("reward_model_type: full\n", False)]
)
def test_the_adapter_of_a_reward_model_counts_beside_a_whole_one_only(reading, observed, kind, told):
    found = observed(reading(READER, f"{PPO}{kind}reward_model_adapters: saves/other\n"))
    assert ("reward_model_adapters" in found) is told


@pytest.mark.parametrize(
    ("written", "meant"), [("gpt", "gpt_oss"), ("qwen2.5", "qwen"), ("llama", "llama2"), ("my_own", "")]
)
def test_names_of_templates_that_people_expect(reading, observed, written, meant):
    found = observed(
        reading(READER, f"model_name_or_path: m\nstage: sft\nfinetuning_type: lora\ntemplate: {written}\n")
    )
    assert (found["template"].replacement if "template" in found else "") == meant


def test_unsloth_is_not_told_of_pissa(reading, observed):
    text = "model_name_or_path: m\nstage: sft\nfinetuning_type: lora\npissa_init: true\nuse_unsloth: {}\n"
    assert observed(reading(READER, text.format("true")))["pissa_init"].effect == "changed"
    assert "pissa_init" not in observed(reading(READER, text.format("false")))
