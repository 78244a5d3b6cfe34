"""The effective configuration of a run: every canonical field with its value and origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loralint.canonical.fields import FIELDS
from loralint.frameworks.table import SKIP, Layer, Look, Reader
from loralint.model import Span, Unknown, Value
from loralint.run.options import Options
from loralint.run.versions import Versions, by_field
from loralint.source.document import Document

_ABSENT = Value(None, origin="absent")
# Between a key and why it may stand elsewhere, in the reason for what is not known of it.
MISSING = " is not in this file: "


class Config:
    """Fields by name. Layers come strongest first; what is absent is the framework's default.

    reader: the framework's own, whose defaults hold; companion files have readers of theirs. open: why what stands in
    no layer may be set all the same ("" when the layers are all there is).
    """

    __slots__ = ("_later", "_memo", "_open", "_whole", "layers", "options", "reader", "versions")

    def __init__(
        self,
        reader: Reader,
        layers: tuple[Layer, ...],
        options: Options,
        versions: Versions,
        open: str = "",  # noqa: A002
    ) -> None:
        self.reader = reader
        self.layers = layers
        self.options = options
        self.versions = versions
        self._later: dict[str, Callable[[Config], Value | None]] = {}
        alone = layers[0].values if len(layers) == 1 else {}  # what no other layer and no other key can hide
        self._memo: dict[str, Value] = {field: values[0] for field, values in alone.items() if len(values) == 1}
        self._memo.update(_options(options))
        self._open: str | None = open or None
        self._whole = bool(open)  # the reason is one for all that is absent

    def get(self, field: str) -> Value:
        """The effective value; origin "absent" when the framework has no such field or no default for it."""
        value = self._memo.get(field)
        if value is None:
            self._memo[field] = _ABSENT  # ends a default that asks for itself
            value = self._memo[field] = self._winner(field) or self._learned(field) or self._default(field)
        return value

    def version(self, package: str) -> str:
        """The version of a package that is in force; empty when none is known."""
        return self.versions.of(package)

    @property
    def main(self) -> Layer:
        """The layer that the framework's own reader read, where the run is described; a companion stands for none."""
        own = [layer for layer in self.layers if layer.reader.name == self.reader.name and layer.kind != "flags"]
        return own[0] if own else self.layers[0]

    def home(self, field: str) -> Layer:
        """The layer that sets a field now, else the one where a user would add it: flags, where the script has none."""
        file = span.file if (span := self.get(field).span) is not None else ""
        with_it = [layer for layer in self.layers if field in layer.values]
        if not with_it and not self._takes(self.main, field):
            with_it = [layer for layer in self.layers if self._takes(layer, field)]
            with_it.sort(key=lambda layer: layer.kind != "script")  # others only say what its arguments are
        return next((one for one in with_it if one.document.file == file), with_it[0] if with_it else self.main)

    def _takes(self, layer: Layer, field: str) -> bool:
        return field not in layer.without and bool(self.versions.rows(layer.reader, field).key)

    def holder(self, span: Span | None) -> Document:
        """The part of the run that a place lies in, the innermost: a command line or a config in a file with more."""
        parts = [layer.document for layer in self.layers if span is not None and layer.document.file == span.file]
        around = [one for one in parts if span and one.root and one.root.start <= span.start <= one.root.end]
        around.sort(key=lambda one: one.root.end - one.root.start if one.root else 0)
        return next(iter([*around, *parts]), self.main.document)

    def add(self, field: str, learn: Callable[[Config], Value | None]) -> None:
        """How to learn what nobody said, such as the number of rows; asked only when a rule wants to know."""
        self._later[field] = learn

    def key(self, field: str) -> str:
        """The dotted key of a field as written, else as a user of this framework would write it; its name for none."""
        return self._key(field) or field

    def has(self, field: str) -> bool:
        """Whether this framework has a key for a field."""
        return bool(self._key(field))

    def _key(self, field: str) -> str:
        value = self.get(field)
        return value.key or (self.versions.rows(self.home(field).reader, field).key if self.layers else "")

    def write(self, field: str, value: object) -> tuple[str, object] | None:
        """Key and value that set a field in this framework, preferring a key that the file already uses."""
        if self.reader.uncombine is not None:
            value = self.reader.uncombine(field, value, self._look())
            if value is SKIP:
                return None
        written = {value.key for layer in self.layers for value in layer.values.get(field, ())}
        entries = self.versions.rows(self.home(field).reader if self.layers else self.reader, field).live
        if self.reader.guessed:  # what stands in a mapping of the author's own can be changed there, but none added
            entries = tuple(entry._replace(key=key) for key in written if "[" not in key for entry in entries)
        for entry in sorted(entries, key=lambda entry: entry.key not in written):
            out = entry.write(value)
            if out is not SKIP:
                return entry.key, out
        return None

    def written(self) -> frozenset[str]:
        """The fields that the run's files or its caller set."""
        return frozenset(field for layer in self.layers for field in layer.values)

    def constant(self, field: str) -> Value | None:
        """What a field is in every file that does not set it; None where that depends on the file or the caller."""
        if self.reader.partial or field.startswith("run."):
            return None
        return self.versions.rows(self.reader, field).constant

    def fields(self) -> Iterator[str]:
        """The fields that this framework has, and what companions and the caller said of the run."""
        rows = by_field(self.reader.table)
        return iter([field for field in FIELDS if field in rows or self.get(field).origin not in ("absent", "default")])

    @property
    def open(self) -> str:
        """Why what is absent here may stand elsewhere; empty when this is the whole config."""
        if self._open is None:
            partial = self.reader.partial
            own = [layer.document for layer in self.layers if layer.reader.partial is partial]
            self._open = next((why for document in own if partial and (why := partial(document))), "")
        return self._open

    def _winner(self, field: str) -> Value | None:
        values = self.layers[0].values.get(field, ()) if self.layers else ()
        for layer in self.layers[1:]:
            values = (*values, *layer.values.get(field, ()))
        if len(values) > 1:
            return values[0]._replace(shadowed=values[1:])
        return values[0] if values else None

    def _learned(self, field: str) -> Value | None:
        return self._later[field](self) if field in self._later else None

    def _look(self) -> Look:
        """Made anew each time: kept, it would hold the config that holds it, and keep every file alive."""
        return Look(self.get, self.versions.satisfy)

    def _default(self, field: str) -> Value:
        entries, key, constant = self.versions.rows(self.reader, field)
        asked = self._open or self.reader.partial
        reason = self.open if asked and any(entry.key for entry in entries) else ""
        if reason:  # neither set nor default nor absent, as far as this file tells
            why = reason if self._whole else f"`{key or field}`{MISSING}{reason}"
            return Value(Unknown(why), "derived", key, field=field)
        if constant is not None:
            return constant
        for entry in entries:
            value = entry.default(self._look()) if callable(entry.default) else entry.default
            if value is not SKIP:
                return Value(value, origin="default", key=key, source=self.versions.title(self.reader), field=field)
        return Value(None, "absent", key, field=field)


def _options(options: Options) -> Iterator[tuple[str, Value]]:
    if options.rows is not None:
        yield "run.rows", Value(options.rows, origin="option", source="--rows", field="run.rows", key="--rows")
    if options.gpu:
        yield "run.gpu", Value(options.gpu, origin="option", source="--gpu", field="run.gpu", key="--gpu")
