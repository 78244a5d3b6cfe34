from __future__ import annotations

import math

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from loralint.checks.conditions import OPERATORS, compare, guards, holds
from loralint.facts.scope import Scope
from loralint.model import Span, Unknown, Value

HIDDEN = Unknown("hidden by a template")
WHERE = Span("f.yaml", 0, 1, 1, 1, 1, 2)


@pytest.mark.parametrize(
    ("operator", "left", "right", "answer"),
    [
        ("eq", 8, 8, True),
        ("eq", 8, 8.0, True),
        ("eq", True, 1, False),
        ("eq", 1, True, False),
        ("eq", "AdamW", "adamw", True),
        ("eq", None, None, True),
        ("eq", "8", 8, False),
        ("eq", [1, 2], [1, 2], True),
        ("ne", 8, 16, True),
        ("ne", "BF16", "bf16", False),
        ("ne", None, 8, True),
        ("in", "lora", ["LoRA", "dora"], True),
        ("in", 1, [True], False),
        ("in", None, [8, 16], False),
        ("in", 8, None, False),
        ("not_in", 8, [16, 32], True),
        ("not_in", "q", ["Q"], False),
        ("not_in", 8, None, False),
        ("has", ["q_proj", "LM_HEAD"], "lm_head", True),
        ("has", ("a",), "b", False),
        ("has", "q_proj", "q", False),
        ("has", None, "q", False),
        ("lt", 1e-5, 1e-4, True),
        ("lt", 1e-4, 1e-4, False),
        ("le", 1e-4, 1e-4, True),
        ("gt", 2, 1, True),
        ("ge", 1, 1, True),
        ("gt", "2", 1, False),
        ("lt", "2", 1, False),
        ("gt", True, 0, False),
        ("lt", None, 1, False),
        ("gt", math.inf, 1, True),
        ("gt", math.nan, 1, False),
        ("lt", math.nan, 1, False),
        ("between", 5, [5, 10], True),
        ("between", 10, [5, 10], True),
        ("between", 10.01, [5, 10], False),
        ("between", "7", [5, 10], False),
        ("multiple_of", 60, 20, True),
        ("multiple_of", 50, 20, False),
        ("multiple_of", 20, 60, False),
        ("multiple_of", 0, 20, True),
        ("multiple_of", -40, 20, True),
        ("multiple_of", 0.1, 0.02, True),
        ("multiple_of", 0.3, 0.1, True),
        ("multiple_of", 0.25, 0.1, False),
        ("multiple_of", 50, 0, False),
        ("multiple_of", math.inf, 20, False),
        ("multiple_of", math.nan, 20, False),
        ("multiple_of", 1e300, 1e-300, False),
        ("multiple_of", "60", 20, False),
        ("multiple_of", True, 1, False),
        ("matches", "Llama-3.1-8B-Instruct", r"instruct$", True),
        ("matches", "Llama-3.1-8B", r"instruct$", False),
        ("matches", 8, "8", False),
        ("type", "x", "str", True),
        ("type", [1], "list", True),
        ("type", {"a": 1}, "map", True),
        ("type", True, "bool", True),
        ("type", True, "int", False),
        ("type", True, "number", False),
        ("type", 1, "int", True),
        ("type", 1, "float", False),
        ("type", 1.0, "float", True),
        ("type", 1, "number", True),
        ("type", 1.5, "number", True),
        ("type", None, "null", True),
        ("type", "", "null", False),
    ],
)
def test_comparison(operator, left, right, answer):
    assert compare(operator, left, right) is answer


@pytest.mark.parametrize("operator", sorted(OPERATORS - {"set", "default", "absent", "known"}))
@pytest.mark.parametrize("sides", [(HIDDEN, 1), (1, HIDDEN), (HIDDEN, HIDDEN)])
def test_an_unknown_side_leaves_every_comparison_unknown(operator, sides):
    assert compare(operator, *sides) == HIDDEN


def test_an_unknown_item_hides_only_what_no_other_item_shows():
    assert compare("has", [HIDDEN, "lm_head"], "lm_head") is True
    assert compare("has", ["q_proj", HIDDEN], "lm_head") == HIDDEN


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        (Value(8, "set", span=WHERE), {"set": True, "default": False, "absent": False, "known": True}),
        (Value(8, "flag"), {"set": True, "default": False, "absent": False, "known": True}),
        (Value(8, "option"), {"set": True, "default": False, "absent": False, "known": True}),
        (Value(8, "companion"), {"set": True, "default": False, "absent": False, "known": True}),
        (Value(8, "default"), {"set": False, "default": True, "absent": False, "known": True}),
        (Value(None, "default"), {"set": False, "default": True, "absent": True, "known": True}),
        (Value(None, "set", span=WHERE), {"set": True, "default": False, "absent": True, "known": True}),
        (Value(None, "absent"), {"set": False, "default": False, "absent": True, "known": False}),
        (Value(HIDDEN, "set", span=WHERE), {"set": True, "default": False, "known": False}),
    ],
)
def test_origin_tests(given, value, answers):
    scope = given({"adapter.rank": value})
    for operator, answer in answers.items():
        assert holds([operator, "adapter.rank", True], scope) is answer
        assert holds([operator, "adapter.rank", False], scope) is not answer


