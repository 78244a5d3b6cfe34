"""Whether the turns of a conversation come in an order that a chat template takes."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise


@lru_cache(maxsize=4096)
def faults_of(roles: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(kind of fault, detail) of these speakers, a prefix "?" marking one without a usual name.

    Most rows of a file share a handful of orders, so that each is judged once.
    """
    if not roles:
        return (("data-no-answer-turn", "no turn at all"),)
    found: list[tuple[str, str]] = [
        ("data-unknown-role", role[1:] or "no text") for role in dict.fromkeys(roles) if role.startswith("?")
    ]
    if found:
        return tuple(found)
    if "assistant" not in roles:
        found.append(("data-no-answer-turn", "no turn of the assistant"))
    if roles.count("system") > 1:
        found.append(("data-system-turn", "several system messages"))
    elif "system" in roles[1:]:
        found.append(("data-system-turn", "a system message that is not the first"))
    order = "" if "tool" in roles or len(found) > 0 else _order([role for role in roles if role != "system"])
    if order:
        found.append(("data-turn-order", order))
    return tuple(found)


def _order(roles: list[str]) -> str:
    """What is wrong with speakers of which there are two kinds; empty where they take turns."""
    if roles[0] == "assistant":
        return "the assistant speaks first"
    if any(one == other for one, other in pairwise(roles)):
        return "the same speaker twice in a row"
    return "the user has the last word" if roles[-1] == "user" else ""
