"""What is wrong with a shell script besides the words of its launches."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.launch.detached import detached
from loralint.frameworks.launch.late import late
from loralint.frameworks.launch.ports import clashing
from loralint.frameworks.launch.prefixed import prefixed, spaced
from loralint.frameworks.launch.start import launches
from loralint.frameworks.logins import spoken
from loralint.frameworks.table import Observation
from loralint.source.command import Shell
from loralint.source.document import Document


def aside(shell: Shell, document: Document) -> Iterator[Observation]:
    """Secrets in its other commands, launches that want one port at once, what no launch sees and nobody reads."""
    found = launches(shell, document)
    yield from spoken(shell.commands, document, {one.offset for one in found})
    yield from clashing(found, document)
    yield from prefixed(found, document)
    yield from spaced(found, document)
    yield from detached(found, document)
    yield from late(document)
