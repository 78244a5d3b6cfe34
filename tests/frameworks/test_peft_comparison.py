from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.detect import detect
from loralint.source.read import read_bytes


def settings(tmp_path, text, name="training_params.json"):
    path = tmp_path / name
    path.write_text(text)
    (run,) = check(path, show_settings=True).runs
    return {one.parameter: one.value for one in run.settings}


def test_a_file_states_what_differs_from_the_default_file(tmp_path):
    got = settings(tmp_path, '{"optimizer_kwargs": {"lr": 5e-4}}')
    assert (got["optim.lr"].value, got["optim.lr"].key, got["optim.lr"].origin) == (5e-4, "optimizer_kwargs.lr", "set")
    assert (got["optim.weight_decay"].value, got["optim.weight_decay"].origin) == (0.1, "default")
    assert got["train.max_steps"].value == 5000


def test_the_adapter_stands_in_another_file(tmp_path):
    assert not [
        field for field in settings(tmp_path, '{"optimizer_kwargs": {"lr": 5e-4}}') if field.startswith("adapter.")
    ]


@pytest.mark.parametrize(
    ("name", "text", "framework"),
    [
        ("x/default_training_params.json", '{"optimizer_kwargs": {"lr": 1e-4}}', "peft"),
        ("x/params.json", '{"model_id": "m", "optimizer_type": "AdamW", "optimizer_kwargs": {"lr": 1e-4}}', "peft"),
        ("x/params.json", '{"optimizer_kwargs": {"lr": 1e-4}}', None),
    ],
)
def test_it_is_known_by_its_name_or_by_more_keys(name, text, framework):
    found = detect(read_bytes(text.encode(), name))
    assert (found and found.framework) == framework
