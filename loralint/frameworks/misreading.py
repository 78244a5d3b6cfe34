"""Scalars that a loader takes for something else than they look like."""

from __future__ import annotations

from loralint.source.document import Node
from loralint.source.scalars import number_text, value

_NUMBERS = frozenset({"int", "float", "number"})
# Types of fields whose values can be misread; a text is taken as it stands.
MISREADABLE = _NUMBERS | {"bool"}
# What says no, and is a text that counts as true where nothing converts it.
DENIALS = frozenset({"false", "no", "off", "0"})


def misreading(node: Node, wanted: str, dialect: str, converts: bool) -> tuple[str, str, str, str] | None:
    """effect, message, replacement, rewrite."""
    got = value(node, dialect)
    if wanted == "bool" and not converts and isinstance(got, str) and got.lower() in DENIALS:
        return "changed", f"`{node.raw}` in quotes is a text, and every text counts as true", "false", "value"
    if wanted in _NUMBERS:
        if isinstance(got, str):
            number = number_text(got)
            if number is not None and not converts:
                from loralint.source.literal import scalar_text

                return (
                    "crash",
                    f"the loader reads `{node.raw}` as text, not as a number",
                    scalar_text(number, "yaml"),
                    "value",
                )
        elif (
            node.plain
            and isinstance(got, int)
            and not isinstance(got, bool)
            and node.raw.replace("_", "") != str(got)
            and number_text(node.raw) != got
        ):
            return "changed", f"YAML 1.1 reads `{node.raw}` as {got}", str(got), ""
    return None
