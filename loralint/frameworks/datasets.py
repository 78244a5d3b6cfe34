"""Files that list the training data of a diffusion trainer, told by their lists of tables."""

from __future__ import annotations

from typing import NamedTuple

from loralint.source.document import Node

_MUSUBI = frozenset({"image_directory", "video_directory", "image_jsonl_file", "video_jsonl_file"})
_SD_SCRIPTS = frozenset({"image_dir", "metadata_file", "class_tokens", "num_repeats", "caption_extension"})
_FINETRAINERS = frozenset({"data_root", "dataset_type"})
_SIMPLETUNER = frozenset({"instance_data_dir", "cache_dir_vae", "cache_dir", "resolution_type", "caption_strategy"})


class Found(NamedTuple):
    """framework, module of its reader, the key that said so."""

    framework: str
    module: str
    key: str


def dataset_file(root: Node) -> Found | None:
    """Whose file it is; None for anything else."""
    if root.kind == "sequence":
        return _backends(root)
    if any("path" in _names(directory) for directory in _tables(root.get("directory"))):
        return Found("diffusion-pipe", "diffusion_pipe_data", "directory")
    for dataset in _tables(root.get("datasets")):
        if _names(dataset) >= _FINETRAINERS:
            return Found("finetrainers", "finetrainers_data", "datasets")
        if _MUSUBI & _names(dataset):
            return Found("musubi-tuner", "musubi_dataset", "datasets")
        if any(_SD_SCRIPTS & _names(subset) for subset in _tables(dataset.get("subsets"))):
            return Found("sd-scripts", "sd_scripts_dataset", "datasets")
    return None


def _backends(root: Node) -> Found | None:
    """SimpleTuner's data backends: a list of them with an id, a type and folders."""
    items = _tables(root)
    whole = all({"id", "type"} <= _names(item) for item in items)
    if whole and any(_SIMPLETUNER & _names(item) for item in items):
        return Found("simpletuner", "simpletuner_data", "id")
    return None


def _tables(node: Node | None) -> list[Node]:
    return [item for item in node.items if item.kind == "mapping"] if node is not None else []


def _names(node: Node) -> frozenset[str]:
    return frozenset(pair.key for pair in node.pairs)
