"""The plain records that every layer passes on; this module imports nothing of ours.

Lines and columns are 1-based; columns and offsets count code points of the decoded text (a byte order mark is not
counted). Tiers, verdicts and origins are plain strings so that a Report is JSON without conversion.
"""

from collections.abc import Mapping
from typing import NamedTuple

# Annotations are real objects in this module: a NamedTuple compiles each textual one, which every start would pay for.

TIERS = ("S", "A", "B")
ORIGINS = ("set", "flag", "env", "companion", "inherited", "default", "derived", "option", "absent")


class Unknown:
    """What cannot be known here, with the reason that a "not checked" note will give.

    >>> Unknown("no --gpu").reason
    'no --gpu'
    """

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Unknown({self.reason!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and other.reason == self.reason

    def __hash__(self) -> int:
        return hash(self.reason)


class Span(NamedTuple):
    """A half-open range of one file's text."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None


class Value(NamedTuple):
    """One effective value and where it comes from.

    `value` is what the framework's own loader makes of `text`; `key` is the dotted name as the user wrote it or, for
    an absent key, would write it; `source` says more of a non-set origin ("axolotl 0.19.0", "--gpu T4"); `reads` are
    the values a derived one was computed from.
    """

    value: object
    origin: str = "set"
    key: str = ""
    pointer: str = ""
    text: str | None = None
    span: Span | None = None
    key_span: Span | None = None
    items: tuple["Value", ...] = ()
    source: str = ""
    shadowed: tuple["Value", ...] = ()
    reads: tuple["Value", ...] = ()
    field: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a value to judge: neither unknown nor absent."""
        return self.origin != "absent" and not isinstance(self.value, Unknown)


class Observation(NamedTuple):
    """Something met in a file that is no canonical value; a rule judges each kind.

    kind: unknown, renamed, removed, ignored, rejected, coerced, duplicate, secret, a problem of the file (syntax,
    encoding ...), or a fault of an ignore directive. value: the place (key, pointer, text, spans).
    effect: what the framework does: "crash" (refuses to start), "lost" (goes on without it), "changed" (goes on with
    another value) or "harmless" (without meaning for the run). message: what happens, in one clause.
    replacement: key or value to write instead, empty when the line should go. rewrite: "key", "value", "remove" or ""
    says what a fix would do with it. package: name of the package whose version decides, empty when none does.
    data: further names for the rule's message and, as `hit.<name>`, for its levels.
    """

    kind: str
    value: Value
    effect: str
    message: str
    replacement: str = ""
    rewrite: str = ""
    package: str = ""
    other: Value | None = None
    data: Mapping[str, object] = {}


class Event(NamedTuple):
    """One thing that a script does, in the order in which it does it; rules speak of orders and of what is missing.

    kind: one of canonical.events.EVENTS. value: the place, with the key that a message names. on: numbers of the
    objects that it acts on or makes, so that two events on one model can be told from events on two. data: what else
    is known of it, by names that canonical.events describes. sure: it happens in every run of the script.
    """

    kind: str
    value: Value
    on: tuple[int, ...] = ()
    data: Mapping[str, object] = {}
    sure: bool = True


class Edit(NamedTuple):
    """Replace text[start:end] of `file` by `text`."""

    file: str
    start: int
    end: int
    text: str


class Fix(NamedTuple):
    """Edits that belong together; `safe` when the run's meaning is kept or was certainly not meant.

    wants: canonical field -> the value that it has once they are made.
    """

    safe: bool
    edits: tuple[Edit, ...]
    wants: Mapping[str, object] = {}


class Related(NamedTuple):
    """A second place that a finding speaks of. cell: of a notebook, in which the line counts."""

    file: str
    line: int
    key: str
    message: str
    cell: int | None = None


class Finding(NamedTuple):
    """One rule's verdict on one place. `message` starts with what will happen to the run; `help` says what to write.

    overridden: the rule's own tier where the settings give another one, else empty.
    """

    rule: str
    name: str
    tier: str
    message: str
    help: str
    span: Span
    key: str
    pointer: str
    parameter: str
    value: object
    origin: str
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    suppressed: Mapping[str, str] | None = None
    overridden: str = ""


class Note(NamedTuple):
    """What was not checked and why, or information that is no finding."""

    kind: str
    message: str
    rules: tuple[str, ...] = ()
    key: str = ""


class Setting(NamedTuple):
    """One row of a run's effective settings."""

    parameter: str
    value: Value
    unit: str = ""


class Table(NamedTuple):
    """Rows of what was measured. title: what they say, in a sentence; columns: names with their units."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


class Series(NamedTuple):
    """A curve that was measured; x and y name the axes with their units. A y of None is a point that was not finite."""

    name: str
    x: str
    y: str
    points: tuple[tuple[float, float | None], ...]


class Probed(NamedTuple):
    """What micro-training a run showed: observations that rules judge, notes, and what was measured."""

    observations: tuple[Observation, ...] = ()
    notes: tuple[Note, ...] = ()
    tables: tuple[Table, ...] = ()
    series: tuple[Series, ...] = ()


class Run(NamedTuple):
    """Everything said of one training start. recognised_by: the keys that told its framework, in words. tables, series:
    what a probe measured, the table of its verdict first. figures: what the facts say in numbers (`engine.figures`),
    for formats that draw; one without rows says in its title why it is not known.
    """

    files: tuple[str, ...]
    framework: str | None
    score: int
    verdict: str
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...] = ()
    settings: tuple[Setting, ...] = ()
    recognised_by: str = ""
    tables: tuple[Table, ...] = ()
    series: tuple[Series, ...] = ()
    figures: tuple[Table, ...] = ()


class Report(NamedTuple):
    """All runs of one invocation.

    For code frames and places only: `texts` maps each file to its decoded text, `cells` a notebook and a cell to the
    cell's text. root: absolute path of the folder from which other programs name files; empty: as given. fail_on: the
    lowest tier that fails the check. exit_code: of the process; None where there is none. recorded: approvals and what
    fixes changed (`engine.recorded`), for formats that draw.
    """

    runs: tuple[Run, ...]
    texts: Mapping[str, str] = {}
    cells: Mapping[tuple[str, int], str] = {}
    root: str = ""
    fail_on: str = "S"
    exit_code: int | None = None
    recorded: tuple[Table, ...] = ()

    def text(self, span: Span) -> str:
        """The text that a place's lines count in; empty when it is not at hand."""
        return self.texts.get(span.file, "") if span.cell is None else self.cells.get((span.file, span.cell), "")
