"""How one architecture's modules follow from its config: the compiled rows, and their expansion for given sizes.

A row is [path, kind, weights, where, more]. In a path `*` counts through a list of alike layers. Weights are
`name size size;name size`, and a size is an expression in postfix order with commas: `num_attention_heads,head_dim,*`,
`len:layer_types` for how many entries a list has.
`where` lists what has to hold for the module to be there (see `holds`), and `more` weights that are there under a
condition of their own: [weight, where].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

_MOST_MODULES = 60_000
_TOO_MANY = "its config asks for more modules than are listed one by one"
Shapes = tuple[tuple[str, tuple[int, ...] | None], ...]
Row = Sequence[Any]

SIZES = {  # of ModelFacts -> what Transformers calls them
    "hidden_size": "hidden_size", "num_layers": "num_hidden_layers", "intermediate_size": "intermediate_size",
    "num_heads": "num_attention_heads", "num_kv_heads": "num_key_value_heads", "head_dim": "head_dim",
    "vocab_size": "vocab_size",
}  # fmt: skip


class Unsolved(Exception):  # noqa: N818 - not an error: this structure cannot be told from this config
    """Why the modules of this config are not known."""


class Module(NamedTuple):
    """A module: its path, kind (Linear, Conv1D, Embedding ... or its class) and own weights as (name, shape).

    A shape is None where it follows from a size that is not known.
    """

    path: str
    kind: str
    weights: Shapes


class Fields:
    """Values of a config by dotted name: as given, else under another name, else the architecture's default.

    A default is a value, {"=": expression} of other fields, {"cycle": values, "of": n} for a list of n that repeats
    these, or {"each": [[value, where], ...], "of": count}, which makes a list with one entry a layer. `partial`: the
    given values are a few sizes and no whole config, so a number that is not among them, and does not follow from them,
    is unknown and not the default.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        defaults: Mapping[str, Any],
        aliases: Mapping[str, str],
        *,
        partial: bool = False,
    ) -> None:
        self._given, self._defaults, self._aliases, self.partial = given, defaults, aliases, partial
        self._known: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """The value of a field; None where nothing gives it."""
        if name not in self._known:
            self._known[name] = None  # ends a default that follows from itself
            value = _reach(self._given, name)
            if value is None and name in self._aliases:
                value = _reach(self._given, self._aliases[name])
            self._known[name] = self._usual(name) if value is None else value
        return self._known[name]

    def given(self, name: str) -> Any:
        """The value that the config itself has; None without one."""
        return _reach(self._given, name)

    def default(self, name: str) -> Any:
        """The architecture's default as compiled, lists in full."""
        return whole(self._defaults.get(name))

    def _usual(self, name: str) -> Any:
        """The default of a field, or of an entry of a list, whose last word is its number."""
        parent, _, last = name.rpartition(".")
        if name not in self._defaults and last.isdigit() and not self.partial:
            entries = self.get(parent)
            return entries[int(last)] if isinstance(entries, (list, tuple)) and int(last) < len(entries) else None
        return self._default(self._defaults.get(name))

    def _default(self, value: Any) -> Any:
        if not isinstance(value, dict) or "cycle" in value:
            return None if self.partial and not isinstance(value, (bool, str)) else whole(value)
        if "=" in value:
            return number(value["="], self)
        count = size(value["of"], self)
        return [next((entry for entry, where in value["each"] if holds(where, (i,), self)), None) for i in range(count)]


def whole(value: Any) -> Any:
    """A default as it is: a list that repeats itself in full."""
    if not isinstance(value, dict) or "cycle" not in value:
        return value
    times = value["of"] // len(value["cycle"]) + 1
    return (value["cycle"] * times)[: value["of"]]


def _reach(tree: Any, name: str) -> Any:
    for word in name.split("."):
        if isinstance(tree, Mapping):
            tree = tree.get(word)
        elif isinstance(tree, (list, tuple)) and word.isdigit() and int(word) < len(tree):
            tree = tree[int(word)]
        else:
            return None
    return tree


_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b if abs(b) < 64 else 0,
}


def number(expression: str, fields: Fields) -> float:
    """Work out an expression. Raises Unsolved where a field is no number."""
    stack: list[float] = []
    for word in expression.split(","):
        if word == "int":
            stack.append(int(stack.pop()))
        elif word in _OPERATORS:
            right, left = stack.pop(), stack.pop()
            stack.append(_applied(word, left, right))
        else:
            stack.append(_operand(word, fields))
    return stack[0]


def _applied(sign: str, left: float, right: float) -> float:
    try:
        return _OPERATORS[sign](left, right)
    except (ZeroDivisionError, OverflowError) as error:
        raise Unsolved("its config has sizes that no model can have") from error


def _operand(word: str, fields: Fields) -> float:
    if word[0].isdigit() or word[0] == "-":
        return float(word) if "." in word or "e" in word else int(word)
    if word.startswith("len:"):
        return _length(word.removeprefix("len:"), fields)
    value = fields.get(word)
    if isinstance(value, (list, tuple)) and value and all(one == value[0] for one in value):  # the same for every layer
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e12:
        raise Unsolved(f"its config gives no number for {word}")
    return value


