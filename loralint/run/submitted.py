"""Parameters that a script of the folder, or of one above, hands to a workflow: `argo submit flow.yaml -p lr=0.1`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.workflows import names
from loralint.run.project import Project
from loralint.source.command import Command, Word
from loralint.source.discover import within
from loralint.source.document import Document, Lines, Mark, Node, Pair
from loralint.source.shell.words import tail

_SCRIPTS = (".sh", ".bash", "Makefile", ".mk")
_MOST = 100  # scripts of a folder that are looked at
_FOLDERS = 3  # from that of the workflow upwards
_GIVES = ("-p", "--parameter")


def submissions(document: Document, project: Project) -> list[tuple[Document, list[Node]]]:
    """The scripts that submit a workflow of a file, with what each hands over as a workflow that refers to it."""
    own = names(document) if "parameters" in document.text and os.path.isfile(document.file) else ()
    found = []
    for script in _scripts(document, project) if own else ():
        made = [_referring(one, script, name) for one in _submits(script, document) for name in own]
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


def _parameters(command: Command, lines: Lines) -> Iterator[Word]:
    """The words `name=value` behind `-p` and `--parameter`."""
    words = command.words
    for index, word in enumerate(words):
        flag, equals, _ = word.raw.partition("=")
        if word.raw in _GIVES and index + 1 < len(words):
            yield words[index + 1]
        elif flag in _GIVES and equals:
            yield tail(word, len(flag) + 1, lines)


def _referring(command: Command, script: Document, name: str) -> Node:
    """What Argo makes of a submission, as far as parameters go."""
    place = Mark(command.start, script.lines), Mark(command.end, script.lines)

    def said(raw: str) -> Node:
        return Node("scalar", "str", *place, raw)

    def mapping(**given: Node) -> Node:
        made = Node("mapping", "map", *place)
        made.refill([Pair(key, said(key), value) for key, value in given.items()])
        return made

    listed = Node("sequence", "seq", *place)
    listed.items = [
        mapping(name=said(word.raw.partition("=")[0]), value=_value(word, script))
        for word in _parameters(command, script.lines)
    ]
    spec = mapping(workflowTemplateRef=mapping(name=said(name)), arguments=mapping(parameters=listed))
    return mapping(kind=said("Workflow"), spec=spec)


def _value(word: Word, script: Document) -> Node:
    given = tail(word, word.raw.find("=") + 1, script.lines)
    if isinstance(given.text, str):
        return given.node
    return Node("scalar", "str", given.node.start_mark, given.node.end_mark, f"{{{{ {given.raw} }}}}")
