"""Which reader serves a launch, and how much it may say."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch import guessed, reader_for, reader_of
from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Look
from loralint.model import Value

# of diffusers, whose script has the name of one of sd-scripts
INVERSION = "--output_dir o --learnable_property style --placeholder_token t --initializer_token i --scale_lr"
HF = "--output_dir o --num_train_epochs 3 --per_device_train_batch_size 4 --learning_rate 1e-4"


@pytest.mark.parametrize(
    ("text", "module", "guess"),
    [
        ("llamafactory-cli train c.yaml", "llamafactory", False),
        ("axolotl train c.yml", "axolotl", False),
        ("swift sft --model m", "ms_swift", False),
        ("megatron pt --model m", "ms_swift_megatron", False),
        ("trl sft --model_name_or_path m", "trl", False),
        ("tune run r --config c", "torchtune", False),
        ("python3 -m verl.trainer.main_ppo a.b=1", "verl", False),
        ("python -m verl.trainer.fsdp_sft_trainer a.b=1", "verl_sft", False),
        ("deepspeed --module openrlhf.cli.train_sft --max_len 3", "openrlhf", False),
        ("python src/train.py --stage sft", "llamafactory", False),
        ("python src/train.py --config-name=unlearn.yaml trainer=GradDiff trainer.args.seed=1", None, False),
        ("python src/train.py experiment=a.yaml data/datasets@data.train=b model=m", None, False),
        ("python ../../src/train_bash.py --stage sft", "llamafactory", False),
        ("python examples/scripts/sft.py --model_name_or_path m", "trl", False),
        ("accelerate launch train_dreambooth_lora_sdxl.py --rank 4", "diffusers", False),
        ("accelerate launch sdxl_train_network.py --network_dim 4", "sd_scripts", False),
        (
            "accelerate launch train_textual_inversion.py --pretrained_model_name_or_path m --output_dir o",
            "sd_scripts",
            False,
        ),
        (f"accelerate launch train_textual_inversion.py {INVERSION}", "generic", True),
        ("accelerate launch src/musubi_tuner/wan_train_network.py --dit x", "musubi", False),
        ("python -m tuning.sft_trainer --x 1", "fms_hf_tuning", False),
        (f"torchrun train.py {HF} --lora_r 8", "transformers", True),
        ("python finetune.py --base_model m --lora_r 8 --learning_rate 1e-4 --num_epochs 3", "generic", True),
        ("python train.py --x 1", None, False),
        ("accelerate launch train.py", None, False),
        ("python main.py --port 1", None, False),
    ],
)
def test_readers(find, text, module, guess):
    (launch,) = find(text)
    assert reader_of(launch) == module
    assert guessed(launch) == guess
    reader = reader_for(launch)
    assert (reader is None) == (module is None)
    assert reader is None or (reader.dialect == "flags" and reader.coerces)


def test_a_script_of_many_is_known_by_its_own_flags(find):
    flux, one = find("python flux_train_network.py --network_dim 4\npython train_network.py --network_dim 4")
    assert reader_for(flux).keys != reader_for(one).keys


def test_of_a_guess_no_flag_is_unknown_and_what_is_absent_is_a_librarys_or_not_known(find):
    swift = "python tune.py --tuner_type lora --model m --dataset d --lora_rank 8"
    library, trainer = find(f"python train.py {HF} --lora_r 8\n{swift}")
    for launch in (library, trainer):
        assert (reader_for(launch).keys, reader_for(launch).guessed, reader_for(launch).observe[:-1]) == ("", True, ())
    assert reader_for(library).partial is None  # Transformers' own defaults, whoever calls it
    assert "is not known" in reader_for(trainer).partial(trainer.flags)


def test_a_recipe_of_the_program_may_say_what_flags_do_not(find):
    (built_in,) = find("tune run lora --config llama3/8B_lora a.b=1")
    (own,) = find("tune run lora --config my.yaml a.b=1")
    assert "llama3/8B_lora" in reader_for(built_in).partial(built_in.flags)
    assert reader_for(own).partial is None


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("python src/train.py --stage sft", "train.script", "train.py"),
        ("python src/train.py --stage sft", "train.command", "train"),
        ("llamafactory-cli train --stage sft", "train.script", None),
    ],
)
def test_a_script_of_llamafactory_is_told_from_its_command(find, text, field, value):
    (launch,) = find(text)
    look = Look(lambda field: Value(None, "absent", field=field), lambda _: False)
    read = read_layer(launch.flags, reader_for(launch), look)
    assert next((one.value for one in read.values.get(field, ())), None) == value
