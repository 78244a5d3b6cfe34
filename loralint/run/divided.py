"""Which settings of a run a script decides itself, and which the config that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.canonical.fields import FIELDS
from loralint.frameworks.lookup import find
from loralint.frameworks.table import SKIP, Entry, Reader
from loralint.model import Unknown
from loralint.run.build import Part
from loralint.run.versions import by_field
from loralint.source.document import Document, Node

# What classes of a script's own may say, with defaults that nobody sees; the rest are keys of the trainer's arguments.
# Of each group the field by which a script that settles it is known: it has no more fields of the group than it shows.
_ANYBODYS = {"adapter": "adapter.rank", "quant": "quant.bits", "model": "model.base"}
_UNSEEN = Unknown("the script that reads the config may decide it")
# By the identities of the tables that are put together, which are constants: others know a table by its identity.
_KEPT: dict[tuple[int, int, bool], tuple[Entry, ...]] = {}


def divided(reader: Reader, script: Part | None, *, known: bool) -> Reader:
    """The reader of the run, whose defaults hold: the script's for what it settles, and the config's for the rest.

    script: None where nobody knows which of several counts. known: its parser fills the framework's own classes for the
    model and the adapter, so that keys which stand nowhere have their defaults.
    """
    rows = script.reader.table if script is not None else ()
    table = _KEPT.get(key := (id(reader.table), id(rows), known))
    if table is None:
        own = _settled(rows)
        left = tuple(row for row in reader.table if row.field not in own)
        default = left if known else _without_defaults(left, rows, own)
        table = _KEPT[key] = (*(row for row in rows if row.field in own), *default)
    return reader._replace(table=table)


def decided(script: Part, config: Document) -> frozenset[str]:
    """The fields of which the script shows what it takes for them: a key of the config that is called as they are, and
    that nobody sees it read, is none of theirs.
    """
    rows, root = script.reader.table, script.document.root
    given = {row.field: pair.value for row in reversed(rows) if root and row.key and (pair := find(root, row.key))}
    keys = {pair.key for pair in config.root.pairs} if config.root is not None else set()
    declared = {one.name for one in script.arguments}
    seen = declared | keys if script.reads else declared - keys
    shown = {field for field, node in given.items() if _is_seen(node, seen)}
    own = _settled(rows)
    own |= {field for field in FIELDS if _ANYBODYS.get(_group(field)) in own}
    return frozenset((own - given.keys()) | shown)


def _is_seen(node: Node, arguments: set[str]) -> bool:
    if node.kind != "scalar" or not isinstance(node.native, Unknown):
        return True
    return node.tag in ("argument", "split") and node.raw.rpartition(".")[2] in arguments


def _settled(rows: tuple[Entry, ...]) -> frozenset[str]:
    """The fields that a script's calls settle, given or not: all that they may be given can be seen."""
    fields = by_field(rows) if rows else {}
    return frozenset(field for field, several in fields.items() if _is_settled(several))


def _is_settled(several: list[Entry]) -> bool:
    hidden = any(isinstance(row.default, Unknown) for row in several)
    return not hidden and any(row.key or row.default is not SKIP for row in several)


def _without_defaults(config: tuple[Entry, ...], script: tuple[Entry, ...], own: frozenset[str]) -> Iterator[Entry]:
    """The config's rows, less the defaults of what a script may have classes of its own for."""
    reasons = {row.field: row.default for row in script if isinstance(row.default, Unknown)}
    for row in config:
        lead = _ANYBODYS.get(_group(row.field))
        default = row.default if lead is None else SKIP if lead in own else reasons.get(row.field, _UNSEEN)
        yield row._replace(default=default)


def _group(field: str) -> str:
    return field.partition(".")[0]
