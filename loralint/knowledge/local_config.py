"""A model's config.json on this machine: the file, its folder, or a Hugging Face cache. Nothing is fetched."""

from __future__ import annotations

import os
from typing import Any

from loralint.knowledge.structure import Unsolved

_LARGEST = 2_000_000  # bytes; the largest on the Hub list thousands of labels


def read(path: str) -> dict[str, Any]:
    """The config that a file or folder holds. Raises Unsolved with the reason where there is none to read."""
    import json

    found = _file(path)
    try:
        with open(found, "rb") as file:
            text = file.read(_LARGEST + 1)
    except OSError as error:
        raise Unsolved(f"{path} cannot be read") from error
    if len(text) > _LARGEST:
        raise Unsolved(f"{path} is too large for a model's config")
    try:
        made = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unsolved(f"{path} holds no JSON") from error
    if not isinstance(made, dict) or not isinstance(made.get("model_type"), str):
        raise Unsolved(f"{path} is no config of a model: it has no model_type")
    return made


def cached(base: str, home: str) -> str | None:
    """The folder of a Hub id in a cache (HF_HOME); None where the cache has no config of it."""
    organisation, slash, name = base.partition("/")
    if not slash or "/" in name or ".." in base or "\\" in base:
        return None
    folder = os.path.join(home, "hub", f"models--{organisation}--{name}")
    return folder if _snapshot(folder) else None


def _file(path: str) -> str:
    """The config.json that a path means."""
    if not os.path.isdir(path):
        return path
    own = os.path.join(path, "config.json")
    return own if os.path.isfile(own) else _snapshot(path) or own


def _snapshot(folder: str) -> str | None:
    """The config.json of the revision that `main` was last, else of the last one by name."""
    snapshots = os.path.join(folder, "snapshots")
    try:
        revisions = sorted(os.listdir(snapshots), reverse=True)
        with open(os.path.join(folder, "refs", "main"), encoding="ascii") as file:
            main = file.read(100).strip()
        revisions.sort(key=lambda revision: revision != main)
    except FileNotFoundError:
        revisions = sorted(os.listdir(snapshots), reverse=True) if os.path.isdir(snapshots) else []
    except (OSError, ValueError):
        return None
    files = (os.path.join(snapshots, revision, "config.json") for revision in revisions)
    return next((file for file in files if os.path.isfile(file)), None)
