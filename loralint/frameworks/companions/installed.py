"""Versions that a shell script installs before it trains: `pip install "diffusers==0.25.0"`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loralint.source.command import Command

_PIP = re.compile(r"pip(?:3(?:\.\d+)?)?")
_EXACT = re.compile(r"([A-Za-z0-9][\w.-]{0,100})(?:\[[^\]]{0,200}\])?\s*===?\s*v?(\d[\w.+!-]{0,60})")
_NEWER = re.compile(r"([A-Za-z0-9][\w.-]{0,100})(?:\[[^\]]{0,200}\])?\s*(?:>=?|~=)\s*\d[\w.+!,<=* -]{0,80}")
_NAME = re.compile(r"([A-Za-z0-9][\w.-]{0,100})(?:\[[^\]]{0,200}\])?")
# The block of a script's comments that says what `uv run` installs for it, the list in it, and the texts in that.
_OPENS, _ENDS, _LONGEST = "# /// script", "\n# ///", 16 * 1024
_LISTED = re.compile(
    r"(?m)^#[ ]dependencies[ \t]*=[ \t]*\[([^\[\]]{0,8000}(?:\[[^\[\]]{0,200}\][^\[\]]{0,8000}){0,100})\]"
)
_QUOTED = re.compile(r"[\"']([^\"'\r\n]{1,300})[\"']")
_FIRST = 8  # words in which `pip install` may stand: `python -m pip install`, `uv pip install`


def installed(commands: Iterable[Command]) -> dict[str, str]:
    """Package -> exact version, of the commands that run whatever happens; the last one counts.

    "" stands for a package that is asked for by a lower bound or by its name alone: it is installed here, so that what
    a file fixes elsewhere need not be what runs.
    """
    found: dict[str, str] = {}
    for command in commands:
        words = [word.text for word in command.words if isinstance(word.text, str)]
        names = [word.rpartition("/")[2] for word in words[:_FIRST]]
        if command.sure and "install" in names and any(_PIP.fullmatch(name) for name in names):
            asked_for(words, found)
    return found


def asked_for(words: Iterable[str], found: dict[str, str]) -> dict[str, str]:
    """The same with what these words ask for, as `pip install` takes them."""
    for word in words:
        match = _EXACT.fullmatch(word) or _NEWER.fullmatch(word) or _NAME.fullmatch(word)
        if match is not None:
            name = re.sub(r"[-_.]+", "-", match[1]).lower()
            found[name] = match[2] if match.re is _EXACT else found.get(name, "") if match.re is _NAME else ""
    return found


def declared(text: str) -> dict[str, str]:
    """The same of the comments in which a script says what it is run with."""
    start = text.find(_OPENS)
    end = text.find(_ENDS, start, start + _LONGEST) if start >= 0 else -1
    listed = _LISTED.search(text, start, end) if end >= 0 else None
    return asked_for(_QUOTED.findall(listed[1]), {}) if listed is not None else {}
