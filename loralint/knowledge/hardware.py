"""GPU names as people, cloud catalogues and Kubernetes labels spell them, and what such a GPU can do."""

from __future__ import annotations

import re
from typing import NamedTuple

from loralint.knowledge.data import part

_VENDOR_WORDS = re.compile(r"^(?:nvidia|geforce|tesla|amd|instinct|radeon|intel|habana|apple|google)+(?=.)")
_COUNT_FIRST = re.compile(r"\s*([0-9]{1,5})\s*[x\u00d7*]\s*(.+)", re.IGNORECASE)
_COUNT_LAST = re.compile(r"(.+?)[\s:,_-]*[x\u00d7*:]\s*([0-9]{1,5})\s*", re.IGNORECASE)
_SLICE = re.compile(r"(.+?)[\s_-]+mig[\s_-]+([0-9]g\.([0-9]{1,3})gb)(?:\.me)?", re.IGNORECASE)
_SHARED = re.compile(r"[\s_-]+shared$", re.IGNORECASE)
_LAPTOP = re.compile(r"(.+?)[\s_-]+(?:laptop(?:[\s_-]+gpu)?|mobile|max[\s_-]?q)", re.IGNORECASE)
_LONGEST = 200


class Gpu(NamedTuple):
    """One kind of GPU as the framework sees it; None where not known.

    `memory_gib` is the nominal size of one device, None where the name leaves it open: `memory_options` then lists
    the sizes that the name is sold with. ECC and the driver take a few percent off. `compute_capability` is NVIDIA's.
    The flags speak of the hardware: software may emulate what it lacks, slowly.
    """

    name: str
    vendor: str
    memory_gib: float | None
    memory_options: tuple[float, ...]
    compute_capability: float | None
    bf16: bool | None
    tf32: bool | None
    flash_attention_2: bool | None
    fp8: bool | None


def key(text: str) -> str:
    """Reduce a GPU name to what identifies it: lower case, letters and digits, no vendor words.

    >>> key("NVIDIA-A100-SXM4-80GB"), key("nvidia-tesla-t4")
    ('a100sxm480gb', 't4')
    """
    return _VENDOR_WORDS.sub("", re.sub(r"[^a-z0-9]", "", text.lower()))


def gpu(text: str) -> Gpu | None:
    """Find a GPU by any of its known spellings; None rather than a guess. A MIG slice has the memory of the slice."""
    if len(text) > _LONGEST:
        return None
    text = _SHARED.sub("", text.strip())
    if slice_ := _SLICE.fullmatch(text):
        whole, size = _listed(slice_[1]), float(slice_[3])
        name = f"{whole.name} MIG {slice_[2].lower()}" if whole else ""
        return whole and whole._replace(name=name, memory_gib=size, memory_options=(size,))
    if found := _listed(text):
        return found
    if laptop := _LAPTOP.fullmatch(text):  # the same chip generation, but less and varying memory
        found = _listed(laptop[1])
        return found and found._replace(name=f"{found.name} Laptop", memory_gib=None, memory_options=())
    return None


def parse_gpus(text: str) -> tuple[Gpu | None, int | None]:
    """Split `8xH100`, `A100-80GBx8`, `4 x RTX 4090` or `T4` into the GPU and the count, None where not said."""
    if len(text) > _LONGEST:
        return None, None
    if whole := gpu(text):
        return whole, None
    if first := _COUNT_FIRST.fullmatch(text):
        return gpu(first[2]), int(first[1]) or None
    if (last := _COUNT_LAST.fullmatch(text)) and (found := gpu(last[1])):
        return found, int(last[2]) or None
    return None, None


def _listed(text: str) -> Gpu | None:
    data = part("hardware")
    entry = data["keys"].get(key(text))
    if entry is None:
        return None
    index, size = entry
    row = data["gpus"][index]
    options = tuple(float(option) for option in row.get("memory", ()))
    memory = options[0] if len(options) == 1 else size
    return Gpu(
        name=row["name"] if size is None or len(options) == 1 else f"{row['name']}-{size:g}GB",
        vendor=row["vendor"],
        memory_gib=None if memory is None else float(memory),
        memory_options=options,
        compute_capability=row.get("compute_capability"),
        bf16=row.get("bf16"),
        tf32=row.get("tf32"),
        flash_attention_2=row.get("flash_attention_2"),
        fp8=row.get("fp8"),
    )
