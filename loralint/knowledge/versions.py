"""Releases of the frameworks: which ones a run is assumed to meet, and how versions compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from operator import eq, ge, gt, le, lt, ne

from loralint.knowledge.data import part

_RELEASE = re.compile(r"\s*v?([0-9]{1,9}(?:\.[0-9]{1,9})*)")
_CLAUSE = re.compile(r"(==|!=|~=|>=|<=|>|<)\s*v?([0-9]+(?:\.[0-9]+)*)(\.\*)?[A-Za-z0-9.+]*")
_TARGET = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*?)\s*==?\s*(\S+)\s*")
_COMPARE: dict[str, Callable[[object, object], bool]] = {"==": eq, "!=": ne, ">=": ge, "<=": le, ">": gt, "<": lt}


def assumed(framework: str, version: str | None = None) -> dict[str, str]:
    """Give the versions that a run of this framework is taken to use, itself included; empty if it is not known.

    Without `version` the newest known release counts. Where a release accepts a range, the newest known release of
    the package within it counts, as a fresh installation would choose.
    """
    known = part("versions")["frameworks"].get(framework)
    if known is None:
        return {}
    release = known["releases"].get(version or known["newest"])
    return dict(release["assumed"]) if release else {framework: str(version)}


def requires(framework: str, version: str | None = None) -> dict[str, str]:
    """Give the specifiers a known release states for its companions, such as {"transformers": "==5.20.1"}."""
    known = part("versions")["frameworks"].get(framework)
    release = known and known["releases"].get(version or known["newest"])
    return dict(release["requires"]) if release else {}


def newest(package: str) -> str | None:
    """Give the newest known release of a framework or package."""
    data = part("versions")
    known = data["frameworks"].get(package)
    return known["newest"] if known else data["packages"].get(package)


def parse(text: str) -> tuple[int, ...]:
    """Give the release numbers, trailing zeros dropped; () where there are none.

    A pre-release or local suffix is passed over: 5.0.0.dev0 already behaves as 5.0.0 for our rules.

    >>> parse("4.46.0rc1"), parse("v2.6.0+cu124"), parse("main")
    ((4, 46), (2, 6), ())
    """
    match = _RELEASE.match(text)
    if match is None:
        return ()
    numbers = [int(number) for number in match[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def satisfies(version: str, spec: str) -> bool:
    """Say whether `version` lies within every clause of `spec` (">=4.46,<5"); an unreadable version lies in none.

    Raises ValueError for a spec that is not a comma-separated list of ==, !=, >=, <=, >, < or ~= clauses.
    """
    clauses = [_clause(text) for text in spec.split(",") if text.strip()]
    release = parse(version)
    return bool(release) and all(_holds(release, *clause) for clause in clauses)


def parse_targets(texts: Iterable[str]) -> dict[str, str]:
    """Read `--target` values such as `transformers=5.24`. Raises ValueError with a message for the user."""
    data = part("versions")
    known = {*data["frameworks"], *data["packages"]}
    targets: dict[str, str] = {}
    for text in texts:
        match = _TARGET.fullmatch(text)
        if match is None or not parse(match[2]):
            raise ValueError(f"--target {text!r} is not NAME=VERSION, such as transformers=5.24")
        name = match[1].lower().replace("_", "-")
        if name not in known:
            raise ValueError(f"--target names {name!r}; known are {', '.join(sorted(known))}")
        if parse(targets.setdefault(name, match[2])) != parse(match[2]):
            raise ValueError(f"--target gives {name} twice: {targets[name]} and {match[2]}")
    return targets


def _clause(text: str) -> tuple[str, str, bool]:
    match = _CLAUSE.fullmatch(text.strip())
    if match is None or (match[3] and match[1] not in ("==", "!=")):
        raise ValueError(f"{text.strip()!r} is not a version clause such as >=4.46")
    return match[1], match[2], bool(match[3])


def _holds(release: tuple[int, ...], op: str, text: str, wildcard: bool) -> bool:  # noqa: FBT001 - one clause's parts
    numbers = tuple(int(number) for number in text.split("."))
    if wildcard:
        return (_padded(release, len(numbers)) == numbers) == (op == "==")
    if op == "~=":
        prefix = numbers[:-1] or numbers
        return release >= parse(text) and _padded(release, len(prefix)) == prefix
    return _COMPARE[op](release, parse(text))


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    return (release + (0,) * length)[:length]
