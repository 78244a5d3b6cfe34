"""The configs below a folder: by suffix and .gitignore, in sorted order, each real folder once."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.discover import OUTSIDE, Candidate, lexically_within, within
from loralint.source.limits import DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathspec import GitIgnoreSpec

SUFFIXES = (
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".py",
    ".ipynb",
    ".sh",
    ".bash",
    ".sbatch",
    ".slurm",
    ".zsh",
    ".ps1",
    ".bat",
    ".cmd",
    ".mk",
    "makefile",
    "config.env",
)
# Never a project's own configs, and large. Virtual environments under other names are known by their pyvenv.cfg.
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".loralint"}
)
# Of a .gitignore no more is read; the largest in wide use has a few hundred lines.
_IGNORE_LENGTH = 256 * 1024


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


def walk(folder: str, shown: str, top: str, root: str, exclude: Sequence[str]) -> Iterator[Candidate]:
    """What is found below a folder. `top` is what no link may lead out of; `exclude` are patterns of `root`."""
    yield from _walk(_Walk(top, folder, _patterns(root, exclude), set()), folder, shown, _parents(folder, top))


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
    while lexically_within(folder, root) and folder != root:
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
