"""What a program takes from its command line, and which argument of a call came from there."""

from loralint.model import Unknown
from loralint.source.python import read_script


def told(script, name="f"):
    call = [call for call in script.calls if call.name == name][-1]
    return {one.name: (one.node.tag, one.node.raw, one.node.native) for one in call.args}


def defaults(script):
    return {one.name: one.node.native for one in script.arguments}


def test_argparse():
    script = read_script("""
import argparse
def parse():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("lora")
    group.add_argument("--lora-r", "-r", type=int, default=8)
    parser.add_argument("--lr", type=float, default="1e-4")
    parser.add_argument("--out", required=True)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("-x", dest="extra")
    parser.add_argument("model")
    parser.set_defaults(seed=42)
    return parser.parse_args()
args = parse()
rank = args.lora_r
f(r=rank, a=args.lora_r * 2, lr=args.lr, out=args.out, seed=int(args.seed))
""")
    assert defaults(script) == {
        "lora_r": 8,
        "lr": 1e-4,
        "out": Unknown("the command line must give it"),
        "bf16": False,
        "extra": None,
        "model": None,
        "seed": 42,
    }
    assert told(script) == {
        "r": ("argument", "args.lora_r", Unknown("--lora_r of the command line, default 8")),
        "a": ("unknown", "args.lora_r * 2", Unknown("--lora_r of the command line, default 8")),
        "lr": ("argument", "args.lr", Unknown("--lr of the command line, default 1e-4")),
        "out": ("argument", "args.out", Unknown("--out of the command line")),
        "seed": ("argument", "args.seed", Unknown("--seed of the command line, default 42")),
    }


def test_defaults_that_a_file_gives():
    program = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--r', default=8)\np.set_defaults(**load())"
    )
    assert defaults(read_script(program)) == {"r": Unknown("the script takes its default from elsewhere")}


def test_parse_known_args_and_what_the_program_sets_itself():
    script = read_script("""
import argparse
p = argparse.ArgumentParser()
p.add_argument("--r", default=8)
a, rest = p.parse_known_args()
f(r=a.r)
a.r = 4
f(r=a.r)
""")
    calls = [call for call in script.calls if call.name == "f"]
    assert [call.args[0].node.tag for call in calls] == ["argument", "int"]


def test_dataclasses_of_a_parser():
    script = read_script("""
from dataclasses import dataclass, field
import transformers
from transformers import HfArgumentParser, TrainingArguments
@dataclass
class Model:
    name: str
    rank: int = field(default=8, metadata={"help": "of the adapter"})
@dataclass
class Own(transformers.TrainingArguments):
    optim: str = field(default="adamw_torch")
parser = HfArgumentParser((Model, Own, TrainingArguments))
m, own, plain, rest = parser.parse_args_into_dataclasses(return_remaining_strings=True)
f(rank=m.rank, name=m.name, own=own.learning_rate, plain=plain.bf16)
plain.save(1)
plain.bf16 = True
f(x=plain)
""")
    assert defaults(script) == {
        "name": Unknown("the command line must give it"),
        "rank": 8,
        "optim": "adamw_torch",
    }
    calls = {call.name: call for call in script.calls}
    assert [call.open for call in script.calls if call.name == "transformers.TrainingArguments"] == [True, True]
    own = next(call for call in script.calls if call.name == "transformers.TrainingArguments")
    assert [(one.name, one.node.tag, one.node.raw) for one in own.args] == [("optim", "argument", "args.optim")]
    assert told(script, "f")["x"][0] == "object"
    first = next(call for call in script.calls if call.name == "f")
    assert [(one.node.tag, one.node.raw) for one in first.args] == [
        ("argument", "args.rank"),
        ("argument", "args.name"),
        ("argument", "own.learning_rate"),
        ("argument", "plain.bf16"),
    ]
    assert calls["save"].on is calls["f"].args[0].thing
    assert calls["__setattr__"].on is calls["f"].args[0].thing


def test_a_parser_gives_the_same_objects_in_each_branch():
    script = read_script("""
import sys
from transformers import HfArgumentParser, TrainingArguments
parser = HfArgumentParser((TrainingArguments, Other))
if len(sys.argv) == 2:
    a, o = parser.parse_json_file(sys.argv[1])
else:
    a, o = parser.parse_args_into_dataclasses()
f(a=a, lr=a.learning_rate)
""")
    made, other = [call for call in script.calls if call.name in {"transformers.TrainingArguments", "Other"}]
    used = script.calls[-1]
    assert (used.args[0].thing, made.sure, other.sure) == (made.result, True, True)
    assert used.args[1].node.tag == "argument"


def test_one_dataclass_and_namespaces_of_several():
    script = read_script("""
import argparse
from transformers import HfArgumentParser, TrainingArguments
class A:
    r: int = 8
(a,) = HfArgumentParser(A).parse_args_into_dataclasses()
(t,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
args = argparse.Namespace(**vars(a), **vars(t))
f(r=args.r, gc=args.gradient_checkpointing)
""")
    assert {name: tag for name, (tag, _, _) in told(script).items()} == {"r": "argument", "gc": "argument"}


def test_functions_that_fire_typer_and_click_make_commands_of():
    for program in (
        "import fire\ndef train(r: int = 8, *, lr=1e-4):\n    f(r=r, lr=lr)\nfire.Fire(train)",
        "import typer\ndef train(r: int = typer.Option(8), lr: float = 1e-4):\n    f(r=r, lr=lr)\ntyper.run(train)",
        "import typer\napp = typer.Typer()\n@app.command()\ndef train(r=8, lr=1e-4):\n    f(r=r, lr=lr)\napp()",
    ):
        script = read_script(program)
        assert defaults(script) == {"r": 8, "lr": 1e-4}
        assert told(script) == {
            "r": ("argument", "r", Unknown("--r of the command line, default 8")),
            "lr": ("argument", "lr", Unknown("--lr of the command line, default 1e-4")),
        }
        assert next(call for call in script.calls if call.name == "f").sure


def test_a_class_that_tyro_fills():
    script = read_script("import tyro\nclass C:\n    r: int = 8\nc = tyro.cli(C)\nf(r=c.r)")
    assert defaults(script) == {"r": 8}
    assert told(script)["r"][0] == "argument"


def test_a_launcher_calls_what_it_is_given():
    script = read_script(
        "from accelerate import notebook_launcher\ndef t(r):\n    f(r=r)\nnotebook_launcher(t, args=(8,))"
    )
    assert told(script) == {"r": ("int", "8", 8)}
    assert all(call.sure for call in script.calls)
