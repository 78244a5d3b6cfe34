"""Several sources of one run, brought to one: who counts is data (golden/precedence.yaml)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from loralint.frameworks.table import Layer
from loralint.knowledge.precedence import Relation, rank, relation, together
from loralint.model import Observation, Unknown, Value

_EFFECTS = {"ignored": "lost", "conflict": "crash"}


def settle(
    layers: Sequence[Layer], framework: str, launchers: Container[str], version_is: Callable[[str], bool]
) -> tuple[tuple[Layer, ...], list[Observation]]:
    """Order layers by their kinds, strongest first, without the values that have no effect, and tell what was lost so.

    An observation of kind "overruled" stands at the value that counts for nothing, or that another one contradicts; its
    `other` is the value that counts. Equal values are no news. Layers of one kind keep the order they are given in.
    """

    def related(one: str, other: str, field: str) -> Relation:
        return relation(one, other, field, framework, launchers, version_is)

    ordered = sorted(layers, key=lambda layer: rank(layer.kind))
    settled: list[Layer] = []
    told: list[Observation] = []
    for layer in ordered:
        values = dict(layer.values)
        for field in [field for field, several in layer.values.items() if several]:
            beaten = _beaten(layer, field, ordered, related)
            if beaten is None:
                continue
            by, winner = beaten
            if by.how != "conflict":
                del values[field]
            told += list(_told(layer.values[field][0], winner, by))
        settled.append(layer._replace(values=values))
    return tuple(settled), told


def _beaten(
    layer: Layer, field: str, layers: Sequence[Layer], related: Callable[[str, str, str], Relation]
) -> tuple[Relation, Value | None] | None:
    """What overrules this layer's value: the relation, and the value that counts (None for the program's default)."""
    spoken = False
    for other in layers:
        winner = _said(other, field) if other.kind != layer.kind else None
        if winner is None:
            continue
        found = related(other.kind, layer.kind, field)
        stronger = found.stronger == other.kind
        spoken = spoken or stronger
        unusual = rank(other.kind) > rank(layer.kind)  # else the order of the layers does it
        if stronger and (found.how != "override" or unusual or _instead(winner, layer.values[field][0])):
            return found, winner
    found = related("default", layer.kind, field)
    return (found, None) if not spoken and found.stronger == "default" else None


def _instead(winner: Value, loser: Value) -> bool:
    """Whether what one source switches on switches off what another does: not where each is a switch of its own."""
    switches = all(one.key.rpartition(".")[2] == one.field.rpartition(".")[2] for one in (winner, loser))
    return winner.field != loser.field and not switches


def _said(layer: Layer, field: str) -> Value | None:
    """What a layer says of a field, or of one that is decided with it: then only what it switches on."""
    group = together(field)
    values = [value for name in group for value in layer.values.get(name, ())[:1]]
    if len(group) == 1:
        return values[0] if values else None
    return next((value for value in values if value.value is True or isinstance(value.value, Unknown)), None)


def _told(loser: Value, winner: Value | None, by: Relation) -> Iterator[Observation]:
    if by.how == "override" or (winner is not None and _same(winner, loser)):
        return
    yield Observation(
        "overruled", loser, _EFFECTS[by.how], by.message, package=by.package, other=winner,
        data={"stronger": by.stronger, "weaker": by.weaker, "wins": "" if winner is None else str(winner.value)},
    )  # fmt: skip


def _same(one: Value, other: Value) -> bool:
    """Whether two values say the same, as far as anybody can tell."""
    unknown = isinstance(one.value, Unknown) or isinstance(other.value, Unknown)
    return unknown or (one.field == other.field and one.value == other.value)
