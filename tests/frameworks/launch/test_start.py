"""Launchers off, outermost first, until the program that trains."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "program", "subcommand", "script", "module", "launchers"),
    [
        ("python train.py --x 1", "python", "", "train.py", "", []),
        ("python3.11 -u -X dev train.py", "python", "", "train.py", "", []),
        ("./train.py --x 1", "python", "", "./train.py", "", []),
        ("$PYTHON -u train.py", "python", "", "train.py", "", []),
        ("python -m my.train --x 1", "python", "", None, "my.train", []),
        ("accelerate launch --multi_gpu --num_processes 8 train.py", "python", "", "train.py", "", ["accelerate"]),
        ("accelerate launch --config_file a.yaml -m my.train", "python", "", None, "my.train", ["accelerate"]),
        ("python -m accelerate.commands.launch --num_processes=2 train.py",
         "python", "", "train.py", "", ["accelerate"]),
        ("accelerate launch $EXTRA --num_processes 2 train.py", "python", "", "train.py", "", ["accelerate"]),
        ("accelerate launch -m axolotl.cli.train c.yml", "axolotl", "train", None, "axolotl.cli.train", ["accelerate"]),
        ("torchrun --standalone --nproc_per_node 2 train.py", "python", "", "train.py", "", ["torchrun"]),
        ("torchrun --nproc-per-node=2 -m verl.trainer.fsdp_sft_trainer a.b=1", "verl", "", None,
         "verl.trainer.fsdp_sft_trainer", ["torchrun"]),
        ("python -m torch.distributed.run --nnodes 1 train.py", "python", "", "train.py", "", ["torchrun"]),
        ("deepspeed --include localhost:0 train.py --x", "python", "", "train.py", "", ["deepspeed"]),
        ("deepspeed --module openrlhf.cli.train_sft --x 1",
         "python", "", None, "openrlhf.cli.train_sft", ["deepspeed"]),
        ("mpirun -np 2 -x PATH python train.py", "python", "", "train.py", "", ["mpirun"]),
        ("srun --ntasks 2 torchrun --nnodes 2 train.py", "python", "", "train.py", "", ["srun", "torchrun"]),
        ("uv run --no-sync accelerate launch train.py", "python", "", "train.py", "", ["uv", "accelerate"]),
        ("conda run -n env python train.py", "python", "", "train.py", "", ["conda"]),
        ("docker run --gpus all -v /a:/b org/axolotl:main axolotl train c.yml",
         "axolotl", "train", None, "", ["docker"]),
        ("ray job submit --address x -- python train.py", "python", "", "train.py", "", ["ray"]),
        ("llamafactory-cli train c.yaml", "llamafactory-cli", "train", None, "", []),
        ("llamafactory-cli webchat c.yaml", "llamafactory-cli", "webchat", None, "", []),
        ("llamafactory-cli export --adapter_name_or_path a", "llamafactory-cli", "export", None, "", []),
        ("FORCE_TORCHRUN=1 lmf train c.yaml", "llamafactory-cli", "train", None, "", []),
        ("axolotl train c.yml --lora-r 8", "axolotl", "train", None, "", []),
        ("swift sft --model x", "swift", "sft", None, "", []),
        ("megatron sft --model x", "megatron", "sft", None, "", []),
        ("trl dpo --model x", "trl", "dpo", None, "", []),
        ("tune run lora_finetune_single_device --config llama3/8B_lora", "tune", "run", None, "", []),
        ("tune run --nproc_per_node 4 lora_finetune_distributed --config c", "tune", "run", None, "", ["torchrun"]),
        ("python -m mlx_lm lora --model x", "mlx_lm", "lora", None, "mlx_lm", []),
        ("mlx_lm.lora --model x", "mlx_lm", "lora", None, "", []),
        ("litgpt finetune_lora x --lora_r 8", "litgpt", "finetune_lora", None, "", []),
        ("oumi train -c x.yaml", "oumi", "train", None, "", []),
    ],
)  # fmt: skip
def test_launches(find, text, program, subcommand, script, module, launchers):
    (launch,) = find(text)
    assert (launch.program, launch.subcommand, launch.module) == (program, subcommand, module)
    assert (launch.script.raw if launch.script is not None else None) == script
    assert [one.name for one in launch.launchers] == launchers


@pytest.mark.parametrize(
    "text",
    [
        "autotrain llm -h",
        "accelerate launch train.py --help",
        "llamafactory-cli webchat --model_name_or_path x", "llamafactory-cli version c.yaml",
        "llamafactory-cli api --adapter_name_or_path a", "llamafactory-cli export --model_name_or_path x",
        "pip install trl", "python -m pip install trl", "python -c 'import x'", "python - <<EOF\nx\nEOF",
        "llamafactory-cli api",
        "axolotl preprocess c.yml", "swift infer --x", "trl env", "tune ls", "accelerate config",
        "accelerate test",
        "python merge_lora.py", "python llm_infer.py --x",
        "torchrun evaluate.py", "deepspeed evaluate_pretrain.py --lora_enable True", "bash train.sh",
        "echo python train.py",
        "mkdir -p out", "deepspeed", "torchrun --nproc_per_node 2",
    ],
)  # fmt: skip
def test_what_starts_no_training(find, text):
    assert find(text) == []


def test_flags_belong_to_the_launcher_before_the_script_and_to_the_script_behind_it(find, flags):
    text = "accelerate launch --multi_gpu --mixed_precision bf16 train.py --mixed_precision fp16 --num_processes 8"
    (launch,) = find(text)
    own = launch.launchers[0].flags.root
    assert [(pair.key, pair.value.native) for pair in own.pairs] == [("multi_gpu", True), ("mixed_precision", "bf16")]
    assert flags(text) == {"mixed_precision": "fp16", "num_processes": "8"}


def test_a_sweep_is_several_launches_and_a_repetition_is_one(find):
    assert len(find("for lr in 1e-4 2e-4; do python train.py --lr $lr; done")) == 2
    assert len(find("for seed in 1 2; do python train.py --lr 1; done")) == 1


def test_a_launch_knows_its_variables_its_folder_and_whether_it_is_sure(find):
    (launch,) = find("export A=1\ncd sub\nif test x; then B=2 python train.py; fi")
    assert {one.name: one.word.text for one in launch.env} == {"A": "1", "B": "2"}
    assert launch.folder == "sub"
    assert not launch.sure


def test_a_flag_of_llamafactory_is_one_where_no_config_is_named(find):
    (alone,), (beside,) = find("llamafactory-cli train --stage sft"), find("llamafactory-cli train c.yaml --stage sft")
    assert [pair.merged for launch in (alone, beside) for pair in launch.flags.root.pairs] == [False, True]


def test_the_model_of_litgpt_needs_no_flag(find):
    (launch,) = find("litgpt finetune_lora org/model --lora_r 8")
    assert launch.flags.root.get("checkpoint_dir").raw == "org/model"
