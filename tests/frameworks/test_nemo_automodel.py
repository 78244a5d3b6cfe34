"""NeMo Automodel: words that become values, patterns of modules, what it asserts and what it never reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.frameworks.readers.globs import read_globs, write_globs
from loralint.frameworks.readers.nemo_automodel import READER, present
from loralint.frameworks.table import SKIP
from loralint.model import Unknown

FILE = """\
recipe: TrainFinetuneRecipeForNextTokenPrediction
seed: 7
step_scheduler:
  global_batch_size: 64
  local_batch_size: 4
  num_epochs: 2
  max_steps: 300
  ckpt_every_steps: 50
  val_every_steps: 25
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: org/m
  torch_dtype: torch.bfloat16
peft:
  _target_: nemo_automodel.components._peft.lora.PeftConfig
  target_modules: ["*q_proj", "*.v_proj"]
  dim: 16
  dropout: none
distributed:
  strategy: fsdp2
  dp_size: none
  tp_size: 2
  activation_checkpointing: selective
quantization:
  load_in_4bit: "true"
  load_in_8bit: false
dataset:
  path_or_dataset: org/d
  seq_length: 2048
packed_sequence:
  packed_sequence_size: 0
optimizer:
  _target_: torch.optim.AdamW
  betas: [0.9, 0.95]
  lr: 1e-4
lr_scheduler:
  lr_decay_style: cosine
