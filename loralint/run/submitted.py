"""Parameters that a script of the folder, or of one above, hands to a workflow: `argo submit flow.yaml -p lr=0.1`.

With `-f` they stand in a file (argoproj/argo-workflows@006d9ef workflow/util/util.go, ReadParametersFile).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.workflows import arguments, names
from loralint.run.project import Project
from loralint.source.command import Command, Word
from loralint.source.discover import within
from loralint.source.document import Document, Lines, Mark, Node, Pair
from loralint.source.shell.words import tail

_SCRIPTS = (".sh", ".bash", "Makefile", ".mk")
_MOST = 100  # scripts of a folder that are looked at
_FOLDERS = 3  # from that of the workflow upwards
_GIVES = ("-p", "--parameter")
_FILES = ("-f", "--parameter-file")
# Values of which the JSON that Argo makes of the file says the same.
_PLAIN = re.compile(r"true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")

# Names and values.
Listed = list[tuple[str, Node]]


def submissions(document: Document, project: Project) -> list[tuple[Document, list[Node]]]:
    """The scripts that submit a workflow of a file, with what each hands over as a workflow that refers to it; and the
    files of parameters that they hand over with nothing beside.
    """
    own = names(document) if "parameters" in document.text and os.path.isfile(document.file) else ()
    found: list[tuple[Document, list[Node]]] = []
    for script in _scripts(document, project) if own else ():
        made: list[Node] = []
        for one in _submits(script, document):
            words = list(_words(one, script.lines, _GIVES))
            files = list(_words(one, script.lines, _FILES))
            given = _file(files[-1], one, script, project) if files else None
            if given is not None and not words:
                found.append((given, [_referring(given, given.roots[0], _of_file(given), name) for name in own]))
                continue
            listed = [(word.raw.partition("=")[0], _value(word, script)) for word in words]
            if files:
                listed = _joined(listed, given, files[-1], document)
            made += [_referring(script, _Spot(one.start, one.end), listed, name) for name in own]
        if made:
            found.append((script, made))
    return found


def _scripts(document: Document, project: Project) -> Iterator[Document]:
    top = project.top(document.file)
    for folder in project.folders(document.file)[:_FOLDERS]:
        for name in _names(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and within(path, top):
                found = project.peek(path, project.name(path, document.file))
                if "argo submit" in found.text:
                    yield found


def _names(folder: str) -> list[str]:
    try:
        return sorted(one for one in os.listdir(folder) if one.endswith(_SCRIPTS))[:_MOST]
    except OSError:
        return []


def _submits(script: Document, document: Document) -> Iterator[Command]:
    from loralint.source.shell import read_shell

    for one in read_shell(script).commands:
        if [word.raw for word in one.words[:2]] == ["argo", "submit"] and _means(one, script, document):
            yield one


def _means(command: Command, script: Document, document: Document) -> bool:
    """Whether a command names a file, or by `--from` a template in it."""
    given = [word.raw for word in command.words[2:]]
    folder = os.path.join(os.path.dirname(os.path.realpath(script.file)), command.folder or "")
    real = os.path.realpath(document.file)
    if any(os.path.realpath(os.path.join(folder, one)) == real for one in given if "\0" not in one):
        return True
    return any(one.partition("/")[2] in names(document) for one in given if "workflowtemplate/" in one)


def _words(command: Command, lines: Lines, flags: tuple[str, ...]) -> Iterator[Word]:
    """The words behind some flags of a command."""
    words = command.words
    for index, word in enumerate(words):
        flag, equals, _ = word.raw.partition("=")
        if word.raw in flags and index + 1 < len(words):
            yield words[index + 1]
        elif flag in flags and equals:
            yield tail(word, len(flag) + 1, lines)


def _file(word: Word, command: Command, script: Document, project: Project) -> Document | None:
    """The file of parameters that a word names, if it is at hand: YAML or JSON, a value for each name."""
    folder = command.folder
    if not isinstance(word.text, str) or folder is None or "://" in word.text:
        return None
    found = project.beside(os.path.join(folder, word.text), script.file)
    whole = found is not None and not found.problems and len(found.roots) == 1 and found.roots[0].kind == "mapping"
    return found if whole else None


def _of_file(given: Document) -> Listed:
    """Names and values of a file of parameters, each as Argo makes a text of it."""
    return [(pair.key, _text(pair.value)) for pair in given.roots[0].pairs]


def _text(node: Node) -> Node:
    plain = node.kind == "scalar" and (node.tag == "str" or _PLAIN.fullmatch(node.raw) is not None)
    raw = node.raw if plain else f"{{{{ {node.raw or 'a structure'} }}}}"
    return Node("scalar", "str", node.start_mark, node.end_mark, raw)


def _joined(listed: Listed, given: Document | None, word: Word, document: Document) -> Listed:
    """Those of the line with those of a file beside them, which stand where the line names it; what is given twice, or
    by a file that is not at hand, nobody knows.
    """
    marks = word.node.start_mark, word.node.end_mark
    said = {name for name, _ in listed}
    inside = dict(_of_file(given)) if given is not None else {}
    open_ = (said & inside.keys()) if given is not None else arguments(document) - said
    unseen = {name: Node("scalar", "str", *marks, f"{{{{ {word.raw} }}}}") for name in open_}
    others = {name: Node("scalar", "str", *marks, node.raw) for name, node in inside.items()}
    return list({**dict(listed), **others, **unseen}.items())


class _Spot(NamedTuple):
    """Where a command stands."""

    start: int
    end: int


def _referring(document: Document, spot: _Spot | Node, listed: Listed, name: str) -> Node:
    """What Argo makes of a submission, as far as parameters go."""
    place = Mark(spot.start, document.lines), Mark(spot.end, document.lines)

    def said(raw: str) -> Node:
        return Node("scalar", "str", *place, raw)

    def mapping(**given: Node) -> Node:
        made = Node("mapping", "map", *place)
        made.refill([Pair(key, said(key), value) for key, value in given.items()])
        return made

    several = Node("sequence", "seq", *place)
    several.items = [mapping(name=said(key), value=value) for key, value in listed]
    spec = mapping(workflowTemplateRef=mapping(name=said(name)), arguments=mapping(parameters=several))
    return mapping(kind=said("Workflow"), spec=spec)


def _value(word: Word, script: Document) -> Node:
    given = tail(word, word.raw.find("=") + 1, script.lines)
    if isinstance(given.text, str):
        return given.node
    return Node("scalar", "str", given.node.start_mark, given.node.end_mark, f"{{{{ {given.raw} }}}}")
