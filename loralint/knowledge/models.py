"""The catalogue of base models: facts of a Hub id, of its mirrors and quantised copies, and what a name alone says.

Nearly every run asks for its base model, so nothing here compiles a regular expression unless a name calls for it.
"""

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from loralint.knowledge.data import entries, part

_QUANTIZED = ("gguf", "gptq", "awq", "aqlm", "bnb-4bit", "bnb-8bit", "fp8", "nvfp4", "mxfp4", "exl2")
_COPIES = (
    "-hf", "-awq", "-gptq", "-gguf", "-fp8", "-dynamic", "-block", "-bnb", "-unsloth", "-nf4", "-bf16", "-fp16",
    "-nvfp4", "-mxfp4", "-int3", "-int4", "-int8", "-2bit", "-3bit", "-4bit", "-5bit", "-6bit", "-8bit", "-4bits",
    "-8bits", "-32g", "-64g", "-128g",
)  # fmt: skip
_INSTRUCT = frozenset(("instruct", "it", "sft", "dpo", "orpo", "rlhf", "thinking", "reasoning"))
_CHAT = frozenset(("chat", "vicuna", "zephyr", "alpaca", "assistant"))
_SIZED_BASE = frozenset(("t5", "bert", "roberta", "distilbert", "deberta", "v3", "v1", "1", "whisper", "vit", "mpnet"))
_SIZE = r"(?<![a-z0-9.])([0-9]{1,4}(?:\.[0-9]{1,3})?)([bm])(?![a-z0-9])"
_EXPERTS = r"(?<![a-z0-9])(?:[0-9]{1,3}x[0-9.]{1,6}b|[0-9]{1,3}e)(?![a-z0-9])"
_UNDERSCORED = r"(?<![a-z0-9.])([0-9]{1,2})_([0-9]{1,2})b(?![a-z0-9])"
_LONGEST = 300
# PEFT puts no adapter on these names in these types, by the release that first refuses it
# (peft 0.15.2, 0.16.0, 0.19.1, 0.20.0 and 0.21.2 tuners/tuners_utils.py, _check_lora_target_modules_mamba)
MAMBA = dict.fromkeys(("falcon_h1", "mamba", "mamba2", "falcon_mamba"), "0.16") | {"nemotron_h": "0.20"}
MAMBA_NAMES = frozenset({"out_proj", "conv1d"})
# What the catalogue has of a model, behind the ids that a name stands for, and of a family.
ROW = (
    "id", "family", "source", "params", "hidden_size", "num_layers", "intermediate_size", "num_heads", "num_kv_heads",
    "head_dim", "vocab_size", "context", "dtype", "tied", "quantized",
)  # fmt: skip
FAMILY = ("vision", "moe", "fp16_unsafe", "fp16_source", "modules", "blocks")


class ModelFacts(NamedTuple):
    """What is known of a base model; None where not known.

    `id` is the catalogue's own id, None where only the family was told from the name. `params` in billions, `context`
    in tokens as published. `head_dim` is given wherever the number of heads is. `dtype` is that of the published
    weights, None for a quantised copy. `kind` and `by_name` depend on the given name: `by_name` is True where a
    mirror, a copy or a local folder was matched by its name only. `modules` are the names of the linear layers in a
    block that LoRA can target, `blocks` the classes of the blocks; both empty where not known. `bits` of the quantised
    weights, and `unsolved`, why sizes are not known, come from a config.json on this machine only, whose path then is
    the `id`.
    """

    id: str | None
    by_name: bool
    family: str
    params: float | None = None
    hidden_size: int | None = None
    num_layers: int | None = None
    intermediate_size: int | None = None
    num_heads: int | None = None
    num_kv_heads: int | None = None
    head_dim: int | None = None
    vocab_size: int | None = None
    context: int | None = None
    dtype: str | None = None
    tied: bool | None = None
    quantized: str | None = None
    kind: str | None = None
    vision: bool = False
    moe: bool = False
    fp16_unsafe: bool = False
    fp16_source: str | None = None
    modules: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    source: str | None = None
    bits: int | None = None
    unsolved: str | None = None


@lru_cache(maxsize=1024)
def find(base: str) -> ModelFacts | None:
    """Find a base model by Hub id, mirror, quantised copy or Hub cache path; else its family by how the name begins.

    A local path is matched only where its last component is a whole name that is listed. None when nothing is known.
    """
    base = _hub_id(base.strip().rstrip("/\\").removesuffix("/original"))  # where Meta's own format lies
    if not base or len(base) > _LONGEST:
        return None
    lower = base.lower()
    rows = entries("models", names := _shorter(_last(lower)))
    if not rows:
        dotted = re.sub(r"(?<=\d)_(?=\d)", ".", lower)  # Qwen2_5-0_5B, as torchtune's folders are called
        return _by_family(lower) or (find(dotted) if dotted != lower else None)
    listed, *row = rows[next(name for name in names if name in rows)]
    known = dict(zip(ROW, row, strict=True))
    if known["head_dim"] is None and known["num_heads"] and known["hidden_size"]:
        known["head_dim"] = known["hidden_size"] // known["num_heads"]
    quantized = prequantized(base) or known["quantized"]
    known |= {"dtype": None if quantized else _named_dtype(lower) or known["dtype"], "quantized": quantized}
    return ModelFacts(**known, by_name=lower not in listed.split(), kind=kind_of(lower), **of_family(known["family"]))


