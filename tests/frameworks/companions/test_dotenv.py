""".env files, and what variables mean to a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.frameworks.companions.dotenv import is_dotenv, read_dotenv
from loralint.frameworks.companions.environment import READER
from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Layer, Look
from loralint.model import Unknown, Value
from loralint.source.read import read_bytes


def variables(text: str) -> dict[str, object]:
    root = read_dotenv(read_bytes(text.encode(), ".env")).root
    assert root is not None
    return {pair.key: pair.value.native for pair in root.pairs}


def layer(text: str) -> Layer:
    look = Look(lambda field: Value(None, origin="absent", field=field), lambda _: False)
    return read_layer(read_dotenv(read_bytes(text.encode(), ".env")), READER, look)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("export A = two words ", "two words"),
        ("A='it''s'", "it"),
        ('A="a\\nb # c" # d', "a\nb # c"),
        ("A=x#y # z", "x#y"),
        ("A=", ""),
        ("B=1\nA=${B}2", "12"),
        ("A=${C:-3}", "3"),
        ("A='$C'", "$C"),
        ("A=1\nA=2", "2"),
        ("# A=1\nA=2", "2"),
    ],
)
def test_a_line(line: str, value: str) -> None:
    assert variables(line + "\n")["A"] == value


def test_what_is_filled_in_later_is_unknown() -> None:
    assert isinstance(variables("A=$HOME/x\n")["A"], Unknown)
    assert layer("CUDA_VISIBLE_DEVICES=$GPUS\n").values["dist.visible_devices"][0].known is False


def test_fields_and_places() -> None:
    found = layer("X=1\nexport ACCELERATE_GRADIENT_ACCUMULATION_STEPS='8'\nCUDA_VISIBLE_DEVICES=0,1,2\n").values
    steps = found["batch.accumulation"][0]
    assert steps.value == 8
    assert steps.key == "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"
    assert steps.span is not None
    assert (steps.span.line, steps.span.column) == (2, 47)
    assert found["dist.visible_devices"][0].value == 3


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("ACCELERATE_MIXED_PRECISION=bf16", "precision.bf16", True),
        ("ACCELERATE_MIXED_PRECISION=no", "precision.bf16", None),
        ("CUDA_VISIBLE_DEVICES=3", "dist.visible_devices", 1),
        ("CUDA_VISIBLE_DEVICES=", "dist.visible_devices", None),
        ("CUDA_VISIBLE_DEVICES=-1", "dist.visible_devices", None),
        ("NPROC_PER_NODE=8", "dist.launcher_processes_per_node", 8),
        ("NPROC_PER_NODE=gpu", "dist.launcher_processes_per_node", None),
        ("ACCELERATE_USE_FSDP=true", "dist.fsdp", True),
        ("FSDP_TRANSFORMER_CLS_TO_WRAP=LlamaDecoderLayer", "dist.fsdp_wrap_class", "LlamaDecoderLayer"),
        ("ACCELERATE_DEEPSPEED_ZERO_STAGE=3", "dist.zero_stage", 3),
    ],
)
def test_what_a_variable_means(line: str, field: str, value: object) -> None:
    found = layer(line + "\n").values.get(field, ())
    assert (found[0].value if found else None) == value


def test_a_secret_is_told_and_not_shown() -> None:
    token = "hf_" + "QzXwVbTnMkLpRdFgHjYcUaSeIoPqWmNs7K"
    found = [one for one in layer(f"HF_TOKEN={token}\n").observations if one.kind == "secret"]
    assert [one.value.key for one in found] == ["HF_TOKEN"]
    assert token not in repr(found)


@pytest.mark.parametrize(("name", "is_one"), [(".env", True), ("a/.env.train", True), ("x.env", True), ("env", False)])
def test_names(name: str, is_one: bool) -> None:
    assert is_dotenv(name) is is_one


@given(st.text(alphabet="ABx1=$ {}:-'\"\\#\n\t", max_size=120))
def test_any_text_is_read(text: str) -> None:
    document = read_dotenv(read_bytes(text.encode(), ".env"))
    assert document.root is not None
    for pair in document.root.pairs:
        assert document.text[pair.key_node.start : pair.key_node.end] == pair.key


def test_a_value_that_is_doubled_again_and_again_ends():
    text = "A=" + "x" * 1000 + "\n" + "A=$A$A\n" * 3000
    assert isinstance(variables(text)["A"], Unknown)
