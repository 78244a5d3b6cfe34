"""Which rules a run is judged by: sorted once for a framework at some versions, then looked up for each of its files.

Most rules do not concern most files. What one written value, one look at a field or the absence of an observation
settles is asked once for all rules that ask it, as sets of rules in the bits of a number.
"""

from collections.abc import Iterator
from typing import NamedTuple

from loralint.canonical.fields import FIELDS
from loralint.checks import golden, values
from loralint.checks.conditions import Guard, guards
from loralint.facts import PLACES
from loralint.facts.scope import Scope
from loralint.knowledge.rules import Rule
from loralint.model import Value
from loralint.run.config import Config

# Templates that look at what was observed or done, with the argument that names what they are about.
MET = {"observation": "kind", "event": "kind", "order": "then", "missing": "of"}


# Templates that hold a value against bounds, with the look at it that settles them.
_BOUNDED = {"range": values.outside, "golden": golden.outside}


class Plan(NamedTuple):
    """Rules in their order; a set of them is a number with the bits of their places.

    asking: the rules about values. met: kind of observation or event -> the rules about it. must: field -> the rules
    that are silent unless somebody wrote it, its default being harmless. guards: question of one field or fact -> the
    rules that are silent where the answer is no, in the order to ask them.
    """

    rules: list[Rule]
    asking: int
    met: dict[str, int]
    must: dict[str, int]
    guards: list[tuple[Guard, int]]


_MOST = 128  # a check of one folder meets a few; a server meets as many as people pin versions
# By identity of the rules, the reader's table and the versions, each their own while they are kept here.
_PLANS: dict[tuple[int, int, int, tuple[str, ...]], tuple[Plan, object]] = {}


def plan_of(rules: tuple[Rule, ...], config: Config) -> Plan:
    """The plan for the framework and the versions of this run."""
    reader, versions = config.reader, config.versions
    found = _PLANS.get((id(rules), id(reader.table), id(versions), reader.kin))
    if found is None:
        names = {reader.name, *reader.kin}
        own = [rule for rule in rules if rule.frameworks is None or not names.isdisjoint(rule.frameworks)]
        if len(_PLANS) >= _MOST:
            _PLANS.clear()
        plan = _sorted([rule for rule in own if all(map(versions.satisfy, rule.versions))], config)
        found = _PLANS[id(rules), id(reader.table), id(versions), reader.kin] = (plan, (rules, reader.table, versions))
    return found[0]


def _sorted(rules: list[Rule], config: Config) -> Plan:
    asking = 0
    met: dict[str, int] = {}
    must: dict[str, int] = {}
    asked: dict[Guard, int] = {}
    plain: dict[str, Value | None] = {}
    for place, rule in enumerate(rules):
        one = 1 << place
        about = rule.args.get(MET.get(rule.uses, ""))
        if about is not None:
            for kind in about if isinstance(about, list) else [about]:
                met[kind] = met.get(kind, 0) | one
            continue
        asking |= one
        for guard in _guards(rule):
            asked[guard] = asked.get(guard, 0) | one
            field = guard[0]
            if field not in plain:
                plain[field] = config.constant(field) if field in FIELDS else None
            usual = plain[field]
            if usual is not None and not guard[1](usual):
                must[field] = must.get(field, 0) | one
    return Plan(rules, asking, met, must, sorted(asked.items(), key=_first))


def _first(asked: tuple[Guard, int]) -> tuple[bool, int]:
    """What is written before what has to be worked out, then what most rules ask."""
    return asked[0][0] not in FIELDS, -asked[1].bit_count()


def _guards(rule: Rule) -> tuple[Guard, ...]:
    """A template that compares a field has nothing to say of one without a value, or of one within all its bounds."""
    if rule.uses in _BOUNDED:
        look = _BOUNDED[rule.uses](rule.args)
        return (*guards(rule.when), look) if look[0] in FIELDS or look[0] in PLACES else guards(rule.when)
    needed = [["absent", rule.args[name], False] for name in ("field", "left") if name in rule.args]
    return (*guards(rule.when), *guards(["all", *needed])) if needed else guards(rule.when)


def concerned(plan: Plan, config: Config, scope: Scope) -> Iterator[Rule]:
    """The rules that one look does not show to be silent here, in their order; each is to be judged in full."""
    left = plan.asking
    if not config.open:
        written = config.written()
        for field, rules in plan.must.items():
            if field not in written:
                left &= ~rules
    for (field, test), rules in plan.guards:
        if left & rules and not test(scope.peek(field)):
            left &= ~rules
    for kind in {one.kind for one in scope.observations} | {one.kind for one in scope.events}:
        left |= plan.met.get(kind, 0)
    while left:
        first = left & -left
        yield plan.rules[first.bit_length() - 1]
        left ^= first
