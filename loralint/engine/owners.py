"""CODEOWNERS: whom a file belongs to. The last pattern that matches counts, also one that names nobody."""

from __future__ import annotations

# GitHub looks for it in this order and takes the first.
PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_LENGTH = 3 * 1024 * 1024  # GitHub reads no larger one


def owners(text: str, file: str) -> tuple[str, ...]:
    """The owners of a file, which is named from the repository's top with /."""
    found: tuple[str, ...] = ()
    for line in text[:_LENGTH].splitlines():
        words = line.partition(" #")[0].split()
        if words and not words[0].startswith(("#", "!", "[")) and _matches(words[0], file):
            found = tuple(words[1:])
    return found


def _matches(pattern: str, file: str) -> bool:
    """As a .gitignore would, but that `docs/*` does not reach into folders of docs."""
    from loralint.source.walk import ignore_spec

    if pattern.endswith("/*") and file.count("/") != pattern.lstrip("/").count("/"):
        return False
    return ignore_spec([pattern]).match_file(file)
