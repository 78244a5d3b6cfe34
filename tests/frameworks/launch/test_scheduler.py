"""Batch systems: types and numbers of cards in directives of Slurm, PBS and LSF, and in srun's own options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import loralint
from loralint.frameworks.read import read_layer
from loralint.frameworks.readers.launch.scheduler import READER, directives
from loralint.frameworks.table import Look
from loralint.model import Unknown, Value
from loralint.source.read import read_text

LINE = (
    "{} torchrun --nproc_per_node=4 src/train.py --stage sft --finetuning_type lora"
    " --model_name_or_path Qwen/Qwen2.5-7B --do_train --dataset d --bf16 true --learning_rate 2e-4 --output_dir out"
    " --per_device_train_batch_size 1\n"
)


def _run(folder, head, before="srun", **options):
    (folder / "job.sh").write_text(f"#!/bin/bash\n{head}\n\nmodule load cuda\n{LINE.format(before)}", encoding="utf-8")
    (run,) = loralint.check(folder / "job.sh", show_settings=True, **options).runs
    return run, {row.parameter: row.value for row in run.settings}


@pytest.mark.parametrize(
    ("head", "gpu", "each", "total"),
    [
        ("#SBATCH --gres=gpu:a100:4", "a100", 4, 4),
        ("#SBATCH --nodes=2\n#SBATCH --gres=gpu:h100:4   # two nodes", "h100", 4, 8),
        ("#SBATCH -N2 --gpus-per-node=v100:4", "v100", 4, 8),
        ("#SBATCH --gres=tmpdisk:100,gpu:l40s:4(S:0-1)", "l40s", 4, 4),
        ("#SBATCH --gres gpu:4\n#SBATCH -C 'a100&ib'", "a100", 4, 4),
        ("#SBATCH --gres=gpu:4\n#SBATCH --constraint=fastnet", None, 4, 4),
        ("#SBATCH --gres=gpu:turbo9000:4", None, 4, 4),
        ("#SBATCH --gres=gpu:a100_3g.20gb:4", "a100-MIG-3g.20gb", 4, 4),
        ("#SBATCH --gpus=h200:8", "h200", None, 8),
        ("#SBATCH -G 8", None, None, 8),
        ("#SBATCH --gres=gpu:4 --ntasks=16", None, 4, None),
        ("##SBATCH --gres=gpu:a100:8\n# #SBATCH --gres=gpu:h100:8\n#SBATCH --mem=90G", None, None, None),
        ("#SBATCH --gpus-per-node=a100:4,v100:4", None, None, None),
        ("#PBS -l select=2:ncpus=8:ngpus=4:gpu_type=A100\n#PBS -l walltime=10:00:00", "A100", 4, 8),
        ("#PBS -l nodes=1:ppn=8\n#PBS -q gpu", None, None, None),
        ('#BSUB -gpu "num=4:mode=exclusive_process:gmodel=TeslaV100"\n#BSUB -R "rusage[mem=4GB]"', "TeslaV100", 4, 4),
        ("echo hello\n#SBATCH --gres=gpu:a100:4", None, None, None),
    ],
)
def test_what_a_script_asks_for(tmp_path, head, gpu, each, total):
    _, values = _run(tmp_path, head)
    found = [values[field].value if field in values else None for field in ("run.gpu", "job.gpus_per_node")]
    assert [*found, values["run.gpu_count"].value if "run.gpu_count" in values else None] == [gpu, each, total]


def test_one_of_several_cards_is_unknown(tmp_path):
    run, values = _run(tmp_path, '#SBATCH --gres=gpu:4\n#SBATCH --constraint="[a100|t4]"')
    assert values["run.gpu"].value == Unknown("the scheduler may choose among a100, t4")
    assert not run.findings


def test_the_card_is_met_by_the_rules_and_shown(tmp_path):
    run, _ = _run(tmp_path, "#SBATCH --gres=gpu:t4:4")
    found = next(one for one in run.findings if one.rule == "LL214")
    assert found.key == "bf16"
    assert [(one.line, one.message) for one in found.related] == [(2, "asks for this card")]


def test_the_caller_knows_better(tmp_path):
    run, values = _run(tmp_path, "#SBATCH --gres=gpu:t4:4", gpu="A100-80GB")
    assert values["run.gpu"].value == "A100-80GB"
    assert not run.findings


@pytest.mark.parametrize(
    ("before", "tier"), [("srun", "A"), ("srun --gpus-per-node=2", "S"), ("srun --gres=gpu:4", None)]
)
def test_more_processes_than_cards(tmp_path, before, tier):
    """A directive is what `sbatch` may be told otherwise; an option of srun is not."""
    run, _ = _run(tmp_path, "#SBATCH --gres=gpu:2", before)
    assert [(one.rule, one.tier) for one in run.findings] == ([("LL526", tier)] if tier else [])


WORDS = st.sampled_from(
    ["--gres", "=", "gpu", ":", "a100", "4", ",", "-N", "-C", "[", "|", "select=", "num=", '"', " ", "#", "_3g.20gb"]
)


@given(st.sampled_from(["SBATCH", "PBS", "BSUB"]), st.lists(WORDS, max_size=20))
def test_every_directive_is_read_and_points_into_the_text(kind, words):
    text = f"#!/bin/sh\n#{kind} {''.join(words)}\necho\n"
    document = directives(read_text(text, "job.sh"))
    assert document is not None
    layer = read_layer(document, READER, Look(lambda field: Value(None, "absent", field=field), lambda _: False))
    for value in (one for several in layer.values.values() for one in several):
        assert isinstance(value.value, Unknown) or value.value
        assert value.span is not None
        assert text[value.span.start : value.span.end] in text.splitlines()[1]
