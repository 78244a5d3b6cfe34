"""A config whose keys fill the arguments of the script that it is handed to, and a script that keeps its own defaults.

What a parser of dataclasses does with a file: transformers 5.24 hf_argparser.py (parse_yaml_file and parse_json_file
take the file alone), trl 1.16 scripts/utils.py (its values become argparse's defaults, so that flags count over them).
"""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

HEAD = """\
import sys
from dataclasses import dataclass, field
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, HfArgumentParser, Trainer, TrainingArguments
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser
@dataclass
class Ours:
    model_id: str = field(default="tiiuae/falcon-7b")
    rank: int = 0
    alpha: float = 0.0
    names: str = "query_key_value"
"""
OVER = "ours, args = TrlParser((Ours, SFTConfig)).parse_args_and_config()\n"
ALONE = "ours, args = HfArgumentParser((Ours, SFTConfig)).parse_yaml_file(sys.argv[1])\n"
EITHER = """\
parser = HfArgumentParser((Ours, SFTConfig))
if sys.argv[1].endswith(".json"):
    ours, args = parser.parse_json_file(sys.argv[1])
else:
    ours, args = parser.parse_args_into_dataclasses()
"""
TRAIN = """\
model = AutoModelForCausalLM.from_pretrained(ours.model_id, dtype=torch.bfloat16)
config = LoraConfig(r=ours.rank, lora_alpha=ours.alpha, target_modules=ours.names.split(","), task_type="CAUSAL_LM")
SFTTrainer(model=model, args=args, train_dataset=rows, peft_config=config).train()
"""
YAML = """\
model_id: Qwen/Qwen2.5-7B
rank: 16
alpha: 32
names: q_proj,v_proj
output_dir: out
learning_rate: 1.0e-4
per_device_train_batch_size: 2
"""
JSON = '{"model_id": "Qwen/Qwen2.5-7B", "rank": 16, "alpha": 32, "names": "q_proj,v_proj", "output_dir": "out"}'
WHAT = ("model.base", "adapter.rank", "adapter.alpha", "adapter.targets")
GIVEN = ["Qwen/Qwen2.5-7B", 16, 32, ["q_proj", "v_proj"]]


@pytest.fixture
def only(tmp_path):
    """only(script, line, **files) -> the only run of what the line starts; without a line, of the script."""

    def build(script, line="python train.py --config c.yaml", **files):
        files = {"train_py": script, "run_sh": f"{line}\n" if line else "", **files}
        for name, text in files.items():
            if text:
                (tmp_path / name.replace("_", ".")).write_text(text)
        file = str(tmp_path / ("run.sh" if line else "train.py"))
        (run,) = starts(read_file(file, file), Options(), Project(str(tmp_path)))
        return run

    return build


def values(run, fields=WHAT):
    """What the run takes; why nobody knows it, where that is so."""
    found = [run.config.get(field).value for field in fields]
    return [value.reason if isinstance(value, Unknown) else value for value in found]


@pytest.mark.parametrize(
    ("parser", "line", "files"),
    [
        (OVER, "accelerate launch train.py --config c.yaml", {"c_yaml": YAML}),
        (ALONE, "python train.py c.yaml", {"c_yaml": YAML}),
        (EITHER, "torchrun --nproc_per_node=2 train.py c.json", {"c_json": JSON}),
        (ALONE.replace("sys.argv[1]", '"c.yaml"'), "python train.py", {"c_yaml": YAML}),
        (ALONE.replace("sys.argv[1]", '"c.yaml"'), "", {"c_yaml": YAML}),
    ],
    ids=["trl", "yaml", "json", "named", "named, not launched"],
)
def test_keys_of_the_config_fill_the_arguments_of_the_script(only, parser, line, files):
    run = only(HEAD + parser + TRAIN, line, **files)
    assert values(run) == GIVEN
    rank = run.config.get("adapter.rank")
    assert (rank.key, rank.pointer) == ("rank", "/rank")
    assert rank.span.file.endswith(next(iter(files)).replace("_", "."))


