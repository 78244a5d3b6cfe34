"""Which versions of the framework and its packages a run is judged by, and whether anybody pinned them."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from loralint.canonical.fields import FIELDS
from loralint.frameworks.table import SKIP, Entry, Reader
from loralint.knowledge.versions import assumed, fitting, newest_below, satisfies
from loralint.model import Value

# behind a package: the spec also holds where nobody pinned a version
MAYBE = "?"


class Rows(NamedTuple):
    """The rows of one field. key: as its users write it. constant: its default, None when that has to be computed."""

    live: tuple[Entry, ...]
    key: str
    constant: Value | None


class Versions:
    """Package -> version: pinned by the caller, else what the framework's newest known release pins that goes with
    them, or the newest below a bound (`<4.38`), which nobody pinned either.
    """

    __slots__ = ("_answers", "_assumed", "_rows", "pinned")

    def __init__(self, framework: str, pinned: Mapping[str, str]) -> None:
        bounds = {package: version for package, version in pinned.items() if version.startswith("<")}
        self.pinned = {package: version for package, version in pinned.items() if package not in bounds}
        self._assumed = _assumed(framework, self.pinned, bounds)
        self._answers: dict[str, bool] = {}
        self._rows: dict[tuple[int, str], Rows] = {}

    def of(self, package: str) -> str:
        """The version in force; empty when none is known."""
        return self.pinned.get(package) or self._assumed.get(package, "")

    def satisfy(self, spec: str) -> bool:
        """Whether "package<spec>" holds, such as "transformers>=4.46,<5". False for a package without a version.

        "transformers?<5" holds as well where nobody pinned a version, since the run may then meet any.
        """
        answer = self._answers.get(spec)
        if answer is None:
            package, bounds = split(spec)
            if package.endswith(MAYBE):
                package = package.removesuffix(MAYBE)
                if package not in self.pinned:
                    self._answers[spec] = True
                    return True
            version = self.of(package)
            answer = self._answers[spec] = bool(version) and satisfies(version, bounds)
        return answer

    def rows(self, reader: Reader, field: str) -> Rows:
        """The rows of a field that hold at these versions, and what they say of it; kept for the next file."""
        found = self._rows.get((id(reader.table), field))
        if found is None:
            every = by_field(reader.table).get(field, ())
            live = tuple(entry for entry in every if not entry.when or self.satisfy(entry.when))
            key = next((entry.key for entry in live if entry.write(_example(field)) is not SKIP), "")
            key = key or (live[0].key if live else "")
            found = self._rows[id(reader.table), field] = Rows(live, key, self._constant(reader, live, key, field))
        return found

    def _constant(self, reader: Reader, live: tuple[Entry, ...], key: str, field: str) -> Value | None:
        """The default, when it depends on nothing else in the file."""
        default = next((entry.default for entry in live if entry.default is not SKIP), SKIP)
        if callable(default):
            return None
        if default is SKIP:
            return Value(None, "absent", key, field=field)
        return Value(default, "default", key, source=self.title(reader), field=field)

    def title(self, reader: Reader) -> str:
        """`axolotl 0.19.0`, the source of a default."""
        return f"{reader.title} {self.of(reader.packages[0])}".strip()


def _assumed(framework: str, pinned: Mapping[str, str], bounds: Mapping[str, str]) -> dict[str, str]:
    own = pinned.get(framework) or (newest_below(framework, bounds[framework]) if framework in bounds else "")
    found = assumed(framework, own) if own else fitting(framework, pinned)
    for package, bound in bounds.items():
        if package in found and not satisfies(found[package], bound):
            found[package] = newest_below(package, bound)
    return found


@lru_cache(maxsize=64)
def _shared(framework: str, pinned: tuple[tuple[str, str], ...]) -> Versions:
    return Versions(framework, dict(pinned))


def versions_of(framework: str, pinned: Mapping[str, str]) -> Versions:
    """One object for all files with the same pins, so that each spec is compared once; "" is no pin."""
    return _shared(framework, tuple(sorted(pin for pin in pinned.items() if pin[1])))


# By the identity of a table, which is a constant of its module: tables are long and files are many.
_TABLES: dict[int, dict[str, list[Entry]]] = {}


def by_field(table: tuple[Entry, ...]) -> dict[str, list[Entry]]:
    """A table's rows by their field, in the table's order."""
    rows = _TABLES.get(id(table))
    if rows is None:
        rows = _TABLES[id(table)] = {}
        for entry in table:
            rows.setdefault(entry.field, []).append(entry)
    return rows


def _example(field: str) -> object:
    """A value to ask a row's way back with, only to learn which key it would use."""
    return {"bool": True, "int": 4}.get(FIELDS[field].type, "")


@cache
def split(spec: str) -> tuple[str, str]:
    """`transformers>=4.46,<5` -> ("transformers", ">=4.46,<5")."""
    end = next((index for index, char in enumerate(spec) if char in "<>=!"), len(spec))
    return spec[:end].strip(), spec[end:]
