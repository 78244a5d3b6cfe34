"""The files that a launch names."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch import references


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("accelerate launch --config_file a.yaml train.py --config_file b.toml",
         [("script", "train.py"), ("config", "b.toml"), ("accelerate", "a.yaml")]),
        ("llamafactory-cli train c.yaml lora_rank=8", [("config", "c.yaml")]),
        ("axolotl train c.yml", [("config", "c.yml")]),
        ("accelerate launch -m axolotl.cli.train c.yml", [("config", "c.yml")]),
        ("swift sft c.yaml", [("config", "c.yaml")]),
        ("trl sft --config c.yaml --config_file a.yaml", [("config", "c.yaml"), ("accelerate", "a.yaml")]),
        ("tune run lora --config c.yaml", [("config", "c.yaml")]),
        ("tune run lora --config llama3/8B_lora", []),
        ("deepspeed train.py --deepspeed ds.json", [("script", "train.py"), ("deepspeed", "ds.json")]),
        ("deepspeed train.py --deepspeed --config x.toml", [("script", "train.py"), ("config", "x.toml")]),
        ("accelerate launch train_network.py --network_module networks.lora --dataset_config d.toml",
         [("script", "train_network.py"), ("dataset", "d.toml")]),
        ("python train.py --config $CFG/x.yaml", [("script", "train.py"), ("config", "${CFG}/x.yaml")]),
    ],
)  # fmt: skip
def test_references(find, text, wanted):
    (launch,) = find(text)
    assert [(kind, word.raw) for kind, word in references(launch)] == wanted


def test_a_name_keeps_its_place(find):
    text = "C=conf/x.yaml\naxolotl train $C"
    (launch,) = find(text)
    ((_, word),) = references(launch)
    assert text[word.node.start : word.node.end] == "conf/x.yaml"
