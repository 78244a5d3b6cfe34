"""The flags of a program's own parser: all of them, or none where it may take others."""

from __future__ import annotations

import pytest

from loralint.frameworks.python.options import taken
from loralint.source.python import read_script
from loralint.source.read import read_file

PARSER = """\
import argparse
parser = argparse.ArgumentParser(description="x")
parser.add_argument("--lr", "--learning-rate", type=float)
group = parser.add_argument_group("more")
group.add_argument("-b", "--batch_size", type=int)
group.add_argument("--packing", action=argparse.BooleanOptionalAction)
"""
KNOWN = {"-h", "--help", "--lr", "--learning-rate", "-b", "--batch_size", "--packing", "--no-packing"}


@pytest.fixture
def flags(tmp_path):
    def read(text):
        (tmp_path / "train.py").write_text(text)
        file = str(tmp_path / "train.py")
        return taken(read_script(read_file(file, file)))

    return read


def test_every_spelling_in_the_parser_and_its_groups(flags):
    assert flags(PARSER + "args = parser.parse_args()\n") == KNOWN
    inside = "".join(f"    {line}\n" for line in PARSER.splitlines())
    assert flags(f"def options():\n{inside}    return parser.parse_args()\nargs = options()\n") == KNOWN


@pytest.mark.parametrize(
    "more",
    [
        "args, rest = parser.parse_known_args()\n",
        "parser = deepspeed.add_config_arguments(parser)\nargs = parser.parse_args()\n",
        "for name in NAMES:\n    parser.add_argument(name)\nargs = parser.parse_args()\n",
        "if DEBUG:\n    parser.add_argument('--debug')\nargs = parser.parse_args()\n",
        "parser.add_argument(f'--{x}')\nargs = parser.parse_args()\n",
        "sub = parser.add_subparsers()\nargs = parser.parse_args()\n",
        "other = argparse.ArgumentParser(parents=[parser])\nargs = other.parse_args()\n",
        "args = parser.parse_args([])\n",
        "",
    ],
)
def test_nothing_is_known_where_the_program_may_take_more(flags, more):
    assert flags(PARSER + more) == frozenset()
