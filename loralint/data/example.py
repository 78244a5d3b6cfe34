"""A row as the run would learn it: what is prompt, what is answer, who speaks in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from loralint.data.shape import Shape

Fields = Mapping[str, Any]

# What frameworks and data sets call the speakers. A function call is said by the model, its result by a tool.
ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "bot", "chatgpt", "function_call", "tool_call"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "tool_response", "function_response"), "tool"),
}
_LONGEST_ROLE = 20  # what is longer is no role but content in the wrong place, and is not repeated
_BETWEEN = "\x1e"  # in no text that is not itself broken


class Example(NamedTuple):
    """prompt: all before the first text that is learnt. answer: all that is learnt. whole: every text, with bounds.

    roles: the speakers by their usual names; one that has none is `?` and the name, if that is a short word.
    missing: the field that is absent or null. wrong: the field that holds no text. rejected, label: as in the row.
    """

    kind: str
    prompt: str
    answer: str
    whole: str
    roles: tuple[str, ...] = ()
    missing: str = ""
    wrong: str = ""
    rejected: str = ""
    label: object = None


def example(row: Fields, shape: Shape) -> Example:
    """Read a row by a layout. Never raises: what is not as it should be is said in `missing` or `wrong`."""
    return _chat(row, shape) if shape.kind == "chat" else _plain(row, shape)


def _plain(row: Fields, shape: Shape) -> Example:
    missing = wrong = ""
    prompts = []
    for field in shape.prompt:
        value = row.get(field)
        if isinstance(value, str):
            prompts.append(value)
        elif value is None:
            missing = missing or ("" if field in shape.optional else field)
        else:
            said = _said(value)
            wrong = wrong or (field if said is None else "")
            prompts.append(said or "")
    value = row.get(shape.answer)
    answer = value if isinstance(value, str) else _said(value)
    if value is None:
        missing = missing or shape.answer
    elif answer is None:
        wrong = wrong or shape.answer
    prompt, answer = "\n".join(prompts), answer or ""
    if not shape.rejected and not shape.label:
        return Example(shape.kind, prompt, answer, prompt + _BETWEEN + answer, (), missing, wrong)
    rejected, label = row.get(shape.rejected) if shape.rejected else "", row.get(shape.label) if shape.label else None
    if (shape.rejected and rejected is None) or (shape.label and label is None):
        missing = missing or shape.rejected or shape.label
    other = _said(rejected) or ""
    whole = _BETWEEN.join((prompt, answer, other, str(label) if isinstance(label, (bool, int, float, str)) else ""))
    return Example(shape.kind, prompt, answer, whole, (), missing, wrong, other, label)


def _chat(row: Fields, shape: Shape) -> Example:
    turns = row.get(shape.messages)
    if not isinstance(turns, list):
        missing, wrong = (shape.messages, "") if turns is None else ("", shape.messages)
        return Example("chat", "", "", "", (), missing, wrong)
    roles: list[str] = []
    texts: list[str] = []
    missing = wrong = ""
    for turn in turns:
        if not isinstance(turn, dict):
            wrong = shape.messages
            continue
        role_key, content_key = (shape.role, shape.content) if shape.role else _keys(turn)
        role, content = turn.get(role_key), turn.get(content_key)
        if role is None and content is None:
            missing = missing or f"{shape.messages}.{role_key}"
        roles.append(_role(role, shape.roles))
        said = content if isinstance(content, str) else _said(content)
        if said is None:
            said = ""
            wrong = wrong or (f"{shape.messages}.{content_key}" if content is not None else "")
        texts.append(said or ("call" if turn.get("tool_calls") or turn.get("function_call") else ""))
    first = next((place for place, role in enumerate(roles) if role == "assistant"), len(roles))
    answer = "\n".join(said for said, role in zip(texts, roles, strict=True) if role == "assistant")
    whole = _BETWEEN.join(piece for pair in zip(roles, texts, strict=True) for piece in pair)
    return Example("chat", "\n".join(texts[:first]), answer, whole, tuple(roles), missing, wrong)


def _keys(turn: Fields) -> tuple[str, str]:
    return ("from", "value") if "from" in turn and "role" not in turn else ("role", "content")


def _role(name: object, roles: Mapping[str, str]) -> str:
    if not isinstance(name, str):
        return "?"
    known = (roles or ROLES).get(name)
    return known or ("?" + name if len(name) <= _LONGEST_ROLE and name.replace("_", "").isalnum() else "?")


def _said(value: object) -> str | None:
    """The text in a value that is none itself: of turns and of content in parts their texts; None where it has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(part, (dict, str)) for part in value):
        return None
    pieces = [part if isinstance(part, str) else _piece(part) for part in value]
    return "\n".join(pieces)


def _piece(part: Fields) -> str:
    """The text of a turn or of a part of its content; a picture has none but is something."""
    for key in ("content", "text", "value"):
        inner = part.get(key)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, list):
            return "\n".join(one["text"] for one in inner if isinstance(one, dict) and isinstance(one.get("text"), str))
    return "(other)" if "type" in part else ""
