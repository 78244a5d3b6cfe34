"""Which further files a config, a script or a command line names, by framework."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Reader
from loralint.model import Value
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template


class Reference(NamedTuple):
    """A file that is named. kind: deepspeed, fsdp, accelerate, dataset, dataset_info, config, chat_template. path: as
    written, relative to where the run starts. value: the key and its place; without a span where a default names it.
    """

    kind: str
    path: str
    value: Value


Keys = Mapping[str, str]

_TRAINER: Keys = {"deepspeed": "deepspeed", "fsdp_config": "fsdp", "chat_template": "chat_template"}
# The launcher's own options, which some programs take among theirs.
_ACCELERATE: Keys = {"config_file": "accelerate", "deepspeed_config_file": "deepspeed"}
# What argparse scripts of DeepSpeed's own (`deepspeed.add_config_arguments`) name it by.
_DEEPSPEED: Keys = {"deepspeed_config": "deepspeed"}
_KOHYA: Keys = {"dataset_config": "dataset", "config_file": "config"}

# Framework (or launcher) -> dotted key -> kind.
KEYS: Mapping[str, Keys] = {
    "transformers": {**_TRAINER, **_DEEPSPEED},
    "trl": {**_TRAINER, **_ACCELERATE, "accelerate_config": "accelerate", "chat_template_path": "chat_template",
            "config": "config"},
    "alignment-handbook": {**_TRAINER, "config": "config"},
    "peft": {**_TRAINER, **_DEEPSPEED},
    "generic": {**_TRAINER, **_DEEPSPEED},
    "llamafactory": _TRAINER,
    "axolotl": {"deepspeed": "deepspeed", "chat_template_jinja": "chat_template"},
    "ms-swift": {**_TRAINER, "custom_dataset_info": "dataset_info", "deepspeed_config_path": "deepspeed",
                 "config": "config"},
    "fms-hf-tuning": {**_TRAINER, "data_config_path": "dataset", "data_config": "dataset"},
    "autotrain": {"config": "config"},
    "oumi": {"config": "config"},
    "torchtune": {"config": "config"},
    "litgpt": {"config": "config"},
    "mlx-lm": {"config": "config"},
    "sd-scripts": _KOHYA,
    "musubi-tuner": _KOHYA,
    "diffusers": {"deepspeed": "deepspeed"},
    "diffusion-pipe": {"dataset": "dataset", "eval_datasets[].config": "dataset", "config": "config"},
    "simpletuner": {"data_backend_config": "dataset", "--data_backend_config": "dataset",
                    "DATALOADER_CONFIG": "dataset", "deepspeed_config": "deepspeed", "--deepspeed_config": "deepspeed"},
    "finetrainers": {"dataset_config": "dataset"},
    "onetrainer": {"concept_file_name": "dataset", "config_path": "config"},
    "accelerate": {**_ACCELERATE, "deepspeed_config.deepspeed_config_file": "deepspeed"},
    "deepspeed": {},
    "torchrun": {},
}  # fmt: skip
# How the names of a kind of file end; another text is a preset, a template's name or the text itself.
_ENDS: Mapping[str, tuple[str, ...]] = {
    "deepspeed": (".json", ".hjson"),
    "fsdp": (".json",),
    "accelerate": (".yaml", ".yml", ".json"),
    "dataset": (".toml", ".json", ".yaml", ".yml"),
    "dataset_info": (".json", ".jsonl"),
    "config": (".yaml", ".yml", ".json", ".toml"),
    "chat_template": (".jinja", ".jinja2", ".j2"),
}
_INFO = "dataset_info.json"


def references(document: Document, reader: Reader, *, calls: bool = False) -> list[Reference]:
    """The files that a document names, in its own order of importance; none of them is opened or looked for.

    calls: its keys are the arguments of calls, as those of a Python program always are, so that
    `SFTConfig(deepspeed="ds.json")` names one.
    """
    root = document.root
    if root is None:
        return []
    keys = KEYS.get(reader.name, {})
    if calls or document.format == "python":
        keys = {f"{part.key}.{key}": kind for part in root.pairs for key, kind in {**_TRAINER, **keys}.items()}
    found = [one for key, kind in keys.items() for one in _named(document, root, key, kind)]
    return found + (_dataset_info(document, root) if reader.name == "llamafactory" else [])


def _named(document: Document, root: Node, key: str, kind: str) -> Iterator[Reference]:
    several, _, inner = key.partition("[].")
    if inner:
        node = root.get(several)
        for index, item in enumerate(node.items if node is not None else ()):
            yield from _named_in(document, item, inner, kind, f"{several}[{index}].")
    else:
        yield from _named_in(document, root, key, kind, "")


def _named_in(document: Document, node: Node, key: str, kind: str, prefix: str) -> Iterator[Reference]:
    pair = find(node, key) if node.kind == "mapping" else None
    if pair is None or pair.value.kind != "scalar" or is_template(pair.value.raw):
        return
    path = pair.value.raw.strip()
    if path.lower().endswith(_ENDS[kind]) and "\n" not in path:
        yield Reference(kind, path, place(document, pair, prefix + key))


def _dataset_info(document: Document, root: Node) -> list[Reference]:
    """LLaMA-Factory looks datasets up in `dataset_info.json` of `dataset_dir`, which is `data` when absent."""
    pair = root.pair("dataset_dir")
    if root.get("dataset") is None:
        return []
    if pair is None or pair.value.kind != "scalar" or pair.value.tag == "null":
        return [Reference("dataset_info", f"data/{_INFO}", Value("data", "default", "dataset_dir"))]
    folder = pair.value.raw.rstrip("/")
    if folder == "ONLINE" or folder.startswith("REMOTE:") or is_template(folder):
        return []
    return [Reference("dataset_info", f"{folder}/{_INFO}", place(document, pair, "dataset_dir"))]
