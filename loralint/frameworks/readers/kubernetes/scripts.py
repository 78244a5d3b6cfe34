"""Shell scripts of maps that a container's command runs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.command import (
    SEALED,
    Executed,
    Place,
    by_shell,
    executed,
    flags_of,
    known_in,
    read_command,
)
from loralint.frameworks.readers.kubernetes.maps import Text
from loralint.frameworks.readers.kubernetes.mounting import mounted
from loralint.frameworks.readers.kubernetes.tree import At
from loralint.frameworks.readers.kubernetes.variables import field_of, working_folder
from loralint.source.command import Command, Part
from loralint.source.inner import pieces_of
from loralint.source.shell.commands import SHELLS
from loralint.source.shell.words import Field

_SHEBANG = re.compile(r"#!.*\b(?:ba|z|da)?sh\b")


def called(container: At, place: Place) -> list[Executed]:
    """The shell scripts of maps that a container runs, read with its variables."""
    found = []
    for command in executed(container, place).commands:
        for index, path in _script_paths(command):
            full = posixpath.join(command.folder or working_folder(container), path)
            where = mounted(full, place.pod, container, place.all_maps(), place.namespace) if full[:1] == "/" else None
            if where is not None and where.text is not None and _is_shell(path, where.text.content):
                found.append(_called(where.text, path, command, index, container, place))
            elif where is not None and where.text is None and not where.image:
                lacks = (where.absent, command.words[index]) if where.absent is not None else None
                found.append(Executed(place.document, why=f"`{path}`: {where.why}", lacks=lacks))
    return found


def _called(script: Text, path: str, command: Command, index: int, container: At, place: Place) -> Executed:
    document = script.document
    node = script.node if not script.encoded else None
    body = field_of(document, node, {}) if node is not None else _whole(script)
    known = known_in(container, place)
    arguments = [Field(one.parts, one.start, one.end, quoted=True) for one in command.words[index + 1 :]]
    if document is not place.document:
        known = {name: _placeless(one) for name, one in known.items()}
        arguments = [_placeless(one) for one in arguments]
    made = read_command(document, by_shell(body, path, arguments), known, command.folder or "", [node] if node else [])
    if script.encoded or (node is not None and not pieces_of(document.text, node)[1]):
        for part in flags_of(made.launches):
            part.sealed = SEALED
    return made._replace(shell=script.content)


def _whole(script: Text) -> Field:
    """A script that is all of its file, or stands in it in another form."""
    start = script.node.start if script.node is not None else 0
    return Field((Part(script.content, start, start if script.encoded else len(script.content)),), start, start, True)


def _placeless(field: Field) -> Field:
    """The same for another file, where its places mean nothing."""
    return Field(tuple(part._replace(start=0, end=0) for part in field.parts), 0, 0, field.quoted)


def _script_paths(command: Command) -> Iterator[tuple[int, str]]:
    """Files that a shell is told to run: `bash /scripts/run.sh`, `/scripts/run.sh`. (place among the words, path)."""
    words = [one.raw for one in command.words]
    if words and posixpath.basename(words[0]) in SHELLS:
        yield from [(index, one) for index, one in enumerate(words) if index and not one.startswith("-")][:1]
    elif words and "/" in words[0]:
        yield 0, words[0]


def _is_shell(path: str, content: str) -> bool:
    return path.endswith((".sh", ".bash")) or _SHEBANG.match(content) is not None
