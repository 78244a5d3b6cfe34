"""Files as people write them, with random values, comments and layout, and what an independent loader reads of them."""

from __future__ import annotations

import ast
import json
import re
import shlex
import textwrap
import tomllib
from typing import Any, NamedTuple

import yaml
from hypothesis import strategies as st

# canonical field -> values that a trainer takes
FIELDS: dict[str, list[Any]] = {
    "adapter.rank": [4, 8, 16, 64, 128],
    "adapter.alpha": [8, 16, 32, 256],
    "adapter.dropout": [0.0, 0.05, 0.1, 0.25],
    "optim.lr": [0.0002, 2e-05, 0.001, 3.5e-06],
    "batch.accumulation": [1, 4, 8, 32],
    "checkpoint.save_steps": [10, 50, 500],
    "train.logging_steps": [1, 5, 10],
    "optim.weight_decay": [0.0, 0.01, 0.1],
}
_HF = {
    "adapter.dropout": "lora_dropout",
    "adapter.alpha": "lora_alpha",
    "optim.lr": "learning_rate",
    "batch.accumulation": "gradient_accumulation_steps",
    "checkpoint.save_steps": "save_steps",
    "train.logging_steps": "logging_steps",
    "optim.weight_decay": "weight_decay",
}
AXOLOTL = {**_HF, "adapter.rank": "lora_r"}
LLAMAFACTORY = {**_HF, "adapter.rank": "lora_rank"}
PEFT = {"adapter.rank": "r", "adapter.alpha": "lora_alpha", "adapter.dropout": "lora_dropout"}
SD = {
    "adapter.rank": "network_dim",
    "adapter.alpha": "network_alpha",
    "batch.accumulation": "gradient_accumulation_steps",
}
# what tells each framework, and what stands beside
HEADS = {
    "axolotl": {"base_model": "NousResearch/Llama-2-7b-hf", "adapter": "lora", "micro_batch_size": 1},
    "llamafactory": {"model_name_or_path": "Qwen/Qwen2.5-7B", "stage": "sft", "finetuning_type": "lora"},
    "peft": {"peft_type": "LORA", "task_type": "CAUSAL_LM", "bias": "none"},
    "trl": {"model_name_or_path": "Qwen/Qwen2.5-0.5B", "dataset_name": "trl-lib/Capybara", "use_peft": "true"},
    "sd-scripts": {"pretrained_model_name_or_path": "sd.safetensors", "network_module": "networks.lora"},
}


class File(NamedTuple):
    """A file of some framework. keys: canonical field -> key. pieces: key -> where its value stands in the text."""

    name: str
    framework: str
    text: str
    keys: dict[str, str]
    values: dict[str, Any]
    places: dict[str, tuple[int, int]]
    data: bytes


class _Text:
    """A text that is written piece by piece and remembers where values stand."""

    def __init__(self) -> None:
        self.text = ""
        self.places: dict[str, tuple[int, int]] = {}

    def add(self, piece: str) -> None:
        self.text += piece

    def value(self, key: str, token: str) -> None:
        self.places[key] = (len(self.text), len(self.text) + len(token))
        self.text += token


def _token(value: Any, form: str) -> str:
    if isinstance(value, str):
        return value if form == "yaml" else json.dumps(value)
    if isinstance(value, float):  # a dot and a sign, which every loader reads as a number
        return f"{value:.1e}" if 0 < value < 1e-4 else repr(value)
    return str(value)


COMMENTS = st.sampled_from(["", "", "", '  # why: it\'s "swept"', " # é: x", "  # key: 5, [a]"])
BLANKS = st.sampled_from(["", "", "", "\n", "# a comment: 4\n", "\n# é\n"])


@st.composite
def _pairs(draw, framework: str, keys: dict[str, str]):
    chosen = draw(st.lists(st.sampled_from(sorted(keys)), unique=True, min_size=1, max_size=6))
    own = [(keys[field], draw(st.sampled_from(FIELDS[field]))) for field in chosen]
    return draw(st.permutations([*HEADS[framework].items(), *own]))


