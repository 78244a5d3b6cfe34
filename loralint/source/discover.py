"""Which files to look at: named ones always, those in folders by `walk`, and nothing outside the root."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

OUTSIDE = "a symbolic link that leads out of the project"


class Candidate(NamedTuple):
    """A file to read: `path` to open, `shown` as the user would name it, and why it is not to be read, or "".

    `missing` says that a given path leads to nothing, which is a mistake of the caller and not of the project.
    """

    path: str
    shown: str
    skipped: str = ""
    missing: bool = False


def within(path: str, root: str) -> bool:
    """Whether a path, links followed, lies in `root`."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def discover(paths: Iterable[str], root: str | None = None, exclude: Sequence[str] = ()) -> Iterator[Candidate]:
    """Yield the files behind the given paths, each once, folders in sorted order.

    What is missing or leads out by a link is yielded with the reason. `root` is the working folder if not given; a path
    that is given as lying outside it (`../other`) is its own root. `exclude` are patterns as in a .gitignore of the
    root; they apply to what is found in folders, as .gitignore does, not to files that are named.
    """
    root = os.path.abspath(root or os.curdir)
    seen: set[str] = set()
    for shown in paths:
        path = os.path.join(root, shown)
        top = root if lexically_within(path, root) else path
        for candidate in _expand(path, shown, top, root, exclude):
            real = os.path.realpath(candidate.path)
            if real not in seen or candidate.skipped:
                seen.add(real)
                yield candidate


def lexically_within(path: str, root: str) -> bool:
    """Whether a path lies in `root` as it is written."""
    path = os.path.abspath(path)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _expand(path: str, shown: str, top: str, root: str, exclude: Sequence[str]) -> Iterator[Candidate]:
    if not os.path.lexists(path):
        yield Candidate(path, shown, "no such file or folder", missing=True)
    elif not within(path, top):
        yield Candidate(path, shown, OUTSIDE)
    elif os.path.isdir(path):
        from loralint.source.walk import walk  # a named file needs none of it

        yield from walk(path, shown, top, root, exclude)
    else:
        yield Candidate(path, shown)


# What starts runs that other files are part of.
_STARTING = (".sh", ".bash", ".sbatch", ".slurm", ".zsh", ".ps1", ".bat", ".mk", "makefile", ".ipynb", ".py",
             "kustomization.yaml", "kustomization.yml")  # fmt: skip


def starts_first(found: Iterable[Candidate]) -> list[Candidate]:
    """Files in the order in which they are read: what names others comes before what is named."""

    def rank(one: Candidate) -> int:
        name = one.path.lower()
        return next((index for index, suffix in enumerate(_STARTING) if name.endswith(suffix)), len(_STARTING))

    return sorted(found, key=rank)
