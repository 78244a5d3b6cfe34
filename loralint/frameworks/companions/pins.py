"""Versions of packages that a repository fixes: requirements files, pyproject.toml, setup.cfg and setup.py, Pipfile,
lock files, conda environments.

Only `==`, a tag in a URL and the entries of a lock file are pins; lower and upper bounds are told apart, everything
else says too little. The grammar of these lines is small and we want four parts of it, so `packaging` is no dependency:
what is not read here is no pin. Of a package that is pinned twice with different versions (by markers, say) nothing is
known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from loralint.model import Value
from loralint.source.document import Document, Node

_LINE = re.compile(
    r"[ \t]*(?P<name>[A-Za-z0-9][\w.-]{0,100})[ \t]*(?:\[[^\]\n]{0,200}\])?[ \t]*"
    r"(?P<spec>\(?[ \t]*(?:===?|~=|>=|<=|!=|>|<)[^;#\n]{0,200}|@[ \t]*[^\s;]{1,400}|(?=[;#\s]|$))"
)
_CLAUSE = re.compile(r"(===?|~=|>=|<=|>|<)[ \t]*v?(\d[\w!+-]{0,40}(?:\.\w[\w!+-]{0,40}){0,8}(?:\.\*)?)")
_TAG = re.compile(r"@v?(\d+\.\d+(?:\.\d+)?)(?:[#/].*)?$")
_FROM_GIT = re.compile(
    r"[ \t]*(?:-e[ \t]+)?(git\+https?://[^\s@#]{1,200}/([\w-]{1,60})(?:\.git)?@v?(\d+\.\d+(?:\.\d+)?))(?:[#\s]|$)"
)
_INCLUDE = re.compile(r"[ \t]*(?:-r|--requirement|-c|--constraint)(?:[ \t]+|=)([^\s#]{1,300})")
_LOCKED = re.compile(r'^name = "([\w.-]{1,100})"\r?\nversion = "(v?\d[\w.+!-]{0,60})"', re.MULTILINE)
_CONDA = re.compile(r"(?:[\w-]+::)?([\w.-]{1,100})[ \t]*(==?|>=)[ \t]*(\d[\w.+!-]{0,60})(?:=[\w.]+)?")
_POETRY = re.compile(r"(?:==?[ \t]*)?(\d+(?:\.\d+){1,3}(?:[a-z.]+\d+)?)")
_POETRY_LOWER = re.compile(r"(?:\^|~|>=)[ \t]*(\d[\w.]{0,60})")
_ALIASES = {"pytorch": "torch"}
_CONDA_NAMES = ("environment", "conda")


class Pins(NamedTuple):
    """exact: package -> version, lower: package -> at least, upper: package -> `<` or `<=` and a version; all with
    their places. includes: further files named.
    """

    exact: Mapping[str, Value] = {}
    lower: Mapping[str, Value] = {}
    includes: tuple[Value, ...] = ()
    upper: Mapping[str, Value] = {}


class Found(NamedTuple):
    """A version of a package and where the file says it; exact: not only a bound, which is an upper one with a `<`."""

    package: str
    version: str
    exact: bool
    start: int
    end: int


def is_pins(file: str) -> bool:
    """Tell by its name whether a file may pin packages."""
    return _scanner(os.path.basename(file).lower()) is not None


def read_pins(document: Document, *, requirements: bool = False) -> Pins:
    """The pins of a file that `is_pins` knows by name, or that is a list of requirements; of any other file none."""
    scan = _requirements if requirements else _scanner(os.path.basename(document.file).lower())
    if scan is None:
        return Pins()
    found = list(scan(document))
    exact = _settled(document, [one for one in found if one.exact])
    bounds = [one for one in found if not one.exact and one.package not in exact]
    lower = _settled(document, [one for one in bounds if not one.version.startswith("<")])
    upper = _settled(document, [one for one in bounds if one.version.startswith("<")])
    return Pins(exact, lower, tuple(_includes(document)) if scan is _requirements else (), upper)


def _scanner(name: str) -> Callable[[Document], Iterator[Found]] | None:
    if name in ("setup.cfg", "setup.py"):
        from loralint.frameworks.companions import setups

        return setups.of_cfg if name == "setup.cfg" else setups.of_script
    if name.endswith((".yml", ".yaml")) and name.startswith(_CONDA_NAMES):
        return _conda
    if name.endswith((".txt", ".in")) and ("requirement" in name or "constraint" in name):
        return _requirements
    return _BY_NAME.get(name)


def _settled(document: Document, found: list[Found]) -> dict[str, Value]:
    versions: dict[str, set[str]] = {}
    for one in found:
        versions.setdefault(one.package, set()).add(one.version)
    first = {one.package: one for one in reversed(found)}
    return {package: _value(document, one) for package, one in first.items() if len(versions[package]) == 1}


def _value(document: Document, one: Found) -> Value:
    text = document.text[one.start : one.end]
    return Value(one.version, key=one.package, text=text, span=document.span_at(one.start, one.end))


def _package(name: str) -> str:
    """The name as indexes compare it: lower case, runs of `-`, `_` and `.` as one dash."""
    plain = re.sub(r"[-_.]+", "-", name.lower())
    return _ALIASES.get(plain, plain)


def _requirements(document: Document) -> Iterator[Found]:
    for line in re.finditer(r"[^\r\n]+", document.text):
        yield from requirement(line[0], line.start())


def requirement(text: str, offset: int) -> Iterator[Found]:
    """One requirement as PEP 508 writes it, or the tag of a repository, which starts at an offset of the file."""
    if tagged := _FROM_GIT.match(text):
        start, end = offset + tagged.start(1), offset + tagged.end(1)
        yield Found(_package(tagged[2]), tagged[3], exact=True, start=start, end=end)
        return
    match = _LINE.match(text)
    if match is None or match["spec"] is None:
        return
    start, end = offset + match.start("name"), offset + len(text[: match.end()].rstrip())
    spec = match["spec"].strip().strip("()")
    if tag := _TAG.search(spec) if spec.startswith("@") else None:
        yield Found(_package(match["name"]), tag[1], exact=True, start=start, end=end)
    clauses = [] if spec.startswith("@") else _CLAUSE.findall(spec.partition(" --")[0])
    for operator, version in clauses:
        exact = operator in ("==", "===") and not version.endswith(".*")
        name = _package(match["name"])
        if not operator.startswith("<"):
            yield Found(name, version.removesuffix(".*"), exact, start, end)
        if upper := _upper(operator, version):
            yield Found(name, upper, exact=False, start=start, end=end)


def of_extra(several: Iterable[Found]) -> Iterator[Found]:
    """What an extra asks for, of which an exact release is no more than the newest that it goes with."""
    for one in several:
        yield one._replace(version=f"<={one.version}", exact=False) if one.exact else one


def _upper(operator: str, version: str) -> str:
    """The upper bound that a clause sets, as `<5`; nothing for one that sets none.

    >>> _upper("<=", "4.29.2"), _upper("~=", "4.38.1"), _upper("==", "4.*"), _upper(">=", "4")
    ('<=4.29.2', '<4.39', '<5', '')
    """
    if operator.startswith("<"):
        return operator + version
    numbers = version.removesuffix(".*").split(".")
    same = numbers if version.endswith(".*") else numbers[:-1] if operator == "~=" else []
    return f"<{'.'.join([*same[:-1], str(int(same[-1]) + 1)])}" if same and same[-1].isdecimal() else ""


def _includes(document: Document) -> Iterator[Value]:
    for line in re.finditer(r"[^\r\n]+", document.text):
        if match := _INCLUDE.match(line[0]):
            start, end = line.start() + match.start(1), line.start() + match.end(1)
            yield Value(match[1], key="-r", text=match[1], span=document.span_at(start, end))


def _lock(document: Document) -> Iterator[Found]:
    for match in _LOCKED.finditer(document.text):
        yield Found(_package(match[1]), match[2].removeprefix("v"), exact=True, start=match.start(), end=match.end())


def _pipfile(document: Document) -> Iterator[Found]:
    default = document.root.get("default") if document.root is not None else None
    for pair in default.pairs if default is not None else ():
        node = pair.value.get("version") if pair.value.kind == "mapping" else None
        if node is not None and node.raw.startswith("=="):
            version = node.raw.removeprefix("==")
            yield Found(_package(pair.key), version, exact=True, start=pair.key_node.start, end=node.end)


def _packages(document: Document) -> Iterator[Found]:
    packages = document.root.get("packages") if document.root is not None else None
    for pair in packages.pairs if packages is not None and packages.kind == "mapping" else ():
        node = pair.value.get("version") if pair.value.kind == "mapping" else pair.value
        if node is not None and node.kind == "scalar":
            for one in requirement(f"{pair.key} {node.raw}", 0):
                yield one._replace(start=pair.key_node.start, end=node.end)


def _pyproject(document: Document) -> Iterator[Found]:
    project = document.root.get("project") if document.root is not None else None
    listed = project.get("dependencies") if project is not None else None
    for item in listed.items if listed is not None else ():
        quote = document.text[item.start : item.end].find(item.raw)
        yield from requirement(item.raw, item.start + max(0, quote))
    optional = project.get("optional-dependencies") if project is not None else None
    for several in optional.pairs if optional is not None and optional.kind == "mapping" else ():
        for item in several.value.items:
            quote = document.text[item.start : item.end].find(item.raw)
            yield from of_extra(requirement(item.raw, item.start + max(0, quote)))
    for pair in _poetry(document):
        node = pair[1].get("version") if pair[1].kind == "mapping" else pair[1]
        if node is None or node.kind != "scalar":
            continue
        exact, lower = _POETRY.fullmatch(node.raw.strip()), _POETRY_LOWER.match(node.raw.strip())
        found = exact or lower
        if found is not None:
            yield Found(_package(pair[0]), found[1], exact is not None, node.start, node.end)


def _poetry(document: Document) -> Iterator[tuple[str, Node]]:
    node: Node | None = document.root
    for key in ("tool", "poetry", "dependencies"):
        node = node.get(key) if node is not None and node.kind == "mapping" else None
    for pair in node.pairs if node is not None else ():
        yield pair.key, pair.value


def _conda(document: Document) -> Iterator[Found]:
    listed = document.root.get("dependencies") if document.root is not None else None
    for item in listed.items if listed is not None else ():
        pip = item.get("pip") if item.kind == "mapping" else None
        for inner in pip.items if pip is not None else ():
            yield from requirement(inner.raw, inner.start)
        match = _CONDA.fullmatch(item.raw.strip()) if item.kind == "scalar" else None
        if match is not None:
            yield Found(_package(match[1]), match[3], match[2] != ">=", item.start, item.end)


_BY_NAME = {
    "uv.lock": _lock,
    "poetry.lock": _lock,
    "pdm.lock": _lock,
    "pylock.toml": _lock,
    "pipfile.lock": _pipfile,
    "pipfile": _packages,
    "pyproject.toml": _pyproject,
}
