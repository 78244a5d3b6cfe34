"""Trainers whose source lies in the project: a checkout, or a copy with templates and changes of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from loralint.run.build import Part, Start
from loralint.run.project import Project
from loralint.source.read import read_file


class _Copy(NamedTuple):
    """sign: what shows that the source lies in a folder. file: where it says its release."""

    framework: str
    sign: str
    file: str


_COPIES = (
    _Copy("llamafactory", "src/llamafactory/cli.py", "src/llamafactory/extras/env.py"),
    _Copy("axolotl", "src/axolotl/cli", "src/axolotl/__init__.py"),
    _Copy("ms-swift", "swift/cli", "swift/version.py"),
    _Copy("openrlhf", "openrlhf/cli", "version.txt"),
    _Copy("verl", "verl/trainer", "verl/version/version"),
)
_RELEASE = r"""(?m)^(?:(?:__version__|VERSION)[ \t]*=[ \t]*["'])?(\d+\.\d+[\w.]*)"""
_TEMPLATES = "src/llamafactory/data/template.py"
_REGISTERED = r"""\bname[ \t]*=[ \t]*["']([\w.-]{1,60})["']"""


def copies(folder: str) -> Iterator[tuple[str, str]]:
    """Each trainer whose source lies in a folder, with the release that it says it is."""
    for copy in _COPIES:
        text = _text(folder, copy.file) if os.path.exists(os.path.join(folder, copy.sign)) else ""
        found = re.search(_RELEASE, text)
        if found is not None:
            yield copy.framework, found[1]


def with_templates(start: Start, project: Project) -> Start:
    """A start of LLaMA-Factory's, with templates that the copy of its source around the file registers."""
    if start.reader.name != "llamafactory":
        return start
    texts = (_text(folder, _TEMPLATES) for folder in project.folders(start.parts[0].source.file))
    text = next((text for text in texts if text), "")
    names = frozenset(re.findall(_REGISTERED, text))
    return start._replace(parts=tuple(_knowing(part, names) for part in start.parts)) if names else start


def _knowing(part: Part, names: frozenset[str]) -> Part:
    root = part.document.root
    chosen = root.get("template") if root is not None and root.kind == "mapping" else None
    if chosen is None or chosen.raw not in names:
        return part
    return part._replace(reader=part.reader._replace(words=part.reader.words | {("template", chosen.raw)}))


def _text(folder: str, file: str) -> str:
    path = os.path.join(folder, file)
    return read_file(path, os.path.basename(path), "text").text if os.path.isfile(path) else ""
