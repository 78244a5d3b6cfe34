"""Arguments of one optimizer that are given to another, and sizes that buckets cannot hold."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.diffusion import longest
from loralint.frameworks.readers.kohya_optimizer import observe_foreign
from loralint.frameworks.readers.sd_scripts import observe_resolution
from loralint.frameworks.table import SKIP, Look
from loralint.model import Value
from loralint.source.read import read_text

LOOK = Look(lambda field: Value(None, "absent", field=field), lambda _: False)


def foreign(text):
    return [one.message for one in observe_foreign(read_text(text, "config.toml"), LOOK)]


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("AdamW8bit", '["scale_parameter=False", "relative_step=False"]', "relative_step"),
        ("Prodigy", '["relative_step=False"]', "relative_step"),
        ("Adafactor", '["betas=0.9,0.99"]', "betas"),
        ("Lion", '["d_coef=2"]', "d_coef"),
    ],
)
def test_an_argument_of_another_optimizer_is_named(name, arguments, word):
    (message,) = foreign(f'optimizer_type = "{name}"\noptimizer_args = {arguments}\n')
    assert f"{name} takes no `{word}`" in message


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("AdamW8bit", '["weight_decay=0.1", "betas=0.9,0.99"]'),
        ("Prodigy", '["decouple=True", "d_coef=2", "betas=0.9,0.99"]'),
        ("Adafactor", '["scale_parameter=False", "relative_step=False", "warmup_init=False"]'),
        ("my_optimizers.Own", '["relative_step=False", "d_coef=2"]'),
        ("AdamW", "[]"),
    ],
)
def test_its_own_arguments_and_those_of_unknown_optimizers_are_not(name, arguments):
    assert foreign(f'optimizer_type = "{name}"\noptimizer_args = {arguments}\n') == []


@pytest.mark.parametrize(
    ("size", "side"),
    [("768,1152", 1152), ("1024", 1024), (512, 512), ("1024x1024", SKIP), ("", SKIP), (True, SKIP), ("1,2,3", SKIP)],
)
def test_the_longer_side_of_a_size(size, side):
    assert longest(size) == side


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("resolution = 1024", ["resolution"]),
        ('resolution = "1024x1024"', ["resolution"]),
        ('resolution = "1024,1024"', []),
        ('resolution = "768, 1152"', []),
        ('resolution = "512"', []),
        ('resolution = ""', []),
    ],
)
def test_a_resolution_that_cannot_be_split(line, told):
    document = read_text(f'network_module = "networks.lora"\n{line}\n', "config.toml")
    assert [one.value.key for one in observe_resolution(document, LOOK)] == told
