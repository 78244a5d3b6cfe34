"""What a name or an expression holds, as far as it can be told without running the program."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from loralint.source.document import Node
from loralint.source.script import Thing


class Names(dict[str, Any]):
    """What the names of a scope hold. A name given in one branch only holds that, or the program stops at its use."""

    __slots__ = ("outer", "program", "shared")

    def __init__(self, outer: Names | None = None, program: Any = None) -> None:
        super().__init__()
        self.outer = outer
        self.program = program  # of the names of a module: its text
        self.shared: dict[str, Names] = {}  # names that `global` and `nonlocal` take from another scope


class Attributes(dict[object, Any]):
    """Attributes and items that the program gave an object: name -> what it holds."""


class Entries(dict[object, Any]):
    """A dictionary: key -> (the key's node, what is held)."""


class Items(dict[str, Any]):
    """A list: "items" -> a tuple of what is held, None when nobody knows."""


# A key of Entries, Attributes and a class's Names: there may be more, or something else, than is known.
OPEN = object()


class Scalar(NamedTuple):
    """A literal, or what is unknown with its reason."""

    node: Node


class Object(NamedTuple):
    """A Thing. node: how it is told as an argument."""

    node: Node
    thing: Thing


class Sequence(NamedTuple):
    """A list, tuple or set. node: its place."""

    node: Node
    store: Items


class Mapping(NamedTuple):
    """A dictionary. node: its place. of: the object whose attributes it is, as `vars(x)`. dotted: whether its entries
    are attributes as well, as OmegaConf and EasyDict have them.
    """

    node: Node
    store: Entries
    of: Any = None
    dotted: bool = False


class Function(NamedTuple):
    """A function of the program. defaults: parameter -> what it holds when nobody gives it. owner: its class. bound:
    the object or class that it was taken from.
    """

    node: Node
    code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Names
    defaults: dict[str, Any]
    decorators: tuple[Any, ...] = ()
    owner: Any = None
    bound: Any = None


class Class(NamedTuple):
    """A class of the program. fields: what its constructor takes when it has none of its own."""

    node: Node
    name: str
    bases: tuple[Any, ...]
    members: Names
    fields: tuple[str, ...]


class Instance(NamedTuple):
    """An object of a class of the program. cls None: of no class, such as a SimpleNamespace. parsed: the options of the
    command line are its attributes.
    """

    node: Node
    cls: Class | None
    store: Attributes
    thing: Thing
    parsed: bool = False


class Super(NamedTuple):
    """`super()`: the object as its class's bases see it."""

    node: Node
    instance: Any
    cls: Class


class Module(NamedTuple):
    """Another file of the program, imported. name: as the import has it. names: what its own names hold; their program
    is None for a folder without a file of its own.
    """

    node: Node
    name: str
    names: Names


Held = Scalar | Object | Sequence | Mapping | Function | Class | Instance | Super | Module


def root(names: Names) -> Names:
    """The names of the module that a scope belongs to."""
    while names.outer is not None:
        names = names.outer
    return names


def thing_of(held: Held) -> Thing | None:
    """The Thing that is held, None for a literal."""
    return held.thing if isinstance(held, (Object, Instance)) else None


def name_of(held: Held | None) -> str:
    """The full dotted name of something imported, or empty."""
    return held.thing.name if isinstance(held, Object) else ""


def find(cls: Class, name: str, depth: int = 0) -> Held | None:
    """Look a member up in a class and its bases."""
    if name in cls.members:
        found: Held = cls.members[name]
        return found
    if depth < 10:
        for base in cls.bases:
            found_above = find(base, name, depth + 1) if isinstance(base, Class) else None
            if found_above is not None:
                return found_above
    return None


def library_base(cls: Class, depth: int = 0) -> str:
    """The full name of the first imported class that a class builds upon, or empty."""
    for base in cls.bases:
        name = name_of(base) if not isinstance(base, Class) else library_base(base, depth + 1) if depth < 10 else ""
        if name not in {"", "object"}:
            return name
    return ""


def imported_bases(cls: Held, depth: int = 0) -> tuple[str, ...]:
    """The full names of all imported classes that a class is or builds upon: "object" if of none, "" of one unseen."""
    if not isinstance(cls, Class) or depth > 10:
        return (name_of(cls),)
    return tuple(name for base in cls.bases for name in imported_bases(base, depth + 1)) or ("object",)


def fields(cls: Class, depth: int = 0) -> tuple[str, ...]:
    """What a generated constructor takes, those of the bases first."""
    above = [name for base in cls.bases if isinstance(base, Class) and depth < 10 for name in fields(base, depth + 1)]
    return tuple(dict.fromkeys((*above, *cls.fields)))
