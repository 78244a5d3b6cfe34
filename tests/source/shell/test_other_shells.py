"""Makefiles, PowerShell and cmd, with every place in their own text."""

from __future__ import annotations

MAKE = """\
MODEL ?= Qwen/x
ARGS = --lr $(LR) \\
  --model $(MODEL)
LR := 1e-4
export WANDB_MODE = offline

train: data
\t@CUDA_VISIBLE_DEVICES=0 python train.py $(ARGS) \\
\t\t--out $(OUT)/x --n $$(nproc) --s '$(LR)'
\tcd sub && python y.py
\tpython z.py
"""


def test_recipes(words, read):
    assert words(MAKE, "make") == [
        ["python", "train.py", "--lr", "1e-4", "--model", "Qwen/x", "--out", None, "--n", None, "--s", "1e-4"],
        ["python", "y.py"],
        ["python", "z.py"],
    ]
    document, shell = read(MAKE, "make")
    assert [command.folder for command in shell.commands] == ["", "sub", ""]
    assert {one.name for one in shell.commands[0].env} == {"WANDB_MODE", "CUDA_VISIBLE_DEVICES"}
    rate = shell.commands[0].words[3]
    assert document.lines.place(rate.node.start) == (4, 7)


def test_variables_of_a_branch_or_a_target_are_unknown(words):
    text = "LR = 1\nifdef BIG\nLR = 2\nendif\nR = 8\ntrain: R = 16\ntrain:\n\ta $(LR) $(R)\n"
    assert words(text, "make") == [["a", None, None]]


POWERSHELL = """\
# start
$model = "D:\\models\\x"
$env:CUDA_VISIBLE_DEVICES = "0"
$lr=1e-4
$steps = [Math]::Round(3)
if ($x) {
  python other.py
}
& accelerate launch train_network.py `
   --pretrained_model_name_or_path=$model\\a.ckpt `
   --learning_rate=$lr --out="$model\\o" --steps=$steps
"""


def test_powershell(words, read):
    assert words(POWERSHELL, "powershell") == [
        ["python", "other.py"],
        ["accelerate", "launch", "train_network.py", "--pretrained_model_name_or_path=D:\\models\\x\\a.ckpt",
         "--learning_rate=1e-4", "--out=D:\\models\\x\\o", None],
    ]  # fmt: skip
    _, shell = read(POWERSHELL, "powershell")
    assert [command.sure for command in shell.commands] == [False, True]
    assert [(one.name, one.word.text) for one in shell.commands[1].env] == [("CUDA_VISIBLE_DEVICES", "0")]


def test_a_backquote_within_a_line_of_powershell_starts_nothing(words, read):
    text = 'python train.py `\n  --config=$c ` $more\npython other.py --prompt `"a`"\n'
    assert words(text, "powershell")[0][:2] == ["python", "train.py"]
    assert read(text, "powershell")[1].faults == ()


def test_cmd(words):
    text = (
        '@echo off\nset MODEL=D:\\m a\\x\nset "LR=1e-4"\n'
        'accelerate launch train.py ^\n  --m="%MODEL%\\a" ^\n  --lr=%LR% --n=%N%\npause\n'
    )
    assert words(text, "cmd") == [
        ["accelerate", "launch", "train.py", "--m=D:\\m a\\x\\a", "--lr=1e-4", None],
        ["pause"],
    ]


def test_a_backslash_takes_the_quote_behind_it_in_cmd(read):
    line = r'python train.py --dir="C:\train\" --out "D:\out" --n 1'
    _, shell = read(line + "\n", "cmd")
    (fault,) = shell.faults
    assert (fault[0], line[fault[2] : fault[3]]) == ("quote", r'"C:\train\"')
    for sound in (r'python train.py --dir="C:\train" --n 1', r'python "C:\a b\x.py" --dir "C:\train\\" --n 1'):
        assert read(sound + "\n", "cmd")[1].faults == ()
