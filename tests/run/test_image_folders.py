"""What the folder of pictures of diffusers' text-to-image scripts shows where it is at hand."""

from __future__ import annotations

import json
import os

import pytest

from loralint.api import check

LINE = (
    "accelerate launch {script}.py --pretrained_model_name_or_path=runwayml/stable-diffusion-v1-5 "
    "--train_data_dir={folder} {more} --rank=8 --learning_rate=1e-4 --output_dir=out\n"
)
ROW = json.dumps({"file_name": "1.png", "text": "a house"})


@pytest.fixture
def told(tmp_path):
    """told(files, more, script, folder) -> (tier, key, message) of what is told of the pictures."""

    def run(files, more="", script="train_text_to_image_lora", folder="pics"):
        project = tmp_path / "project"
        for name, text in files.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (project / "train.sh").write_text(LINE.format(script=script, folder=folder, more=more))
        found = [one for run in check(project).runs for one in run.findings]
        return [(one.tier, one.key, one.message) for one in found if one.rule == "LL256"]

    return run


@pytest.mark.parametrize(
    ("files", "more", "key", "word"),
    [
        ({"pics/1.png": ""}, "", "train_data_dir", "holds no metadata.jsonl"),
        ({"pics/1.JPG": "", "pics/1.txt": "a house"}, "", "train_data_dir", "the texts beside"),
        ({"pics/1.png": "", "pics/metadata.json": "[]"}, "", "train_data_dir", "`metadata.json`"),
        ({"pics/a/1.png": "", "pics/captions.csv": "image,text\n"}, "", "train_data_dir", "`captions.csv`"),
        (
            {"pics/1.png": "", "pics/metadata.jsonl": '{"image": "1.png", "text": "x"}'},
            "",
            "train_data_dir",
            "file_name",
        ),
        ({"pics/1.png": "", "pics/metadata.jsonl": ROW}, "--caption_column=caption", "caption_column", "`caption`"),
        ({"pics/1.png": "", "pics/metadata.csv": "file_name,caption\n1.png,x\n"}, "", "train_data_dir", "no `text`"),
        (
            {"pics/a/1.png": "", "pics/a/metadata.jsonl": ROW.replace("1.png", "a/1.png")},
            "",
            "train_data_dir",
            "a/1.png",
        ),
    ],
)
def test_captions_that_nobody_reads(told, files, more, key, word):
    ((tier, where, message),) = told(files, more)
    assert (tier, where) == ("S", key)
    assert word in message


@pytest.mark.parametrize(
    ("files", "script"),
    [
        ({"read.me": ""}, "train_text_to_image_lora"),
        ({"pics/readme.txt": "mine"}, "train_text_to_image_lora"),
        ({"pics/1.png": "", "pics/metadata.jsonl": ROW}, "train_text_to_image_lora_sdxl"),
        ({"pics/a/1.png": "", "pics/metadata.csv": "file_name,text\na/1.png,x\n"}, "train_text_to_image_lora"),
        ({"pics/1.png": "", "pics/metadata.parquet": "PAR1"}, "train_text_to_image_lora"),
        ({"pics/1.png": "", "pics/metadata.jsonl": "not json"}, "train_text_to_image_lora"),
        ({"pics/metadata.jsonl": ROW}, "train_text_to_image_lora"),
        ({"pics/1.png": ""}, "train_of_my_own"),
    ],
)
def test_captions_that_are_read_or_not_known(told, files, script):
    assert told(files, script=script) == []


def test_a_folder_outside_of_the_project_is_not_looked_into(told, tmp_path):
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics/1.png").write_text("")
    assert told({"read.me": ""}, folder="../pics") == []


def test_a_pipe_that_is_called_so_is_left_unopened(told, tmp_path):
    (tmp_path / "project/pics").mkdir(parents=True)
    os.mkfifo(tmp_path / "project/pics/metadata.jsonl")
    assert told({"pics/1.png": ""}) == []
