"""What a program does, told without running it: its calls in order, with what is known of their arguments.

A literal is a Node with the exact place, so that readers take it as they take a value of a file; `native` of a scalar
holds the value, or Unknown with the reason when the program works it out only when it runs. A dotted name of an import,
such as `torch.bfloat16`, is a scalar with the tag "name" and its full name as `raw` and `native`.
"""

from __future__ import annotations

from typing import NamedTuple

from loralint.model import Span
from loralint.source.document import Document, Node


class Thing:
    """An object of the program that is no literal: an import, a parameter, what a call gave back.

    number: its own, from 1. name: the full dotted name of something imported, else empty. made: the call that gave it
    back. Two variables that hold the same object hold the same Thing.
    """

    __slots__ = ("made", "name", "number")

    def __init__(self, number: int, name: str = "", made: Call | None = None) -> None:
        self.number = number
        self.name = name
        self.made = made


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
    result: what it gives back. Assignments to attributes and items are calls too: `tok.pad_token = x` is the call
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

    def arg(self, name: str, position: int = -1) -> Argument | None:
        """Find an argument by its keyword, or else by its place among the positional ones, from 0."""
        found = next((one for one in self.args if one.name == name), None)
        if found is None and position >= 0:
            given = [one for one in self.args if not one.name]
            found = given[position] if position < len(given) else None
        return found


class Script(NamedTuple):
    """A program as read. calls: in the order in which it makes them. shell: lines given to a shell, each with the
    offset of its first character (`!pip install ...` of a notebook). arguments: what its argparse parser or dataclasses
    take, name -> default (Unknown default where none is told).
    """

    document: Document
    calls: tuple[Call, ...]
    shell: tuple[tuple[str, int], ...] = ()
    arguments: tuple[Argument, ...] = ()
