"""What the tests of several readers share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Look, Reader
from loralint.model import Observation, Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import Versions
from loralint.source.read import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

NEWEST = {"trl": "1.16.0", "transformers": "5.24.0", "peft": "0.21.2"}


class Reading(Protocol):
    """Reads a text as one framework under pinned versions."""

    def __call__(self, reader: Reader, text: str, name: str = ..., pins: Mapping[str, str] | None = ...) -> Config: ...


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """Write a file, below a folder where its name says so, and give the run that it starts."""

    def read(reader: Reader, text: str, name: str = "train.yaml", pins: Mapping[str, str] | None = None) -> Config:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        document = read_file(str(file), name)
        own = reader.pins(document) if reader.pins else {}
        versions = Versions(reader.name, {**NEWEST, **own, **(pins or {})})
        look = Look(lambda field: Value(None, origin="absent", field=field), versions.satisfy)
        return Config(reader, (read_layer(document, reader, look),), Options(), versions)

    return read


class Started(Protocol):
    """Reads flags as one program under pinned versions."""

    def __call__(self, reader: Reader, flags: Mapping[str, object], pins: Mapping[str, str] | None = ...) -> Config: ...


@pytest.fixture
def started(reading: Reading) -> Started:
    """Give the run that a command line starts: its flags as a shell leaves them, in a mapping."""

    def start(reader: Reader, flags: Mapping[str, object], pins: Mapping[str, str] | None = None) -> Config:
        return reading(reader, json.dumps(flags), "flags.json", pins)

    return start


@pytest.fixture
def observed() -> Observed:
    """Give a run's observations by key."""

    def by_key(config: Config) -> dict[str, Observation]:
        return {one.value.key: one for one in config.layers[0].observations}

    return by_key


class Observed(Protocol):
    """Observations by key."""

    def __call__(self, config: Config) -> dict[str, Observation]: ...