"""


def test_reads_what_the_file_says(reading, observed):
    config = reading(READER, FILE)
    expected = {
        "model.base": "org/m",
        "model.class": "NeMoAutoModelForCausalLM",
        "model.dtype": "bf16",
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 32,
        "adapter.dropout": 0.0,
        "adapter.targets": ["q_proj", "v_proj"],
        "adapter.init": "xavier",
        "adapter.dtype": "bf16",
        "quant.bits": 4,
        "quant.method": "bnb",
        "quant.type": "nf4",
        "quant.double": True,
        "quant.compute_dtype": "bf16",
        "optim.name": "adamw",
        "optim.lr": 1e-4,
        "optim.weight_decay": 0.01,
        "optim.beta2": 0.95,
        "optim.max_grad_norm": 1.0,
        "schedule.name": "cosine",
        "schedule.warmup_steps": 30,
        "schedule.min_lr_ratio": 0.01,
        "batch.micro": 4,
        "batch.global": 64,
        "train.task": "sft",
        "train.epochs": 2,
        "train.max_steps": 300,
        "train.seed": 7,
        "precision.bf16": True,
        "data.datasets": ["org/d"],
        "data.sequence_len": 2048,
        "data.packing": False,
        "eval.strategy": "steps",
        "eval.steps": 25,
        "checkpoint.save_steps": 50,
        "checkpoint.save_strategy": "steps",
        "memory.gradient_checkpointing": True,
        "dist.fsdp": True,
        "dist.fsdp_version": 2,
        "dist.tensor_parallel": 2,
        "kernel.compile": False,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert observed(config) == {}
    assert [item.text for item in config.get("adapter.targets").items] == ['"*q_proj"', '"*.v_proj"']


def test_without_a_peft_section_everything_trains(reading):
    config = reading(READER, "step_scheduler:\n  max_steps: 9\npeft: null\nmodel: {torch_dtype: auto}\n")
    assert config.get("adapter.method").value == "full"
    assert config.get("adapter.rank").origin == "absent"
    assert config.get("schedule.name").value == "constant"
    assert config.get("schedule.warmup_steps").value == 0


def test_the_adapter_takes_the_dtype_of_the_weights(reading):
    text = "peft: {dim: 8}\nmodel: {torch_dtype: %s}\n"
    assert reading(READER, text % "float32").get("adapter.dtype").value == "fp32"
    assert isinstance(reading(READER, text % "auto").get("adapter.dtype").value, Unknown)


@pytest.mark.parametrize(
    ("section", "targets", "excluded"),
    [
        ("{dim: 8}", ".*_proj", None),
        ("{match_all_linear: true}", "all-linear", None),
        ("{target_modules: '*_proj'}", r".*_proj", None),
        ("{target_modules: ['*']}", "all-linear", None),
        ("{target_modules: [model.layers.*.mlp.up_proj]}", r"model\.layers\..*\.mlp\.up_proj", None),
        ("{exclude_modules: ['*.out_proj']}", "all-linear", ["out_proj"]),
    ],
)
def test_reads_the_ways_to_say_the_targets(reading, section, targets, excluded):
    config = reading(READER, f"peft: {section}\n")
    assert config.get("adapter.targets").value == targets
    assert config.get("adapter.exclude").value == excluded


def test_writes_back(reading):
    config = reading(READER, "peft: {dim: 8}\nstep_scheduler: {max_steps: 9}\n")
    assert config.write("adapter.rank", 16) == ("peft.dim", 16)
    assert config.write("adapter.targets", ["q_proj"]) == ("peft.target_modules", ["*.q_proj"])
    assert config.write("adapter.targets", "all-linear") == ("peft.match_all_linear", True)
    assert config.write("adapter.targets", "q_.*") is None
    assert config.write("quant.bits", 4) == ("quantization.load_in_4bit", True)
    assert config.write("model.dtype", "bf16") == ("model.torch_dtype", "bfloat16")
    assert config.write("schedule.name", "warmup_stable_decay") == ("lr_scheduler.lr_decay_style", "wsd")
    assert config.write("optim.lr", 1e-4) == ("optimizer.lr", 1e-4)
    assert config.write("precision.fp16", True) == ("distributed.mp_policy.param_dtype", "float16")
    assert config.key("train.max_steps") == "step_scheduler.max_steps"


@pytest.mark.parametrize(
    ("recipe", "task"),
    [
        ("TrainFinetuneRecipeForSequenceClassification", "cls"),
        ("nemo_automodel.recipes.llm.kd.KnowledgeDistillationRecipeForNextTokenPrediction", "kd"),
        ("FinetuneRecipeForVLM", "sft"),
    ],
)
def test_tells_the_task_by_the_recipe(reading, recipe, task):
    assert reading(READER, f"recipe: {recipe}\n").get("train.task").value == task


def test_tells_an_image_model_by_its_loss(reading):
    assert reading(READER, "flow_matching: {flow_shift: 3.0}\n").get("train.task").value == "diffusion"


def test_does_not_know_what_other_recipes_train(reading):
    assert isinstance(reading(READER, "recipe: TrainEagle3Recipe\n").get("train.task").value, Unknown)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("peft: {target_modules: ['*q_proj'], exclude_modules: ['*lm_head']}\n", "peft.exclude_modules"),
        ("peft: {target_modules: ['*q_proj'], match_all_linear: true}\n", "peft.target_modules"),
        ("step_scheduler: {global_batch_size: 10, local_batch_size: 4}\n", "step_scheduler.global_batch_size"),
        ("step_scheduler: {max_steps: 0}\n", "step_scheduler.max_steps"),
        ("optimizer: {lr: 1e-5}\nlr_scheduler: {min_lr: 1e-4}\n", "lr_scheduler.min_lr"),
        ("lr_scheduler: {lr_warmup_steps: 0.1}\n", "lr_scheduler.lr_warmup_steps"),
        ("step_scheduler: {max_steps: 10}\nlr_scheduler: {lr_warmup_steps: 10}\n", "lr_scheduler.lr_warmup_steps"),
        ("quantization: {load_in_8bit: true}\n", "quantization"),
        ("distributed: {strategy: fsdp3}\n", "distributed.strategy"),
        ("recipe: FinetuneRecipeForVLM\nlr_scheduler: {warmup_steps: 9}\n", "lr_scheduler.warmup_steps"),
        ("peft: {rank: 8, dim: 8}\n", "peft.rank"),
        ("step_scheduler: {max_step: 9}\n", "step_scheduler.max_step"),
    ],
)
def test_observes_what_stops_the_run(reading, observed, text, key):
    assert observed(reading(READER, text))[key].effect == "crash"


@pytest.mark.parametrize(
    "text",
    [
        "peft: {target_modules: ['*q_proj'], exclude_modules: [], match_all_linear: false}\n",
        "peft: {target_modules: none, match_all_linear: true}\n",
        "step_scheduler: {global_batch_size: 12, local_batch_size: 4, max_steps: none}\n",
        "optimizer: {lr: 1e-5}\nlr_scheduler: {min_lr: 1e-5, lr_warmup_steps: 0}\n",
        "quantization: {load_in_4bit: false, load_in_8bit: true}\n",
        "my_own_section: {a: 1}\nseed: 3\nrng: {seed: 5}\n",
        "recipe: TrainEagle3Recipe\nrng: {seed: 5}\n",
        "recipe: FinetuneRecipeForMultimodal\nlr_scheduler: {warmup_steps: 9, schedule: cosine}\n",
    ],
)
def test_is_silent_about_what_runs(reading, observed, text):
    assert observed(reading(READER, text)) == {}


def test_observes_names_that_match_nothing(reading, observed):
    found = observed(reading(READER, "peft:\n  target_modules: [q_proj, '*v_proj', lm_head]\n"))
    assert {key: (one.effect, one.replacement) for key, one in found.items()} == {
        "peft.target_modules[0]": ("lost", '"*.q_proj"')
    }
    assert found["peft.target_modules[0]"].value.text == "q_proj"
    assert observed(reading(READER, "peft:\n  target_modules: q_proj\n"))["peft.target_modules"].effect == "crash"


def test_observes_a_seed_that_nobody_reads(reading, observed):
    found = observed(reading(READER, "recipe: TrainFinetuneRecipeForNextTokenPrediction\nrng: {seed: 1111}\n"))
    assert found["rng.seed"].kind == "ignored"
    assert found["rng.seed"].effect == "harmless"


@pytest.mark.parametrize("word", ["none", "None", None])
def test_words_for_null_say_nothing(word):
    assert present(word) is SKIP


@given(st.lists(st.from_regex(r"[a-z][a-z0-9_.]{0,12}", fullmatch=True), min_size=1, max_size=4))
def test_names_survive_the_way_there_and_back(names):
    assert read_globs(write_globs(names)) == names


def test_a_pattern_that_is_filled_in_later_stays_unknown():
    later = Unknown("later")
    assert read_globs([later, "*"]) == [later, "*"]
    assert read_globs([]) is SKIP
    assert write_globs("a.*") is SKIP