def test_a_file_of_nothing_but_the_scripts_own_arguments_counts_too(only):
    run = only(HEAD + OVER + TRAIN, c_yaml="model_id: Qwen/Qwen2.5-7B\nrank: 16\nalpha: 32\nnames: q_proj,v_proj\n")
    assert values(run) == GIVEN


def test_flags_count_before_the_file_where_the_parser_puts_them_over_it(only):
    run = only(HEAD + OVER + TRAIN, "python train.py --config c.yaml --rank 8 --learning_rate 2e-4", c_yaml=YAML)
    assert values(run, ("adapter.rank", "adapter.alpha", "optim.lr")) == [8, 32, 2e-4]
    assert [one.value for one in run.config.get("adapter.rank").shadowed] == [16]


def test_a_parser_that_takes_a_file_hears_no_flag(only):
    run = only(HEAD + ALONE + TRAIN, "python train.py c.yaml --rank 8 --learning_rate 2e-4", c_yaml=YAML)
    assert values(run, ("adapter.rank", "optim.lr")) == [16, 1e-4]


@pytest.mark.parametrize(
    ("parser", "line"),
    [
        (OVER, "python train.py --config elsewhere.yaml"),
        (OVER, "python train.py --config $CONFIG"),
        (ALONE, "python train.py elsewhere.yaml"),
        (ALONE, 'python train.py "$1"'),
        (ALONE, ""),
    ],
)
def test_of_a_file_that_nobody_sees_the_arguments_are_unknown(only, parser, line):
    run = only(HEAD + parser + TRAIN, line)
    assert all(isinstance(run.config.get(field).value, Unknown) for field in WHAT)


@pytest.mark.parametrize("text", [YAML + "more: [1\n", "- rank\n", "# nothing\n"])
def test_of_a_file_without_keys_nothing_is_known_either(only, text):
    run = only(HEAD + OVER + TRAIN, c_yaml=text)
    assert all(isinstance(run.config.get(field).value, Unknown) for field in WHAT)


def test_without_a_file_the_defaults_of_the_script_hold(only):
    run = only(HEAD + OVER + TRAIN, "python train.py --output_dir out")
    assert values(run) == ["tiiuae/falcon-7b", 0, 0.0, ["query_key_value"]]


def test_how_argparse_gets_a_config_is_not_seen_so_that_its_default_is_doubtful(only):
    parser = """
import argparse
ours = argparse.ArgumentParser()
ours.add_argument("--config")
ours.add_argument("--size", type=int, default=0)
ours.add_argument("--model_id", default="Qwen/Qwen3-8B")
ours = ours.parse_args()
merge(ours)
model = AutoModelForCausalLM.from_pretrained(ours.model_id)
SFTTrainer(model=model, args=SFTConfig("o"), train_dataset=rows, peft_config=LoraConfig(r=ours.size)).train()
"""
    run = only(HEAD + parser, c_yaml="size: 16\nlora_alpha: 32\noutput_dir: o\nlearning_rate: 1.0e-4\n")
    said = "the config that the script is given may say otherwise"
    assert values(run, ("adapter.rank", "model.base")) == [said, "Qwen/Qwen3-8B"]


def test_what_the_script_gives_after_the_file_counts(only):
    late = "args.max_length = 2048\nargs.learning_rate = ours.alpha\n"
    run = only(HEAD + OVER + late + TRAIN, c_yaml=YAML + "max_length: 512\n")
    assert values(run, ("data.sequence_len", "optim.lr")) == [2048, 32]


def test_a_key_of_the_config_that_the_script_does_not_read_is_none_of_its_settings(only):
    script = HEAD + OVER + TRAIN.replace("r=ours.rank", "r=64")
    run = only(script, c_yaml=YAML + "lora_r: 0\nlora_dropout: 0.3\nload_in_4bit: true\n")
    assert values(run, ("adapter.rank", "adapter.dropout", "quant.bits")) == [64, 0.0, 16]


# defaults


