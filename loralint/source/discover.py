"""Which files to look at: named ones always, folders by suffix and .gitignore, and nothing outside the root."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.limits import DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pathspec import GitIgnoreSpec

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
# Never a project's own configs, and large. Virtual environments under other names are known by their pyvenv.cfg.
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
# Of a .gitignore no more is read; the largest in wide use has a few hundred lines.
_IGNORE_LENGTH = 256 * 1024
OUTSIDE = "a symbolic link that leads out of the project"


class Candidate(NamedTuple):
    """A file to read: `path` to open, `shown` as the user would name it, and why it is not to be read, or "".

    `missing` says that a given path leads to nothing, which is a mistake of the caller and not of the project.
    """

    path: str
    shown: str
    skipped: str = ""
    missing: bool = False


class _Ignore(NamedTuple):
    """A .gitignore and the folder that its patterns start from."""

    folder: str
    spec: GitIgnoreSpec


class _Walk(NamedTuple):
    """What stays the same below one given folder. `seen` are the real folders that were entered."""

    root: str
    top: str
    excluded: tuple[_Ignore, ...]
    seen: set[str]

    def refuses(self, path: str, is_folder: bool) -> str:
        """Say why something found is not looked at, or ""."""
        if os.path.islink(path) and not within(path, self.root):
            return OUTSIDE
        if is_folder and path.count(os.sep) - self.top.count(os.sep) > DEPTH:
            return f"nested more than {DEPTH} folders deep"
        return ""

    def enters(self, path: str) -> bool:
        """Whether a folder is still to be walked; one that a link points to is met under its own name if it can be."""
        met_anyway = os.path.islink(path) and within(path, self.top)
        return not met_anyway and os.path.realpath(path) not in self.seen


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
    excluded = _patterns(root, exclude)
    seen: set[str] = set()
    for shown in paths:
        path = os.path.join(root, shown)
        top = root if _lexically_within(path, root) else path
        for candidate in _expand(path, shown, top, excluded):
            real = os.path.realpath(candidate.path)
            if real not in seen or candidate.skipped:
                seen.add(real)
                yield candidate


def _lexically_within(path: str, root: str) -> bool:
    path = os.path.abspath(path)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _expand(path: str, shown: str, root: str, excluded: tuple[_Ignore, ...]) -> Iterator[Candidate]:
    if not os.path.lexists(path):
        yield Candidate(path, shown, "no such file or folder", missing=True)
    elif not within(path, root):
        yield Candidate(path, shown, OUTSIDE)
    elif os.path.isdir(path):
        yield from _walk(_Walk(root, path, excluded, set()), path, shown, _parents(path, root))
    else:
        yield Candidate(path, shown)


def _walk(walk: _Walk, folder: str, shown: str, ignores: tuple[_Ignore, ...]) -> Iterator[Candidate]:
    """Go through one folder, each real folder once, so that a web or a circle of links ends."""
    walk.seen.add(os.path.realpath(folder))
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        yield Candidate(folder, shown, f"cannot be listed: {os.strerror(error.errno or 0).lower()}")
        return
    if "pyvenv.cfg" in entries:
        return
    if ".gitignore" in entries:
        ignores = (*_ignore(folder, walk.root), *ignores)
    for name in entries:
        path = os.path.join(folder, name)
        is_folder = os.path.isdir(path)
        wanted = name not in _SKIPPED if is_folder else name.lower().endswith(SUFFIXES)
        if not wanted or _ignored(path, is_folder, walk.excluded) or _ignored(path, is_folder, ignores):
            continue
        label = name if shown in {"", "."} else os.path.join(shown, name)
        reason = walk.refuses(path, is_folder)
        if reason:
            yield Candidate(path, label, reason)
        elif not is_folder:
            yield Candidate(path, label)
        elif walk.enters(path):
            yield from _walk(walk, path, label, ignores)


def _parents(folder: str, root: str) -> tuple[_Ignore, ...]:
    """Find the .gitignore files from the root down to the folder above this one."""
    folder, found = os.path.abspath(folder), []
    while _lexically_within(folder, root) and folder != root:
        folder = os.path.dirname(folder)
        found.append(folder)
    return tuple(ignore for above in found for ignore in _ignore(above, root))


def _ignore(folder: str, root: str) -> tuple[_Ignore, ...]:
    path = os.path.join(folder, ".gitignore")
    if not os.path.isfile(path) or not within(path, root):
        return ()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _patterns(folder, file.read(_IGNORE_LENGTH).splitlines())
    except OSError:
        return ()


def _patterns(folder: str, lines: Sequence[str]) -> tuple[_Ignore, ...]:
    return (_Ignore(folder, ignore_spec(lines)),) if lines else ()


def ignore_spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Compile patterns; without those that only an attacker writes or that git would not accept."""
    from pathspec import GitIgnoreSpec

    lines = [line for line in lines if not _hostile(line)]
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        spec = GitIgnoreSpec([])
        for line in lines:
            with suppress(ValueError):
                spec += GitIgnoreSpec.from_lines([line])
        return spec


def _hostile(pattern: str) -> bool:
    """Whether matching may take long: it backtracks, in time that grows with the power of the stars between slashes."""
    return pattern.count("**") > 4 or any(part.count("*") > 3 for part in pattern.split("/"))


def _ignored(path: str, is_folder: bool, ignores: tuple[_Ignore, ...]) -> bool:
    """Ask the innermost .gitignore that says anything, as git does. `ignores` run from the innermost outwards."""
    for ignore in ignores:
        name = os.path.relpath(path, ignore.folder).replace(os.sep, "/") + ("/" if is_folder else "")
        include = ignore.spec.check_file(name).include
        if include is not None:
            return include
    return False
