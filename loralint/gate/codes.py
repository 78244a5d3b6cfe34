"""What the gate finds by itself, beside the rules: it compares commits, which no rule sees."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """A finding's name and tier, and why it counts."""

    name: str
    tier: str
    why: str


CODES = {
    "LG001": Code(
        "no-longer-judged",
        "S",
        "A config that the base judges would no longer be: renamed, padded beyond what is read, made unparsable or "
        "unrecognisable, turned into a link or a submodule. What nobody judges can hold anything. Deleting it is fine.",
    ),
    "LG002": Code(
        "protected-file",
        "A",
        "The settings protect this file: what it says decides how every config is judged, so two people approve its "
        "changes.",
    ),
    "LG003": Code(
        "unsigned-commit",
        "S",
        "The settings want commits that change configs to be signed. Anyone can write any name and address into an "
        "unsigned one.",
    ),
}
