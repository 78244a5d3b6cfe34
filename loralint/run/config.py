"""The effective configuration of a run: every canonical field with its value and origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loralint.canonical.fields import FIELDS
from loralint.frameworks.table import SKIP, Entry, Layer, Look, Reader
from loralint.model import Value
from loralint.run.options import Options
from loralint.run.versions import Versions

_ABSENT = Value(None, origin="absent")


class Config:
    """Fields by name. Layers come in order of precedence, strongest first; what is absent is the framework's default."""

    __slots__ = ("_entries", "_memo", "_rows", "layers", "options", "reader", "versions")

    def __init__(self, reader: Reader, layers: tuple[Layer, ...], options: Options, versions: Versions) -> None:
        self.reader = reader
        self.layers = layers
        self.options = options
        self.versions = versions
        self._rows: Callable[[Config], Value | None] | None = None
        self._memo: dict[str, Value] = dict(_options(options))
        self._entries = _by_field(reader.table)

    def get(self, field: str) -> Value:
        """The effective value; origin "absent" when the framework has no such field or no default for it."""
        value = self._memo.get(field)
        if value is None:
            self._memo[field] = _ABSENT._replace(field=field)  # ends a default that asks for itself
            value = self._memo[field] = self._winner(field) or self._counted(field) or self._default(field)
        return value

    def add_rows(self, count: Callable[[Config], Value | None]) -> None:
        """How to learn the number of rows when nobody gave it; asked, with this config, only when a rule wants to know."""
        self._rows = count

    def key(self, field: str) -> str:
        """The dotted key of a field as written, else as a user of this framework would write it; "" for none."""
        value = self.get(field)
        return value.key or field

    def write(self, field: str, value: object) -> tuple[str, object] | None:
        """Key and value that set a field in this framework, preferring a key that the file already uses."""
        written = {value.key for layer in self.layers for value in layer.values.get(field, ())}
        entries = [entry for entry in self._entries.get(field, ()) if self._applies(entry)]
        for entry in sorted(entries, key=lambda entry: entry.key not in written):
            out = entry.write(value)
            if out is not SKIP:
                return entry.key, out
        return None

    def fields(self) -> Iterator[str]:
        """The fields that this framework has, and what the caller said of the run."""
        return iter([field for field in FIELDS if field in self._entries or self.get(field).origin == "option"])

    def _winner(self, field: str) -> Value | None:
        values = [value for layer in self.layers for value in layer.values.get(field, ())]
        if len(values) > 1:
            return values[0]._replace(shadowed=tuple(values[1:]))
        return values[0] if values else None

    def _counted(self, field: str) -> Value | None:
        return self._rows(self) if field == "run.rows" and self._rows is not None else None

    def _default(self, field: str) -> Value:
        look = Look(self.get, self.versions.satisfy)
        entries = [entry for entry in self._entries.get(field, ()) if self._applies(entry)]
        key = next((entry.key for entry in entries if entry.write(_probe(field)) is not SKIP), "")
        key = key or (entries[0].key if entries else "")
        for entry in entries:
            value = entry.default(look) if callable(entry.default) else entry.default
            if value is not SKIP:
                return Value(value, origin="default", key=key, source=self.versions.title(self.reader), field=field)
        return _ABSENT._replace(key=key, field=field)

    def _applies(self, entry: Entry) -> bool:
        return not entry.when or self.versions.satisfy(entry.when)


# By the identity of a table, which is a constant of its module: tables are long and files are many.
_TABLES: dict[int, dict[str, list[Entry]]] = {}


def _by_field(table: tuple[Entry, ...]) -> dict[str, list[Entry]]:
    rows = _TABLES.get(id(table))
    if rows is None:
        rows = _TABLES[id(table)] = {}
        for entry in table:
            rows.setdefault(entry.field, []).append(entry)
    return rows


def _probe(field: str) -> object:
    """A value to ask a row's way back with, only to learn which key it would use."""
    return {"bool": True, "int": 4}.get(FIELDS[field].type, "")


def _options(options: Options) -> Iterator[tuple[str, Value]]:
    if options.rows is not None:
        yield "run.rows", Value(options.rows, origin="option", source="--rows", field="run.rows", key="--rows")
    if options.gpu:
        yield "run.gpu", Value(options.gpu, origin="option", source="--gpu", field="run.gpu", key="--gpu")


