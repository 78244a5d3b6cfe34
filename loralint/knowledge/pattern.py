"""Regular expressions that come from configs: matched by RE2, whose time is linear in the text, whatever they say."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_LONGEST = 20_000
_MEMORY = 8 << 20  # bytes that one expression may take, RE2's own default


class Unmatchable(Exception):  # noqa: N818 - not an error: the expression stays unchecked, and why
    """Why an expression cannot be tried here."""


@lru_cache(maxsize=256)
def whole(pattern: str) -> Callable[[str], bool]:
    """Give the test whether an expression matches a text from end to end, as `re.fullmatch` would say.

    Raises Unmatchable for what RE2 does not know (look-around, references back) and for what is no expression at all.
    """
    if len(pattern) > _LONGEST:
        raise Unmatchable("the regular expression is too long to be tried")
    try:
        import re2
    except ImportError as error:
        raise Unmatchable(
            "google-re2 is not installed, and no regular expression of a config runs without it"
        ) from error
    options = re2.Options()
    options.log_errors, options.max_mem = False, _MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise Unmatchable("RE2 cannot read the regular expression") from error

    def matches(text: str) -> bool:
        return compiled.fullmatch(text) is not None

    return matches