LOADED = """\
small = BitsAndBytesConfig(load_in_4bit=True)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=small)
model = get_peft_model(model, LoraConfig(target_modules="all-linear"))
"""
TRANSFORMERS = f"""{HEAD}
(args,) = HfArgumentParser(TrainingArguments).parse_yaml_file(sys.argv[1])
{LOADED}Trainer(model=model, args=args, train_dataset=rows).train()
"""
TRL = f"""{HEAD}
(args,) = TrlParser(SFTConfig).parse_args_and_config()
{LOADED}SFTTrainer(model=model, args=args, train_dataset=rows).train()
"""
PLAIN = "output_dir: out\nlearning_rate: 1.0e-4\nper_device_train_batch_size: 2\nnum_train_epochs: 1\nbf16: true\n"
MADE = ("adapter.rank", "adapter.alpha", "adapter.dropout", "quant.type", "quant.double", "quant.storage_dtype")


@pytest.mark.parametrize(
    ("script", "line", "framework"),
    [
        (TRANSFORMERS, "python train.py c.yaml", "transformers"),
        (TRL, "python train.py --config c.yaml", "trl"),
    ],
)
def test_what_the_script_makes_itself_has_the_defaults_of_its_own_classes(only, script, line, framework):
    run = only(script, line, c_yaml=PLAIN)
    assert run.config.reader.name == framework
    assert values(run, MADE) == [8, 8, 0.0, "fp4", False, "uint8"]
    assert run.config.home("adapter.alpha").document.file.endswith("train.py")
    assert values(run, ("optim.lr", "optim.max_grad_norm", "train.seed")) == [1e-4, 1.0, 42]
    assert run.config.home("train.seed").document.file.endswith("c.yaml")


def test_where_the_parser_fills_the_class_of_the_library_its_defaults_hold(only):
    run = only(f"""{HEAD}
from trl import get_peft_config
args, of_model = TrlParser((SFTConfig, ModelConfig)).parse_args_and_config()
trainer = SFTTrainer(of_model.model_name_or_path, args=args, train_dataset=rows, peft_config=get_peft_config(of_model))
trainer.train()
""", c_yaml="model_name_or_path: Qwen/Qwen2.5-7B\nuse_peft: true\nlearning_rate: 1.0e-4\noutput_dir: o\n")  # fmt: skip
    assert values(run, ("adapter.method", *MADE[:3])) == ["lora", 16, 32, 0.05]


UNSEEN = """
from ours import adapter
SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, train_dataset=rows, peft_config=adapter(ours)).train()
"""
BRANCHES = """
model = get_peft_model(AutoModelForCausalLM.from_pretrained(ours.model_id), LoraConfig())
trainer = SFTTrainer(model=model, args=args, train_dataset=rows)
if ours.alpha:
    trainer = Trainer(model=model, args=args, train_dataset=rows)
trainer.train()
"""


@pytest.mark.parametrize("train", [UNSEEN, BRANCHES])
def test_what_the_script_does_not_show_has_no_default_of_the_configs_framework(only, train):
    run = only(HEAD + OVER + train, c_yaml=PLAIN + "use_peft: true\n")
    assert values(run, ("adapter.method", "optim.lr")) == ["lora", 1e-4]
    assert all(isinstance(run.config.get(field).value, Unknown) for field in MADE[:3])


def test_sections_of_a_config_that_become_keywords_are_read_by_their_names(only):
    run = only("""
import sys, yaml
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
given = yaml.safe_load(open(sys.argv[1]))
adapter, args = LoraConfig(**given["lora"]), SFTConfig(**given["training"])
SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, train_dataset=rows, peft_config=adapter).train()
""", "python train.py c.yaml",
        c_yaml="lora: {lora_alpha: 16, target_modules: [q_proj]}\ntraining: {output_dir: o, learning_rate: 1.0e-4}\n",
    )  # fmt: skip
    assert values(run, ("adapter.alpha", "optim.lr", "model.base")) == [16, 1e-4, "Qwen/Qwen2.5-7B"]
    assert isinstance(run.config.get("adapter.rank").value, Unknown)
    assert run.config.reader.guessed


