"""Which versions of packages the repository around a file fixes."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from loralint.knowledge.data import part
from loralint.run.project import Project
from loralint.source.discover import within
from loralint.source.read import read_file

# Names of pin files have one of these in them; a folder without such a name costs one listing.
_TREES = (".toml", ".yml", ".yaml", "pipfile", "pipfile.lock")
_MOST = 50  # files of a folder, and those that they include
# A file without any of these fixes and bounds nothing, and a list of requirements includes nothing: it is not parsed
# or scanned. Lock files always do.
_SIGNS = ("==", " @ ", "git+", "<", "~=", "tool.poetry", "conda", "dependencies:")
_INCLUDES = ("-r", "-c")
_LISTS = (".txt", ".in")
# Expressions are compiled where they are asked: most folders fix nothing.
_OF_DEVELOPERS = r"(?:^|[-_.])(?:dev|develop|development|docs?|lint|tests?|testing)(?:[-_.]|$)"
# A checkout of one of the libraries: what it takes is what its own source says, of a release that nobody knows.
_OWN = r"""(?m)^[ \t]*name[ \t]*=[ \t]*["'](transformers|trl|peft)["']"""
_PROJECTS = ("setup.py", "pyproject.toml")
UNKNOWN = "<0"
_SOURCES = frozenset({"src", "swift", "openrlhf", "verl"})  # where the source of a trainer may lie
_LIKELY = (
    "requirement", "constraint", "pyproject.toml", ".lock", "pylock", "pipfile", "environment", "conda", "setup.py",
    "setup.cfg",
)  # fmt: skip


def pins_near(file: str, project: Project) -> dict[str, str]:
    """Give package -> version, from the nearest folder, upwards to the root, whose files fix what trains, and from
    those on the way that fix others, such as DeepSpeed; {} for none. Of a package that they only bound from above, `<`
    or `<=` stands before it.

    Of a package that two files of one folder fix differently, nothing is known. A checkout of a library is `<0` of it.
    """
    exact: dict[str, str] = {}
    bounds: dict[str, str] = {}
    trains = part("versions")["frameworks"].keys()
    for folder in project.folders(file):
        found = project.pins.get(folder)
        if found is None:
            found = project.pins[folder] = _of_folder(folder, project)
        own = {name: version for name, version in found.items() if version == UNKNOWN}
        if not trains.isdisjoint(exact):
            bounds = {**bounds, **own}
            continue
        bounds = {**found, **bounds, **own}
        exact = {**{name: version for name, version in found.items() if not version.startswith("<")}, **exact}
    return {**bounds, **exact}


def _of_folder(folder: str, project: Project) -> dict[str, str]:
    try:
        listing = sorted(os.listdir(folder))
    except OSError:
        return {}
    names = [name for name in listing if _is_likely(name.lower())]
    fixed: dict[str, set[str]] = {}
    bounds: dict[str, set[str]] = {}
    copied = () if _SOURCES.isdisjoint(listing) else _copied(folder)
    for package, version in itertools.chain(_fixed(folder, names, project) if names else (), copied):
        (bounds if version.startswith("<") else fixed).setdefault(package, set()).add(version)
    known = {**{package: several for package, several in bounds.items() if package not in fixed}, **fixed}
    return {package: next(iter(several)) for package, several in known.items() if len(several) == 1}


def _copied(folder: str) -> Iterator[tuple[str, str]]:
    """The trainers whose source lies there, with a bound: what is newer is not there."""
    from loralint.run.copies import copies

    for framework, release in copies(folder):
        yield framework, f"<={release}"


def _is_likely(name: str) -> bool:
    """Whether a file may say what a training runs with; what developers install (`requirements-dev.txt`) does not."""
    return any(part in name for part in _LIKELY) and re.search(_OF_DEVELOPERS, name) is None


def _fixed(folder: str, names: list[str], project: Project) -> Iterator[tuple[str, str]]:
    """What the files of a folder fix, and those that they include with `-r` and `-c`, whatever these are called."""
    seen: set[str] = set()
    for name in names:
        path = os.path.join(folder, name)
        yield from _of_file(path, project.top(path), seen)


def _of_file(path: str, top: str, seen: set[str], *, included: bool = False) -> Iterator[tuple[str, str]]:
    if path in seen or len(seen) == _MOST or not os.path.isfile(path) or not within(path, top):
        return
    seen.add(path)
    name = os.path.basename(path)
    document = read_file(path, name, "text")
    if name in _PROJECTS and (own := re.search(_OWN, document.text)):
        yield own[1], UNKNOWN
    signs = (*_SIGNS, *_INCLUDES) if name.lower().endswith(_LISTS) else _SIGNS
    if included or "lock" in name.lower() or any(sign in document.text for sign in signs):
        from loralint.frameworks.companions.pins import is_pins, read_pins

        if included or is_pins(name):
            tree = read_file(path, name) if name.lower().endswith(_TREES) else document
            found = read_pins(tree, requirements=included)
            told = {**found.upper, **found.exact}
            yield from ((package, str(value.value)) for package, value in told.items())
            for one in found.includes:
                other = os.path.normpath(os.path.join(os.path.dirname(path), str(one.value)))
                yield from _of_file(other, top, seen, included=True)
