"""Secrets that only a name tells: HF_TOKEN=x, --hub_token x, api_key: x, and the same value wherever else it is shown.

A match starts at the last word of a name, and what follows is bounded, so the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from loralint.source.secrets import MASK, VARIABLE, VARIABLE_AFTER, credential, key_of_secret

_PART = r"\"[^\"\n]{0,4000}\"|'[^'\n]{0,4000}'|[^\s,}\])\"'(\[{;&|<>`\\=]{1,4000}={0,2}"
_JOINED = r"[ \t]{0,8}(?:\+\s{0,80})?(?=[\"'])|\n[ \t]{1,80}(?=[\"'][^\"'\n]{0,400}[\"']\s{0,80}[\n,)])|(?<=[\"'])"
_VALUE = rf"(?P<value>\\?(?:{_PART})(?:(?:{_JOINED})(?:{_PART})){{0,20}})"
_SET = (
    r"\\?[\"']?\]?[ \t]{0,8}(?::[ \t]{0,8}(?:str|Optional\[str\]|str \| None)[ \t]{0,8}=|:[-=]|[:=])"
    r"[ \t]{0,8}(?:\(\s{0,80})?"
    r"(?:(?:[|>][+-]?)?\r?\n[ \t]{0,80}(?:-[ \t]{1,8}|(?=[\"'])|(?<=[ \t]{2})(?=[^\s:]{3,200}\r?(?:\n|$))))?"
)
_WORD = re.compile(r"(?i)(?:token|key|secret|passw(?:or)?d|credentials)(?![\w-])")
_BEHIND = re.compile(
    rf"(?i)(?:(?P<set>{_SET})|(?P<call>\\?[\"'],[ \t]{{0,8}})(?=\\?[\"'])"
    r"|(?P<flag>[\"']?(?:[ \t]{0,8},\s{0,80}|[ \t]{0,8}\\?\r?\n[ \t]{0,80}(?:-[ \t]{1,8})?|[ \t]{1,8})))"
    rf"{_VALUE}(?![(\[\w])"
)
_PLAIN = re.compile(
    r"(?i)(?:none|null|true|false|yes|no|str|optional|any|bytes|~|\d{0,3}|.{0,2}|[$<*{&!%|>?-].*|(?-i:[a-z_]+(?:\.[a-z_]+)+)"
    r"|[\w.]*(?:token|key|secret|password|credentials)|.*:)"
)


def plain(value: str) -> bool:
    """Whether a value under such a key is no secret: nothing, a switch, a reference, a name."""
    return _PLAIN.fullmatch(value) is not None


def hide_named(text: str) -> str:
    """Mask what stands behind such names; quotes, breaks and all else stay."""
    return _replaced(text, lambda value: re.sub(r"[^\s\"'+\\]+(?:[ \t]+[^\s\"'+\\]+)*", MASK, value))


def values(text: str) -> set[str]:
    """What stands behind names of secrets in a file and is telling enough to be looked for elsewhere."""
    found = set(_named(text))
    if "value" in text and "name" in text:
        found |= {one[4] for one in re.finditer(VARIABLE, text) if credential(one[2])}
        found |= {one[2] for one in re.finditer(VARIABLE_AFTER, text) if credential(one[4])}
    return set(filter(telling, found))


def _named(text: str) -> Iterator[str]:
    """The values behind such names, pieces put together."""
    for one in _matches(text):
        yield re.sub(r"[\"']?\s*\+?\s*[\"']", "", one["value"]).strip("\\\"'")


def telling(value: str) -> bool:
    """Whether a secret is no word that may stand anywhere, so that it can be looked for in other places."""
    return len(value) >= 8 and not value.isalpha() and not value.isdigit() and not plain(value)


def hide(text: str, known: Iterable[str]) -> str:
    """Mask these values wherever they stand."""
    told = sorted(known, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, told)), MASK, text) if told else text


def _replaced(text: str, change: Callable[[str], str]) -> str:
    parts, last = [], 0
    for one in _matches(text):
        parts += [text[last : one.start("value")], change(one["value"])]
        last = one.end("value")
    return "".join([*parts, text[last:]]) if parts else text


def _matches(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while (word := _WORD.search(text, at)) is not None:
        at = word.end()
        front = re.search(r"[\w-]*$", text[max(0, word.start() - 80) : word.start()])
        name = f"{front[0] if front else ''}{word[0]}"
        one = _BEHIND.match(text, at) if key_of_secret(name) else None
        if one is not None and _secret(name, text[max(0, at - 120) : at - len(name)], one):
            at = one.end()
            yield one


def _secret(name: str, before: str, one: re.Match[str]) -> bool:
    """Whether what stands behind a name is its value. before: the text in front of the name."""
    value = one["value"].strip("\\\"'")
    if plain(value):
        return False
    if one["set"] is not None:
        return True
    if one["call"] is not None and not name.startswith("--"):
        return before.rstrip("\\\"'").endswith("(")
    return name.startswith("--") and not (value.isalpha() and value.islower() and len(value) < 8)
