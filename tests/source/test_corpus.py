"""Real configs: what is read is what the frameworks' loaders read."""

from __future__ import annotations

import datetime as dt
import json
import math
import tomllib

import yaml

from loralint.source.read import read_file
from loralint.source.scalars import plain

LOADERS = {
    ".yaml": ("pyyaml", lambda data: list(yaml.load_all(data, yaml.CSafeLoader))),
    ".yml": ("pyyaml", lambda data: list(yaml.load_all(data, yaml.CSafeLoader))),
    ".json": ("json", lambda data: [json.loads(data)]),
    ".toml": ("toml", lambda data: [tomllib.loads(data.decode("utf-8-sig"))]),
}


def settle(value):
    if isinstance(value, dict):
        return {key: settle(one) for key, one in value.items()}
    if isinstance(value, list):
        return [settle(one) for one in value]
    if isinstance(value, dt.date):
        return str(value)[:10]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def test_the_corpus_is_read_as_its_loaders_read_it(shared):
    read = 0
    for path in sorted((shared / "corpus").rglob("*")):
        if path.suffix not in LOADERS or not path.is_file():
            continue
        dialect, load = LOADERS[path.suffix]
        doc = read_file(str(path), str(path))
        try:
            expected = load(path.read_bytes())
        except Exception:  # noqa: BLE001 - whatever a loader raises
            assert doc.problems, path
            continue
        assert doc.problems == [], path
        assert settle([plain(root, dialect) for root in doc.roots]) == settle(expected), path
        read += 1
    assert read > 1000
