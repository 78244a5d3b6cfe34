"""What a config.json on this machine says of a base model, as the facts that the table of known models gives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any

from loralint.knowledge import catalogue, local_config
from loralint.knowledge.catalogue import Architecture
from loralint.knowledge.models import ModelFacts, kind_of, of_family
from loralint.knowledge.structure import SIZES, Unsolved
from loralint.knowledge.targets import SUPPORTED

_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_TOWERS = ("vision", "visual", "audio", "speech")
_SIZES = {**SIZES, "context": "max_position_embeddings"}


def facts(path: str, base: str) -> ModelFacts:
    """The facts that a config.json gives; `base` is what the run calls the model, which says base or instruct.

    Sizes are None, and `unsolved` says why, where the catalogue does not know such a model. Raises Unsolved where the
    file is no config of a model.
    """
    config = _read(*_version(path))
    family = _family(config)
    quantized, bits = quantisation(config)
    known: dict[str, Any] = {"quantized": quantized, "bits": bits, "kind": kind_of(base), "source": path}
    known["dtype"] = _dtype(config) if quantized is None else None
    try:
        built = catalogue.from_config(config)
    except Unsolved as unsolved:
        return ModelFacts(path, by_name=False, family=family, unsolved=str(unsolved), **known, **of_family(family))
    known |= {ours: _size(built.sizes.get(theirs)) for ours, theirs in _SIZES.items()}
    if known["head_dim"] is None and known["num_heads"] and known["hidden_size"]:
        known["head_dim"] = known["hidden_size"] // known["num_heads"]
    flags = of_family(family)
    flags["vision"] = flags["vision"] or "vision_config" in config
    flags["blocks"] = flags["blocks"] or _blocks(built)
    return ModelFacts(path, by_name=False, family=family, tied=built.tied, params=_billions(built), **known, **flags)


def architecture(path: str, task: str | None = None, version: str = "5") -> Architecture:
    """The model class with its modules, as `catalogue.from_config` gives it. Raises Unsolved where it is not known."""
    return catalogue.from_config(_read(*_version(path)), task, version)


def adaptable(path: str) -> tuple[str, ...]:
    """Paths of all layers that may get an adapter, `*` for the number of a layer; none where they are not known."""
    paths: dict[str, None] = {}
    for version in ("5", "4"):
        try:
            built = architecture(path, version=version)
        except Unsolved:
            return ()
        lists = {module.path for module in built.modules if module.kind == "ModuleList"}
        paths |= dict.fromkeys(_starred(one.path, lists) for one in built.modules if one.kind in SUPPORTED)
    return tuple(paths)


def _starred(path: str, lists: set[str]) -> str:
    """A path with `*` for each number that counts through a list of modules."""
    words = path.split(".")
    return ".".join("*" if ".".join(words[:i]) in lists else word for i, word in enumerate(words))


def quantisation(config: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """How the weights that belong to a config are quantised, and to how many bits; None where they are not.

    As Transformers writes it, `quantization_config`; mlx-lm writes `quantization`.
    """
    said = config.get("quantization_config")
    if not isinstance(said, Mapping):
        text = config.get("text_config")
        said = text.get("quantization_config") if isinstance(text, Mapping) else None
    if isinstance(said, Mapping) and (said.get("quant_method") or "load_in_4bit" in said):
        return _method(said)
    mlx = config.get("quantization")
    return ("mlx", _bits(mlx.get("bits"))) if isinstance(mlx, Mapping) and "group_size" in mlx else (None, None)


def _method(said: Mapping[str, Any]) -> tuple[str, int | None]:
    method = str(said.get("quant_method") or "bitsandbytes").lower().replace("_", "-")[:40]
    if method in ("bitsandbytes", "bitsandbytes-4bit", "bitsandbytes-8bit"):
        bits = 8 if said.get("load_in_8bit") is True or method.endswith("8bit") else 4
        return f"bnb-{bits}bit", bits
    return method, {"fp8": 8, "fbgemm-fp8": 8, "mxfp4": 4}.get(method) or _bits(said.get("bits"))


def _size(said: object) -> int | None:
    """A size that a model can have; where layers differ there is no one size."""
    return said if isinstance(said, int) and not isinstance(said, bool) and 0 < said < 10**12 else None


def _bits(said: object) -> int | None:
    return said if isinstance(said, int) and not isinstance(said, bool) and 0 < said <= 16 else None


def _version(path: str) -> tuple[str, int, int]:
    """A path with what changes when its file does. Raises Unsolved where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise Unsolved(f"{path} cannot be read") from error
    return path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _read(path: str, changed: int, size: int) -> dict[str, Any]:
    del changed, size
    return local_config.read(path)


def _family(config: Mapping[str, Any]) -> str:
    """The family of the golden list: the model type, but T5's smallest does not overflow, and GLM-4 as no older GLM."""
    model_type = str(config["model_type"])[:80].replace("-", "_")
    if model_type == "chatglm" and config.get("padded_vocab_size") == 151552:
        return "chatglm4"
    return "t5_small" if model_type == "t5" and config.get("d_model") == 512 else model_type


def _dtype(config: Mapping[str, Any]) -> str | None:
    """The format of the weights: `dtype`, before Transformers 5 `torch_dtype`, in old files that of the text part."""
    text = config.get("text_config")
    for part in (config, text if isinstance(text, Mapping) else {}):
        said = part.get("dtype") or part.get("torch_dtype")
        if said:
            return _DTYPES.get(str(said).removeprefix("torch."))
    return None


def _blocks(built: Architecture) -> tuple[str, ...]:
    """The classes that FSDP wraps whole, those of the language model first."""
    towers = {module.kind for module in built.modules if any(word in module.path for word in _TOWERS)}
    return tuple(sorted(built.whole, key=lambda kind: kind in towers))


def _billions(built: Architecture) -> float | None:
    """Distinct parameters; None where weights are shared in other ways than by tied embeddings, or a shape is open."""
    total, tied = 0, f"{built.head}.weight"
    if any(weight != tied for weight in built.shared):
        return None
    for module in built.modules:
        for name, shape in module.weights:
            if shape is None:
                return None
            total += 0 if built.tied and f"{module.path}.{name}" == tied else prod(shape)
    return total / 1e9
