"""The pass over all files: each row read, judged and forgotten."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from loralint.data import near
from loralint.data.checks import check
from loralint.data.exact import Table, digest
from loralint.data.example import example
from loralint.data.given import Given
from loralint.data.lengths import Ruler, load_tokenizer
from loralint.data.plan import Plan, plan
from loralint.data.read import read
from loralint.data.row import Row, Source
from loralint.data.shape import Shape, fields_of, shape_of
from loralint.data.spread import Spread
from loralint.data.tally import Tally
from loralint.run.config import Config

_USUAL_ROW = 400  # bytes; files of shorter rows have larger samples of near copies, up to twice the usual
# What makes the prompt beside the fields that a layout names.
_BESIDE = frozenset({"system", "tools", "functions", "history", "image", "images", "videos", "audios", "audio"})
_FILE = 40  # bits of a row's number; above them stands the file's


class Look:
    """All that is kept of one file.

    looked: rows judged. comparable: those of them that a copy among the training rows would have been found of.
    shapes: how many rows have which kind of layout. other: rows of none that the config reads, or that is known.
    unknown: fields of the first row that was not as the config wants it. unseen: fields it needs that no row had.
    """

    __slots__ = (
        "comparable", "evaluation", "looked", "other", "plan", "ruler", "shapes", "source", "spread", "tally",
        "unknown", "unseen",
    )  # fmt: skip

    def __init__(self, source: Source, its_plan: Plan, ruler: Ruler | None, *, evaluation: bool) -> None:
        self.source = source
        self.plan = its_plan
        self.ruler = ruler
        self.evaluation = evaluation
        self.tally = Tally()
        self.spread = Spread()
        self.looked = 0
        self.comparable = 0
        self.other = 0
        self.shapes: Counter[str] = Counter()
        self.unknown: list[str] = []
        shapes = its_plan.declared.shapes
        self.unseen = set(shapes[0].needs) if len(shapes) == 1 else set()


class Looks(NamedTuple):
    """One look at each file, and why a comparison was not made, empty where it was."""

    files: tuple[Look, ...]
    not_near: str
    not_counted: str
    compared: int


class _Pass:
    """What is shared by the files of a run."""

    __slots__ = ("near", "numbered", "table")

    def __init__(self, nearness: near.Near | None) -> None:
        self.table = Table()
        self.near = nearness
        self.numbered: list[Look] = []


def look(config: Config, given: Given) -> Looks:
    """Read every file once: first what is trained on, then what is evaluated on."""
    tokenizer, why_not = _tokenizer(config, given)
    nearness, not_near = _nearness(given)
    shared = _Pass(nearness)
    for number, path in enumerate((*given.train, *given.evaluation)):
        # an evaluation row can be met again only in the sample that was taken of the training rows
        every = max((one.source.every for one in shared.numbered), default=1) if number >= len(given.train) else 1
        source, rows = read(path, given.progress, every)
        its_plan = plan(config, path, given.tokenizer)
        measured = its_plan.length is not None and its_plan.policy is not None
        ruler = Ruler(its_plan.length or 0, tokenizer) if measured else None
        one = Look(source, its_plan, ruler, evaluation=number >= len(given.train))
        shared.numbered.append(one)
        for row in rows:
            _row(row, one, shared, number << _FILE)
    if nearness is not None:
        _pairs(shared, nearness)
    return Looks(tuple(shared.numbered), not_near, why_not, nearness.compared if nearness is not None else 0)


def _tokenizer(config: Config, given: Given) -> tuple[Any, str]:
    path = plan(config, given.train[0] if given.train else "", given.tokenizer).tokenizer
    loaded = load_tokenizer(path) if path else None
    return (None, loaded) if isinstance(loaded, str) else (loaded, "")


def _nearness(given: Given) -> tuple[near.Near | None, str]:
    from importlib.util import find_spec

    if find_spec("datasketch") is None:
        return None, near.MISSING
    return near.Near(given.size // _USUAL_ROW), ""


def _row(row: Row, one: Look, shared: _Pass, file: int) -> None:
    one.looked += 1
    one.tally.next_row()
    value = {} if row.value is None and not row.fault else row.value
    if row.fault or not isinstance(value, dict):
        one.tally.add("data-broken", row, detail=row.fault or "it is no object with fields")
        return
    if one.unseen:
        one.unseen.difference_update(value)
    shape = _shape(value, one)
    if shape is None or (one.unseen and not one.unknown):
        one.unknown = one.unknown or [str(name) for name in list(value)[:6]]
    if shape is None:
        one.other += 1
        if one.plan.declared.shapes:
            one.tally.add("data-missing-field", row, fields_of(one.plan.declared.shapes))
        return
    one.shapes[shape.kind] += 1
    found = example(value, shape)
    try:
        data = found.whole.encode()
    except UnicodeEncodeError:
        one.tally.add("data-surrogate", row)
        data = found.whole.encode("utf-8", "surrogatepass")
    check(row, found, data, shape, one.plan, one.ruler, one.tally)
    one.spread.add(len(found.whole), row.number, row.line)
    if len(data) > 1 and not data.isspace():
        _compare(row, data, one, shared, file)


def _shape(value: Mapping[str, Any], one: Look) -> Shape | None:
    """The layout to read a row by: the only one that the config takes, or the one of several that fits, or a guess."""
    shapes = one.plan.declared.shapes
    if len(shapes) == 1:
        return shapes[0]
    if shapes:
        return next((shape for shape in shapes if all(field in value for field in shape.needs)), None)
    return shape_of(tuple(value))


def _compare(row: Row, data: bytes, one: Look, shared: _Pass, file: int) -> None:
    # the same conversation with other tools or pictures is another row
    more = _beside(row.value)
    key, place = digest(data + more), file | row.number
    if one.evaluation:
        found = shared.table.find(key)
        one.comparable += shared.table.covers(key)
        if found is not None:
            one.tally.add("data-leak", row, detail=_pair(row.number, found, one, shared))
    else:
        found = shared.table.meet(key, place)
        if found is not None:
            one.tally.add("data-duplicate", row, detail=_pair(row.number, found, one, shared))
    if found is None and shared.near is not None:
        shared.near.add(data + more, place)


def _beside(value: object) -> bytes:
    if not isinstance(value, dict) or _BESIDE.isdisjoint(value):
        return b""
    return json.dumps([value.get(name) for name in sorted(_BESIDE)], default=str).encode()


def _pair(number: int, found: int, one: Look, shared: _Pass) -> str:
    """`line 7 repeats line 2`, for the first of a kind."""
    other = shared.numbered[found >> _FILE]
    where = "" if other is one else f" of {other.source.shown}"
    return f"{one.source.unit} {number} repeats {other.source.unit} {found & ((1 << _FILE) - 1)}{where}"


def _pairs(shared: _Pass, nearness: near.Near) -> None:
    """Hand what is nearly the same to the file of the later row."""
    for earlier, later in nearness.pairs():
        one, other = shared.numbered[later >> _FILE], shared.numbered[earlier >> _FILE]
        if one.evaluation and other.evaluation:
            continue
        number = later & ((1 << _FILE) - 1)
        row = Row(number, number if one.source.unit == "line" else 1, None)
        kind = "data-near-leak" if one.evaluation else "data-near-duplicate"
        one.tally.next_row()
        one.tally.add(kind, row, detail=_pair(number, earlier, one, shared).replace("repeats", "resembles"))
