"""Training starts of a Python program or a notebook."""

from __future__ import annotations

from loralint.run.build import Part, Start
from loralint.source.document import Document
from loralint.source.script import Script

# A program that trains adapters speaks of one of these; every other one is not even parsed.
WORDS = ("peft", "lora", "trl", "unsloth", "bitsandbytes", "TrainingArguments", "BitsAndBytesConfig")


def script_starts(document: Document) -> list[Start]:
    """One for each trainer that the program makes; none for a program that trains nothing."""
    if not any(word in document.text for word in WORDS):
        return []
    from loralint.frameworks.python import starts
    from loralint.source.python import read_script

    script = read_script(document)
    pins = _installed(script)
    found = []
    for start in starts(script):
        part = Part(
            "script", start.document, start.reader, script.document, start.observations, start.events, script.arguments
        )
        found.append(Start((part,), start.reader, f"what {_name(start.document)} makes", pins))
    return found


def alone(start: Start) -> Start:
    """The start of a script that nobody is seen to launch: its arguments may be what their defaults are."""
    if not any(part.arguments for part in start.parts):
        return start
    from loralint.run.arguments import filled

    return start._replace(parts=tuple(made for part in start.parts for made in filled(part, None)))


def _installed(script: Script) -> dict[str, str]:
    """The versions that lines of a notebook install: `!pip install trl==0.21.0`."""
    lines = [line for line, _ in script.shell if "install" in line]
    if not lines:
        return {}
    from loralint.frameworks.companions.installed import installed
    from loralint.source.shell import read_shell

    return installed(read_shell(Document(script.document.file, "shell", "\n".join(lines))).commands)


def _name(document: Document) -> str:
    root = document.root
    keys = [pair.key for pair in root.pairs] if root is not None else []
    return " and ".join(f"`{key}`" for key in dict.fromkeys(keys[:2])) or "it"
