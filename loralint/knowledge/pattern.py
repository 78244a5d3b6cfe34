"""Regular expressions that come from configs: matched by RE2, whose time is linear in the text, whatever they say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

_LONGEST = 20_000
_TEXT_ENDS = re.compile(r"\\[AzZ]")  # anchors of a text, which a line has none of
_MEMORY = 8 << 20  # bytes that one expression may take, RE2's own default


class Unmatchable(Exception):  # noqa: N818 - not an error: the expression stays unchecked, and why
    """Why an expression cannot be tried here."""


@lru_cache(maxsize=256)
def whole(pattern: str) -> Callable[[str], bool]:
    """Give the test whether an expression matches a text from end to end, as `re.fullmatch` would say.

    Raises Unmatchable for what RE2 does not know (look-around, references back) and for what is no expression at all.
    """
    compiled = _compiled(pattern)

    def matches(text: str) -> bool:
        return compiled.fullmatch(text) is not None

    return matches


@lru_cache(maxsize=256)
def lines(pattern: str) -> Callable[[str], Iterator[object]]:
    """Give the search for the lines of a text, none of them empty, that an expression matches whole: an item for each.

    Thousands of short lines in one search cost less than a hundred texts one by one. Raises Unmatchable, as `whole`.
    """
    matches = whole(pattern)
    if _TEXT_ENDS.search(pattern):
        return lambda text: (line for line in text.split("\n") if matches(line))
    compiled = _compiled(f"(?m)^(?:{pattern})$", never_nl=True)

    def found(text: str) -> Iterator[object]:
        return iter(compiled.finditer(text))

    return found


def _compiled(pattern: str, *, never_nl: bool = False) -> Any:
    if len(pattern) > _LONGEST:
        raise Unmatchable("the regular expression is too long to be tried")
    try:
        import re2
    except ImportError as error:
        raise Unmatchable(
            "google-re2 is not installed, and no regular expression of a config runs without it"
        ) from error
    options = re2.Options()
    options.log_errors, options.max_mem, options.never_nl, options.never_capture = False, _MEMORY, never_nl, True
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise Unmatchable("RE2 cannot read the regular expression") from error
