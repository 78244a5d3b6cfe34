"""Orders of what a script does: that something happens, that it happens too late, that it never happens.

Events of one object belong together: a model keeps its identity when an adapter is put on it. What happens in a branch
counts for absence, so that it is never called missing; of two things in branches nobody knows whether both happen.
`sure` among a hit's names says whether all of it happens in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from loralint.canonical.events import EVENT_DATA
from loralint.checks.hit import Hit
from loralint.facts.scope import Scope
from loralint.model import Event, Unknown, Value


def event(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: kind; `where: {name: value}` of its data, each a value or a list of them. One hit for each such event.

    In all three templates `at` of the rule names fields to point at instead, where one of them is written, and `key` is
    the name that the finding has, with `{what}` for the event's own.
    """
    return [_hit(scope, args, at, one, (one,)) for _, one in _chosen(scope, args["kind"], args.get("where", {}))]


def order(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit]:
    """with: first, then; `first_where`, `then_where`; `unless`: kinds that in between undo the first; `apart: true`
    when the two need not be of one object; `lacking`: kinds of which none may happen, before or after. One hit for each
    `then` that such a `first` came before, at the place of the `then`, or of the first with `where: first`; `related`
    says what the other did.
    """
    hits = []
    steps = list(_steps(scope, args))
    for place, late in _chosen(scope, args["then"], args.get("then_where", {})):
        early = _before(steps, place, late, apart=args.get("apart", False))
        lacking = args.get("lacking", ())
        if early is not None and not any(one.kind in lacking and _together(one, late) for one in scope.events):
            where, other = (early, late) if args.get("where") == "first" else (late, early)
            related = ((other.value, args.get("related", "came before")),)
            hits.append(_hit(scope, args, at, where, (early, late), related))
    return hits


def missing(scope: Scope, args: Mapping[str, Any], at: tuple[str, ...]) -> list[Hit] | Unknown:
    """with: need (a kind or several), of; `of_where`, `need_where`; `side`: "before" or "after" the event that needs
    it, absent for either; `apart: true` when the two need not be of one object. One hit for each event that lacks it.
    """
    wanting = _chosen(scope, args["of"], args.get("of_where", {}))
    hits = [_hit(scope, args, at, one, (one,)) for place, one in wanting if _lacks(scope, place, args)]
    unread = next((one for one in scope.events if one.kind == "unread"), None)
    if hits and unread is not None:
        return Unknown(str(unread.data["reason"]))
    return hits


def _lacks(scope: Scope, place: int, args: Mapping[str, Any]) -> bool:
    one = scope.events[place]
    side = args.get("side")
    around = {"before": scope.events[:place], "after": scope.events[place + 1 :], None: scope.events}[side]
    kinds = args["need"] if isinstance(args["need"], list) else [args["need"]]
    where = args.get("need_where", {})
    return not any(
        other.kind in kinds and _fits(other, where, loosely=True) and (args.get("apart") or _together(one, other))
        for other in around
    )


class _Step(NamedTuple):
    """An event that an order asks for first, or that undoes such a one, and its place among all events."""

    place: int
    event: Event
    undoes: bool


def _steps(scope: Scope, args: Mapping[str, Any]) -> Iterator[_Step]:
    """The latest one first, since that is the one which counts."""
    for place in range(len(scope.events) - 1, -1, -1):
        one = scope.events[place]
        if one.kind == args["first"] and _fits(one, args.get("first_where", {})):
            yield _Step(place, one, undoes=False)
        elif one.kind in args.get("unless", ()):
            yield _Step(place, one, undoes=True)


def _before(steps: list[_Step], place: int, late: Event, *, apart: bool) -> Event | None:
    """The latest first event before the one at this place that nothing undid."""
    for step in steps:
        if step.place < place and (apart or _together(step.event, late)):
            if step.undoes:
                return None
            if step.event.sure or late.sure:  # of two branches perhaps only one is taken
                return step.event
    return None


def _chosen(scope: Scope, kind: str | list[str], where: Mapping[str, Any]) -> Iterator[tuple[int, Event]]:
    kinds = kind if isinstance(kind, list) else [kind]
    return ((at, one) for at, one in enumerate(scope.events) if one.kind in kinds and _fits(one, where))


def _fits(one: Event, where: Mapping[str, Any], *, loosely: bool = False) -> bool:
    """Whether an event's data are as wanted; what nobody knows is not, or may be where that is the careful answer."""
    for name, wanted in where.items():
        value = one.data.get(name)
        if value is None or isinstance(value, Unknown):
            if not loosely:
                return False
        elif value not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def _together(one: Event, other: Event) -> bool:
    """Whether two events are on one object; what is done to nobody knows what may be done to this one."""
    return not one.on or not other.on or bool(set(one.on) & set(other.on))


def _hit(
    scope: Scope,
    args: Mapping[str, Any],
    at: tuple[str, ...],
    place: Event,
    of: tuple[Event, ...],
    related: tuple[tuple[Value, str], ...] = (),
) -> Hit:
    data: dict[str, object] = dict.fromkeys(EVENT_DATA)
    data |= {name: value for one in of for name, value in one.data.items() if value is not None}
    fields = (scope.get(field) for field in at)
    value = next((value for value in fields if value.span is not None), place.value)
    if value is place.value and "key" in args:
        value = value._replace(key=args["key"].replace("{what}", value.key))
    sure = all(one.sure for one in of)
    return Hit(value, {**data, "what": place.value.key, "sure": sure, "one_config": _one_config(of)}, related=related)


def _one_config(of: tuple[Event, ...]) -> bool:
    """Whether the events of an order have the same config; of none known it is not said."""
    several = {one.data.get("config") for one in of}
    return len(of) > 1 and len(several) == 1 and None not in several
