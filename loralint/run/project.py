"""The files around a run: found by the names that other files call them, read once, and never outside the root."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from loralint.source.discover import lexically_within, within
from loralint.source.document import Document
from loralint.source.read import read_bytes, read_file

if TYPE_CHECKING:
    from loralint.frameworks.readers.kubernetes.maps import ConfigMap


class Lookup(Protocol):
    """Where the files are looked for that a run names: a project, a container's files, those that a script writes."""

    def find(self, name: str, near: str) -> Document | None:
        """Give the file that `near` means by `name`, None where there is none."""

    def module(self, name: str, level: int, near: str) -> Document | None:
        """Give the file that an import means, as `run.modules` finds it."""

    def beside(self, path: str, near: str) -> Document | None:
        """Give the file of a path as seen from the folder of another one."""

    def document(self, path: str, shown: str) -> Document:
        """Give a file that the caller names."""


class Manifest(NamedTuple):
    """A manifest, as far as its text tells. names: all that it calls by a name; maps: whether it holds ConfigMaps;
    uses: whether it mounts some.
    """

    path: str
    shown: str
    names: frozenset[str]
    maps: bool
    uses: bool


class Project:
    """roots: folders that no name may lead out of, the working folder if none is given.

    `claimed` holds the real paths of files that are part of some run, so that they are no runs of their own. For each
    folder that was asked about, `pins` holds what its files fix, package -> version, and `manifests` which of them are
    manifests. given: files that the caller named, which are meant wherever a name fits them. texts: real path -> what a
    file is to say, whatever stands on the disk. maps: ConfigMaps that are at hand and stand in no file. bases: the base
    models that runs have, noted where the caller means some of them.
    """

    __slots__ = (
        "_documents", "_given", "_models", "_modules", "_names", "_reals", "bases", "claimed", "manifests", "maps",
        "pins", "roots", "texts",
    )  # fmt: skip

    def __init__(self, *roots: str, given: tuple[str, ...] = ()) -> None:
        self._given = given
        self.roots = tuple(os.path.realpath(root) for root in roots or (os.curdir,))
        self.claimed: set[str] = set()
        self.pins: dict[str, dict[str, str]] = {}
        self.manifests: dict[str, list[Manifest]] = {}
        self.texts: Mapping[str, str] = {}
        self.maps: tuple[ConfigMap, ...] = ()
        self.bases: dict[str, None] = {}
        self._documents: dict[str, Document] = {}
        self._models: dict[tuple[str, str], str | None] = {}
        self._modules: dict[tuple[str, str, str, int], Document | None] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._reals: dict[str, str] = {}

    def _real(self, path: str) -> str:
        """`os.path.realpath`, which asks the disk about each folder of the path, once for each path."""
        found = self._reals.get(path)
        if found is None:
            found = self._reals[path] = os.path.realpath(path)
        return found

    def find(self, name: str, near: str) -> Document | None:
        """The regular file that `near` means by `name`: looked for from its folder up to the root, as the working
        folder of a command is not written down. None where there is none, or where it lies outside.
        """
        found = self.path(name, near)
        return self.document(*found) if found is not None else None

    def path(self, name: str, near: str) -> tuple[str, str] | None:
        """(path, name to show) of the file that `near` means by `name`, None for none."""
        if not name or "\0" in name or os.path.isabs(name):
            return None
        for folder in self.folders(near):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return (path, self.name(path, near)) if within(path, self.top(near)) else None
        ending = os.sep + os.path.normpath(name)
        return next(((path, path) for path in self._given if os.path.abspath(path).endswith(ending)), None)

    def module(self, name: str, level: int, near: str) -> Document | None:
        """The file that an import of a program means, which stays nobody's; None where it is not at hand.

        Asked of the disk once for all programs of a folder, most of which import the same.
        """
        key = os.path.dirname(near), os.path.dirname(self._real(near)), name, level
        if key not in self._modules:
            from loralint.run.modules import module_of

            self._modules[key] = module_of(self, name, level, near)
        return self._modules[key]

    def beside(self, path: str, near: str) -> Document | None:
        """The file of a path as seen from the folder of another one, which stays nobody's; None where there is none."""
        file = os.path.normpath(os.path.join(self.folders(near)[0], path))
        inside = "\0" not in path and os.path.isfile(file) and within(file, self.top(near))
        return self.peek(file, self.name(file, near)) if inside else None

    def names(self, folder: str) -> frozenset[str]:
        """What lies in a folder, asked of the disk once."""
        found = self._names.get(folder)
        if found is None:
            try:
                found = frozenset(os.listdir(folder))
            except OSError:
                found = frozenset()
            self._names[folder] = found
        return found

    def model_config(self, base: str, near: str) -> str | None:
        """The config.json in the folder that `near` calls its base model; None where there is none, or outside."""
        key = os.path.dirname(near), base
        if key not in self._models:
            self._models[key] = self._model_config(base, near)
        return self._models[key]

    def _model_config(self, base: str, near: str) -> str | None:
        for folder in [""] if os.path.isabs(base) else self.folders(near):
            path = os.path.join(folder, os.path.normpath(base), "config.json")
            if os.path.isfile(path):
                return path if within(path, self.top(near)) else None
        return None

    def folders(self, near: str) -> list[str]:
        """The folder of a file and those above it, up to the root."""
        folder, found, top = os.path.dirname(self._real(near)), [], self.top(near)
        while True:
            found.append(folder)
            above = os.path.dirname(folder)
            if folder in {top, above} or not lexically_within(above, top):
                return found
            folder = above

    def top(self, near: str) -> str:
        """What no name in this file may lead out of: the root around it, or its own folder where it lies elsewhere."""
        folder = os.path.dirname(self._real(near))
        return next((root for root in self.roots if lexically_within(folder, root)), folder)

    def document(self, path: str, shown: str) -> Document:
        """A file that becomes part of a run, as a document."""
        self.claimed.add(self._real(path))
        return self.peek(path, shown)

    def peek(self, path: str, shown: str) -> Document:
        """A file as a document, read when it is first asked for."""
        real = self._real(path)
        found = self._documents.get(real)
        if found is None:
            text = self.texts.get(real)
            found = read_file(path, shown) if text is None else read_bytes(text.encode(), shown)
            self._documents[real] = found
        return found

    def name(self, path: str, near: str) -> str:
        """A path as the user who named `near` would write it."""
        beside = os.path.relpath(path, os.path.dirname(self._real(near)))
        return os.path.normpath(os.path.join(os.path.dirname(near), beside))

    def claim(self, file: str) -> None:
        """Let a file be part of a run."""
        self.claimed.add(self._real(file))

    def is_claimed(self, file: str) -> bool:
        """Whether a file belongs to a run that was already read."""
        return bool(self.claimed) and self._real(file) in self.claimed
