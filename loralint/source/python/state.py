"""The state of following a program: what names hold, what was called, what has been spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from loralint.model import Unknown
from loralint.source.document import Node, Problem
from loralint.source.python.held import Names, root
from loralint.source.script import Argument, Call, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loralint.model import Span
    from loralint.source.document import Document
    from loralint.source.python.held import Held, Module
    from loralint.source.python.program import Program, Spot

# Expressions and statements looked at, counted anew in each call of a function. The largest scripts that we know take
# about 20,000.
STEPS = 100_000
# Expressions, blocks and calls of functions within each other; bounds the recursion of this reader.
DEPTH = 70
# What a value's own text is cut to.
_RAW = 200

Changes = dict[tuple[int, object], tuple[dict[Any, Any], Any, Any]]


class Exhausted(Exception):  # noqa: N818 - it ends the following, it is no fault of the program
    """The budget of steps is spent."""


class _Missing:
    """The type of MISSING."""

    __slots__ = ()


# In Changes: the key is not there.
MISSING = _Missing()


class Frame(NamedTuple):
    """A function or loop being followed. exits: what the paths that left it early had changed. results: what was given
    back. owner, instance: of a method, its class and object. muted: whether it is followed unheard.
    """

    begin: int
    exits: list[Changes]
    results: list[Held]
    owner: Any = None
    instance: Any = None
    muted: int = 0


class Option(NamedTuple):
    """What `add_argument` says of one spelling. kind: the full name of its type; plain: whether it takes one word."""

    name: str
    kind: str
    action: str
    plain: bool


class State:
    """See the module. `journal` lists every change with what was there before, so that a branch can be undone."""

    def __init__(self, program: Program, expressions: Mapping[type, Any], statements: Mapping[type, Any]) -> None:
        self.program = program
        self.expressions: Mapping[type, Callable[[State, Any], Held]] = expressions
        self.statements: Mapping[type, Callable[[State, Any], str]] = statements
        self.document = program.document
        self.home = Names(program=program)  # the names of the program itself, `module` those of what is followed now
        self.module = self.home
        self.scope = self.module
        self.modules: dict[str, Module | None] = {}
        self.calls: list[Call] = []
        self.faults: list[Problem] = []
        self.unread: dict[str, None] = {}
        self.arguments: dict[str, Argument] = {}
        self.options: dict[str, Option] = {}  # spelling -> what it is, of those that argparse takes
        self.name_spans: dict[str, tuple[int, int]] = {}
        self.journal: list[tuple[dict[Any, Any], Any, Any]] = []
        self.functions: list[Frame] = []
        self.loops: list[Frame] = []
        self.following: list[int] = []
        self.defined: dict[int, Any] = {}
        self.followed: dict[int, int] = {}
        self.imported: dict[str, Thing] = {}
        self.loaded: dict[str, Document] = {}
        self.composed = False
        self.given: dict[int, dict[object, Any]] = {}
        self.parsers: dict[int, tuple[Held, ...]] = {}
        self.fixed: tuple[int, int] | None = None  # the place of all that stands in an f-string
        self.steps = STEPS
        self.depth = 0
        self.unsure = 0
        self.muted = 0
        self.things = 0

    # what is told

    def thing(self, made: Call | None = None, name: str = "", place: int = 0) -> Thing:
        """Make a Thing of its own."""
        self.things += 1
        return Thing(self.things, name, made, place)

    def range(self, node: Spot) -> tuple[int, int]:
        """Give the offsets of a node of the tree; Python 3.11 does not know them within f-strings."""
        return self.fixed or self.program.range(node)

    def span(self, node: Spot) -> Span:
        """Give the place of a node of the tree."""
        return self.program.places.span(*self.range(node))

    def node(self, node: Spot, tag: str, native: object, raw: str | None = None) -> Node:
        """Tell a value at the place of an expression; its text is its source unless given."""
        start, end = self.range(node)
        text = self.program.text[start : min(end, start + _RAW)] if raw is None else raw
        return Node("scalar", tag, *self.program.marks(start, end), text, tag != "str", native)

    def unknown(self, node: Spot, reason: str) -> Node:
        """Tell that nobody knows a value."""
        return self.node(node, "unknown", Unknown(reason))

    def note(self, reason: str) -> None:
        """Say that a part was not followed."""
        self.unread[reason] = None

    def documents(self) -> tuple[Document, ...]:
        """List the files of the modules that were followed."""
        return tuple(one.names.program.document for one in self.modules.values() if one is not None)

    def enter(self, names: Names) -> tuple[Program, Names]:
        """Go on in the module that a scope belongs to; give what `leave` wants."""
        before = self.program, self.module
        home = root(names)
        self.program, self.module = home.program, home
        return before

    def leave(self, before: tuple[Program, Names]) -> None:
        """Go back to where `enter` left from."""
        self.program, self.module = before

    # what changes

    def spend(self, steps: int = 1) -> None:
        """Count what is looked at. Raises Exhausted."""
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted

    def write(self, store: dict[Any, Any], key: Any, held: Any) -> None:
        """Let a name, attribute, item or entry hold something."""
        self.journal.append((store, key, store.get(key, MISSING)))
        if held is MISSING:
            store.pop(key, None)
        else:
            store[key] = held

    def changes(self, begin: int) -> Changes:
        """List what changed since a point of the journal, with what holds now."""
        return {(id(store), key): (store, key, store.get(key, MISSING)) for store, key, _ in self.journal[begin:]}

    def undo(self, begin: int) -> Changes:
        """Go back to a point of the journal; give what had changed since."""
        found = self.changes(begin)
        for store, key, before in reversed(self.journal[begin:]):
            if before is MISSING:
                store.pop(key, None)
            else:
                store[key] = before
        del self.journal[begin:]
        return found
