"""Releases of the frameworks: which ones a run is assumed to meet, and how versions compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from loralint.knowledge.data import part

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {"==": eq, "!=": ne, ">=": ge, "<=": le, ">": gt, "<": lt}
_OPERATORS = ("~=", *_COMPARE)
_DIGITS = "0123456789"
_MOST_DIGITS = 9
# Those that every framework asks for by itself; others are extras of some.
_LIBRARIES = ("transformers", "trl", "peft")


def assumed(framework: str, version: str | None = None) -> dict[str, str]:
    """Give the versions that a run of this framework is taken to use, itself included; empty if it is not known.

    Without `version` the release counts that golden/versions.yaml says a run is judged by: the newest known one, or the
    newest whose behaviour was run and not only read. Where a release accepts a range, the newest known release of
    the package within it counts, as a fresh installation would choose.
    """
    release = _release(framework, version)
    if release is not None:
        return dict(release["assumed"])
    return {framework: version} if version else {}


def fitting(framework: str, pinned: Mapping[str, str]) -> dict[str, str]:
    """Give the versions that a run is taken to use where these packages are pinned and the framework is not: those of
    the newest release known to ask for none of the libraries that is newer than what is pinned; empty if there is none.
    """
    too_new = _newer_than(_release(framework, None), pinned)
    if not too_new:
        return assumed(framework)
    data = part("versions")["frameworks"][framework]
    old = [
        version
        for version, entry in data["releases"].items()
        if parse(version) < parse(data["judged"])
        and too_new <= dict(entry["requires"]).keys()
        and not _newer_than(entry, pinned)
    ]
    return assumed(framework, max(old, key=parse)) if old else {}


def newest_below(package: str, bound: str) -> str:
    """Give the newest release of a package within an upper bound, as far as one is known; empty where none is.

    >>> newest_below("transformers", "<4.38.0"), newest_below("transformers", "<=4.29.2"), newest_below("peft", "<1")
    ('4.37', '4.29.2', '0.21.2')
    """
    if bound.startswith("<="):
        return bound.removeprefix("<=")
    numbers = parse(bound.removeprefix("<"))
    if len(numbers) > 1:
        return ".".join(map(str, (*numbers[:-1], numbers[-1] - 1)))
    data = part("versions")
    known = [*data["frameworks"].get(package, {"releases": {}})["releases"], newest(package) or ""]
    return max((version for version in known if satisfies(version, bound)), key=parse, default="")


def _newer_than(release: Mapping[str, Any] | None, pinned: Mapping[str, str]) -> set[str]:
    """The pinned libraries of which a release asks for newer ones."""
    asked = dict(release["requires"]) if release is not None else {}
    return {one for one in _LIBRARIES if one in asked and one in pinned and _newer(asked[one], pinned[one])}


def _newer(spec: str, version: str) -> bool:
    """Whether a spec asks for a newer release than this one."""
    lower = [clause.strip() for clause in spec.split(",") if clause.strip().startswith(("==", ">", "~="))]
    release = parse(version)
    return bool(release) and any(release < parse(clause.lstrip("=>~ ").removesuffix(".*")) for clause in lower)


def requires(framework: str, version: str | None = None) -> dict[str, str]:
    """Give the specifiers a known release states for its companions, such as {"transformers": "==5.20.1"}."""
    release = _release(framework, version)
    return dict(release["requires"]) if release else {}


def newest(package: str) -> str | None:
    """Give the newest known release of a framework or package."""
    data = part("versions")
    known = data["frameworks"].get(package)
    version: str | None = known["newest"] if known else data["packages"].get(package)
    return version


def forgotten(framework: str, version: str) -> bool:
    """Say whether a release is older than all of a trainer that are known, so that no list speaks of its keys. Of the
    libraries the lists say themselves what older releases take.

    >>> forgotten("openrlhf", "0.6.1"), forgotten("openrlhf", "0.11.2"), forgotten("transformers", "3.0")
    (True, False, False)
    """
    known = part("versions")["frameworks"].get(framework, {"releases": {}})["releases"]
    old = bool(known and parse(version)) and parse(version) < min(map(parse, known))
    return old and framework not in _LIBRARIES


def parse(text: str) -> tuple[int, ...]:
    """Give the release numbers, trailing zeros dropped; () where there are none.

    A pre-release or local suffix is passed over: 5.0.0.dev0 already behaves as 5.0.0 for our rules.

    >>> parse("4.46.0rc1"), parse("v2.6.0+cu124"), parse("main")
    ((4, 46), (2, 6), ())
    """
    numbers: list[int] = []
    for piece in text.strip().removeprefix("v").split("."):
        digits = piece[: len(piece) - len(piece.lstrip(_DIGITS))]
        if not digits or len(digits) > _MOST_DIGITS:
            break
        numbers.append(int(digits))
        if digits != piece:
            break
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


@lru_cache(maxsize=1024)
def satisfies(version: str, spec: str) -> bool:
    """Say whether `version` lies within every clause of `spec` (">=4.46,<5"); an unreadable version lies in none.

    Raises ValueError for a spec that is not a comma-separated list of ==, !=, >=, <=, >, < or ~= clauses.
    """
    release = parse(version)
    held = [_holds(release, clause.strip()) for clause in spec.split(",") if clause.strip()]
    return bool(release) and all(held)


def parse_targets(texts: Iterable[str]) -> dict[str, str]:
    """Read `--target` values such as `transformers=5.24`. Raises ValueError with a message for the user."""
    data = part("versions")
    known = {*data["frameworks"], *data["packages"]}
    targets: dict[str, str] = {}
    for text in texts:
        given, _, version = (piece.strip() for piece in text.replace("==", "=").partition("="))
        if not parse(version):
            raise ValueError(f"--target {text!r} is not NAME=VERSION, such as transformers=5.24")
        name = given.lower().replace("_", "-")
        if name not in known:
            raise ValueError(f"--target names {name!r}; known are {', '.join(sorted(known))}")
        if parse(targets.setdefault(name, version)) != parse(version):
            raise ValueError(f"--target gives {name} twice: {targets[name]} and {version}")
    return targets


def _release(framework: str, version: str | None) -> dict[str, Any] | None:
    known = part("versions")["frameworks"].get(framework, {"releases": {}})
    releases: dict[str, dict[str, Any]] = known["releases"]
    wanted = version or known.get("judged", "")
    if wanted in releases:
        return releases[wanted]
    release = parse(wanted)
    return next((entry for text, entry in releases.items() if parse(text) == release), None)


def _holds(release: tuple[int, ...], clause: str) -> bool:
    op = next((op for op in _OPERATORS if clause.startswith(op)), None)
    text = clause.removeprefix(op or "").strip()
    wildcard = text.endswith(".*")
    numbers = _numbers(text.removesuffix(".*"))
    if op is None or not numbers or (wildcard and op not in {"==", "!="}):
        raise ValueError(f"{clause!r} is not a version clause such as >=4.46")
    if wildcard:
        return (_padded(release, len(numbers)) == numbers) == (op == "==")
    if op == "~=":
        prefix = numbers[:-1] or numbers
        return release >= parse(text) and _padded(release, len(prefix)) == prefix
    return _COMPARE[op](release, parse(text))


def _numbers(text: str) -> tuple[int, ...]:
    """Give the release numbers as written, trailing zeros kept (==4.0.* is not ==4.*); () for anything else."""
    plain = text.replace(".", "").replace("+", "").isalnum()
    return _padded(parse(text), text.count(".") + 1) if plain and parse(text) else ()


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    return (release + (0,) * length)[:length]
