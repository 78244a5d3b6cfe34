"""The files of the repository that a job is handed along with its commands, under the paths that it sees them by."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loralint.frameworks.readers.kubernetes.tree import At, entries, items, text, word

if TYPE_CHECKING:
    from loralint.run.project import Lookup
    from loralint.source.document import Document


class Handed:
    """The files of a project as a job finds them: a path that something is mounted under leads to what is mounted."""

    def __init__(self, project: Lookup, mounts: At | None) -> None:
        self._project = project
        self.module, self.beside, self.document = project.module, project.beside, project.document
        self._mounts = sorted(_mounts(mounts), reverse=True)  # a longer path before the one that it lies in

    def find(self, name: str, near: str) -> Document | None:
        """The file that the job means by `name`."""
        for path, source in self._mounts if name.startswith("/") else ():
            if (name + "/").startswith(path.rstrip("/") + "/"):
                return self._project.find(posixpath.join(source, name[len(path) :].lstrip("/")).rstrip("/"), near)
        return self._project.find(name, near)


def _mounts(held: At | None) -> Iterator[tuple[str, str]]:
    """Path in the job and path in the repository: `{/configs: ./configs}`, `[./configs:/configs]` and longer forms."""
    for one in entries(held):
        source = text(one) or word(one, "source")
        yield from _pair(one.label.raw if one.label is not None else "", source)
    for one in items(held):
        source, _, path = text(one).partition(":")
        yield from _pair(path.partition(":")[0] or word(one, "target"), source or word(one, "source"))


def _pair(path: str, source: str) -> Iterator[tuple[str, str]]:
    if (
        path.startswith("/")
        and source
        and "$" not in source
        and not source.startswith(("/", "~"))
        and ":" not in source
    ):
        yield posixpath.normpath(path), posixpath.normpath(source)
