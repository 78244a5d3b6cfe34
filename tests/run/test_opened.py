"""Scripts that load their settings from files that they open by name."""

from __future__ import annotations

import pytest

from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.edit import set_value
from loralint.source.python import read_script
from loralint.source.read import read_file

RECIPE = "model: Qwen/Qwen2.5-7B\nlearning_rate: 2e-4\nepochs: 1.5\nlora:\n  r: 16\n  lora_alpha: 32\n  use_dora: off\n"
SCRIPT = """\
import json, yaml
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
with open("recipe.yaml") as file:
    cfg = yaml.safe_load(file)
lora = LoraConfig(**cfg["lora"], task_type="CAUSAL_LM")
args = SFTConfig(output_dir="out", learning_rate={rate}, num_train_epochs=cfg.get("epochs", 3))
SFTTrainer(model=cfg["model"], args=args, peft_config=lora).train()
"""


def place(run, value):
    return value.span.file.removeprefix(f"{run.root}/"), value.span.line, value.span.column, value.text


def script(rate='cfg["learning_rate"]'):
    return SCRIPT.replace("{rate}", rate)


def test_values_stand_where_the_file_has_them(run):
    found = run({"recipe.yaml": RECIPE, "train.py": script()})
    config = found.config
    assert place(run, config.get("adapter.rank")) == ("recipe.yaml", 5, 6, "16")
    assert place(run, config.get("model.base")) == ("recipe.yaml", 1, 8, "Qwen/Qwen2.5-7B")
    assert place(run, config.get("train.epochs")) == ("recipe.yaml", 3, 9, "1.5")
    assert [config.get(name).value for name in ("adapter.rank", "adapter.alpha", "adapter.dora")] == [16, 32, False]
    assert [one.file for one in found.documents] == [f"{run.root}/train.py", f"{run.root}/recipe.yaml"]
    assert run.around.is_claimed(f"{run.root}/recipe.yaml")


def test_a_number_that_yaml_takes_for_a_text_stops_the_trainer(run):
    found = run({"recipe.yaml": RECIPE, "train.py": script()})
    (fault,) = [one for one in found.observations if one.kind == "coerced"]
    assert (fault.effect, fault.value.key, place(run, fault.value)) == (
        "crash", "SFTConfig.learning_rate", ("recipe.yaml", 2, 16, "2e-4"),
    )  # fmt: skip


def test_a_text_that_the_script_makes_a_number_of_is_one(run):
    found = run({"recipe.yaml": RECIPE, "train.py": script('float(cfg["learning_rate"])')})
    rate = found.config.get("optim.lr")
    assert (rate.value, place(run, rate)[:2]) == (2e-4, ("train.py", 7))
    assert [one for one in found.observations if one.kind == "coerced"] == []


def test_a_launched_script_finds_its_files_from_where_it_is_started(run):
    found = run({"a/recipe.yaml": RECIPE, "a/train.py": script(), "go.sh": "cd a && python train.py\n"}, "go.sh")
    assert place(run, found.config.get("adapter.rank")) == ("a/recipe.yaml", 5, 6, "16")


def test_json_keeps_its_numbers(run):
    text = script().replace("yaml.safe_load(file)", "json.load(file)").replace("recipe.yaml", "recipe.json")
    json = '{"model": "Qwen/Qwen2.5-7B", "learning_rate": 2e-4, "lora": {"r": 8}}'
    found = run({"recipe.json": json, "train.py": text})
    assert place(run, found.config.get("optim.lr")) == ("recipe.json", 1, 47, "2e-4")
    assert (found.config.get("optim.lr").value, found.config.get("train.epochs").value) == (2e-4, 3)
    assert found.observations == ()


@pytest.mark.parametrize("recipe", [None, "a: [", "- 1\n- 2\n", "a: 1\n---\nb: 2\n"])
def test_what_cannot_be_loaded_is_unknown(run, recipe):
    files = {"train.py": script()} | ({"recipe.yaml": recipe} if recipe is not None else {})
    config = run(files).config
    assert not config.get("optim.lr").known
    assert not config.get("adapter.rank").known


def test_a_file_of_a_program_that_trains_nothing_stays_a_run_of_its_own(tmp_path):
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    (tmp_path / "look.py").write_text("import yaml, peft\nprint(yaml.safe_load(open('recipe.yaml')))\n")
    around = Project(str(tmp_path))
    assert starts(read_file(str(tmp_path / "look.py"), "look.py"), Options(), around) == []
    assert not around.is_claimed(str(tmp_path / "recipe.yaml"))


def test_a_value_of_another_file_is_not_edited_here(tmp_path):
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    (tmp_path / "t.py").write_text("import yaml\nf(x=yaml.safe_load(open('recipe.yaml'))['epochs'])\n")
    document = read_file(str(tmp_path / "t.py"), "t.py")
    loaded = read_script(document, lambda name: read_file(str(tmp_path / name), name))
    (given,) = loaded.calls[-1].args
    assert (given.node.native, document.span(given.node).file, document.written(given.node)) == (
        1.5,
        "recipe.yaml",
        "1.5",
    )
    with pytest.raises(ValueError, match="another file"):
        set_value(document, given.node, "2")


