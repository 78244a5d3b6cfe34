"""What a program does, told without running it: its calls in order, with what is known of their arguments.

A literal is a Node with the exact place, so that readers take it as they take a value of a file; `native` of a scalar
holds the value, or Unknown with the reason when the program works it out only when it runs. A dotted name of an import,
such as `torch.bfloat16`, is a scalar with the tag "name" and its full name as `raw` and `native`.

The tags of a scalar are thus: str, int, float, bool, null as in other formats; "name"; "argument" for what the command
line gives (`raw` as written, such as `args.lora_r`; what stands after its last dot is the name in Script.arguments), or
the environment (the name begins with `$`);
"split" for the parts of such a text: its first item is what stands between them, and behind it stands "strip" where
blanks around them are taken away, "full" where empty ones are left out;
"object" for a Thing that something made; "unknown" for the rest. The place of a value is where it is given: of
`LoraConfig(r=RANK)` that of the 8 in `RANK = 8`. What is known to give None, such as `names.append("x")`, is a null
whose `raw` is the expression.
"""

from __future__ import annotations

from typing import NamedTuple

from loralint.model import Span
from loralint.source.command import Files
from loralint.source.document import Document, Node, Problem
from loralint.source.places import Places


class Thing:
    """An object of the program that is no literal: an import, a parameter, what a call gave back.

    number: its own, from 1. name: the full dotted name of something imported, else empty. made: the call that gave it
    back. What `trainer.model` holds is made by the call `__getattr__` on `trainer` with the argument "model", an item
    by `__getitem__`, what `for x in xs` holds by `__next__` on `xs`; these stand in no Script.calls. place: of several
    things that one call gave back together, which it is, from 0. either: what it may be when branches leave different
    things in one name. Variables that hold the same object hold the same Thing.
    """

    __slots__ = ("either", "made", "name", "number", "place")

    def __init__(self, number: int, name: str = "", made: Call | None = None, place: int = 0) -> None:
        self.number = number
        self.name = name
        self.made = made
        self.place = place
        self.either: tuple[Thing, ...] = ()

    def __repr__(self) -> str:
        made = f", made by {self.made.name}" if self.made else ""
        return f"Thing({self.number}{', ' + self.name if self.name else ''}{made})"


class Argument(NamedTuple):
    """One argument of a call. name: its keyword, empty for a positional one. thing: the object given, if it is one."""

    name: str
    node: Node
    name_span: Span | None = None
    thing: Thing | None = None


class Call(NamedTuple):
    """One call. name: the full dotted name, imports resolved, as `peft.LoraConfig`; a method of an object by its last
    name alone, with the object as `on`. open: `**kwargs` that nobody can see may give more arguments. sure: it is made
    in every run of the program (not in a branch, a loop over nobody knows what, or a function that may not be called).
    result: what it gives back. fields: arguments that a class of the program declares itself, which builds on the named
    one; of a parser of dataclasses the imported classes that these are or build upon ("object" if none), with an empty
    name where one cannot be seen. Assignments to attributes and items are calls too: `tok.pad_token = x` is the call
    `__setattr__` on `tok` with the arguments "pad_token" and x.
    """

    name: str
    on: Thing | None
    args: tuple[Argument, ...]
    span: Span
    name_span: Span
    open: bool
    sure: bool
    result: Thing
    fields: tuple[str, ...] = ()

    def arg(self, name: str, position: int = -1) -> Argument | None:
        """Find an argument by its keyword, or else by its place among the positional ones, from 0."""
        for one in self.args:
            if one.name == name:
                return one
        given = [one for one in self.args if not one.name] if position >= 0 else []
        return given[position] if 0 <= position < len(given) else None


class Typed(NamedTuple):
    """What a notebook gives to a shell. start: the offset of its first character in the program's text. kind: "line"
    for `!`, which is a shell of its own; "magic" for `%cd` and `%env`, which last; "cell" for `%%bash`.
    """

    text: str
    start: int
    kind: str = "line"


class Script(NamedTuple):
    """A program as read. calls: in the order in which it makes them. shell: what a notebook gives to a shell, such as
    `!pip install ...`. arguments: what its argparse parser or dataclasses take, name -> default (Unknown default where
    none is told). names: what the module's own names hold at its end. faults: what Python takes otherwise than it looks
    ("implicit-join": strings of a list that became one, at that string's place). unread: parts that nobody could follow
    and why; then what is missing in `calls` proves nothing. files: what cells of a notebook write (`%%writefile`), with
    offsets as of `shell`. places: leads from offsets in the program's text (the cells of a notebook joined) to places
    in the file. Of a notebook, the document's root holds all but its cells. loaded: files that it loads; what they say
    keeps its place there, whose marks name the file. modules: other files of the program that it imports, likewise.
    text: what stands in the program and its modules. uncalled: those of the calls that only functions make which nobody
    is seen to call. composed: Hydra's command line stands in what it loads.
    """

    document: Document
    calls: tuple[Call, ...]
    shell: tuple[Typed, ...] = ()
    arguments: tuple[Argument, ...] = ()
    names: tuple[Argument, ...] = ()
    faults: tuple[Problem, ...] = ()
    unread: tuple[str, ...] = ()
    files: tuple[Files, ...] = ()
    places: Places | None = None
    loaded: tuple[Document, ...] = ()
    modules: tuple[Document, ...] = ()
    text: str = ""
    uncalled: tuple[Call, ...] = ()
    composed: bool = False

    def text_at(self, span: Span) -> str:
        """The text of the file that a place lies in."""
        return next((one.text for one in self.modules if one.file == span.file), self.document.text)
