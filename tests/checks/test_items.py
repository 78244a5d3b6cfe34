from __future__ import annotations

from loralint.checks.lists import entries, items
from loralint.facts.scope import Scope
from loralint.model import Span, Unknown, Value

FIELD = "adapter.targets"


class Listed:
    """A config whose targets are a list, one item to a line, each under the key given with it."""

    def __init__(self, *names: object, key: str = "lora_target_modules") -> None:
        at = [Span("c.yaml", n, n + 1, n + 1, 1, n + 1, 2) for n in range(len(names))]
        several = tuple(Value(name, key=f"{key}[{n}]", span=at[n]) for n, name in enumerate(names))
        self.value = Value(list(names), key=key, items=several, field=FIELD)

    def get(self, field: str) -> Value:
        return self.value if field == FIELD else Value(None, field=field)


def found(config: Listed, **args: object) -> list[tuple[object, bool, int]]:
    hits = items(Scope(config, {}), {"field": FIELD, **args}, ())
    assert not isinstance(hits, Unknown)
    return [(hit.data["item"], hit.data["every"], hit.at.span.line) for hit in hits if hit.at.span]


def test_a_bad_item_is_told_at_its_place_under_the_key_of_the_list():
    config = Listed("q_proj", ".*v_proj")
    assert found(config, matches="[*]") == [(".*v_proj", False, 2)]
    hits = items(Scope(config, {}), {"field": FIELD, "matches": "[*]"}, ())
    assert isinstance(hits, list)
    assert hits[0].at.key == "lora_target_modules"


def test_every_says_that_no_good_item_is_left():
    assert found(Listed("ALL-linear"), matches="^all-linear$") == [("ALL-linear", True, 1)]


def test_numbers_count_by_their_digits_and_truth_values_are_no_names():
    assert found(Listed(0, True, "q_proj"), matches=r"^\d+$") == [(0, False, 1)]


def test_words_of_a_list_and_words_outside_of_one():
    assert found(Listed("a", "b"), values=["a"]) == [("a", False, 1)]
    assert found(Listed("a", "b"), others_than=["a"]) == [("b", False, 2)]


def test_items_under_another_key_are_passed_over():
    assert found(Listed("a", key="apply_lora_to_mlp"), key="lora_attn_modules", others_than=["q_proj"]) == []


def test_together_tells_the_whole_list_once_and_only_if_all_are_bad():
    args = {"field": FIELD, "values": ["a", "b"], "together": True}
    assert items(Scope(Listed("a", "c"), {}), args, ()) == []
    hits = items(Scope(Listed("a", "b"), {}), args, ())
    assert isinstance(hits, list)
    assert [hit.data["count"] for hit in hits] == [2]


def test_an_unknown_list_stays_unknown():
    config = Listed()
    config.value = Value(Unknown("set by ${TARGETS}"), field=FIELD)
    assert items(Scope(config, {}), {"field": FIELD, "matches": "x"}, ()) == Unknown("set by ${TARGETS}")


def test_a_slip_of_a_name_is_told_with_what_was_meant():
    config = Listed("model.lmhead", "embed_tokens", "model.lm_head", "v_head")
    args = {"field": FIELD, "near": ["lm_head", "embed_tokens"]}
    hits = items(Scope(config, {}), args, ())
    assert isinstance(hits, list)
    assert [(hit.data["item"], hit.suggest) for hit in hits] == [("model.lmhead", "lm_head")]


def test_a_text_alone_counts_as_an_item_where_the_rule_says_so():
    text = Value("wanb", key="report_to", span=Span("c.yaml", 0, 4, 1, 1, 1, 5), field=FIELD)

    class Alone:
        def get(self, field: str) -> Value:
            return text if field == FIELD else Value(None, field=field)

    args = {"field": FIELD, "others_than": ["wandb"]}
    assert items(Scope(Alone(), {}), args, ()) == []
    hits = items(Scope(Alone(), {}), {**args, "alone": True}, ())
    assert isinstance(hits, list)
    assert [hit.at.span for hit in hits] == [text.span]


def test_an_entry_of_a_map_that_is_too_small():
    config = Listed()
    config.value = Value({"q_proj": 8, "v_proj": 0, "k_proj": True, "o_proj": "x"}, key="rank_pattern", field=FIELD)
    hits = entries(Scope(config, {}), {"field": FIELD, "below": 1}, ())
    assert isinstance(hits, list)
    assert [(hit.data["item"], hit.data["entry"]) for hit in hits] == [("v_proj", 0)]
    assert entries(Scope(config, {}), {"field": FIELD, "below": 0}, ()) == []
