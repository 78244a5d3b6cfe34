"""Files of training data: a setting of all subsets together, keys that stop the run, units, and whose file it is."""

from __future__ import annotations

import pytest

from loralint.frameworks.detect import detect
from loralint.frameworks.readers.diffusion_pipe_data import READER as PIPE_READER
from loralint.frameworks.readers.finetrainers_data import READER as FINETRAINERS
from loralint.frameworks.readers.musubi_dataset import READER as MUSUBI
from loralint.frameworks.readers.sd_scripts_dataset import READER
from loralint.frameworks.readers.simpletuner_data import READER as SIMPLETUNER
from loralint.frameworks.readers.simpletuner_lycoris import READER as LYCORIS_READER
from loralint.model import Unknown
from loralint.source.read import read_bytes

FILE = """\
[general]
enable_bucket = true
caption_extension = ".txt"
shuffle_caption = false

[[datasets]]
resolution = [832, 1216]
batch_size = 2

  [[datasets.subsets]]
  image_dir = "data/one"
  caption_dropout_rate = 0.05

[[datasets]]
resolution = 512
batch_size = 4

  [[datasets.subsets]]
  image_dir = "data/two"
  shuffle_caption = true
  num_repeats = 10
"""


def test_a_setting_stands_for_all_subsets(reading):
    config = reading(READER, FILE, "dataset.toml")
    expected = {
        "train.task": "diffusion",
        "data.resolution": 1006,
        "data.buckets": True,
        "data.caption_extension": ".txt",
        "data.shuffle_caption": True,
        "data.caption_dropout": 0.05,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert isinstance(config.get("batch.micro").value, Unknown)
    assert config.get("data.shuffle_caption").key == "datasets[1].subsets[0].shuffle_caption"
    assert config.get("data.shuffle_caption").span.line == 20
    assert isinstance(config.get("data.color_augmentation").value, Unknown)


def test_what_all_subsets_deny_is_off(reading):
    config = reading(READER, FILE.replace("  shuffle_caption = true\n", ""), "dataset.toml")
    assert config.get("data.shuffle_caption").value is False
    one = reading(READER, FILE.replace("shuffle_caption = false", "").replace("= true", "= false"), "dataset.toml")
    assert isinstance(one.get("data.shuffle_caption").value, Unknown)  # the other subset has the flag's


def test_its_schema_refuses_other_keys(reading, observed):
    text = FILE.replace("num_repeats", "repeats").replace('image_dir = "data/one"', "flip_aug = true")
    found = observed(reading(READER, text, "dataset.toml"))
    assert {key: (one.kind, one.effect) for key, one in found.items()} == {
        "datasets[1].subsets[0].repeats": ("unknown", "crash"),
        "datasets[0].subsets[0]": ("rejected", "crash"),
    }
    assert observed(reading(READER, FILE, "dataset.toml")) == {}


METADATA = """\
[[datasets]]
resolution = 768
  [[datasets.subsets]]
  metadata_file = "meta.json"
  image_dir = "data/one"
"""


def test_metadata_says_where_the_captions_are(reading, observed):
    assert observed(reading(READER, METADATA, "dataset.toml")) == {}
    for added, key in (
        ('  caption_extension = ".txt"\n', "datasets[0].subsets[0].caption_extension"),
        ('  [[datasets.subsets]]\n  image_dir = "data/two"\n', "datasets[0].subsets[0]"),
    ):
        (one,) = observed(reading(READER, METADATA + added, "dataset.toml")).items()
        assert (one[0], one[1].kind, one[1].effect) == (key, "rejected", "crash")
    above = METADATA.replace("resolution = 768", 'class_tokens = "sks"')
    assert list(observed(reading(READER, above, "dataset.toml"))) == ["datasets[0].class_tokens"]


def test_each_dataset_of_musubi_tuner_wants_its_own_cache(reading, observed):
    text = '[[datasets]]\nimage_directory = "a"\nresolution = [960, 544]\n[[datasets]]\nvideo_directory = "{}"\n'
    found = observed(reading(MUSUBI, text.format("a"), "dataset.toml"))
    assert [(key, one.effect) for key, one in found.items()] == [("datasets[1].video_directory", "crash")]
    assert observed(reading(MUSUBI, text.format("b"), "dataset.toml")) == {}
    assert reading(MUSUBI, text, "dataset.toml").get("data.resolution").value == 723


BACKEND = '[{"id": "pictures", "type": "local", "instance_data_dir": "/data", "cache_dir_vae": "cache", %s}]'


@pytest.mark.parametrize(
    ("settings", "key", "effect"),
    [
        ('"resolution": 1, "resolution_type": "pixel"', "resolution", "changed"),
        ('"resolution": 1024, "resolution_type": "area"', "resolution", "changed"),
        ('"resolution": 1024, "resolution_type": "pixels"', "resolution_type", "crash"),
        ('"maximum_image_size": 1.0', "maximum_image_size", "crash"),
        ('"resolution_type": "pixel", "target_downsample_size": 1.25', "target_downsample_size", "crash"),
        ('"crop": "False"', "crop", "changed"),
        ('"crop": true, "crop_aspect": "random"', "crop_aspect", "crash"),
        ('"crop": true, "crop_aspect": "portrait"', "crop_aspect", "crash"),
        ('"crop_style": "middle"', "crop_style", "crash"),
    ],
)
def test_units_and_texts_of_a_data_backend(reading, observed, settings, key, effect):
    found = observed(reading(SIMPLETUNER, BACKEND % settings, "multidatabackend.json"))
    assert {name: one.effect for name, one in found.items()} == {f"[0].{key}": effect}


@pytest.mark.parametrize(
    "settings",
    ['"resolution": 1024, "resolution_type": "pixel", "crop": false',
     '"crop_aspect": "closest", "crop_aspect_buckets": [1, 0.75]', '"resolution": 1.0, "resolution_type": "area"',
     '"resolution": 1024', '"maximum_image_size": 4, "target_downsample_size": 1, "resolution_type": "area"'],
)  # fmt: skip
def test_a_sound_data_backend(reading, observed, settings):
    config = reading(SIMPLETUNER, BACKEND % settings, "multidatabackend.json")
    assert observed(config) == {}
    assert config.get("data.datasets").value == ["/data"]


@pytest.mark.parametrize(
    ("text", "name", "module"),
    [
        (FILE, "dataset.toml", "sd_scripts_dataset"),
        ('[[datasets]]\nvideo_directory = "a"\n', "dataset.toml", "musubi_dataset"),
        (BACKEND % '"crop": true', "multidatabackend.json", "simpletuner_data"),
        ('[{"id": 1, "type": "point"}]', "points.json", None),
        ('[[datasets]]\nname = "a"\n', "other.toml", None),
        ('[[directory]]\npath = "a"\n', "dataset.toml", "diffusion_pipe_data"),
        ('{"algo": "lokr", "linear_dim": 4, "linear_alpha": 1}', "lycoris_config.json", "simpletuner_lycoris"),
    ],
)
def test_whose_file_it_is(text, name, module):
    found = detect(read_bytes(text.encode(), name))
    assert (found and found.module) == module


PIPE = """\
resolutions = [512, 1024]
enable_ar_bucket = true
min_ar = 0.5
max_ar = 2.0
num_ar_buckets = 7

[[directory]]
path = "/data/one"

[[directory]]
path = "/data/two"
"""


def test_directories_of_diffusion_pipe(reading, observed):
    config = reading(PIPE_READER, PIPE, "dataset.toml")
    assert config.get("data.resolution").value == 1024
    assert config.get("data.datasets").value == ["/data/one", "/data/two"]
    assert observed(config) == {}
    broken = PIPE.replace("max_ar = 2.0\n", "").replace('path = "/data/two"', "num_repeats = 2")
    assert [(one.effect, one.value.key) for one in reading(PIPE_READER, broken, "d.toml").layers[0].observations] == [
        ("crash", "directory[0]"),
        ("crash", "directory[1]"),
        ("crash", "directory[1]"),
    ]


LYCORIS = '{"algo": "lokr", "multiplier": 1.0, "linear_dim": 64, "linear_alpha": %s, "factor": 16}'


def test_sizes_of_lycoris_are_cut_to_whole_numbers(reading, observed):
    config = reading(LYCORIS_READER, LYCORIS % "0.5", "lycoris_config.json")
    expected = {"adapter.method": "lokr", "adapter.rank": 64, "adapter.alpha": 64}
    assert {field: config.get(field).value for field in expected} == expected
    assert {key: one.effect for key, one in observed(config).items()} == {"linear_alpha": "changed"}
    assert observed(reading(LYCORIS_READER, LYCORIS % "1", "lycoris_config.json")) == {}


def test_what_simpletuner_wants_of_lycoris(reading, observed):
    found = observed(reading(LYCORIS_READER, '{"algo": "lokr", "multiplier": 1, "linear_alpha": 1}', "l.json"))
    assert {key: one.effect for key, one in found.items()} == {"algo": "crash"}
    whole = '{"algo": "lokr", "multiplier": 1, "linear_alpha": 1, "full_matrix": true}'
    assert observed(reading(LYCORIS_READER, whole, "l.json")) == {}


def test_datasets_of_finetrainers(reading):
    text = '{"datasets": [{"data_root": "finetrainers/crush-smol", "dataset_type": "video"}]}'
    assert detect(read_bytes(text.encode(), "training.json")).module == "finetrainers_data"
    assert reading(FINETRAINERS, text, "training.json").get("data.datasets").value == ["finetrainers/crush-smol"]


def test_musubi_still_takes_the_names_of_old(reading, observed):
    text = '[[datasets]]\nimage_directory = "a"\nqwen_image_edit_control_resolution = [1024, 1024]\n'
    found = observed(reading(MUSUBI, text, "dataset.toml"))["datasets[0].qwen_image_edit_control_resolution"]
    assert (found.kind, found.effect, found.replacement) == ("renamed", "harmless", "control_resolution")
