from __future__ import annotations

import pytest
from pydantic import ValidationError

from loralint.authoring.parameter import Entry

ENTRY = {
    "id": "lr-sft",
    "name": "supervised fine-tuning",
    "recommended": 2e-4,
    "range": [1e-4, 5e-4],
    "bounds": [{"above": 2e-3, "tier": "A", "then": "the loss blows up"}],
    "evidence": "read",
    "conditions": "AdamW, up to 13B",
    "sources": ["arXiv:2305.14314"],
}


def test_an_entry_is_accepted():
    assert Entry.model_validate(ENTRY).bounds[0].sides() == {"above": 2e-3}


def test_false_is_a_word_like_any_other():
    words = {"range": None, "set": [True], "recommended": True}
    bound = {"is": False, "tier": "S", "then": "nothing trains"}
    assert Entry.model_validate(ENTRY | words | {"bounds": [bound]}).bounds[0].sides() == {"is": False}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"range": None}, "either a range or a set"),
        ({"set": [1]}, "either a range or a set"),
        ({"range": [5e-4, 1e-4]}, "upside down"),
        ({"recommended": 1.0}, "not fine by its own entry"),
        ({"bounds": [{"above": 1, "below": 0, "tier": "A", "then": "the loss blows up"}]}, "exactly one of"),
        ({"bounds": [{"tier": "A", "then": "the loss blows up"}]}, "exactly one of"),
        ({"bounds": [{"above": 1, "tier": "A", "then": ""}]}, "then"),
        ({"bounds": [{"above": 4e-4, "tier": "A", "then": "the loss blows up"}]}, "breaks its own bound"),
        ({"evidence": "second-hand"}, "never gates"),
        ({"evidence": "rumour"}, "evidence"),
        ({"sources": []}, "sources"),
    ],
)
def test_faults_are_refused_with_their_reason(change, fault):
    with pytest.raises(ValidationError, match=fault):
        Entry.model_validate(ENTRY | change)
