"""Keywords for a schedule that the trainer's arguments name, as a program gives them."""

from __future__ import annotations

from loralint.frameworks.python.keywords import every_keyword
from loralint.frameworks.readers.schedules import KEY, strangers
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document


def observe_schedules(document: Document, _: Look) -> list[Observation]:
    """Observe keywords that the schedule does not take, in the call of any class of arguments."""
    found: list[Observation] = []
    for outer in document.root.pairs if document.root is not None else ():
        named = outer.value.pair("lr_scheduler_type") if outer.value.pair(KEY) is not None else None
        if named is not None and KEY in (every_keyword(outer.key) or ()):
            found += strangers(document, outer.value, named, f"{outer.key}.")
    return found
