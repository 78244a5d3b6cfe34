from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.data.example import example
from loralint.data.shape import KNOWN, chat, instruct, kto, named, preference, shape_of, text
from loralint.data.turns import faults_of

ALPACA = instruct("instruction", "output", "input")


@pytest.mark.parametrize(
    ("fields", "kind", "needs"),
    [
        (("instruction", "input", "output", "text"), "instruct", ("instruction", "output")),
        (("messages", "prompt", "text"), "chat", ("messages",)),
        (("conversations", "id"), "chat", ("conversations",)),
        (("prompt", "chosen", "rejected", "messages"), "preference", ("prompt", "chosen", "rejected")),
        (("chosen", "rejected"), "preference", ("chosen", "rejected")),
        (("prompt", "completion", "label"), "kto", ("prompt", "completion", "label")),
        (("prompt", "completion"), "instruct", ("prompt", "completion")),
        (("question", "answer"), "instruct", ("question", "answer")),
        (("text", "meta"), "text", ("text",)),
    ],
)
def test_the_names_of_fields_tell_the_layout(fields, kind, needs):
    shape = shape_of(fields)
    assert shape is not None
    assert (shape.kind, shape.needs) == (kind, needs)


def test_unknown_fields_tell_nothing():
    assert shape_of(("a", "b")) is None
    assert shape_of(()) is None


def test_the_prompt_and_the_answer_of_an_instruction():
    found = example({"instruction": "Add.", "input": "1 and 2", "output": "3"}, ALPACA)
    assert (found.prompt, found.answer, found.missing, found.wrong) == ("Add.\n1 and 2", "3", "", "")
    assert example({"instruction": "Add.", "output": "3"}, ALPACA).missing == ""
    assert example({"instruction": "Add.", "input": None, "output": 3}, ALPACA).answer == "3"
    assert example({"instruction": "Add."}, ALPACA).missing == "output"
    assert example({"instruction": "Add.", "output": None}, ALPACA).missing == "output"
    assert example({"instruction": None, "output": "3"}, ALPACA).missing == "instruction"
    assert example({"instruction": "Add.", "output": [[3]]}, ALPACA).wrong == "output"


@pytest.mark.parametrize("keys", [("role", "content"), ("from", "value")])
def test_the_turns_of_a_conversation(keys):
    role, content = keys
    turns = [("system", "Be brief."), ("user", "2+2?"), ("assistant", "4"), ("user", "3+3?"), ("assistant", "6")]
    row = {"messages": [{role: who, content: what} for who, what in turns]}
    for shape in (chat("messages"), chat("messages", role, content)):
        found = example(row, shape)
        assert found.roles == ("system", "user", "assistant", "user", "assistant")
        assert (found.prompt, found.answer) == ("Be brief.\n2+2?", "4\n6")
        assert (found.missing, found.wrong) == ("", "")


def test_turns_with_other_keys_than_declared_are_missing():
    row = {"messages": [{"from": "human", "value": "2+2?"}]}
    assert example(row, chat("messages", "role", "content")).missing == "messages.role"


def test_content_in_parts_and_calls_of_tools_are_text():
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image", "url": "a.png"}]
    row = {
        "messages": [
            {"role": "user", "content": parts},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look"}}]},
            {"role": "assistant", "content": "", "function_call": {"name": "look"}},
            {"role": "tool", "content": "a cat"},
            {"role": "assistant", "content": "A cat."},
        ]
    }
    found = example(row, chat("messages"))
    assert found.prompt == "What is this?\n(other)"
    assert found.answer == "call\ncall\nA cat."
    assert faults_of(found.roles) == ()


@pytest.mark.parametrize(
    ("value", "missing", "wrong"),
    [(None, "messages", ""), ("text", "", "messages"), ([1], "", "messages"), ({}, "", "messages")],
)
def test_what_is_no_list_of_turns(value, missing, wrong):
    found = example({"messages": value}, chat("messages"))
    assert (found.missing, found.wrong) == (missing, wrong)


def test_conversational_preferences_and_labels():
    asked, good, bad = ([{"role": "user", "content": "Hi"}], [{"role": "assistant", "content": "Hello!"}], "No.")
    found = example({"prompt": asked, "chosen": good, "rejected": bad}, preference("prompt"))
    assert (found.prompt, found.answer, found.rejected) == ("Hi", "Hello!", "No.")
    assert example({"prompt": "a", "chosen": "b"}, preference("prompt")).missing == "rejected"
    assert example({"prompt": "a", "completion": "b", "label": False}, kto("prompt")).label is False
    assert example({"prompt": "a", "completion": "b", "label": None}, kto("prompt")).missing == "label"


def test_a_role_that_is_content_in_the_wrong_place_is_not_kept():
    found = example({"messages": [{"role": "my secret is hf_abc and more of it", "content": "x"}]}, chat("messages"))
    assert found.roles == ("?",)


def test_roles_by_a_mapping():
    shape = chat("messages", "role", "content", {"client": "user", "agent": "assistant"})
    row = {
        "messages": [
            {"role": "client", "content": "a"},
            {"role": "agent", "content": "b"},
            {"role": "user", "content": "c"},
        ]
    }
    assert example(row, shape).roles == ("user", "assistant", "?user")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "from", "value", "type", "text", "x"]), inner, max_size=3)
    ),
    max_leaves=10,
)
FIELDS = sorted({field for shape in KNOWN for field in (*shape.needs, *shape.optional)})


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5), st.sampled_from([*KNOWN, text("content")]))
def test_no_row_is_too_odd(row, shape):
    found = example(row, shape)
    assert isinstance(found.whole, str)
    assert found.answer in found.whole or found.kind == "chat"
    assert faults_of(found.roles) is faults_of(found.roles)


@pytest.mark.parametrize(
    ("roles", "faults"),
    [
        ("user assistant", []),
        ("system user assistant user assistant", []),
        ("user assistant tool assistant", []),
        ("user tool assistant", []),
        ("", ["data-no-answer-turn"]),
        ("user", ["data-no-answer-turn"]),
        ("system user", ["data-no-answer-turn"]),
        ("assistant user assistant", ["data-turn-order"]),
        ("user user assistant", ["data-turn-order"]),
        ("user assistant user", ["data-turn-order"]),
        ("user system assistant", ["data-system-turn"]),
        ("system system user assistant", ["data-system-turn"]),
        ("user ?narrator assistant", ["data-unknown-role"]),
    ],
)
def test_orders_of_speakers(roles, faults):
    assert [kind for kind, _ in faults_of(tuple(roles.split()))] == faults


def test_a_layout_in_words():
    assert named(ALPACA) == "instruction, output"
    assert named(chat("conversations", "from", "value")) == "conversations (from, value)"
