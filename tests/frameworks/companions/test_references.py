"""Which files a config, a script or a command line names."""

from __future__ import annotations

import pytest

from loralint.frameworks.companions.references import KEYS, references
from loralint.frameworks.detect import NAMES, reader
from loralint.source.read import read_bytes


def named(framework: str, text: str, name: str = "c.yaml") -> list[tuple[str, str, str]]:
    document = read_bytes(text.encode(), name)
    return [(one.kind, one.path, one.value.key) for one in references(document, reader(NAMES[framework]))]


@pytest.mark.parametrize(
    ("framework", "text", "found"),
    [
        ("trl", "deepspeed: ds/z3.json\n", [("deepspeed", "ds/z3.json", "deepspeed")]),
        ("trl", "accelerate_config: fsdp2\n", []),
        ("trl", "config_file: a.yaml\n", [("accelerate", "a.yaml", "config_file")]),
        ("axolotl", "deepspeed: deepspeed_configs/zero2.json\nchat_template_jinja: '{% for m in messages %}'\n",
         [("deepspeed", "deepspeed_configs/zero2.json", "deepspeed")]),
        ("ms-swift", "deepspeed: zero3\n", []),
        ("sd-scripts", "dataset_config: data.toml\n", [("dataset", "data.toml", "dataset_config")]),
        ("transformers", "deepspeed:\n  zero_optimization:\n    stage: 3\nfsdp_config: fsdp.json\n",
         [("fsdp", "fsdp.json", "fsdp_config")]),
        ("transformers", "deepspeed: ${DS_CONFIG}.json\n", []),
        ("llamafactory", "dataset: a\ndataset_dir: my/data/\n",
         [("dataset_info", "my/data/dataset_info.json", "dataset_dir")]),
        ("llamafactory", "dataset: a\n", [("dataset_info", "data/dataset_info.json", "dataset_dir")]),
        ("llamafactory", "dataset: a\ndataset_dir: ONLINE\n", []),
        ("accelerate", "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\n",
         [("deepspeed", "ds.json", "deepspeed_config.deepspeed_config_file")]),
    ],
)  # fmt: skip
def test_named_files(framework: str, text: str, found: list[tuple[str, str, str]]) -> None:
    assert named(framework, text) == found


def test_each_of_several_has_its_place() -> None:
    text = 'dataset = "a.toml"\n[[eval_datasets]]\nname = "x"\nconfig = "b.toml"\n'
    document = read_bytes(text.encode(), "c.toml")
    found = references(document, reader(NAMES["diffusion-pipe"]))
    assert [(one.path, one.value.key, one.value.span and one.value.span.line) for one in found] == [
        ("a.toml", "dataset", 1), ("b.toml", "eval_datasets[0].config", 4)
    ]  # fmt: skip


def test_names_are_those_of_frameworks() -> None:
    assert set(KEYS) - set(NAMES) <= {"diffusers", "torchrun"}
