"""Files that a container's launch names: in a ConfigMap, written by its own script, in the repository, or unseen."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from loralint.frameworks.launch import guessed, reader_for
from loralint.frameworks.launched import Launch
from loralint.frameworks.readers.kubernetes.command import Executed, Place
from loralint.frameworks.readers.kubernetes.mounting import Absent, mounted
from loralint.frameworks.readers.kubernetes.tree import At
from loralint.frameworks.readers.kubernetes.variables import working_folder
from loralint.model import Note, Unknown
from loralint.run.launches import Find
from loralint.run.project import Project
from loralint.run.written import written
from loralint.source.command import Word
from loralint.source.document import Document
from loralint.source.shown import shown


class Found(NamedTuple):
    """What a name leads to. document: None when nobody can look into it, for the reason of `note`."""

    document: Document | None
    note: Note | None = None
    absent: Absent | None = None


class Mounts(Project):
    """The files as a container sees them; `told` holds what is to be said of those that were found or missed, and
    `absent` those that are certainly not there, by the name that was asked for.
    """

    __slots__ = ("_container", "_folder", "_place", "_project", "_read", "_written", "absent", "told")

    def __init__(self, project: Project, container: At, place: Place, executed: Executed, folder: str | None) -> None:
        super().__init__(*project.roots)
        self.claimed, self.pins, self.manifests = project.claimed, project.pins, project.manifests
        self._project = project
        self._container = container
        self._place = place
        self._written = executed
        self._read: dict[str, Document] = {}
        self._folder = folder or working_folder(container)
        self.told: dict[str, Note] = {}
        self.absent: dict[str, Absent] = {}

    def find(self, name: str, near: str) -> Document | None:
        """As for a project: the file that the run means by `name`."""
        found = self.look(name, near)
        if found.note is not None:
            self.told[name] = found.note
        if found.absent is not None:
            self.absent[name] = found.absent
        return found.document

    def document(self, path: str, shown: str) -> Document:
        """A file of the repository."""
        return self._project.document(path, shown)

    def look(self, name: str, near: str, hops: int = 4) -> Found:
        """What a name leads to, and what is to be said of it. hops: copies of copies that are followed."""
        path = posixpath.normpath(posixpath.join(self._folder, name))
        made = next((one for one in self._written.files if self._is(one.name, path)), None)
        if made is not None:
            return self._kept(path, written(self._written.document, made))
        source = self._copied(path) if hops else ""
        if source:
            return self.look(source, near, hops - 1)
        if not path.startswith("/"):
            return self._beside(name, near, "the image decides where the command starts")
        place = self._place
        given = mounted(path, place.pod, self._container, place.all_maps(), place.namespace)
        if given.text is not None:
            return self._kept(path, given.text.read(given.name))
        if given.image:
            return self._beside(path, near, given.why)
        return Found(None, _unseen(name, given.why), given.absent)

    def written(self, raw: str) -> Document | None:
        """A file that the command writes itself under a name which is the same to the letter, variables and all."""
        made = next((one for one in self._written.files if one.name == raw), None)
        return self._kept(raw, written(self._written.document, made)).document if made is not None else None

    def _kept(self, path: str, document: Document) -> Found:
        """The same document for parts of one run that name the same file."""
        return Found(self._read.setdefault(path, document))

    def _is(self, name: str, path: str) -> bool:
        return posixpath.normpath(posixpath.join(self._folder, name)) == path

    def _copied(self, path: str) -> str:
        """The file that the command copies to a path; empty for none."""
        for command in self._written.commands:
            words = [one.raw for one in command.words if not one.raw.startswith("-")]
            if len(words) == 3 and words[0] in ("cp", "/bin/cp") and words[1] not in (path, words[2]):
                target = posixpath.join(command.folder or self._folder, words[2])
                if path in (posixpath.normpath(target), posixpath.join(target, posixpath.basename(words[1]))):
                    return posixpath.join(command.folder or self._folder, words[1])
        return ""

    def _beside(self, path: str, near: str, why: str) -> Found:
        """A file of the image: most are copied from the repository, where the same path ends the same way."""
        parts = path.strip("/").split("/")
        for start in range(len(parts) - 1 if path.startswith("/") else 1):
            tail = "/".join(parts[start:])
            found = self._project.find(tail, near)
            if found is not None:
                message = f"`{shown(path)}` of the image is taken for `{shown(found.file)}`"
                return Found(found, Note("info", message))
        return Found(None, _unseen(path, why))


def _unseen(path: str, why: str) -> Note:
    return Note("not-checked", f"what `{shown(path)}` says: {why}")


def finder(launch: Launch, mounts: Mounts, near: str) -> Find:
    """How `of_launch` finds the files of a container; a script that is known by its name may stay unseen."""
    known = reader_for(launch) is not None and not guessed(launch)

    def find(kind: str, word: Word) -> Document | Note | None:
        own = mounts.written(word.raw)
        if own is not None:
            return own
        if isinstance(word.text, Unknown):
            return Note("not-checked", f"what a file of the run says: {word.text.reason}") if kind == "config" else None
        document = mounts.find(word.text, near)
        if document is not None:
            return document
        return mounts.told.get(word.text) if kind == "config" or not known else None

    return find