@pytest.mark.parametrize("wanted", [True, False])
def test_whether_an_unknown_value_is_none_is_unknown(given, wanted):
    assert (
        holds(["absent", "adapter.rank", wanted], given({"adapter.rank": Value(HIDDEN, "set", span=WHERE)})) == HIDDEN
    )


def test_an_argument_may_be_another_field(given):
    scope = given({"adapter.alpha": 32, "adapter.rank": 16})
    assert holds(["gt", "adapter.alpha", {"field": "adapter.rank"}], scope) is True
    assert holds(["multiple_of", "adapter.rank", {"field": "adapter.alpha"}], scope) is False


def test_a_field_that_is_unknown_as_argument_is_unknown(given):
    scope = given({"adapter.alpha": 32, "adapter.rank": HIDDEN})
    assert holds(["gt", "adapter.alpha", {"field": "adapter.rank"}], scope) == HIDDEN


def test_false_beats_unknown_in_all_and_true_beats_it_in_any(given):
    scope = given({"adapter.rank": HIDDEN, "adapter.alpha": 16})
    hidden, true, false = ["eq", "adapter.rank", 8], ["eq", "adapter.alpha", 16], ["eq", "adapter.alpha", 1]
    assert holds(["all", hidden, false], scope) is False
    assert holds(["all", false, hidden], scope) is False
    assert holds(["all", hidden, true], scope) == HIDDEN
    assert holds(["any", hidden, true], scope) is True
    assert holds(["any", true, hidden], scope) is True
    assert holds(["any", hidden, false], scope) == HIDDEN
    assert holds(["not", hidden], scope) == HIDDEN
    assert holds(["not", true], scope) is False


# Atoms over three settings of which one is true, one false and one unknown, in conditions of any shape.
ATOMS = {"adapter.rank": True, "adapter.alpha": False, "adapter.dropout": HIDDEN}


def _scope() -> Scope:
    class Settings:
        def get(self, field: str) -> Value:
            return Value(ATOMS[field], field=field)

    return Scope(Settings(), {})


conditions = st.recursive(
    st.sampled_from([["eq", name, True] for name in ATOMS]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda ones: ["all", *ones]),
        st.lists(inner, min_size=1, max_size=3).map(lambda ones: ["any", *ones]),
        inner.map(lambda one: ["not", one]),
    ),
    max_leaves=8,
)


def _kleene(condition) -> float:
    """0 false, 0.5 unknown, 1 true: "all" is the least, "any" the greatest, "not" the complement."""
    head, *rest = condition
    if head == "all":
        return min(map(_kleene, rest))
    if head == "any":
        return max(map(_kleene, rest))
    if head == "not":
        return 1 - _kleene(rest[0])
    return {True: 1.0, False: 0.0}.get(ATOMS[rest[0]], 0.5)


def _number(truth) -> float:
    return 0.5 if isinstance(truth, Unknown) else float(truth)


@drawn(conditions)
def test_conditions_follow_kleene(condition):
    assert _number(holds(condition, _scope())) == _kleene(condition)


@drawn(st.lists(conditions, min_size=1, max_size=4))
def test_de_morgan(ones):
    scope = _scope()
    negated = [["not", one] for one in ones]
    assert _number(holds(["not", ["all", *ones]], scope)) == _number(holds(["any", *negated], scope))
    assert _number(holds(["not", ["any", *ones]], scope)) == _number(holds(["all", *negated], scope))


@drawn(conditions)
def test_double_negation(condition):
    scope = _scope()
    assert _number(holds(["not", ["not", condition]], scope)) == _number(holds(condition, scope))


@drawn(conditions, st.booleans())
def test_an_answer_given_in_spite_of_an_unknown_is_right_for_every_value(condition, filled):
    """What is said to be true or false stays so whatever the unknown value turns out to be."""
    before = holds(condition, _scope())
    hidden, ATOMS["adapter.dropout"] = ATOMS["adapter.dropout"], filled
    try:
        after = holds(condition, _scope())
    finally:
        ATOMS["adapter.dropout"] = hidden
    assert isinstance(before, Unknown) or before is after


@drawn(conditions)
def test_a_guard_that_fails_settles_its_condition(condition):
    scope = _scope()
    if any(not test(scope.peek(field)) for field, test in guards(condition)):
        assert holds(condition, scope) is False


def test_alternatives_share_the_guards_of_the_fields_that_each_asks():
    [(field, test)] = guards(
        ["any", ["all", ["eq", "adapter.rank", 8], ["eq", "adapter.alpha", 1]], ["eq", "adapter.rank", 4]]
    )
    assert field == "adapter.rank"
    assert [test(Value(rank)) for rank in (8, 4, 2, HIDDEN)] == [True, True, False, True]
    assert guards(["any", ["eq", "adapter.rank", 8], ["eq", "adapter.alpha", 1]]) == ()
