"""Where weights lie on the user's own disk: a folder as Transformers saves it, a Hugging Face cache, a GGUF file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from loralint.source.read import NotRegularError, refuse_irregular

# What the kernel makes up looks like a regular file, and some of it never ends.
_NO_DISK = ("/proc/", "/sys/")
_TEXTS = (".json", ".jinja", ".model", ".txt")  # read as a whole; the largest known to us has 34 MB
_MOST_BYTES = 1 << 27
_TEMPLATES = "additional_chat_templates"  # the one folder below that Transformers reads
_UNASKED = {"cpu": 0.2e9, "cuda": 3e9}  # parameters of a model that is probed without being asked for


def in_cache(name: str, device: str) -> bool:
    """Whether a model that a config names lies in the local cache, in a form and size that may be taken unasked."""
    try:
        found = _cached(name)
        if not found or not os.path.isfile(os.path.join(found, "config.json")):
            return False
        return 0 < _parameters(found) <= _UNASKED[device]
    except (OSError, ValueError):  # another user's, or broken
        return False


def place(path: str) -> tuple[str, str]:
    """Folder and, of a GGUF file, its name; a model id is looked for in the cache. Raises ValueError."""
    try:
        return _place(path)
    except OSError as error:
        raise ValueError(f"{path}: it cannot be read: {os.strerror(error.errno or 0).lower()}") from None


def _place(path: str) -> tuple[str, str]:
    _refuse_irregular(path)
    if os.path.isfile(path):
        if not path.endswith(".gguf"):
            raise ValueError(f"{path}: weights are read from a folder with config.json and safetensors, or a GGUF file")
        return os.path.dirname(path) or ".", os.path.basename(path)
    found = path if os.path.isdir(path) else _cached(path)
    if not found:
        raise ValueError(f"{path}: no such folder or file, and no model of that name in the local cache")
    for one in _entries(found):
        _refuse_irregular(one)
    names = sorted(os.listdir(found))
    if "config.json" in names and any(name.endswith(".safetensors") for name in names):
        return found, ""
    gguf = [name for name in names if name.endswith(".gguf")]
    if len(gguf) == 1:
        return found, gguf[0]
    raise ValueError(f"{path}: neither config.json with safetensors nor a single GGUF file; pickles are not opened")


def _entries(folder: str) -> Iterator[str]:
    for one in (folder, os.path.join(folder, _TEMPLATES)):
        if os.path.isdir(one):
            yield from (os.path.join(one, name) for name in sorted(os.listdir(one)))


def _refuse_irregular(path: str) -> None:
    """Raise ValueError for a pipe or a device, which whoever opened it might read for ever, deaf to Ctrl-C, and for a
    text that would take all memory.
    """
    if not os.path.exists(path) or os.path.isdir(path):
        return
    try:
        refuse_irregular(path)
    except NotRegularError as error:
        raise ValueError(f"{path}: it is {error}, not a regular file") from None
    if os.path.realpath(path).startswith(_NO_DISK):
        raise ValueError(f"{path}: it leads to what lies on no disk")
    if path.endswith(_TEXTS) and os.path.getsize(path) > _MOST_BYTES:
        raise ValueError(f"{path}: it is larger than {_MOST_BYTES >> 20} MiB, and no such file of a model is")


def _cached(name: str) -> str:
    """The snapshot of a model id in the local Hugging Face cache; "" for none."""
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or ".." in name:  # a config's word is not trusted to be a path
        return ""
    home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    cache = os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")
    folder = os.path.join(cache, "models--" + name.replace("/", "--"))
    head = os.path.join(folder, "refs", "main")
    if not os.path.isfile(head):
        return ""
    with open(head, encoding="utf-8") as file:
        snapshot = os.path.join(folder, "snapshots", file.read(64).strip())
    return snapshot if os.path.isdir(snapshot) else ""


def _parameters(folder: str) -> float:
    """About how many the safetensors of a folder hold, at two bytes each."""
    names = (name for name in os.listdir(folder) if name.endswith(".safetensors"))
    return sum(os.path.getsize(os.path.join(folder, name)) for name in names) / 2
