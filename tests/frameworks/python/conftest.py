"""Starts of a script that lies in a file."""

from __future__ import annotations

from textwrap import dedent

import pytest

from loralint.frameworks.python import layer_of, starts
from loralint.frameworks.table import Look
from loralint.model import Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions
from loralint.source.python import read_script
from loralint.source.read import read_file

NEWEST = {"trl": "1.16.0", "transformers": "5.24.0", "peft": "0.21.2"}


@pytest.fixture
def read(tmp_path):
    """read(text) -> the starts of a script."""

    def build(text: str):
        file = tmp_path / "train.py"
        file.write_text(dedent(text), encoding="utf-8")
        return starts(read_script(read_file(str(file), "train.py")))

    return build


@pytest.fixture
def run(read):
    """run(text, pins) -> the Config and the Layer of a script's only start."""

    def build(text: str, **pins: str):
        (start,) = read(text)
        versions = Versions(start.reader.name, {**NEWEST, **pins})
        layer = layer_of(start, Look(lambda field: Value(None, "absent", field=field), versions.satisfy))
        return Config(start.reader, (layer,), Options(), versions), layer

    return build
