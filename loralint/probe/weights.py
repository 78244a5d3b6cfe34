"""Single tensors of local weights, by Transformers' names: safetensors in a folder, or a GGUF file.

Files are mapped into memory, so that only what is asked for is read. Quantised tensors come out as fp32.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from threading import RLock
from typing import Any, NamedTuple

import torch
from torch import Tensor

from loralint.probe.quantised import dequantised, refuse_quantisation, sizes

_ONE_AT_A_TIME = RLock()
_INDEX = "model.safetensors.index.json"
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|blk)\.(\d+)\.")
# The two matrices that have a row for every token: of them only rows of the text are read.
_BY_TOKEN = re.compile(r"(?:embed_tokens|wte|word_embeddings|embed_in|tok_embeddings|lm_head|embed_out)\.weight$")


class Weights(NamedTuple):
    """shapes: of every tensor, by its name. read: a tensor in fp32; of the second argument's rows only, where given."""

    shapes: dict[str, tuple[int, ...]]
    read: Callable[[str, Tensor | None], Tensor]

    def of_body(self) -> int:
        """Entries outside the embedding and the head."""
        return sum(prod(shape) for name, shape in self.shapes.items() if not by_token(name))


def by_token(name: str) -> bool:
    """Whether a tensor has a row for every token."""
    return bool(_BY_TOKEN.search(name)) or name in ("token_embd.weight", "output.weight")


def layer_of(name: str) -> int | None:
    """The number of the layer that a tensor belongs to, from 0."""
    found = _LAYER.search(name)
    return int(found[1]) if found else None


def in_layer(name: str, number: int) -> str:
    """The same name in another layer."""
    found = _LAYER.search(name)
    return name if found is None else f"{name[: found.start(1)]}{number}{name[found.end(1) :]}"


def safetensors(folder: str) -> Weights:
    """The weights of a folder that Transformers saved. Raises ValueError for quantisations that are not read here."""
    from safetensors import safe_open

    refuse_quantisation(folder)
    files = {name: safe_open(os.path.join(folder, name), "pt") for name in _files(folder)}
    home = {key: file for file in files.values() for key in file.keys()}  # noqa: SIM118 - no dictionary
    raw = {key: tuple(file.get_slice(key).get_shape()) for key, file in home.items()}

    def whole(key: str) -> Tensor:
        return home[key].get_tensor(key)

    def read(key: str, rows: Tensor | None) -> Tensor:
        if rows is None:
            return dequantised(key, raw, whole).float()
        part = home[key].get_slice(key)
        return torch.cat([part[row : row + 1] for row in rows.tolist()]).float()

    return Weights(sizes(raw, whole), read)


def _files(folder: str) -> list[str]:
    """Names of the files; those of the index where there is one, since some folders hold the weights twice."""
    index = os.path.join(folder, _INDEX)
    if not os.path.isfile(index):
        return sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    with open(index, encoding="utf-8") as file:
        names = set(json.load(file)["weight_map"].values())
    if any(os.path.basename(name) != name for name in names):
        raise ValueError(f"{index}: it names files outside its folder")
    return sorted(names)


class _Named(NamedTuple):
    """What Transformers asks for the names in a model: those of all of it and of some children, by their names.

    It would ask every part of every layer, 20 ms each, and finds nothing new below the body that the head sits on.
    """

    config: Any
    names: dict[str, Any]
    children: tuple[tuple[str, Any], ...] = ()

    def state_dict(self) -> dict[str, Any]:
        return self.names

    def named_children(self) -> tuple[tuple[str, Any], ...]:
        return self.children


def named(model: Any) -> _Named:
    """The names in a model of Transformers and, as some files have them, in its body alone."""
    body = _Named(model.config, model.base_model.state_dict())
    return _Named(model.config, model.state_dict(), ((model.base_model_prefix, body),))


@contextmanager
def parsed_once() -> Iterator[None]:
    """Within it a GGUF file is parsed once, of which the names and the vocabulary take seconds.

    Transformers parses it for the tokenizer, and again for the config, and takes no reader that is there already.
    """
    import gguf

    with _ONE_AT_A_TIME:  # of two threads the second would put back what the first had put there
        own = gguf.GGUFReader
        try:
            gguf.GGUFReader = cache(own)
            yield
        finally:
            gguf.GGUFReader = own


def gguf(path: str, model: Any) -> Weights:
    """The weights of a GGUF file. model: one of Transformers with as many layers, which gives the names; no data in it.

    Some architectures' tensors are turned and shifted, as Transformers does it.
    """
    from gguf import GGUFReader, dequantize
    from transformers import modeling_gguf_pytorch_utils as transformers_gguf

    reader = GGUFReader(path)
    (architecture,) = transformers_gguf.read_field(reader, "general.architecture")
    kind = transformers_gguf.TENSOR_PROCESSORS.get(architecture, transformers_gguf.TensorProcessor)
    processor = kind(config=model.config.to_dict())
    names = {hf: own for own, hf in transformers_gguf.get_gguf_hf_weights_map(named(model), processor).items()}
    stored = {tensor.name: tensor for tensor in reader.tensors}
    home = {hf: stored[own] for hf, own in names.items() if own in stored}

    def read(key: str, rows: Tensor | None) -> Tensor:
        tensor = home[key]
        data = tensor.data if rows is None else tensor.data[rows.numpy()]
        made = processor.process(dequantize(data, tensor.tensor_type), tensor.name, parsed_parameters={"tensors": {}})
        return torch.from_numpy(made.weights.copy()).float()

    return Weights({hf: tuple(map(int, reversed(tensor.shape))) for hf, tensor in home.items()}, read)