def test_a_loop_of_its_own_may_call_its_keys_as_it_likes(only):
    run = only("""
import sys, torch, yaml
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
given = yaml.safe_load(open(sys.argv[1]))
model = get_peft_model(AutoModelForCausalLM.from_pretrained(given["base"]), LoraConfig(r=given["lora_r"]))
optimizer = torch.optim.AdamW(model.parameters(), lr=float(given["learning_rate"]))
for batch in loader:
    model(**batch).loss.backward()
    optimizer.step()
""", "python train.py c.yaml", c_yaml="""\
model_name_or_path: Qwen/Qwen2.5-7B
lora_r: 16
lora_alpha: 32
target_modules: [q_proj]
learning_rate: 1e-4
num_train_epochs: 3
""")  # fmt: skip
    assert [one.value.key for one in run.observations if one.kind == "unknown"] == []
    assert values(run, ("adapter.rank", "optim.lr")) == [16, 1e-4]


# what is said of it


@pytest.fixture
def told(tmp_path):
    """told(script, config, line) -> (rule, file, line, help) of the findings of tiers S and A, versions pinned."""

    def build(script, config, line="accelerate launch --num_processes 2 train.py --config c.yaml"):
        pins = "trl==0.23.0\ntransformers==4.56.2\npeft==0.17.1\nbitsandbytes==0.47.0\n"
        for name, text in (("train.py", script), ("c.yaml", config), ("run.sh", line), ("requirements.txt", pins)):
            (tmp_path / name).write_text(text)
        found = [one for run in check(str(tmp_path)).runs for one in run.findings if one.tier in "SA"]
        return [(one.rule, one.span.file.rpartition("/")[2], one.span.line, one.help) for one in found]

    return build


def test_a_right_config_over_defaults_that_would_fail_is_no_fault(told):
    assert told(HEAD + OVER + TRAIN, YAML) == []


def test_a_fault_is_told_at_the_line_of_the_config(told):
    ((rule, file, line, help_),) = told(HEAD + OVER + TRAIN, YAML.replace("rank: 16", "rank: 0"))
    assert (rule, file, line) == ("LL304", "c.yaml", 2)
    assert help_.startswith("write rank: 16")


def test_a_model_of_the_config_that_lacks_the_names_of_the_script_is_told(told):
    config = YAML.replace("Qwen/Qwen2.5-7B", "tiiuae/falcon-7b")
    assert {one[:3] for one in told(HEAD + OVER + TRAIN, config)} == {("LL330", "c.yaml", 4)}


def test_experts_without_dropout_are_no_fault_beside_a_config(told):
    script = (
        HEAD
        + """
(args,) = TrlParser(SFTConfig).parse_args_and_config()
model = AutoModelForCausalLM.from_pretrained("openai/gpt-oss-20b", dtype=torch.bfloat16, attn_implementation="eager")
config = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM",
                    target_parameters=["7.mlp.experts.gate_up_proj", "7.mlp.experts.down_proj"])
SFTTrainer(model=model, args=args, train_dataset=rows, peft_config=config).train()
"""
    )
    assert told(script, PLAIN) == []
    ((rule, file, *_),) = told(script.replace("r=8,", "r=8, lora_dropout=0.05,"), PLAIN)
    assert (rule, file) == ("LL327", "train.py")


def test_four_bit_weights_that_fsdp_cannot_flatten_are_told_of_the_script(told):
    fsdp = PLAIN + "fsdp: full_shard auto_wrap\nfsdp_config: {use_orig_params: false}\n"
    script = TRL.replace("load_in_4bit=True", "load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16")
    found = {one[0]: one for one in told(script, fsdp)}
    assert found["LL518"][1] == "train.py"
    assert "BitsAndBytesConfig(bnb_4bit_quant_storage=" in found["LL518"][3]
    stored = script.replace("load_in_4bit=True,", "load_in_4bit=True, bnb_4bit_quant_storage=torch.bfloat16,")
    assert "LL518" not in {one[0] for one in told(stored, fsdp)}
