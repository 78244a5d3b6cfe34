"""A commit's files in a folder of their own, as git holds them: no checkout, so no filter, attribute or hook has a say.

`git archive` obeys export-ignore and `git worktree` runs smudge filters, both of which a change can set; blobs do not.
Left out are submodules, and what would hide files from the linter: a file that is tracked is not ignored.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from loralint.gate.git import GitError, git, items
from loralint.source.limits import BYTES, NOTEBOOK_BYTES

_HIDING = frozenset({".gitignore", "pyvenv.cfg"})
_LINK, _SUBMODULE = "120000", "160000"


class Entry(NamedTuple):
    """A tracked file. mode: as git says it; blob: its object; size: in bytes."""

    name: str
    mode: str
    blob: str
    size: int


class Tree(NamedTuple):
    """A commit that was written out. folder: where; entries: by name; left: name -> why it was not written."""

    folder: str
    entries: dict[str, Entry]
    left: dict[str, str]

    def read(self, name: str, limit: int = BYTES) -> str:
        """The text of a file, empty when there is none. Links are not followed."""
        entry = self.entries.get(name)
        if entry is None or entry.mode in (_LINK, _SUBMODULE):
            return ""
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read(limit).decode(errors="replace")


def write_tree(repository: str, commit: str, folder: str, only: frozenset[str] = frozenset()) -> Tree:
    """Write out a commit. only: these files alone. Raises GitError for a tree that no honest checkout has."""
    entries = {entry.name: entry for entry in _entries(repository, commit) if not only or entry.name in only}
    os.makedirs(os.path.join(folder, ".git"))  # settings are looked for up to here and no further
    left: dict[str, str] = {}
    plain = [one for one in entries.values() if one.mode not in (_LINK, _SUBMODULE)]
    small = [one for one in plain if one.size <= (NOTEBOOK_BYTES if one.name.endswith(".ipynb") else BYTES)]
    for entry, data in zip(small, _blobs(repository, small), strict=True):
        if posixpath.basename(entry.name).lower() not in _HIDING:
            _write(folder, entry.name, data, entry.size)
    for entry in set(plain) - set(small):
        _write(folder, entry.name, b"", entry.size)  # a hole of its size is as much too large
    for entry in entries.values():
        if entry.mode == _SUBMODULE:
            left[entry.name] = "it is a submodule now"
        elif entry.mode == _LINK and not _link(repository, entry, entries, folder):
            left[entry.name] = "it is a symbolic link to no file of the repository now"
    return Tree(folder, entries, left)


def _entries(repository: str, commit: str) -> Iterator[Entry]:
    seen = set()
    for line in items(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", commit):
        about, _, name = line.partition("\t")
        mode, _, blob, size = about.split()
        bad = any(part.lower() in ("", ".", "..", ".git") for part in name.split("/")) or "\\" in name
        if bad or name in seen:
            raise GitError("the commit holds a file name that git itself refuses to check out")
        seen.add(name)
        yield Entry(name, mode, blob, 0 if size == "-" else int(size))


def _blobs(repository: str, entries: list[Entry]) -> Iterator[bytes]:
    """The contents, in order; asked in parts, so that memory stays bounded."""
    while entries:
        count, total = 0, 0
        while count < len(entries) and (total < NOTEBOOK_BYTES or not count):
            total += entries[count].size
            count += 1
        part, entries = entries[:count], entries[count:]
        said = git(repository, "cat-file", "--batch", stdin="".join(f"{one.blob}\n" for one in part).encode())
        at = 0
        for one in part:
            start = said.index(b"\n", at) + 1
            if said[at:start].split()[1:2] != [b"blob"]:
                raise GitError(f"the object {one.blob} of {one.name} is not here")
            yield said[start : start + one.size]
            at = start + one.size + 1


def _write(folder: str, name: str, data: bytes, size: int) -> None:
    path = os.path.join(folder, name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
            file.truncate(size)
    except OSError:
        raise GitError("the commit holds names that this file system cannot hold beside each other") from None


def _link(repository: str, entry: Entry, entries: dict[str, Entry], folder: str) -> bool:
    """Link to the file of the same tree that is meant; the text of the link itself is never followed."""
    target = git(repository, "cat-file", "blob", entry.blob).decode(errors="surrogateescape")
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(entry.name), target))
    found = entries.get(meant)
    if found is None or found.mode in (_LINK, _SUBMODULE) or not os.path.isfile(os.path.join(folder, meant)):
        return False
    path = os.path.join(folder, entry.name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(os.path.relpath(os.path.join(folder, meant), os.path.dirname(path)), path)
    return True