@st.composite
def _yaml(draw, framework: str, keys: dict[str, str], out: _Text, indent: str = ""):
    for key, value in draw(_pairs(framework, keys)):
        out.add(textwrap.indent(draw(BLANKS), indent))
        name = f'"{key}"' if draw(st.integers(0, 7)) == 0 else key
        out.add(f"{indent}{name}:{draw(st.sampled_from([' ', '   ']))}")
        out.value(key, _token(value, "yaml"))
        out.add(draw(COMMENTS) + "\n")


@st.composite
def _json(draw, framework: str, keys: dict[str, str], out: _Text):
    style = draw(st.sampled_from(["{}, ", "{},\n  ", "{} ,\n\t"]))
    pairs = draw(_pairs(framework, keys))
    out.add("{" + style.format("")[1:].replace(",", "").lstrip(" "))
    for number, (key, value) in enumerate(pairs):
        out.add(f"{json.dumps(key)}{draw(st.sampled_from([': ', ':', ' : ']))}")
        out.value(key, _token(value, "json"))
        out.add(style.format("") if number + 1 < len(pairs) else draw(st.sampled_from(["", "\n"])))
    out.add("}\n")


@st.composite
def _toml(draw, framework: str, keys: dict[str, str], out: _Text):
    for key, value in draw(_pairs(framework, keys)):
        out.add(draw(BLANKS) + f"{key}{draw(st.sampled_from([' = ', '=']))}")
        out.value(key, _token(value, "toml"))
        out.add(draw(COMMENTS) + "\n")


@st.composite
def _call(draw, name: str, keys: dict[str, str], out: _Text):
    chosen = draw(st.lists(st.sampled_from(sorted(keys)), unique=True, min_size=1, max_size=5))
    gap = draw(st.sampled_from(["\n    ", " ", "\n        "]))
    out.add(f"{name}({gap if gap != ' ' else ''}")
    for number, field in enumerate(chosen):
        out.add(f"{keys[field]}{draw(st.sampled_from(['=', ' = ']))}")
        out.value(keys[field], _token(draw(st.sampled_from(FIELDS[field])), "python"))
        last = number + 1 == len(chosen)
        out.add("," if not last or (gap != " " and draw(st.booleans())) else "")
        out.add(draw(COMMENTS) if gap != " " else "")
        out.add(("\n" if gap != " " else "") if last else gap)
    out.add(")\n")


@st.composite
def _python(draw, out: _Text):
    out.add('"""Train é."""\nfrom peft import LoraConfig\nfrom trl import SFTConfig, SFTTrainer\n\n')
    out.add("peft_config = ")
    draw(_call("LoraConfig", PEFT, out))
    out.add(draw(BLANKS) + "args = ")
    hf = {field: key for field, key in _HF.items() if field not in PEFT}
    draw(_call("SFTConfig", hf, out))
    out.add('trainer = SFTTrainer("Qwen/Qwen2.5-0.5B", args=args, peft_config=peft_config)\ntrainer.train()\n')
    return {**PEFT, **hf}


@st.composite
def _shell(draw, out: _Text):
    out.add("#!/bin/bash\nset -e\n# train é\n" + draw(BLANKS))
    program, framework, keys = draw(
        st.sampled_from([("llamafactory-cli train", "llamafactory", LLAMAFACTORY), ("trl sft", "trl", AXOLOTL)])
    )
    out.add(draw(st.sampled_from(["", "CUDA_VISIBLE_DEVICES=0 "])) + program)
    gap = draw(st.sampled_from([" ", " \\\n    ", " \\\n"]))
    for key, value in draw(_pairs(framework, keys)):
        out.add(f"{gap}--{key}{draw(st.sampled_from([' ', '=', '  ']))}")
        quote = draw(st.sampled_from(["", "", '"', "'"]))
        out.value(key, quote + _token(value, "yaml") + quote)
    out.add("\necho done\n")
    return keys


@st.composite
def _map(draw, out: _Text):
    out.add("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: train\ndata:\n  train.yaml: |\n")
    draw(_yaml("axolotl", AXOLOTL, out, "    "))
    out.add("  other.txt: x\n")


