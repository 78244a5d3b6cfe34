"""What a user of kubectl reads: warnings, of which the server shows 4,096 characters, and the text of a refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from loralint.source.clean import clean
from loralint.webhook.judging import Told

# Measured at a real API server: all warnings together are cut at 4,096 characters without a word, each at 256.
MOST_WARNINGS, WARNING_LENGTH = 8, 230
# Of which the name of the object may take so much.
_NAMED = 80
# Refusals are shown whole; nobody reads more.
MOST_LINES, REFUSAL_LENGTH = 20, 8000
_WHAT = {"S": "will stop or spoil the training", "A": "to look at", "B": "small"}
# What is said where nothing was judged; reasons without a text are nobody's business.
NOT_CHECKED = {
    "too-large": "the object has more text than is checked here; run `loralint check` on the file",
    "busy": "too many large configs at once; run `loralint check` on the file",
    "deadline": "the time of the review was over; run `loralint check` on the file",
    "crashed": "the check ended unexpectedly; run `loralint check` on the file",
    "internal": "an internal error of loralint, which its log names; run `loralint check` on the file",
}


def warning(text: str, what: str = "") -> str:
    """A text as one warning: one line of what HTTP headers take. what: the object, as `named` says it.

    kubectl shows equal warnings once, so that of two objects of one file only the first would seem to be meant.
    """
    return clean(f"loralint: {what}: {text}" if what else f"loralint: {text}", WARNING_LENGTH)


def named(kind: str, name: str) -> str:
    """KIND/NAME, a long one without its middle; "" of an object that nobody had the time to read."""
    whole = clean(f"{kind}/{name}", 400) if kind else ""
    return whole if len(whole) <= _NAMED else f"{whole[: _NAMED // 2]}…{whole[1 - _NAMED // 2 :]}"


def warnings(found: list[Told], *, what: str = "", tail: Iterable[str] = (), enforced: bool = False) -> list[str]:
    """The summary first, then the gravest. what: the object; tail: why a part of it was not checked. enforced: what
    stands here is old or mild.
    """
    notes = [warning(f"not checked: {one}", what) for one in dict.fromkeys(tail)][:MOST_WARNINGS]
    if not found:
        return notes
    shown = found[:MOST_WARNINGS]
    hidden = f", {len(shown)} shown" if len(shown) < len(found) else ""
    old = " (nothing new, so it is let through)" if enforced and found[0].tier == "S" else ""
    return [warning(f"{_counts(found)}{hidden}{old}", what), *(_line(one, what) for one in shown), *notes]


def _counts(found: list[Told]) -> str:
    counts = Counter(one.tier for one in found)
    several = f"{len(found)} finding{'s' * (len(found) != 1)}"
    return f"{several}: " + ", ".join(f"{counts[tier]} {_WHAT[tier]}" for tier in "SAB" if counts[tier])


def _line(one: Told, what: str) -> str:
    said = f"{one.rule} {f'{what}: ' if what else ''}{_place(one)}{one.message}"
    whole = f"{said}; {one.help}" if one.help else said
    return clean(whole if len(whole) <= WARNING_LENGTH else said, WARNING_LENGTH)


def _place(one: Told) -> str:
    if not one.place:
        return ""
    return f"{clean(one.place, 60)}:{one.line} " if one.line else f"{clean(one.place, 60)} "


def refusal(found: list[Told], what: str) -> str:
    """Why an object is refused: what will happen, then each fault with what to write. what: the object's name."""
    lines = [f"loralint: {clean(what, 150)} is refused: {_counts(found)}", *_faults(found[:MOST_LINES])]
    if len(found) > MOST_LINES:
        lines.append(f"{len(found) - MOST_LINES} more are not shown")
    lines.append("`loralint explain RULE` says why; docs/webhook.md how to let it through.")
    text = "\n".join(lines)
    return text if len(text) <= REFUSAL_LENGTH else text[: REFUSAL_LENGTH - 1] + "…"


def _faults(found: list[Told]) -> Iterator[str]:
    for one in found:
        yield f"{one.rule} {_place(one)}{clean(one.message, 400)}"
        if one.help:
            yield f"  {clean(one.help, 400)}"
