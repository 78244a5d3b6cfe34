"""Words behind a program: which are flags, which are values, and where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.frameworks.launch import launches
from loralint.model import Unknown
from loralint.source.document import Document
from loralint.source.shell import read_shell


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("--a 1 --b=2 --c", {"a": "1", "b": "2", "c": True}),
        ("--lora-r 8 --learning-rate=1e-4", {"lora_r": "8", "learning_rate": "1e-4"}),
        ("--seed -1 --x -0.5 --y -1e-4", {"seed": "-1", "x": "-0.5", "y": "-1e-4"}),
        ("--target q_proj v_proj --x 1", {"target": ["q_proj", "v_proj"], "x": "1"}),
        ("--network_args 'a=1' \"b=2\" --x 1", {"network_args": ["a=1", "b=2"], "x": "1"}),
        ("-c x.yaml", {"c": "x.yaml"}),
        ("--target all --loss: orpo", {"target": "all", "loss:": "orpo"}),
        ("--a '' --b ''", {"a": "", "b": ""}),
        ("--prompt 'a --b c'", {"prompt": "a --b c"}),
        ("--a=b=c", {"a": "b=c"}),
        ("--train.lr_warmup_steps 5 --train.epochs 1", {"train": {"lr_warmup_steps": "5", "epochs": "1"}}),
        ("a.b=1 a.c.d=x +e.f=2", {"a": {"b": "1", "c": {"d": "x"}}, "e": {"f": "2"}}),
        ("e=group e.f=2 e.g.h=3", {"e": {"f": "2", "g": {"h": "3"}}}),
        ("model.r=8 'model.t=[q,\"v\"]' x.y=[]", {"model": {"r": "8", "t": ["q", "v"]}, "x": {"y": []}}),
        ("--a 1 -- --b 2", {"a": "1"}),
    ],
)
def test_forms(flags, text, wanted):
    assert flags(f"python train.py {text}") == wanted


def test_of_a_flag_given_twice_both_stand_and_the_last_counts(find):
    (launch,) = find("python train.py --a 1 2 --a 3")
    root = launch.flags.root
    assert [pair.key for pair in root.pairs] == ["a", "a"]
    assert root.get("a").native == "3"


@pytest.mark.parametrize("word", ["<path to model>", "...", "{model}", "YOUR_MODEL"])
def test_placeholders_are_unknown(find, word):
    (launch,) = find(f"python train.py --a '{word}' --b 1")
    assert isinstance(launch.flags.root.get("a").native, Unknown)


def test_words_that_may_be_flags_are_left_over(find, flags):
    text = 'python train.py --a 1 $EXTRA --b 2 "$@"'
    (launch,) = find(text)
    assert flags(text) == {"a": "1", "b": "2"}
    assert [isinstance(word.text, Unknown) for word in launch.positionals] == [True, True]


def test_places(find):
    text = "LR=1e-4\nA=(--rank 8)\npython train.py --learning_rate=$LR \"${A[@]}\" --x='y z' --t p q m.n=[u,v]\n"
    (launch,) = find(text)
    pairs = launch.flags.root.pairs
    shown = {
        pair.key: (text[pair.key_node.start : pair.key_node.end], text[pair.value.start : pair.value.end])
        for pair in pairs
    }
    assert shown == {
        "learning_rate": ("--learning_rate", "1e-4"),
        "rank": ("--rank", "8"),
        "x": ("--x", "y z"),
        "t": ("--t", "p q m.n=[u,v]"),
    }
    assert launch.flags.lines.place(pairs[0].value.start) == (1, 4)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("trl sft --model_name_or_path m --learning_r 1e-4 --no_bf16",
         {"model_name_or_path": "m", "learning_rate": "1e-4", "bf16": False}),
        ("trl sft --model_name_or_path m --lora 8", {"model_name_or_path": "m", "lora": "8"}),
        ("swift sft --model m --lora_ra 8", {"model": "m", "lora_rank": "8"}),
        ("accelerate launch train_network.py --network_module networks.lora --network_d 8 --no_half_vae",
         {"network_module": "networks.lora", "network_d": "8", "no_half_vae": True}),
        ("accelerate launch train_network.py --network_module networks.lora --network_di 8",
         {"network_module": "networks.lora", "network_dim": "8"}),
        ("axolotl train --lora-r 8 --sweep s.yml --launcher torchrun", {"lora_r": "8"}),
    ],
)  # fmt: skip
def test_flags_have_the_names_that_the_program_stores_them_under(flags, text, wanted):
    assert flags(text) == wanted


_VALUES = st.text(alphabet="abz019._/:,é", min_size=1, max_size=8).filter(lambda one: one != "...")
_PAIRS = st.dictionaries(
    st.text(alphabet="abcdefgh_", min_size=2, max_size=8).filter(lambda one: one[0] != "_"), _VALUES, max_size=6
)


@given(_PAIRS, st.booleans())
def test_what_is_written_is_what_is_read(pairs, joined):
    line = " ".join(f"--{key}={value}" if joined else f"--{key} {value}" for key, value in pairs.items())
    text = f"python train.py {line}"
    document = Document("run.sh", "shell", text)
    (launch,) = launches(read_shell(document), document)
    root = launch.flags.root
    assert {pair.key: pair.value.native for pair in root.pairs} == pairs
    assert all(text[pair.value.start : pair.value.end] == pairs[pair.key] for pair in root.pairs)
