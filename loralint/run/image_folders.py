"""The folder of pictures of diffusers' text-to-image scripts, where it is at hand: whether it gives the captions.

The scripts load it with datasets' imagefolder, which finds captions in a file of metadata alone.
Source: huggingface/diffusers examples/text_to_image/train_text_to_image_lora{,_sdxl}.py; run here: datasets 5.2.0 gives
nothing but the pictures for folders with texts beside them, a metadata.json or a captions.csv.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.observe import place
from loralint.model import Observation
from loralint.run.build import Start
from loralint.run.picture_folders import PICTURES, folder_of
from loralint.run.project import Project
from loralint.source.document import Document, Pair

_SCRIPTS = frozenset({"train_text_to_image_lora", "train_text_to_image_lora_sdxl"})
_KEY = "train_data_dir"
_COLUMN = "text"  # where the scripts look for a caption unless they are told
_METADATA = ("metadata.jsonl", "metadata.csv", "metadata.parquet")
_NAMES = ("file_name", "file_names")
_DEEP, _MOST = 3, 50  # levels of folders, and folders, that are looked into
_LINE = 65536  # bytes of a first row


class _Folder(NamedTuple):
    """A folder and the names in it."""

    path: str
    names: frozenset[str]

    def has_pictures(self) -> bool:
        return any(name.lower().endswith(PICTURES) for name in self.names)


def with_images(start: Start, project: Project) -> Start:
    """The start with what its folder of pictures shows, if that lies in the project."""
    first, *others = start.parts
    found = tuple(_seen(first.document, project)) if _script(start) in _SCRIPTS else ()
    told = first._replace(observations=(*first.observations, *found))
    return start._replace(parts=(told, *others)) if found else start


def _script(start: Start) -> object:
    return next((entry.default for entry in start.reader.table if entry.field == "train.script"), "")


def _seen(document: Document, project: Project) -> Iterator[Observation]:
    root = document.root
    pair = root.pair(_KEY) if root is not None else None
    if root is None or pair is None or pair.value.kind != "scalar":
        return
    top = folder_of(pair.value.raw, document.file, project)
    folders = list(_folders(top, project)) if top else []
    if not any(one.has_pictures() for one in folders):
        return
    column = root.pair("caption_column")
    wanted = column.value.raw if column is not None and column.value.kind == "scalar" else _COLUMN
    listed = [os.path.join(one.path, name) for one in folders for name in _METADATA if name in one.names]
    if any(map(os.path.islink, listed)):
        return
    told = _of_metadata(listed[0], wanted) if listed else _without(folders, wanted)
    if told is not None:
        yield _told(document, column if column is not None and told.of_column else pair, *told[:2])


class _Told(NamedTuple):
    """What is wrong and what to do about it; of_column: whether the option for the column is to blame."""

    what: str
    advice: str
    of_column: bool = False


def _told(document: Document, pair: Pair, what: str, advice: str) -> Observation:
    return Observation("image-folder", place(document, pair, pair.key), "crash", what, data={"advice": advice})


def _folders(top: str, project: Project) -> Iterator[_Folder]:
    level = [top]
    for _ in range(_DEEP):
        made = [_Folder(path, project.names(path)) for path in level[:_MOST]]
        yield from made
        level = [path for one in made for name in sorted(one.names) if _inner(path := os.path.join(one.path, name))]


def _inner(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _without(folders: list[_Folder], column: str) -> _Told:
    """Pictures and no file of metadata: the dataset has no column but theirs."""
    names = [name for one in folders for name in sorted(one.names)]
    meant = next((name for name in names if name.endswith((".json1", ".csv", ".json", ".jsonl"))), "")
    texts = any(name.endswith((".txt", ".caption")) for name in names)
    passed = f"`{meant}`" if meant else "the texts beside the pictures" if texts else ""
    what = "the folder holds no metadata.jsonl" + (f", and nobody reads {passed}" if passed else "")
    row = json.dumps({"file_name": "1.png", column: "a caption"})
    return _Told(what, f"write metadata.jsonl beside the pictures, with a row such as {row} for each")


def _of_metadata(path: str, column: str) -> _Told | None:
    """What the first row lacks: a column, the name of its picture, or the picture."""
    row = _first(path)
    if row is None:
        return None
    name, shown = next((row[key] for key in _NAMES if key in row), None), os.path.basename(path)
    if not any(key in _NAMES or key.endswith(("_file_name", "_file_names")) for key in row):
        return _Told(f"{shown} names no `file_name`", "give each row the name of its picture as `file_name`")
    if column not in row:
        others = ", ".join(f"`{key}`" for key in row if key not in _NAMES)
        return _Told(f"the rows of {shown} have {others or 'no caption'}, and no `{column}`",
                     "write --caption_column with the name that the rows have", of_column=True)  # fmt: skip
    here = os.path.dirname(path)
    short = os.path.basename(name) if isinstance(name, str) else ""
    if short and not os.path.exists(os.path.join(here, str(name))) and os.path.exists(os.path.join(here, short)):
        return _Told(f"{shown} names `{name}`, and names count from its own folder, where it is `{short}`",
                     f"write {short} for {name}, and likewise in every row")  # fmt: skip
    return None


def _first(path: str) -> dict[str, object] | None:
    """The first row, of a CSV with its columns alone; None where it cannot be read."""
    if not os.path.isfile(path):  # a pipe would hang
        return None
    try:
        with open(path, "rb") as file:
            line = file.readline(_LINE).decode()
        if path.endswith(".csv"):
            return dict.fromkeys(line.strip().removeprefix("\ufeff").split(","))
        row = json.loads(line) if path.endswith(".jsonl") else None
    except (OSError, ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and all(isinstance(key, str) for key in row) else None