def config_of(model_id: str) -> dict[str, Any]:
    """What else of config.json the layers of a listed model follow from, by dotted name."""
    found: dict[str, Any] = entries("models_config", [model_id]).get(model_id, {})
    return found


@cache
def block_classes() -> frozenset[str]:
    """Classes of the layers of all known families."""
    return frozenset(name for row in part("models_families").values() for name in row[FAMILY.index("blocks")])


def prequantized(base: str) -> str | None:
    """Say how the weights were quantised, by the name: awq, gptq, bnb-4bit, bnb-8bit, gguf, fp8, mlx ... or None."""
    lower = _hub_id(base[:_LONGEST].strip().rstrip("/")).lower().replace("_", "-")
    if lower.startswith("mlx-community/"):
        return "mlx" if lower.endswith("bit") else None
    words = f"-{_last(lower).replace('.', '-')}-"
    for method in _QUANTIZED:
        if f"-{method}-" in words:
            return method
    if "-bnb-nf4-" in words:
        return "bnb-4bit"
    return "gptq" if lower.startswith("qwen/qwen-") and words.endswith(("-int4-", "-int8-")) else None


def size_from_name(base: str) -> float | None:
    """Give the parameters in billions that the name states; None where it states none, several or a mixture's.

    >>> size_from_name("Qwen/Qwen2.5-0.5B-Instruct"), size_from_name("mistralai/Mixtral-8x7B-v0.1")
    (0.5, None)
    """
    name = _last(_hub_id(base[:_LONGEST].lower()))
    if re.search(_EXPERTS, name):
        return None
    if underscored := re.search(_UNDERSCORED, name):  # stablelm-2-1_6b is 1.6, but llama-2_7b is not 2.7
        return float(f"{underscored[1]}.{underscored[2]}") if underscored[1] == "1" else None
    sizes = {float(number) / (1000 if unit == "m" else 1) for number, unit in re.findall(_SIZE, name)}
    return sizes.pop() if len(sizes) == 1 else None


def key(base: str) -> str:
    """Reduce an id to what mirrors and copies share: the lower-case name without organisation and copy suffixes.

    >>> key("unsloth/Llama-3.2-1B-Instruct-bnb-4bit"), key("meta-llama/Llama-2-7b-hf")
    ('llama-3.2-1b-instruct', 'llama-2-7b')
    """
    return _shorter(_last(base.lower()))[-1]


def _shorter(name: str) -> list[str]:
    """A name, and what is left of it as one suffix of copies after another is taken off."""
    names = [name]
    while names[-1].endswith(_COPIES):
        names.append(names[-1].rpartition("-")[0])
    return names


def _last(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _hub_id(base: str) -> str:
    """Turn a folder of the Hub cache (.../models--org--name/snapshots/...) into the id it holds."""
    _, cached, rest = base.replace("\\", "/").partition("models--")
    organisation, dashes, name = rest.partition("/")[0].partition("--")
    return f"{organisation}/{name}" if cached and dashes else base


def _is_path(base: str) -> bool:
    return base[0] in "./~$" or "\\" in base or base[1:2] == ":" or base.count("/") > 1


def _by_family(lower: str) -> ModelFacts | None:
    """Tell the family from the whole name or, but for a path, from how it begins; the first pattern that fits wins."""
    named, names = part("models_named"), _shorter(_last(lower))
    family = next((named["names"][name] for name in names if name in named["names"]), None)
    if family is None and not _is_path(lower):
        family = next((family for family, prefix, pattern in named["patterns"] if _fits(names, prefix, pattern)), None)
    if family is None:
        return None
    quantized, kind = prequantized(lower), kind_of(lower)
    return ModelFacts(None, by_name=True, family=family, quantized=quantized, kind=kind, **of_family(family))


def _fits(names: list[str], prefix: str, pattern: str) -> bool:
    """Whether a pattern matches a name with or without the suffixes of copies, of which `-hf` may say the class."""
    return names[0].startswith(prefix) and any(re.match(pattern, name) for name in names)


def of_family(family: str) -> dict[str, Any]:
    """What holds for all members of a family, by the names that ModelFacts has; nothing for one that is not listed."""
    row = entries("models_families", (family,)).get(family, (False, False, False, None, (), ()))
    return {name: tuple(one) if isinstance(one, list) else one for name, one in zip(FAMILY, row, strict=True)}


def _named_dtype(lower: str) -> str | None:
    """Give the dtype that a converted copy names."""
    return next((dtype for dtype in ("bf16", "fp16") if lower.endswith(f"-{dtype}")), None)


def kind_of(base: str) -> str | None:
    """What a name says the model is: instruct, chat or base; None where it says nothing."""
    words = _last(base.lower()).replace("_", "-").replace(".", "-").split("-")
    if not _INSTRUCT.isdisjoint(words):
        return "instruct"
    if not _CHAT.isdisjoint(words):
        return "chat"
    if "base" in words:  # in t5-base, bert-base, whisper-base ... it is a size
        before = words[words.index("base") - 1]
        return None if before in _SIZED_BASE else "base"
    return "base" if words[-1] == "pt" else None
