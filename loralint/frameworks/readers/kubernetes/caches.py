"""Where a pod keeps what it fetches from the Hub: a folder in the image, unless a variable names another.

Source: huggingface_hub 1.1 constants.py (HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else the
same below ~/.cache).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.launch import Launch, first
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.processes import command, variables
from loralint.frameworks.readers.kubernetes.storage import Mount, mount_of, mounts, unwritable
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, open_text, text, value, word
from loralint.model import Observation
from loralint.source.document import Document

_MODELS = ("model_name_or_path", "pretrained_model_name_or_path", "base_model", "model_id", "model")
_HUB = re.compile(r"[\w-][\w.-]*/[\w.-]+")  # owner/name; a path has a slash or a dot in front, or more parts
# the first that is given decides
_FOLDERS = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME")
_ELSEWHERE = re.compile(r"HF_|CACHE|OFFLINE|HOME=|cache_dir|hf download|snapshot_download")
_HOMES = re.compile(r"/(?:root|home/[^/]+|\.cache|)(?:/\.cache(?:/huggingface)?)?|/home")


def unwritable_cache(document: Document, job: Job) -> Iterator[Observation]:
    """Models of the Hub for which the pod has no folder that can be written."""
    for group, container in job.containers():
        root = inside(container, "securityContext.readOnlyRootFilesystem")
        launch = command(job, group, container) if root is not None and text(root) == "true" else None
        if root is None or launch is None or not _fetches(launch) or group.pod is None or _told_unseen(container):
            continue
        name = next((one for one in _FOLDERS if one in variables(container)), "")
        folder = text(variables(container)[name]) if name else ""
        several = mounts(group, container)
        if open_text(folder) or (not name and any(map(_home, several))):
            continue
        if not name or unwritable(mount_of(group, container, folder), container):
            at = variables(container)[name] if name else root
            where = value(document, at, key=name)
            data = {"folder": f"`{folder}`" if name else "~/.cache", "model": _model(launch)}
            yield Observation("job-cache-read-only", where, "crash", "", data=data)


def _model(launch: Launch) -> str:
    flag = first(launch.flags, *_MODELS)
    return flag.text if flag is not None and not flag.open else ""


def _fetches(launch: Launch) -> bool:
    """Whether a model of the Hub is named, and nothing else about where it is kept."""
    elsewhere = "cache_dir" in launch.flags or _ELSEWHERE.search(launch.shell) is not None
    return _HUB.fullmatch(_model(launch)) is not None and not elsewhere


def _told_unseen(container: At) -> bool:
    """Whether variables may say it that are not seen, or that nothing is fetched."""
    given = [word(one, "name") for one in items(named(container, "env")) if named(one, "value") is None]
    offline = {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}.intersection(variables(container))
    return named(container, "envFrom") is not None or bool(offline) or not set(_FOLDERS).isdisjoint(given)


def _home(mount: Mount) -> bool:
    """Whether a mount may be the home of the image's user, or its cache."""
    return _HOMES.fullmatch(mount.path) is not None and not mount.fixed
