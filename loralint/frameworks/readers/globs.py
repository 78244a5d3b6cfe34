"""Module patterns with `*`, as NVIDIA's trainers match them against a module's whole path.

What ends in a plain name after a leading `*` says what the name alone says to PEFT and becomes that name; `*` alone is
every linear layer; anything else becomes a regular expression over whole paths.
"""

from __future__ import annotations

import re

from loralint.frameworks.table import SKIP
from loralint.model import Unknown

_PLAIN = re.compile(r"\*?\.?([A-Za-z][\w.]*)")


def read_globs(patterns: object) -> object:
    """Read one pattern or a list of them as canonical targets; none says nothing."""
    several = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(several, list) or not several:
        return SKIP
    if any(isinstance(one, Unknown) for one in several):
        return several
    if "*" in several:
        return "all-linear"
    names = [_PLAIN.fullmatch(str(one)) for one in several]
    if all(names):
        return [match[1] for match in names if match]
    return "|".join(re.escape(str(one)).replace(r"\*", ".*") for one in several)


def write_globs(targets: object) -> object:
    """Write names so that they match wherever they stand; a regular expression cannot be said."""
    if not isinstance(targets, list) or not all(isinstance(name, str) for name in targets):
        return SKIP
    return [f"*.{name}" for name in targets]


def all_but(patterns: object) -> object:
    """Read the exclusions alone as every linear layer, of which they take some away."""
    return "all-linear" if patterns else SKIP
