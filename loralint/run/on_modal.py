"""Training starts in functions that Modal runs: on the GPU that they ask for, with what their image installs."""

from __future__ import annotations

from loralint.run.build import Part, Start
from loralint.source.script import Script


def on_modal(found: list[Start], script: Script) -> list[Start]:
    """The starts with what the program asks Modal for; the same for any other program."""
    if not found or "modal" not in script.document.text:
        return found
    from loralint.frameworks.python.modal import card, installs, machine, reader_of

    pins, given = installs(script), card(script)
    document = script.document
    asked = (Part("manifest", machine(document, given), reader_of(given), document),) if given is not None else ()
    return [one._replace(parts=(*one.parts, *asked), pins={**pins, **one.pins}) for one in found]
