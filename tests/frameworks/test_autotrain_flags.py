"""AutoTrain's command line, whose flags are the parameters of a file without its sections."""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.launch import launches, reader_for, reader_of
from loralint.source.document import Document
from loralint.source.shell import read_shell

LINE = "autotrain llm --train --project-name run-1 --model tiiuae/falcon-7b --data-path rows --trainer sft {flags}\n"


@pytest.fixture
def found(tmp_path):
    """The rules and keys of what is told of a line with these flags."""

    def telling(flags: str) -> set[tuple[str, str]]:
        (tmp_path / "run.sh").write_text(LINE.format(flags=flags))
        return {(one.rule, one.key) for run in check(tmp_path).runs for one in run.findings}

    return telling


def test_the_flags_of_today_are_known_in_both_spellings(found):
    assert found("--peft --quantization int4 --lr 2e-4 --batch-size 4 --target-modules query_key_value") == set()
    assert found("--peft --quantization int4 --lr 2e-4 --batch_size 4 --block_size 512") == set()
    assert found("--peft --lr 2e-4 --block_size 4096 --model_max_length 4096") == set()


@pytest.mark.parametrize(
    ("flags", "rule", "key"),
    [
        ("--peft --learning_rate 2e-4", "LL103", "learning_rate"),
        ("--use-peft --lr 2e-4", "LL103", "use_peft"),
        ("--peft --use_int4 --lr 2e-4", "LL104", "use_int4"),
        ("--peft --lora_rr 8", "LL101", "lora_rr"),
        ("--peft --target-modules q_proj,v_proj", "LL330", "target_modules"),
        ("--peft --lr 2e-4 --block-size 4096", "LL105", "block_size"),
    ],
)
def test_faults_of_a_line(found, flags, rule, key):
    assert (rule, key) in found(flags)


def test_a_line_of_an_old_release_is_told_of_its_names_alone(found):
    old = "--use_peft --learning_rate 2e-4 --train_batch_size 12 --num_train_epochs 3 --target_modules query_key_value"
    assert {rule for rule, _ in found(old)} == {"LL103"}


def test_another_subcommand_has_flags_of_its_own():
    document = Document("run.sh", "shell", "autotrain dreambooth --model m --prompt p --resolution 1024 --lr 1e-4")
    (launch,) = launches(read_shell(document), document)
    assert reader_of(launch) == "autotrain"
    assert reader_for(launch).keys == ""
