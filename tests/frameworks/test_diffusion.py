"""Sizes, architectures and arguments as the trainers of diffusion models write them."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.diffusion import arguments, edge, family
from loralint.frameworks.table import SKIP


@pytest.mark.parametrize(
    ("size", "found"),
    [(1024, 1024), ("1024", 1024), ("512,512", 512), ("832x1216", 1006), ([512, 768], 768), ("512, 1024", 724),
     (0, SKIP), ("", SKIP), ("a,b", SKIP), ("1,2,3", SKIP), ([], SKIP), (True, SKIP), ("9" * 400, SKIP)],
)  # fmt: skip
def test_the_edge_of_a_size(size, found):
    assert edge(size) == found


@pytest.mark.parametrize(("word", "found"), [("SD1x", "sd15"), ("wan22_14b:i2v", "wan"), ("flux2_klein_9b", "flux2"),
                                             ("newmodel", "newmodel"), (None, SKIP), ("", SKIP)])  # fmt: skip
def test_one_name_for_an_architecture(word, found):
    assert family(word) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("weight_decay=0.01 betas=0.9,0.99", {"weight_decay": "0.01", "betas": "0.9,0.99"}),
        ('"decouple=True" "d0=1e-5"', {"decouple": "True", "d0": "1e-5"}),
        ("weight_decay=0.0,eps=1e-8", {"weight_decay": "0.0", "eps": "1e-8"}),
        (["decouple=True"], {"decouple": "True"}),
        ("", SKIP),
        (None, SKIP),
    ],
)
def test_arguments_of_an_optimizer(text, found):
    assert arguments(text) == found
