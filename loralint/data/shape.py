"""How rows are laid out: which fields hold the prompt, the answer, the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple


class Shape(NamedTuple):
    """One layout. kind: chat, instruct, preference, kto or text.

    prompt: fields that make the prompt; the first is needed, those in `optional` are not. answer: the field that is
    learnt. rejected, label: of preference and KTO rows. messages: the list of turns. role, content: keys of a turn,
    empty where every turn says which it uses. roles: the names that the run gives a meaning of its own.
    needs: fields without which the framework stops; a row that has none of them is laid out otherwise.
    """

    kind: str
    prompt: tuple[str, ...] = ()
    answer: str = ""
    rejected: str = ""
    label: str = ""
    messages: str = ""
    role: str = ""
    content: str = ""
    roles: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def chat(messages: str, role: str = "", content: str = "", roles: Mapping[str, str] | None = None) -> Shape:
    """Rows that hold a conversation."""
    return Shape("chat", messages=messages, role=role, content=content, roles=roles or {}, needs=(messages,))


def instruct(prompt: str, answer: str, *optional: str) -> Shape:
    """Rows of a prompt, fields that may add to it, and the answer."""
    return Shape("instruct", (prompt, *optional), answer, needs=(prompt, answer), optional=optional)


def preference(prompt: str, chosen: str = "chosen", rejected: str = "rejected") -> Shape:
    """Rows of two answers, the better and the worse."""
    needs = (*((prompt,) if prompt else ()), chosen, rejected)
    return Shape("preference", (prompt,) if prompt else (), chosen, rejected, needs=needs)


def kto(prompt: str, answer: str = "completion", label: str = "label") -> Shape:
    """Rows of one answer and whether it is wanted."""
    return Shape("kto", (prompt,), answer, label=label, needs=(prompt, answer, label))


def text(field: str) -> Shape:
    """Rows of text that is learnt as a whole."""
    return Shape("text", answer=field, needs=(field,))


# In the order in which they are looked for: alpaca rows often have a `text` beside, preference rows a `messages`.
KNOWN = (
    kto("prompt"),
    preference("prompt"),
    preference("question"),
    preference("instruction"),
    preference(""),
    chat("messages"),
    chat("conversations"),
    chat("conversation"),
    instruct("instruction", "output", "input"),
    instruct("instruction", "response", "input", "context"),
    instruct("prompt", "completion"),
    instruct("prompt", "response"),
    instruct("prompt", "output"),
    instruct("question", "answer"),
    instruct("query", "response"),
    instruct("input", "output"),
    text("text"),
)


@lru_cache(maxsize=1024)
def shape_of(fields: tuple[str, ...]) -> Shape | None:
    """The layout that rows with these fields have, as far as their names tell."""
    present = set(fields)
    return next((shape for shape in KNOWN if present.issuperset(shape.needs)), None)


def named(shape: Shape) -> str:
    """A layout in words: `instruction, output`, or `conversations (from, value)`."""
    keys = f" ({shape.role}, {shape.content})" if shape.role else ""
    return ", ".join(shape.needs) + keys


def fields_of(shapes: Iterable[Shape]) -> str:
    """Several layouts in words."""
    return " or ".join(dict.fromkeys(named(shape) for shape in shapes))
