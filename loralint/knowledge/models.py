"""The catalogue of base models: facts of a Hub id, of its mirrors and quantised copies, and what a name alone says."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from loralint.knowledge.data import part

_QUANTIZED = (
    ("mlx", re.compile(r"^mlx-community/.*\b(?:[2-8]-?bit|dwq|q[2-8])\b")),
    ("gguf", re.compile(r"\bgguf\b")),
    ("gptq", re.compile(r"\bgptq\b|^(?:.*/)?qwen(?:1\.5|2|2\.5)?-[\w.-]*-int[48]$")),
    ("awq", re.compile(r"\bawq\b")),
    ("aqlm", re.compile(r"\baqlm\b")),
    ("bnb-4bit", re.compile(r"\bbnb-(?:4bit|nf4)\b")),
    ("bnb-8bit", re.compile(r"\bbnb-8bit\b")),
    ("fp8", re.compile(r"\bfp8\b")),
    ("nvfp4", re.compile(r"\bnvfp4\b")),
    ("mxfp4", re.compile(r"\bmxfp4\b")),
)
_COPY = re.compile(
    r"-(?:hf|awq|gptq(?:-int[348]|-[2-8]bit(?:-\d+g)?)?|gguf|fp8(?:-dynamic)?|int[48]|[2-8]bit"
    r"|(?:unsloth-)?bnb-(?:[48]bit|nf4(?:-bf16)?)|bf16|fp16|nvfp4|mxfp4)$"
)
_CACHED = re.compile(r"(?:^|[/\\])models--([^/\\]+?)--([^/\\]+)")
_LOCAL = re.compile(r"^(?:[./~\\$]|[A-Za-z]:[/\\])|[\\]|/.*/")
_SIZE = re.compile(r"(?<![a-z0-9.])([0-9]{1,4}(?:\.[0-9]{1,3})?)([bm])(?![a-z0-9])")
_EXPERTS = re.compile(r"(?<![a-z0-9])(?:[0-9]{1,3}x[0-9.]+b|[0-9]{1,3}e)(?![a-z0-9])")
_UNDERSCORE_SIZE = re.compile(r"(?<![a-z0-9.])([0-9]{1,2})_([0-9]{1,2})b(?![a-z0-9])")
_KIND = (
    ("instruct", re.compile(r"\b(?:instruct|it|sft|dpo|orpo|rlhf|thinking|reasoning)\b")),
    ("chat", re.compile(r"\b(?:chat|vicuna|zephyr|alpaca|assistant)\b")),
    ("base", re.compile(r"\b(?:base|pt)\b")),
)
_FIELDS = (
    "family", "params", "hidden_size", "num_layers", "intermediate_size", "num_heads", "num_kv_heads", "vocab_size",
    "context", "dtype", "tied", "quantized", "source",
)  # fmt: skip
_LONGEST = 300


class ModelFacts(NamedTuple):
    """What is known of a base model; None where not known.

    `id` is the catalogue's own id, None where only the family was told from the name. `params` in billions, `context`
    in tokens as published. `dtype` is that of the published weights, None for a quantised copy. `kind` and `by_name`
    depend on the given name: `by_name` is True where a mirror, a copy or a local folder was matched by its name only.
    `modules` are the names of the linear layers in a block that LoRA can target, empty where not known.
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
    source: str | None = None


def find(base: str) -> ModelFacts | None:
    """Find a base model by Hub id, mirror, quantised copy or Hub cache path; else its family by how the name begins.

    A local path is matched only where its last component is a listed id's name. None when nothing is known.
    """
    base = base.strip().rstrip("/\\")
    if not base or len(base) > _LONGEST:
        return None
    if cached := _CACHED.search(base):
        base = f"{cached[1]}/{cached[2]}"
    data, lower = part("models"), base.lower()
    local = _LOCAL.search(base) is not None
    index = data["ids"].get(_last(lower) if local else key(lower))
    if index is None:
        return None if local else _by_family(lower)
    row = data["models"][index]
    known = {name: row.get(name) for name in _FIELDS}
    quantized = prequantized(base) or row.get("quantized")
    return ModelFacts(
        id=row["id"],
        by_name=lower not in row["ids"],
        **known | {"dtype": None if quantized else _dtype(lower) or row.get("dtype"), "quantized": quantized},
        **_of_family(row["family"]),
        kind=_kind(lower),
    )


def prequantized(base: str) -> str | None:
    """Say how the weights were quantised, by the name: awq, gptq, bnb-4bit, bnb-8bit, gguf, fp8, mlx ... or None."""
    lower = base[:_LONGEST].lower().replace("_", "-")
    return next((method for method, pattern in _QUANTIZED if pattern.search(lower)), None)


def size_from_name(base: str) -> float | None:
    """Give the parameters in billions that the name states; None where it states none, several or a mixture's.

    >>> size_from_name("Qwen/Qwen2.5-0.5B-Instruct"), size_from_name("mistralai/Mixtral-8x7B-v0.1")
    (0.5, None)
    """
    name = _last(base[:_LONGEST].lower())
    if _EXPERTS.search(name):
        return None
    if underscored := _UNDERSCORE_SIZE.search(name):  # stablelm-2-1_6b; llama-2_7b would read as 2.7
        return float(f"{underscored[1]}.{underscored[2]}") if underscored[1] == "1" else None
    sizes = {float(number) / (1000 if unit == "m" else 1) for number, unit in _SIZE.findall(name)}
    return sizes.pop() if len(sizes) == 1 else None


def key(base: str) -> str:
    """Reduce an id to what mirrors and copies share: the lower-case name without organisation and copy suffixes.

    >>> key("unsloth/Llama-3.2-1B-Instruct-bnb-4bit"), key("meta-llama/Llama-2-7b-hf")
    ('llama-3.2-1b-instruct', 'llama-2-7b')
    """
    name, shorter = "", _last(base.lower())
    while name != shorter:
        name, shorter = shorter, _COPY.sub("", shorter)
    return name


def _last(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def _by_family(lower: str) -> ModelFacts | None:
    name = key(lower)
    for family, pattern in _patterns():
        if pattern.match(name):
            return ModelFacts(
                id=None,
                by_name=True,
                family=family,
                **_of_family(family),
                quantized=prequantized(lower),
                kind=_kind(lower),
            )
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile the families' name patterns; the first that matches wins, so the file lists narrow ones first."""
    families: dict[str, Any] = part("models")["families"]
    return tuple((name, re.compile("|".join(row["patterns"]))) for name, row in families.items() if "patterns" in row)


def _of_family(family: str) -> dict[str, Any]:
    row = part("models")["families"][family]
    return {
        "vision": row.get("vision", False),
        "moe": row.get("moe", False),
        "fp16_unsafe": row.get("fp16_unsafe", False),
        "fp16_source": row.get("fp16_source"),
        "modules": tuple(row.get("modules", ())),
    }


def _dtype(lower: str) -> str | None:
    """Give the dtype that a converted copy names."""
    return next((dtype for dtype in ("bf16", "fp16") if lower.endswith(f"-{dtype}")), None)


def _kind(lower: str) -> str | None:
    name = _last(lower).replace("_", "-")
    return next((kind for kind, pattern in _KIND if pattern.search(name)), None)
