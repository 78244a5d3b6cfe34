"""An expression in CEL, the Common Expression Language: arithmetic that conditions have no words for.

It ends always: CEL has no loops but over lists, and the runtime stops those that visit too much.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from loralint.canonical.fields import FIELDS
from loralint.checks.hit import Hit, place
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Unknown

ITEM = "item"
_LONGEST = 4000


def cel(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: cel, an expression over fields and facts that is true where the fault is; suggest (literal).

    Fields have their types (`double(adapter.rank) * optim.lr`). One without a value makes nothing true; what is not
    known leaves the rule unchecked unless the rest decides.
    """
    expression, names = compiled(args["cel"])
    values = {name: scope.get(name).value for name in names}
    given = {name: _as(name, value) for name, value in values.items() if _fits(name, value)}
    try:
        answer = expression.eval(data=given).value()
    except RuntimeError as error:
        return Unknown(f"the expression of the rule does not end well: {str(error).splitlines()[0]}")
    if answer is True:
        return [Hit(place(scope, at), suggest=args.get("suggest"))]
    unknown = [value for value in values.values() if isinstance(value, Unknown)]
    if answer is False:
        return []
    if unknown:
        return unknown[0]
    absent = any(value is None for value in values.values())
    return [] if absent else Unknown("the expression of the rule has no answer for these values")


@cache
def compiled(text: str) -> tuple[Any, tuple[str, ...]]:
    """The expression and the names in it. Raises ValueError, saying what is wrong and where, or what to install."""
    try:
        from cel_expr_python import cel as runtime
    except ImportError:
        raise ValueError("an expression in CEL needs cel-expr-python: pip install '.[cel]' in a checkout") from None
    if len(text) > _LONGEST:
        raise ValueError(f"an expression has at most {_LONGEST} characters")
    kinds = {"int": runtime.Type.INT, "number": runtime.Type.DOUBLE, "float": runtime.Type.DOUBLE,
             "bool": runtime.Type.BOOL, "str": runtime.Type.STRING}  # fmt: skip
    names = {name: kinds.get(FIELDS[name].type, runtime.Type.DYN) for name in FIELDS}
    names |= dict.fromkeys((*FACTS, ITEM), runtime.Type.DYN)
    try:
        expression = runtime.NewEnv(variables=names).compile(text)
    except RuntimeError as error:
        raise ValueError(_said(str(error))) from None
    if expression.return_type() not in (runtime.Type.BOOL, runtime.Type.DYN):
        raise ValueError(f"the expression is no question: it gives {expression.return_type().name()}, not a boolean")
    return expression, _names_in(text, names)


def _names_in(text: str, names: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that are asked for; one in a text between quotes is asked for in vain."""
    import re

    words = set(re.findall(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", text))
    return tuple(name for name in names if any(word == name or word.startswith(f"{name}.") for word in words))


def _fits(name: str, value: object) -> bool:
    """Whether a value is of its field's type; what is not is as if it were not there."""
    if value is None or isinstance(value, Unknown):
        return False
    kind = FIELDS[name].type if name in FIELDS else ""
    if kind in ("number", "float"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    types = {"int": int, "bool": bool, "str": str}
    return kind not in types or type(value) is types[kind]


def _as(name: str, value: Any) -> Any:
    """Doubles are written as integers too."""
    return float(value) if name in FIELDS and FIELDS[name].type in ("number", "float") else value


def _said(error: str) -> str:
    """The runtime's words in one line: what is wrong, and at which column."""
    import re

    place_ = re.search(r"<input>:\d+:(\d+): ", error)
    what = error.split(": ", 3)[-1].splitlines()[0] if place_ else error.splitlines()[0]
    return f"CEL, column {place_[1]}: {what}" if place_ else f"CEL: {what}"
