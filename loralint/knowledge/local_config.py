"""A model's config.json on this machine: the file, its folder, or a Hugging Face cache. Nothing is fetched or run."""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO

from loralint.knowledge.structure import Unsolved

_LARGEST = 2_000_000  # bytes; the largest on the Hub list thousands of labels
_NAME = "config.json"


def read(path: str) -> dict[str, Any]:
    """The config that a file or folder holds. Raises Unsolved with the reason where there is none to read."""
    import json

    try:
        with _opened(located(path)) as file:
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise Unsolved(f"{path} cannot be read") from error
    if len(text) > _LARGEST:
        raise Unsolved(f"{path} is too large for a model's config")
    try:
        made = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unsolved(f"{path} holds no JSON") from error
    if not isinstance(made, dict) or "model_type" not in made:
        raise Unsolved(f"{path} is no config of a model: it has no model_type")
    if not isinstance(made["model_type"], str):
        raise Unsolved(f"{path} is no config of a model: its model_type is no text")
    return made


def cached(base: str, cache: str) -> str | None:
    """The config.json of a Hub id in a cache; None where it has none, or one that lies elsewhere.

    cache: what HF_HUB_CACHE or HF_HOME names, or a folder with a folder ORGANISATION/NAME for each model.
    """
    if base.count("/") != 1 or ".." in base or "\\" in base or "\0" in base or base.startswith("/"):
        return None
    folder = "models--" + base.replace("/", "--")
    found = _snapshot(os.path.join(cache, folder)) or _snapshot(os.path.join(cache, "hub", folder))
    plain = os.path.join(cache, base, _NAME)
    found = found or (plain if os.path.isfile(plain) else None)
    return found if found is not None and _inside(found, cache) else None


def usual_cache() -> str:
    """Where huggingface_hub keeps its cache on this machine: HF_HUB_CACHE, HF_HOME/hub or ~/.cache/huggingface/hub."""
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "huggingface"
    )
    return os.path.expanduser(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"))


def located(path: str) -> str:
    """The config.json that a path means: of a folder its own, or that of the newest snapshot of a cached model."""
    if not os.path.isdir(path):
        return path
    own = os.path.join(path, _NAME)
    return own if os.path.isfile(own) else _snapshot(path) or own


def _opened(path: str) -> BinaryIO:
    """The file, open for reading. Raises OSError, also for a pipe or a device, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return open(descriptor, "rb")


def _inside(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, links followed."""
    top = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(path), top]) == top


def _snapshot(folder: str) -> str | None:
    """The config.json of the revision that `main` was last, else of the last one by name."""
    snapshots = os.path.join(folder, "snapshots")
    try:
        revisions = sorted(os.listdir(snapshots), reverse=True)
        with _opened(os.path.join(folder, "refs", "main")) as file:
            main = file.read(100).decode("ascii").strip()
        revisions.sort(key=lambda revision: revision != main)
    except FileNotFoundError:
        revisions = sorted(os.listdir(snapshots), reverse=True) if os.path.isdir(snapshots) else []
    except (OSError, ValueError):
        return None
    files = (os.path.join(snapshots, revision, _NAME) for revision in revisions)
    return next((file for file in files if os.path.isfile(file)), None)
