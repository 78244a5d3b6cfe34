"""Orders and absences of what a script does."""

from __future__ import annotations

import pytest

from loralint.checks.events import event, missing, order
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Event, Span, Unknown, Value

MODEL, OTHER, TOKENIZER = (1,), (2,), (3,)


class Nothing:
    def get(self, field: str) -> Value:
        return Value(None, origin="absent", field=field)


def scope(*events: Event) -> Scope:
    return Scope(Nothing(), FACTS, (), events)


def did(kind: str, on=MODEL, *, line=1, sure=True, **data) -> Event:
    where = Span("a.py", line * 10, line * 10 + 1, line, 1, line, 2)
    return Event(kind, Value(None, key=f"{kind}()", span=where), on, data, sure)


def lines(hits):
    return [hit.at.span.line for hit in hits]


def test_every_event_whose_data_are_as_wanted():
    done = scope(did("merge", line=1, bits=4), did("merge", line=2, bits=16), did("merge", line=3))
    hits = event(done, {"kind": "merge", "where": {"bits": [4, 8]}, "key": "{what}.x"}, ())
    assert lines(hits) == [1]
    assert hits[0].at.key == "merge().x"
    assert hits[0].data["bits"] == 4
    assert hits[0].data["wrapped"] is None  # every name of an event is there for levels


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([did("wrap", line=1), did("prepare", line=2)], [2]),
        ([did("prepare", line=1), did("wrap", line=2)], []),
        ([did("wrap", line=1), did("prepare", OTHER, line=2)], []),
        ([did("wrap", line=1), did("merge", line=2), did("prepare", line=3)], []),
        ([did("wrap", line=1), did("merge", OTHER, line=2), did("prepare", line=3)], [3]),
        ([did("wrap", line=1), did("merge", (), line=2), did("prepare", line=3)], []),
        ([did("wrap", line=1, sure=False), did("prepare", line=2)], [2]),
        ([did("wrap", line=1, sure=False), did("prepare", line=2, sure=False)], []),
    ],
    ids=["late", "early", "of another", "undone", "another undone", "perhaps undone", "in a branch", "in two branches"],
)
def test_an_event_after_one_that_it_should_precede(events, found):
    hits = order(scope(*events), {"first": "wrap", "then": "prepare", "unless": ["merge"]}, ())
    assert lines(hits) == found
    assert all(hit.related[0][0].span.line == 1 for hit in hits)


def test_an_order_may_point_at_the_first_of_its_events():
    done = scope(did("wrap", line=1), did("prepare", line=2, sure=False))
    (hit,) = order(done, {"first": "wrap", "then": "prepare", "where": "first", "related": "freezes"}, ())
    assert (hit.at.span.line, hit.related[0][1], hit.data["sure"]) == (1, "freezes", False)


def test_what_needs_something_that_never_happens():
    args = {"of": "add-tokens", "need": ["resize"], "apart": True}
    assert lines(missing(scope(did("add-tokens", TOKENIZER, line=4)), args, ())) == [4]
    assert missing(scope(did("add-tokens", TOKENIZER), did("resize", MODEL, sure=False)), args, ()) == []
    here = {**args, "apart": False}
    assert lines(missing(scope(did("add-tokens", TOKENIZER, line=4), did("resize", MODEL)), here, ())) == [4]


@pytest.mark.parametrize(("side", "found"), [("before", [2]), ("after", []), (None, [])])
def test_the_side_on_which_it_is_needed(side, found):
    done = scope(did("trainer", line=2), did("enable-input-grads", line=3))
    args = {"of": "trainer", "need": "enable-input-grads", **({"side": side} if side else {})}
    assert lines(missing(done, args, ())) == found


def test_what_nobody_knows_of_what_is_needed_counts_as_there():
    args = {"of": "trainer", "need": "prepare", "need_where": {"reentrant": True}}
    assert missing(scope(did("prepare"), did("trainer")), args, ()) == []
    assert lines(missing(scope(did("prepare", reentrant=False), did("trainer", line=2)), args, ())) == [2]


def test_a_part_that_nobody_read_may_hold_what_is_missing():
    unread = Event("unread", Value(None), (), {"reason": "a star import"})
    assert missing(scope(unread, did("add-tokens")), {"of": "add-tokens", "need": "resize"}, ()) == Unknown(
        "a star import"
    )
    assert missing(scope(unread), {"of": "add-tokens", "need": "resize"}, ()) == []