def _length(name: str, fields: Fields) -> int:
    entries = fields.get(name)
    if not isinstance(entries, (list, tuple)):
        raise Unsolved(f"its config gives no list for {name}")
    return len(entries)


def size(expression: str, fields: Fields) -> int:
    """A whole number from an expression. Raises Unsolved where it is none."""
    value = number(expression, fields)
    if value != int(value):
        raise Unsolved(f"{expression} is no whole number in its config")
    return int(value)


def holds(where: Sequence[Sequence[Any]], at: tuple[int, ...], fields: Fields) -> bool:
    """Whether every condition holds at these layer numbers."""
    return all(_holds(condition, at, fields) for condition in where)


def _holds(condition: Sequence[Any], at: tuple[int, ...], fields: Fields) -> bool:
    """One condition: [word, ...].

    Of fields: true f, false f, is f value, same f g. not [conditions], where they do not hold together. Of the number i
    of a layer, whose place among the path's counts is the last word: in f values (entry i of a list is one of them),
    below e, every e r (i % e == r), listed f (i is in the list), at numbers. Of all numbers of a path: places lists.
    """
    word, first = condition[0], condition[1]
    if word == "not":
        return not holds(first, at, fields)
    if word in _OF_FIELDS:
        return _of_field(word, condition, fields)
    index = at[condition[-1]]
    if word in ("at", "places"):
        return bool((index if word == "at" else list(at)) in first)
    if word == "below":
        return bool(index < size(first, fields))
    if word == "every":
        step = size(first, fields)
        return step > 0 and index % step == size(condition[2], fields)
    return _of_list(word, condition, index, fields)


_OF_FIELDS = ("true", "false", "is", "same")


def _of_field(word: str, condition: Sequence[Any], fields: Fields) -> bool:
    value = fields.get(condition[1])
    if word == "is":
        return bool(value == condition[2])
    if word == "same":
        return bool(value == fields.get(condition[2]))
    return bool(value) == (word == "true")


def _of_list(word: str, condition: Sequence[Any], index: int, fields: Fields) -> bool:
    entries = fields.get(condition[1])
    if entries is None:
        entries = []
    if not isinstance(entries, (list, tuple)):
        raise Unsolved(f"its config gives no list for {condition[1]}")
    if word == "listed":
        return index in entries
    if index >= len(entries):
        raise Unsolved(f"its config gives too few {condition[1]}")
    return bool(entries[index] in condition[2])


def expand(rows: Iterable[Sequence[Any]], lists: Mapping[str, str], fields: Fields) -> list[Module]:
    """Every module of a config. Raises Unsolved, also beyond 60,000 modules."""
    made: list[Module] = []
    for path, kind, weights, *conditions in rows:
        where, more = (*conditions, [], [])[:2]
        general, special = _parted(where)
        if not holds(general, (), fields):
            continue
        at_all = _shapes(weights, fields)
        places = [at for at in _places(path, lists, fields) if holds(special, at, fields)]
        if places and any(shape is not None and 0 in shape for _, shape in at_all):
            raise Unsolved(f"its config has a size of 0 for {path}")
        if len(made) + len(places) > _MOST_MODULES:
            raise Unsolved(_TOO_MANY)
        made += [Module(_numbered(path, at), kind, _with(at_all, more, at, fields)) for at in places]
    return made


def _parted(where: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], list[Sequence[Any]]]:
    """Conditions on fields alone, which are asked once, and those on the number of a layer."""
    general = [condition for condition in where if condition[0] in _OF_FIELDS]
    return general, [condition for condition in where if condition not in general]


def _with(shapes: Shapes, more: Sequence[Any], at: tuple[int, ...], fields: Fields) -> Shapes:
    """The weights at one place, those under a condition included; of one name the first counts."""
    for weight, where in more:
        if holds(where, at, fields):
            shapes += tuple(added for added in _shapes(weight, fields) if added[0] not in dict(shapes))
    return shapes


def _places(path: str, lists: Mapping[str, str], fields: Fields) -> Iterator[tuple[int, ...]]:
    """All layer numbers that the path counts through."""
    counts, before = [], ""
    for piece in path.split("*")[:-1]:
        before += piece
        counts.append(min(size(lists[before.rstrip(".")], fields), _MOST_MODULES + 1))
        before += "*"
    if prod(counts) > _MOST_MODULES:
        raise Unsolved(_TOO_MANY)
    return product(*map(range, counts))


def _numbered(path: str, at: tuple[int, ...]) -> str:
    if not at:
        return path
    pieces = path.split("*")
    return "".join(f"{piece}{index}" for piece, index in zip(pieces, at, strict=False)) + pieces[-1]


def _shapes(weights: str, fields: Fields) -> Shapes:
    if not weights:
        return ()
    named = (weight.split(" ") for weight in weights.split(";"))
    return tuple((name, _shape(sizes, fields)) for name, *sizes in named)


def _shape(sizes: Sequence[str], fields: Fields) -> tuple[int, ...] | None:
    if sizes == ["?"]:  # the catalogue does not know how it follows
        return None
    try:
        return tuple(size(one, fields) for one in sizes)
    except Unsolved:
        if fields.partial:
            return None
        raise
