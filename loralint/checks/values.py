"""A value that cannot stay as it is: by the rule's own condition, by bounds, by another value, by a list of words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from loralint.checks.conditions import Guard, argument, compare
from loralint.checks.hit import Hit, place
from loralint.facts.scope import Scope, number
from loralint.model import Unknown


def condition(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: suggest (literal, {field}, {field, unsigned: true} or {field, else: literal}), related ({field: what it
    says}), both optional.
    """
    related = tuple((scope.get(field), says) for field, says in args.get("related", {}).items())
    return [Hit(place(scope, at), suggest=argument(args.get("suggest"), scope), related=related)]


def within(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: field; min and max (inclusive) or above and below (exclusive); suggest. Text and null are no numbers."""
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    amount = number(value)
    if amount is None:
        return []
    low, high = args.get("min", args.get("above")), args.get("max", args.get("below"))
    too_low, too_high = _beyond(amount, args)
    if not too_low and not too_high:
        return []
    suggest = argument(args["suggest"], scope) if "suggest" in args else low if too_low else high
    data = {"bound": low if too_low else high, "side": "low" if too_low else "high", "min": low, "max": high}
    where = value if value.span or not at else place(scope, (args["field"], *at))
    return [Hit(where, data, suggest)]


def outside(args: Mapping[str, Any]) -> Guard:
    """What settles `within` at one look: a number between the bounds, and what is no number."""
    return (
        args["field"],
        lambda value: (
            isinstance(value.value, Unknown) or ((amount := number(value)) is not None and any(_beyond(amount, args)))
        ),
    )


def _beyond(amount: float, args: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether a number is too low, and whether it is too high."""
    low, high = args.get("min", args.get("above")), args.get("max", args.get("below"))
    return (
        low is not None and (amount < low or (amount == low and "above" in args)),
        high is not None and (amount > high or (amount == high and "below" in args)),
    )


def compared(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: left (field), op, right (literal or {field}), suggest. Fires when `left op right` is false."""
    left = scope.get(args["left"])
    right = argument(args["right"], scope)
    if left.value is None or right is None:
        return []
    truth = compare(args["op"], left.value, right)
    if isinstance(truth, Unknown):
        return truth
    if truth:
        return []
    suggest = argument(args["suggest"], scope) if "suggest" in args else _nearest(args["op"], left.value, right)
    other = args["right"]
    related = ((scope.get(other["field"]), "is what it has to fit"),) if isinstance(other, dict) else ()
    where = left if left.span or not at else place(scope, (args["left"], *at))
    return [Hit(where, {"left": left.value, "right": right}, suggest, related=related)]


def _nearest(operator: str, left: Any, right: Any) -> object:
    """A value close to `left` that stands in the relation, where there is an obvious one."""
    if operator in {"eq", "le", "ge"}:
        return right
    if operator == "multiple_of" and isinstance(left, int) and isinstance(right, int) and right > 0:
        return max(1, math.ceil(left / right)) * right
    return None


def one_of(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: field, values; `ignore_case` when the framework does. Suggests the closest; `near`: or else the first."""
    del at
    value = scope.get(args["field"])
    if isinstance(value.value, Unknown):
        return value.value
    if not isinstance(value.value, str):
        return []
    word = value.value.lower() if args.get("ignore_case") else value.value
    if word in args["values"]:
        return []
    import difflib

    close = difflib.get_close_matches(word, args["values"], 1, 0.6)
    data = {"values": args["values"], "near": (close or args["values"])[0]}
    return [Hit(value, data, close[0] if close else None)]


def known_optimizer(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: names_of, the framework whose list counts (`optimizers.names`). Suggests the closest, `near` or AdamW."""
    del at
    value = scope.get("optim.name")
    if isinstance(value.value, Unknown):
        return value.value
    from loralint.knowledge.optimizers import names

    known = names(args["names_of"])
    if not isinstance(value.value, str) or not value.span or not known or value.value in known:
        return []
    import difflib

    close = difflib.get_close_matches(value.value, known, 1, 0.6)
    data = {"count": len(known), "near": close[0] if close else "adamw_torch"}
    return [Hit(value, data, close[0] if close else None)]