def test_defaults_that_a_parser_converts_are_numbers(run):
    text = script("args0.lr").replace(
        "with open",
        'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--lr", type=float, default="2e-4")\n'
        "args0 = parser.parse_args()\nwith open",
    )
    found = run({"recipe.yaml": RECIPE, "train.py": text, "go.sh": "python train.py\n"}, "go.sh")
    assert found.config.get("optim.lr").value == 2e-4
    assert [one for one in found.observations if one.kind == "coerced"] == []


DOTTED = """\
{load}
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
lora = LoraConfig(r=cfg.lora.r, lora_alpha=cfg["lora"]["lora_alpha"], task_type="CAUSAL_LM")
args = SFTConfig(output_dir="out", learning_rate=cfg.learning_rate, num_train_epochs=cfg.get("epochs", 3))
SFTTrainer(model=cfg.model, args=args, peft_config=lora).train()
"""
OMEGA = "from omegaconf import OmegaConf\n"


@pytest.mark.parametrize(
    ("load", "rate", "rank"),
    [
        (f"{OMEGA}cfg = OmegaConf.load('recipe.yaml')", 2e-4, 16),
        (f"{OMEGA}cfg = OmegaConf.merge(OmegaConf.load('recipe.yaml'), OmegaConf.from_cli())", 2e-4, 16),
        (f"{OMEGA}cfg = OmegaConf.merge({{'lora': {{'r': 4}}, 'epochs': 2}}, OmegaConf.load('recipe.yaml'))", 2e-4, 16),
        (f"{OMEGA}cfg = OmegaConf.merge(OmegaConf.load('recipe.yaml'), {{'lora': {{'r': 4}}}})", 2e-4, 4),
        (f"{OMEGA}cfg = OmegaConf.load('recipe.yaml')\ncfg.lora.r = 8\ncfg.learning_rate = 1e-3", 1e-3, 8),
        (f"{OMEGA}cfg = OmegaConf.merge(OmegaConf.load('recipe.yaml'), OmegaConf.load(path))", None, None),
        ("import yaml\nfrom easydict import EasyDict\ncfg = EasyDict(yaml.safe_load(open('recipe.yaml')))", 2e-4, 16),
        ("import yaml\ncfg = yaml.safe_load(open('recipe.yaml'))", None, None),  # a dictionary has no such attributes
    ],
)
def test_settings_may_be_attributes(run, load, rate, rank):
    found = run({"recipe.yaml": RECIPE, "train.py": DOTTED.replace("{load}", load)})
    values = [found.config.get(field).value for field in ("optim.lr", "adapter.rank")]
    assert [None if isinstance(one, Unknown) else one for one in values] == [rate, rank]


CLICK = """\
import click
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
@click.command()
@click.option("--rate", "-l", default=3e-4)
@click.option("-r", "--lora-rank", type=int, default=32)
@click.option("--strength", "alpha", default=24)
@click.option("--epochs", required=True, type=int)
def main(rate, lora_rank, alpha, epochs):
    lora = LoraConfig(r=lora_rank, lora_alpha=alpha)
    args = SFTConfig(output_dir="out", learning_rate=rate, num_train_epochs=epochs)
    SFTTrainer(model="x/y", args=args, peft_config=lora).train()
{call}
"""


@pytest.mark.parametrize("call", ["", "main()", "if __name__ == '__main__':\n    main()"])
def test_options_of_click_have_their_defaults(run, call):
    found = run({"train.py": CLICK.replace("{call}", call), "run.sh": "python train.py --lora-rank 8\n"}, "run.sh")
    values = [found.config.get(field) for field in ("optim.lr", "adapter.rank", "adapter.alpha", "train.epochs")]
    assert [None if isinstance(one.value, Unknown) else one.value for one in values] == [3e-4, 8, 24, None]


HYDRA = """\
import hydra
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
@hydra.main(version_base=None, config_path="conf", config_name="recipe")
def main(cfg):
    lora = LoraConfig(r=cfg.lora.r, lora_alpha=cfg.lora.lora_alpha, task_type="CAUSAL_LM")
    args = SFTConfig(output_dir="out", learning_rate=cfg.learning_rate)
    SFTTrainer(model=cfg.model, args=args, peft_config=lora).train()
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("recipe", "line", "rate"),
    [
        (RECIPE, "", 2e-4),
        (RECIPE, "python train.py", 2e-4),
        ("defaults: [_self_]\n" + RECIPE, "python train.py", 2e-4),
        (RECIPE, "python train.py learning_rate=1e-5", 1e-5),
        ("defaults: [model: small]\n" + RECIPE, "python train.py", None),
    ],
)
def test_what_hydra_hands_to_a_program(run, recipe, line, rate):
    files = {"conf/recipe.yaml": recipe, "train.py": HYDRA, **({"run.sh": f"{line}\n"} if line else {})}
    found = run(files, "run.sh" if line else "train.py").config.get("optim.lr")
    assert (None if isinstance(found.value, Unknown) else found.value) == rate
    assert rate is None or found.span.file.endswith("run.sh" if rate == 1e-5 else "recipe.yaml")
