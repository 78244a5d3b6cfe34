"""Lists in brackets on the command lines of home-made scripts, which Fire reads."""

from __future__ import annotations

from loralint.frameworks.launch import launches
from loralint.source.read import read_bytes
from loralint.source.shell import read_shell

LINE = b"python {} --base_model x/y --learning_rate 1e-4 --lora_r 8 --lora_target_modules '[q_proj, v_proj]'\n"


def targets(script):
    document = read_bytes(LINE.replace(b"{}", script), "run.sh")
    (launch,) = launches(read_shell(document), document)
    return launch.flags.root.get("lora_target_modules")


def test_a_list_of_a_script_of_nobody_known():
    node = targets(b"finetune.py")
    assert (node.kind, [item.raw for item in node.items]) == ("sequence", ["q_proj", "v_proj"])


def test_a_text_where_the_trainer_is_known():
    assert targets(b"src/train_bash.py").raw == "[q_proj, v_proj]"
