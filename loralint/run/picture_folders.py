"""What lies in the folder of pictures that kohya's trainers are given, where it is at hand: repeats and captions.

Sources: kohya-ss/sd-scripts@48d368f library/config_util.py (generate_dreambooth_subsets_config_by_subdirs) and
library/train_util.py (read_caption).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.model import Observation
from loralint.run.build import Start
from loralint.run.project import Project
from loralint.source.discover import within
from loralint.source.document import Document

KOHYA = frozenset({"kohya-gui", "sd-scripts"})
_REPEATS = re.compile(r"[1-9]\d*_")
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
_CAPTIONS = (".txt", ".caption")
_DEFAULT = ".caption"
_MOST = 50  # folders of one training that are looked into
_ELSEWHERE = ("dataset_config", "in_json")


def with_pictures(start: Start, project: Project) -> Start:
    """The start with what its folder of pictures shows, if that lies in the project."""
    first, *others = start.parts
    found = tuple(_seen(first.document, project))
    return (
        start._replace(parts=(first._replace(observations=(*first.observations, *found)), *others)) if found else start
    )


def _seen(document: Document, project: Project) -> Iterator[Observation]:
    root = document.root
    pair = root.pair("train_data_dir") if root is not None else None
    if root is None or pair is None or pair.value.kind != "scalar" or any(_said(document, key) for key in _ELSEWHERE):
        return
    folder = folder_of(pair.value.raw, document.file, project)
    names = sorted(project.names(folder)) if folder else []
    inside = [one for one in names if os.path.isdir(os.path.join(folder, one))]
    named = [one for one in inside if _REPEATS.match(one)][:_MOST]
    if names and not named:
        data = {"name": next(iter(inside), ""), "folder": pair.value.raw}
        yield Observation("picture-folder", place(document, pair, "train_data_dir"), "crash", "", data=data)
    given = root.pair("caption_extension")
    if named and (given is not None or document.format != "json"):  # what the window has stays where a preset says none
        ending = (given.value.raw if given is not None else "") or _DEFAULT
        other = _unread(ending, [project.names(os.path.join(folder, one)) for one in named])
        if other:
            data = {"wanted": ending, "meant": other}
            yield Observation(
                "picture-captions", place(document, given or pair, "caption_extension"), "lost", "", data=data
            )


def _said(document: Document, key: str) -> bool:
    found = document.root.get(key) if document.root is not None else None
    return found is not None and found.kind == "scalar" and found.raw not in ("", "null")


def folder_of(name: str, file: str, project: Project) -> str:
    """The folder as the config's own one sees it; "" where it is none, or outside of the project."""
    if not name or "\0" in name or "$" in name:
        return ""
    path = os.path.normpath(os.path.join(project.folders(file)[0], name))
    return path if os.path.isdir(path) and within(path, project.top(file)) else ""


def _unread(ending: str, folders: list[frozenset[str]]) -> str:
    """The ending that captions of pictures have where none has the one that is looked for."""
    stems = [
        (os.path.splitext(one)[0], folder) for folder in folders for one in folder if one.lower().endswith(PICTURES)
    ]
    if any(stem + ending in folder for stem, folder in stems):
        return ""
    return next((one for one in _CAPTIONS if any(stem + one in folder for stem, folder in stems)), "")
