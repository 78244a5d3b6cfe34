"""How many words models know, where two of them are laid side by side. The sizes are those of the catalogue."""

from __future__ import annotations

from loralint.knowledge.models import find

ADVICE = {"advice": "take a teacher of the same vocab_size, or a method that goes between tokenizers, as TRL's GOLD"}


def words(name: str) -> int | None:
    """How many rows the vocabulary of a model has; None for one that the catalogue does not know."""
    facts = find(name) if name else None
    return facts.vocab_size if facts is not None else None


def told(student: str, teacher: str) -> str:
    """What is wrong with a student and its teacher; "" where nothing is, or nobody knows."""
    own, other = words(student), words(teacher)
    if own is None or other is None or own == other:
        return ""
    return f"the loss goes word by word over the vocabulary, and {student} has {own} of them, {teacher} {other}"
