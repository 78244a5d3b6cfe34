"""What the folder of pictures of kohya's trainers shows where it is at hand, and where it says nothing."""

from __future__ import annotations

import pytest

from loralint.api import check

CONFIG = """pretrained_model_name_or_path = "models/v1-5.safetensors"
train_data_dir = "{folder}"
network_module = "networks.lora"
network_dim = 32
learning_rate = 1e-4
{more}
"""
TOLD = {"LL154", "LL155"}


def told(tmp_path, files, folder="img", more=""):
    """The rules on folders of pictures that a config in a project of its own gets."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project / "train.toml").write_text(CONFIG.format(folder=folder, more=more))
    return [one.rule for run in check(project).runs for one in run.findings if one.rule in TOLD]


@pytest.mark.parametrize(
    ("files", "more", "rules"),
    [
        ({}, "", []),
        ({"project/img/cat/1.png": ""}, "", ["LL154"]),
        ({"project/img/1.png": "", "project/img/1.txt": "a cat"}, "", ["LL154"]),
        ({"project/img/0_cat/1.png": ""}, "", ["LL154"]),
        ({"project/img/10_cat/1.png": ""}, "", []),
        ({"project/img/10_cat/1.PNG": "", "project/img/10_cat/1.txt": "a cat"}, "", ["LL155"]),
        ({"project/img/10_cat/1.png": "", "project/img/10_cat/read.txt": "mine"}, "", []),
        ({"project/img/10_cat/1.png": "", "project/img/10_cat/1.caption": "a cat"}, "", []),
        (
            {"project/img/10_cat/1.png": "", "project/img/10_cat/1.caption": "a cat"},
            'caption_extension = ".txt"',
            ["LL155"],
        ),
        ({"project/img/cat/1.png": ""}, 'dataset_config = "dataset.toml"', []),
    ],
)
def test_the_folder_beside_the_config(tmp_path, files, more, rules):
    assert told(tmp_path, files, more=more) == rules


def test_a_folder_outside_of_the_project_is_not_looked_into(tmp_path):
    files = {"elsewhere/cat/1.png": ""}
    assert told(tmp_path, files, "../elsewhere") == []
    assert told(tmp_path, files, (tmp_path / "elsewhere").as_posix()) == []


def test_an_absolute_path_into_the_project_counts(tmp_path):
    files = {"project/img/cat/1.png": ""}
    assert told(tmp_path, files, (tmp_path / "project" / "img").as_posix()) == ["LL154"]
