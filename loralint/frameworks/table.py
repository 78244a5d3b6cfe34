"""What a reader is made of: rows canonical field <-> key, read in both directions, and what it observes besides.

A reader never judges: it says what the framework will make of a file, and rules say whether that is good.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from loralint.model import Event, Value
from loralint.model import Observation as Observation  # noqa: PLC0414 - readers take it from here
from loralint.source.document import Document


class _Skip:
    """Says: this key tells nothing about the field (or: the field cannot be written with this key)."""

    def __repr__(self) -> str:
        return "SKIP"


SKIP = _Skip()
# Among a reader's own keys: there may be any other.
ANY = "*"
NO_DEFAULT = SKIP


class Look:
    """What a computed default may ask: other canonical values and the versions of the run."""

    __slots__ = ("get", "version_is")

    def __init__(self, get: Callable[[str], Value], version_is: Callable[[str], bool]) -> None:
        self.get = get
        self.version_is = version_is


def same(value: object) -> object:
    """The canonical value is what the framework writes."""
    return value


class Entry(NamedTuple):
    """One row of a reader's table.

    field: canonical name. key: dotted path from the root of the file, as its user writes it.
    read: loader's value -> canonical value, or SKIP when this key says nothing about the field (`load_in_4bit: false`).
    write: canonical value -> value to write under `key`, or SKIP when this key cannot say it.
    default: canonical value of an absent key; a callable gets a Look; SKIP when the framework has none.
    split: a text value is a list separated by this character.
    when: version spec under which the row holds, such as "transformers<5"; empty for always.
    Rows of one field are tried in order: the first whose key is present and whose `read` is not SKIP gives the value;
    the first whose `write` is not SKIP gives the key for an absent field.
    """

    field: str
    key: str
    read: Callable[[object], object] = same
    write: Callable[[object], object] = same
    default: object = NO_DEFAULT
    split: str = ""
    when: str = ""


Values = Mapping[str, tuple[Value, ...]]


class Layer(NamedTuple):
    """What one part of a run says in canonical terms.

    values: field -> the values in order of precedence, winner first. events: what a script does, in order. kind: what
    it is to the run, one of "flags", "env", "config", "script", "deepspeed", "accelerate", "dataset", "launcher"
    and "manifest"; precedence is between kinds. without: fields of which it can say nothing that counts.
    """

    reader: "Reader"
    document: Document
    values: Values
    observations: tuple[Observation, ...] = ()
    events: tuple[Event, ...] = ()
    kind: str = "config"
    without: frozenset[str] = frozenset()


class Reader(NamedTuple):
    """One framework.

    name: as in `applies: {framework: ...}` of rules. title: for people. dialect: how its loader reads scalars (see
    source.scalars). table: the rows. keys: name of its known-key list (knowledge part "keys-<keys>"), empty for none.
    coerces: texts such as "2e-4" or "8" become numbers where a number is wanted. packages: those whose versions its
    rows, keys and rules depend on; the first is the framework itself. observe: extra observers of its own. pins:
    versions that the file itself states (`peft_version`). combine: fields that several keys decide together; gets what
    the rows gave, and what it returns replaces or adds fields. uncombine: its way back, canonical value of a field ->
    value that the field's rows write (rank and alpha -> scale). references: `${a.b}` stands for the value of key a.b.
    dialects: (version spec, dialect) of releases that load files otherwise; the first that holds replaces `dialect`.
    coerces_inside: texts become numbers and booleans inside mappings, whatever happens at the top.
    partial: why a key that this file lacks may stand in another one ("" where the file is whole); then its field is
    unknown, and the rows' defaults are not asked. guessed: keys are known by their last name only, or nobody sees that
    the file trains, so no finding is S.
    documents: a file may hold several YAML documents. flat: sections of the file mean nothing, their keys count as
    keys of the root. section: the config is what stands under this key; pointers still start at the file's root.
    listed: the file is a list, which is read under an empty key.
    kin: further frameworks whose rules hold, since their parts are in use.
    own: keys of a program that reads the file with the framework's parser, beside those that the list knows; with ANY
    among them, only a likely slip of an unknown key is told. words: (key, word) that such a program takes as well.
    """

    name: str
    title: str
    dialect: str
    table: tuple[Entry, ...]
    keys: str
    coerces: bool
    packages: tuple[str, ...]
    observe: tuple[Callable[[Document, Look], list[Observation]], ...] = ()
    pins: Callable[[Document], Mapping[str, str]] | None = None
    combine: Callable[[Document, Values], Values] | None = None
    uncombine: Callable[[str, object, Look], object] | None = None
    references: bool = False
    dialects: tuple[tuple[str, str], ...] = ()
    coerces_inside: bool = False
    partial: Callable[[Document], str] | None = None
    guessed: bool = False
    documents: bool = False
    flat: bool = False
    section: str = ""
    listed: bool = False
    kin: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    words: frozenset[tuple[str, str]] = frozenset()

    def converts(self, key: str) -> bool:
        """Say whether a text under this key becomes the number or boolean that is wanted there."""
        return self.coerces or (self.coerces_inside and "." in key)
