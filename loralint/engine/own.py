"""Rules and golden entries that a project adds: in use beside ours, and judged also where no training is read.

A golden entry for a key (`serving/*.yaml`, `server.limits.cpu`) is a rule whose observations are made here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loralint.checks.conditions import compare
from loralint.engine import rules, symptoms
from loralint.knowledge import data
from loralint.knowledge.rules import Rule
from loralint.model import Note, Observation, Unknown, Value
from loralint.run.build import Assembled
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.document import Document, Node
from loralint.source.read import read_bytes
from loralint.source.scalars import is_template, number_text, value

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_KIND = "own:"
# Places that one entry judges in one file; a config with more of them is data.
_MOST = 1000
Place = tuple[str, str, Node]


def use(parts: Mapping[str, Any]) -> None:
    """Judge by these parts of the data from now on; by ours alone for none. One project at a time in a process."""
    if data.replace(parts):
        rules.forget()
        symptoms.forget()


def keyed(chosen: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules among them that are golden entries for keys."""
    return tuple(rule for rule in chosen if rule.uses == "observation" and _is_own(rule.args["kind"]))


def _is_own(kind: object) -> bool:
    return isinstance(kind, str) and kind.startswith(_KIND)


def look(documents: Sequence[Document], chosen: Sequence[Rule], root: str) -> Iterator[Observation | Note]:
    """What the entries say of these files: an observation for a value that is not fine, a note for one not known.

    root: the folder that the patterns of the entries start at.
    """
    for document in documents:
        relative = os.path.relpath(os.path.abspath(document.file), root).replace(os.sep, "/")
        for rule in chosen:
            if _patterns(tuple(rule.args["files"])).match_file(relative):
                for count, place in enumerate(_places(document, rule.args["key"])):
                    if count == _MOST:
                        yield Note("not-checked", f"more than {_MOST} places are `{rule.args['key']}`", (rule.id,))
                        break
                    yield from _judged(document, rule, place)


def matches(document: Document, chosen: Sequence[Rule], root: str) -> bool:
    """Whether any entry speaks of this file."""
    relative = os.path.relpath(os.path.abspath(document.file), root).replace(os.sep, "/")
    return any(_patterns(tuple(rule.args["files"])).match_file(relative) for rule in chosen)


def bare(document: Document) -> Assembled:
    """A file that starts no training, as a run of which nothing is known but what it holds."""
    nothing = read_bytes(b"{}", document.file, "json")
    (start,) = starts(nothing, Options(framework="transformers"), Project())
    reason = "golden entries of the project"
    return start._replace(observations=(), reason=reason, documents=(document,), events=(), notes=())


@lru_cache(maxsize=64)
def _patterns(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from loralint.source.walk import ignore_spec

    return ignore_spec(list(patterns))


def _places(document: Document, key: str) -> Iterator[Place]:
    """Every place that a dotted path leads to, as (key, pointer, node); `*` is any step."""
    for root in document.roots:
        found: list[Place] = [("", "", root)]
        steps = key.split(".")
        while steps and found:
            found = [below for at in found for below in _below(at, steps[0])][: _MOST + 1]
            steps = steps[1:]
        yield from found


def _below(at: Place, step: str) -> Iterator[Place]:
    key, pointer, node = at
    if node.kind == "mapping":
        pairs = node.pairs if step == "*" else [pair] if (pair := node.pair(step)) else []
        for pair in pairs:
            part = pair.key.replace("~", "~0").replace("/", "~1")
            yield f"{key}.{pair.key}" if key else pair.key, f"{pointer}/{part}", pair.value
    elif node.kind == "sequence" and (step == "*" or step.isdecimal()):
        wanted = range(len(node.items)) if step == "*" else [int(step[:9])]
        for index in wanted:
            if index < len(node.items):
                yield f"{key}[{index}]", f"{pointer}/{index}", node.items[index]


def _judged(document: Document, rule: Rule, place: Place) -> Iterator[Observation | Note]:
    key, pointer, node = place
    if node.kind == "sequence":
        for index, item in enumerate(node.items[:_MOST]):
            yield from _judged(document, rule, (f"{key}[{index}]", f"{pointer}/{index}", item))
        return
    given = _read(node)
    if isinstance(given, Unknown):
        yield Note("not-checked", f"`{key}` is not known: {given.reason}", (rule.id,), key)
    elif given is not None and not _fine(given, rule.args):
        at = Value(given, "set", key, pointer, document.written(node), document.span(node))
        yield Observation(rule.args["kind"], at, "changed", rule.name)


def _read(node: Node) -> object:
    """The value, where `2e-4` is a number whatever the loader; a mapping is no single value."""
    if node.kind != "scalar":
        return Unknown("it is a mapping")
    if is_template(node.raw):
        return Unknown("it is filled in later")
    given = value(node, "pyyaml")
    number = number_text(given) if isinstance(given, str) and node.plain else None
    return given if number is None else number


def _fine(given: object, args: Mapping[str, Any]) -> bool:
    if args["set"] is not None:
        return compare("in", given, args["set"]) is True
    low, high = args["range"]
    return isinstance(given, (int, float)) and not isinstance(given, bool) and low <= given <= high
