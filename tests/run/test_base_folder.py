"""Folders of adapters that are named as base models."""

from __future__ import annotations

import pytest

from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

CONFIG = "stage: sft\nmodel_name_or_path: {base}\nfinetuning_type: lora\ntemplate: qwen\ndataset: identity\n"


@pytest.mark.parametrize(
    ("base", "files", "found"),
    [
        ("out/sft", ["out/sft/adapter_config.json"], "out/sft/adapter_config.json"),
        ("out/sft", ["out/sft/adapter_config.json", "out/sft/config.json"], None),
        ("out/sft", ["out/adapter_config.json"], None),
        ("Qwen/Qwen2.5-7B", [], None),
        ("${BASE}", ["out/sft/adapter_config.json"], None),
    ],
)
def test_a_base_that_is_an_adapter(tmp_path, base, files, found):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"model_type": "qwen2"}')
    file = tmp_path / "train.yaml"
    file.write_text(CONFIG.format(base=base))
    (run,) = starts(read_file(str(file), str(file)), Options(), Project(str(tmp_path)))
    asked = run.config.get("run.base_adapter")
    assert asked.value == (str(tmp_path / found) if found else None)
    assert asked.key == ("model_name_or_path" if found else asked.key)
