from __future__ import annotations

import pytest

from loralint.authoring.compile import cold_rule, hot_rule
from loralint.authoring.rule import RuleFile
from loralint.render.page import as_text
from loralint.render.rule_page import frameworks_of, plain, rule_page, tiers_of
from loralint.render.style import Style

GOLDEN = {
    "lora.P": [
        {
            "id": "product",
            "name": "any",
            "bounds": [
                {"below": 1e-9, "tier": "S", "then": "nothing is learned"},
                {"above": 0.1, "tier": "note", "then": "seldom seen"},
                {"above": 0.3, "tier": "A", "then": "the run may diverge"},
            ],
        },
        {"id": "other", "name": "other", "bounds": [{"above": 5, "tier": "S", "then": "all is lost"}]},
    ]
}


@pytest.fixture
def authored():
    return {
        "id": "LL901",
        "name": "rate-too-high",
        "since": "0.1.0",
        "applies": {"framework": ["axolotl", "trl"], "transformers": ">=5"},
        "when": {"adapter.rank": {"gt": 0}},
        "at": "optim.lr",
        "uses": "range",
        "with": {"field": "optim.lr", "max": 0.1},
        "levels": [{"tier": "S", "when": {"hit.side": "low"}}, {"tier": "A"}],
        "message": "the loss blows up: {key} {value} is beyond {bound}, E is {get:lora.E}",
        "help": "write {key:optim.lr}: {suggest}",
        "fix": {"set": {"optim.lr": "{suggest}"}, "safe": False},
        "symptoms": ["loss is `inf`"],
        "why": "An update of Adam is as large as the rate, whatever the gradient.",
        "sources": ["arXiv:2305.14314"],
        "examples": [
            {
                "good": {"trl": "learning_rate: 2.0e-4\n"},
                "options": {"gpu": "T4", "rows": 10, "target": {"trl": "1.0"}},
            },
            {
                "bad": {"axolotl": "a: 1\nlearning_rate: 1.0\n"},
                "finds": {"key": "learning_rate", "line": 2, "tier": "A"},
            },
        ],
    }


def page(authored, key_of=str):
    rule = RuleFile.model_validate(authored)
    return as_text(rule_page(hot_rule(rule, "rate"), cold_rule(rule), key_of, GOLDEN), Style(on=False), 100)


def test_the_whole_page(authored):
    assert page(authored, lambda field: f"key-of-{field}") == (
        "LL901 rate-too-high\n\n"
        "tier S A; topic rate; axolotl, trl; transformers>=5; since 0.1.0\n\n"
        "The loss blows up:\n\n"
        "key-of-optim.lr <value> is beyond <bound>, E is <lora.E>\n\n"
        "You may have seen:\n\n"
        "- `` loss is `inf` ``\n\n"
        "Why\n\n"
        "An update of Adam is as large as the rate, whatever the gradient.\n\n"
        "Looks where adapter.rank is above 0.\n\n"
        "Tier S where side is low; A otherwise.\n\n"
        "Examples\n\n"
        "Good, trl, with --gpu T4 --rows 10 --target trl=1.0:\n\n"
        "    learning_rate: 2.0e-4\n\n"
        "Bad, axolotl:\n\n"
        "    a: 1\n"
        "    learning_rate: 1.0  # <- A learning_rate\n\n"
        "What to write\n\n"
        "Write key-of-optim.lr: <suggest>. A machine can write this, but read it before you keep it.\n\n"
        "Sources\n\n"
        "- arXiv:2305.14314\n"
    )


def test_the_fix_is_marked_in_the_example(authored):
    authored["examples"][1]["finds"]["fixed"] = "learning_rate: 0.1"
    assert "    learning_rate: 1.0  # <- A learning_rate, becomes learning_rate: 0.1\n" in page(authored)


def test_a_message_without_a_cause_is_a_sentence(authored):
    authored["message"] = "nothing is learned"
    assert "\nNothing is learned.\n" in page(authored)


def test_a_golden_rule_says_where_its_bounds_are(authored):
    judged = {"parameter": "lora.P", "side": "above", "entry": "product"}
    authored |= {"uses": "golden", "with": judged, "levels": None, "tier": "A", "message": "{then}: P is {get:lora.P}"}
    text = page(authored)
    assert "\ntier A note; " in text
    assert "\nThe run may diverge:\n\nP is <lora.P>\n" in text
    assert "\nThe bounds and their sources: `loralint golden lora.P`.\n" in text
    assert "Tier " not in text


def test_the_worst_bound_of_all_entries_speaks(authored):
    authored |= {"uses": "golden", "with": {"parameter": "lora.P", "side": "above"}, "levels": None, "tier": "A"}
    assert "\nAll is lost, alas.\n" in page(authored | {"message": "{then}, alas"})
    assert "\nNothing is learned, alas.\n" in page(
        authored | {"message": "{then}, alas", "with": {"parameter": "lora.P", "entry": "product"}}
    )


def test_of_equal_bounds_that_for_plain_fine_tuning_speaks(authored):
    entries = [
        {
            "id": "a",
            "name": "a",
            "when": ["eq", "optim.family", "lion"],
            "bounds": [{"above": 1, "tier": "A", "then": "lion"}],
        },
        {
            "id": "b",
            "name": "b",
            "when": ["eq", "task.group", "sft"],
            "bounds": [{"above": 1, "tier": "A", "then": "sft"}],
        },
        {"id": "c", "name": "c", "when": None, "bounds": [{"above": 1, "tier": "A", "then": "any"}]},
    ]
    rule = RuleFile.model_validate(
        authored | {"uses": "golden", "with": {"parameter": "lora.P"}, "message": "{then}: so"}
    )
    assert plain(hot_rule(rule, "rate"), "message", str, {"lora.P": entries}) == "sft: so"
    assert plain(hot_rule(rule, "rate"), "message", str, {"lora.P": [entries[0], entries[2]]}) == "any: so"


def test_what_depends_on_the_framework_is_said_in_general(authored):
    assert "\nThe framework refuses it:\n" in page(authored | {"message": "{framework} refuses it: no"})


def test_a_rule_in_preview_says_so(authored):
    assert "since 0.1.0, in preview: only with --preview\n" in page(authored | {"preview": True})


def test_the_key_of_an_item_stays_open(authored):
    rule = RuleFile.model_validate(authored | {"each": "adapter.targets", "at": "item"})
    assert plain(hot_rule(rule, "target"), "message", str, GOLDEN).startswith("the loss blows up: <key> <value> is")


def test_the_frameworks_of_bad_examples_come_first(authored):
    assert frameworks_of(cold_rule(RuleFile.model_validate(authored))) == ["axolotl", "trl"]


def test_the_tiers_of_a_rule(authored):
    assert tiers_of(hot_rule(RuleFile.model_validate(authored), "rate"), GOLDEN) == "S A"