@st.composite
def files(draw) -> File:
    form = draw(st.sampled_from(["yaml", "yaml-lf", "json", "json-lf", "toml", "python", "shell", "map", "notebook"]))
    out, name, framework, keys = _Text(), "train.yaml", "axolotl", AXOLOTL
    if form == "yaml":
        draw(_yaml(framework, keys, out))
    elif form == "yaml-lf":
        framework, keys = "llamafactory", LLAMAFACTORY
        draw(_yaml(framework, keys, out))
    elif form == "json":
        name, framework, keys = "adapter_config.json", "peft", PEFT
        draw(_json(framework, keys, out))
    elif form == "json-lf":
        name, framework, keys = "train.json", "llamafactory", LLAMAFACTORY
        draw(_json(framework, keys, out))
    elif form == "toml":
        name, framework, keys = "config.toml", "sd-scripts", SD
        draw(_toml(framework, keys, out))
    elif form == "shell":
        name, framework = "run.sh", ""
        keys = draw(_shell(out))
    elif form == "map":
        name, framework = "map.yaml", ""
        draw(_map(out))
    else:
        name, framework = "train.py", ""
        keys = draw(_python(out))
    text, places = out.text, out.places
    if form == "notebook":
        name, text, places = "train.ipynb", *_notebook(text, places)
    return _encoded(draw, File(name, framework, text, keys, {}, places, b""))


def _notebook(code: str, places: dict[str, tuple[int, int]]) -> tuple[str, dict[str, tuple[int, int]]]:
    """The code as one cell, each line a string of its own; places move with the escapes."""
    text, starts = '{\n "cells": [\n  {\n   "cell_type": "code",\n   "source": [\n', []
    lines = code.splitlines(keepends=True)
    for number, line in enumerate(lines):
        text += '    "'
        for character in line:
            starts.append(len(text))
            text += json.dumps(character, ensure_ascii=False)[1:-1]
        text += '",\n' if number + 1 < len(lines) else '"\n'
    text += '   ]\n  }\n ],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n'
    return text, {key: (starts[start], starts[end - 1] + 1) for key, (start, end) in places.items()}


def _encoded(draw, file: File) -> File:
    """The file with a layout of its bytes: line breaks, a byte order mark, an encoding, the last break missing."""
    text, places = file.text, file.places
    if draw(st.integers(0, 4)) == 0 and file.name != "train.ipynb":
        text = text.removesuffix("\n")
    if draw(st.integers(0, 3)) == 0 and file.name not in ("run.sh", "map.yaml"):
        at = [index for index, character in enumerate(text) if character == "\n"]
        places = {key: tuple(place + sum(one < place for one in at) for place in two) for key, two in places.items()}
        text = text.replace("\n", "\r\n")
    encoding, mark = draw(
        st.sampled_from([("utf-8", b"")] * 3 + [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe")])
    )
    if file.name in ("train.py", "train.ipynb", "run.sh"):  # nothing but UTF-8 runs
        encoding, mark = "utf-8", b""
    made = file._replace(text=text, places=places, data=mark + text.encode(encoding))
    return made._replace(values=loaded(made, text))


def loaded(file: File, text: str) -> dict[str, Any]:
    """What the file sets, read by a loader that is none of ours. Raises what that raises."""
    if file.name == "train.yaml":
        return dict(yaml.safe_load(text))
    if file.name == "map.yaml":
        outer = yaml.safe_load(text)
        assert outer["data"]["other.txt"] == "x"
        return dict(yaml.safe_load(outer["data"]["train.yaml"]))
    if file.name.endswith(".json"):
        return dict(json.loads(text))
    if file.name.endswith(".toml"):
        return tomllib.loads(text)
    if file.name == "run.sh":
        return _flags(text)
    if file.name == "train.ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    calls = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)]
    configs = [one for one in calls if ast.unparse(one.func) in ("LoraConfig", "SFTConfig")]
    return {keyword.arg: ast.literal_eval(keyword.value) for one in configs for keyword in one.keywords}


def _flags(text: str) -> dict[str, Any]:
    words = shlex.split(re.sub(r"\\\n", " ", text), comments=True)
    words = words[words.index("train" if "train" in words else "sft") + 1 : words.index("echo")]
    words = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return {key.removeprefix("--"): yaml.safe_load(value) for key, value in zip(words[::2], words[1::2], strict=True)}
