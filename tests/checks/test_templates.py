"""Every template by its answer: where it points, what it suggests, and what it leaves alone."""

from __future__ import annotations

import pytest

from loralint.checks import TEMPLATES, template
from loralint.model import Observation, Span, Unknown, Value

HIDDEN = Unknown("hidden by a template")


def _written(value, key="k", line=1, **more) -> Value:
    return Value(value, key=key, span=Span("f.yaml", line, line + 1, line, 1, line, 2), **more)


def _run(scope, uses, at=(), **args):
    return template(uses)(scope, args, at)


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_can_be_imported(name):
    assert callable(template(name))


# condition


def test_condition_points_at_the_first_written_place(given):
    scope = given({"adapter.rank": Value(8, "default"), "adapter.alpha": _written(16, "lora_alpha")})
    (hit,) = _run(scope, "condition", ("adapter.rank", "adapter.alpha"), suggest={"field": "adapter.rank"})
    assert (hit.at.key, hit.suggest) == ("lora_alpha", 8)


def test_condition_points_at_the_first_place_when_none_is_written(given):
    (hit,) = _run(given({"adapter.rank": Value(8, "default", key="lora_r")}), "condition", ("adapter.rank",))
    assert (hit.at.key, hit.suggest, hit.related) == ("lora_r", None, ())


def test_condition_names_related_places(given):
    scope = given({"adapter.rank": _written(8, "r"), "adapter.alpha": _written(1, "lora_alpha", 2)})
    (hit,) = _run(scope, "condition", ("adapter.rank",), related={"adapter.alpha": "divided by it"})
    assert [(value.key, says) for value, says in hit.related] == [("lora_alpha", "divided by it")]


# range


@pytest.mark.parametrize(
    ("value", "args", "wanted"),
    [
        (0, {"min": 1}, ("low", 1, 1)),
        (1, {"min": 1}, None),
        (0, {"above": 0}, ("low", 0, 0)),
        (1e-9, {"above": 0}, None),
        (1.0, {"below": 1}, ("high", 1, 1)),
        (0.999, {"below": 1}, None),
        (3, {"max": 2, "suggest": 1.5}, ("high", 2, 1.5)),
        (2, {"max": 2}, None),
        (5, {"min": 1, "max": 4}, ("high", 4, 4)),
        ("5", {"max": 4}, None),
        (True, {"min": 2}, None),
        (None, {"min": 2}, None),
    ],
)
def test_range(given, value, args, wanted):
    found = _run(given({"adapter.dropout": _written(value)}), "range", field="adapter.dropout", **args)
    assert [(hit.data["side"], hit.data["bound"], hit.suggest) for hit in found] == ([wanted] if wanted else [])


def test_range_of_an_unknown_is_unknown(given):
    assert _run(given({"adapter.rank": _written(HIDDEN)}), "range", field="adapter.rank", min=1) == HIDDEN


def test_range_points_at_what_is_written_when_the_value_is_a_default(given):
    scope = given({"adapter.rank": Value(0, "default", key="r"), "adapter.method": _written("lora", "adapter")})
    (hit,) = _run(scope, "range", ("adapter.method",), field="adapter.rank", min=1)
    assert hit.at.key == "adapter"


# compare


@pytest.mark.parametrize(
    ("left", "op", "right", "suggest"),
    [
        (50, "multiple_of", 20, 60),
        (10, "multiple_of", 20, 20),
        (0.25, "multiple_of", 0.1, None),
        (600, "le", 500, 500),
        (1, "ge", 2, 2),
        (3, "eq", 4, 4),
        (3, "lt", 3, None),
    ],
)
def test_compare_fires_when_the_relation_fails(given, left, op, right, suggest):
    scope = given(
        {"checkpoint.save_steps": _written(left, "save_steps"), "eval.steps": _written(right, "eval_steps", 2)}
    )
    (hit,) = _run(scope, "compare", left="checkpoint.save_steps", op=op, right={"field": "eval.steps"})
    assert (hit.at.key, hit.data, hit.suggest) == ("save_steps", {"left": left, "right": right}, suggest)
    assert [value.key for value, _ in hit.related] == ["eval_steps"]


@pytest.mark.parametrize(("left", "right"), [(60, 20), (0.1, 0.02), (20.0, 20), (None, 20), (20, None), (0, 20)])
def test_compare_is_silent_when_it_holds_or_a_side_is_missing(given, left, right):
    scope = given({"checkpoint.save_steps": _written(left), "eval.steps": _written(right)})
    assert _run(scope, "compare", left="checkpoint.save_steps", op="multiple_of", right={"field": "eval.steps"}) == []


def test_compare_with_an_unknown_side_is_unknown(given):
    scope = given({"checkpoint.save_steps": _written(50), "eval.steps": _written(HIDDEN)})
    answer = _run(scope, "compare", left="checkpoint.save_steps", op="multiple_of", right={"field": "eval.steps"})
    assert answer == HIDDEN


# one_of


def test_one_of_suggests_the_closest_word(given):
    scope = given({"schedule.name": _written("cosin", "lr_scheduler")})
    (hit,) = _run(scope, "one_of", field="schedule.name", values=["cosine", "linear"])
    assert (hit.at.key, hit.suggest, hit.data["values"]) == ("lr_scheduler", "cosine", ["cosine", "linear"])


def test_one_of_suggests_nothing_for_a_word_like_none(given):
    (hit,) = _run(given({"schedule.name": _written("zebra")}), "one_of", field="schedule.name", values=["cosine"])
    assert (hit.suggest, hit.data["near"]) == (None, "cosine")


@pytest.mark.parametrize(
    ("value", "ignore_case", "hits"), [("Cosine", True, 0), ("Cosine", False, 1), (None, False, 0), (3, False, 0)]
)
def test_one_of_case_and_types(given, value, ignore_case, hits):
    scope = given({"schedule.name": _written(value)})
    assert len(_run(scope, "one_of", field="schedule.name", values=["cosine"], ignore_case=ignore_case)) == hits


def test_one_of_an_unknown_is_unknown(given):
    assert _run(given({"schedule.name": _written(HIDDEN)}), "one_of", field="schedule.name", values=[]) == HIDDEN


# observation


def _observation(kind="unknown", replacement="lora_alpha", **more) -> Observation:
    value = _written(1, "lora_aplha", key_span=Span("f.yaml", 0, 1, 9, 1, 9, 2))
    return Observation(kind, value, "lost", "axolotl drops it", replacement, "key" if replacement else "", **more)


def _observing(given, *observations):
    scope = given({})
    scope.observations = observations
    return scope


def test_observation_carries_all_that_was_seen(given):
    scope = _observing(given, _observation(package="axolotl", other=_written(2, "lora_alpha", 7)))
    (hit,) = _run(scope, "observation", kind="unknown", where="key")
    assert hit.at.span.line == 9
    assert (hit.data["effect"], hit.data["what"], hit.data["name"]) == ("lost", "axolotl drops it", "lora_aplha")
    assert (hit.suggest, hit.package, hit.observation.rewrite) == ("lora_alpha", "axolotl", "key")
    assert [value.key for value, _ in hit.related] == ["lora_alpha"]


def test_observation_points_at_the_value_unless_asked_for_the_key(given):
    (hit,) = _run(_observing(given, _observation()), "observation", kind="unknown")
    assert hit.at.span.line == 1


@pytest.mark.parametrize(("replaced", "hits"), [(True, 1), (False, 0)])
def test_observation_with_or_without_a_replacement(given, replaced, hits):
    assert len(_run(_observing(given, _observation()), "observation", kind="unknown", replaced=replaced)) == hits


def test_observation_of_other_kinds_is_left_alone(given):
    scope = _observing(given, _observation("renamed"), _observation("removed"), _observation("secret"))
    assert len(_run(scope, "observation", kind=["renamed", "removed"])) == 2
    assert _run(scope, "observation", kind="unknown") == []


# without_effect


def test_without_effect_lists_what_is_written(given):
    fields = ["adapter.rank", "adapter.alpha", "adapter.dropout"]
    scope = given({"adapter.rank": _written(8, "lora_r"), "adapter.alpha": _written(16, "lora_alpha", 2)})
    (hit,) = _run(scope, "without_effect", fields=fields)
    assert (hit.at.key, hit.data) == ("lora_r", {"keys": "lora_r, lora_alpha", "count": 2})
    assert [value.key for value, _ in hit.related] == ["lora_alpha"]
    (hit,) = _run(scope, "without_effect", ("adapter.method", "adapter.alpha"), fields=fields)
    assert hit.at.key == "lora_alpha"


def test_without_effect_counts_only_what_is_written_and_on(given):
    scope = given({
        "adapter.rslora": _written(False), "adapter.init": _written(None), "adapter.rank": Value(8, "default"),
        "adapter.alpha": _written(16),
    })  # fmt: skip
    fields = ["adapter.rslora", "adapter.init", "adapter.rank", "adapter.alpha"]
    assert len(_run(scope, "without_effect", fields=fields)) == 1
    assert _run(scope, "without_effect", fields=fields, at_least=2) == []
    assert _run(scope, "without_effect", fields=fields[:3]) == []


# conflict


def test_conflict_names_both_keys(given):
    scope = given({"precision.bf16": _written(True, "bf16"), "precision.fp16": _written(True, "fp16", 2)})
    (hit,) = _run(scope, "conflict", fields=["precision.bf16", "precision.fp16"])
    assert (hit.at.key, hit.data) == ("bf16", {"first": "bf16", "second": "fp16"})
    assert [value.key for value, _ in hit.related] == ["fp16"]


@pytest.mark.parametrize(
    ("other", "off", "hits"),
    [
        (_written(False), [], 0),
        (_written(None), [], 0),
        (Value(True, "default"), [], 0),
        (_written("auto"), ["auto"], 0),
        (_written("auto"), [], 1),
        (_written(0), [], 1),
        (_written(0), [0], 0),
        (_written(-1), [-1], 0),
    ],
)
def test_conflict_wants_two_that_are_written_and_on(given, other, off, hits):
    scope = given({"precision.bf16": _written(True), "precision.fp16": other})
    assert len(_run(scope, "conflict", fields=["precision.bf16", "precision.fp16"], off=off)) == hits


def test_conflict_with_what_is_filled_in_later_is_unknown(given):
    scope = given({"precision.bf16": _written(True), "precision.fp16": _written(HIDDEN)})
    assert _run(scope, "conflict", fields=["precision.bf16", "precision.fp16"]) is HIDDEN
    alone = given({"precision.bf16": _written(HIDDEN), "precision.fp16": _written(False)})
    assert _run(alone, "conflict", fields=["precision.bf16", "precision.fp16"]) == []


# overlap


def _list(names, key, line=1):
    items = tuple(_written(name, f"{key}[{number}]", line) for number, name in enumerate(names))
    return _written(list(names), key, line, items=items)


def test_overlap_has_a_hit_for_each_shared_name(given):
    scope = given({
        "adapter.targets": _list(["q_proj", "lm_head", "embed_tokens"], "target_modules"),
        "adapter.modules_to_save": _list(["embed_tokens", "lm_head"], "modules_to_save", 5),
    })  # fmt: skip
    hits = _run(scope, "overlap", left="adapter.targets", right="adapter.modules_to_save")
    assert [(hit.data["item"], hit.at.key) for hit in hits] == [
        ("lm_head", "target_modules"),
        ("embed_tokens", "target_modules"),
    ]
    assert hits[0].related[0][0].key == "modules_to_save"


def test_overlap_with_what_is_absent_or_hidden(given):
    targets = _list(["q_proj", HIDDEN], "target_modules")
    run = {"left": "adapter.targets", "right": "adapter.modules_to_save"}
    assert _run(given({"adapter.targets": targets}), "overlap", **run) == []
    saved = _list(["lm_head"], "modules_to_save")
    assert _run(given({"adapter.targets": targets, "adapter.modules_to_save": saved}), "overlap", **run) == HIDDEN
    assert (
        _run(given({"adapter.targets": _written(HIDDEN), "adapter.modules_to_save": saved}), "overlap", **run) == HIDDEN
    )


# shadowed


def test_shadowed_wants_another_key_with_another_value(given):
    same, other = _written(8, "lora_r", 3), _written(64, "r", 2)
    scope = given({"adapter.rank": _written(8, "lora_rank", shadowed=(same, other, _written(HIDDEN, "x")))})
    (hit,) = _run(scope, "shadowed", fields=["adapter.rank", "adapter.alpha"])
    assert (hit.at.key, hit.data["first"], hit.data["second"]) == ("r", "lora_rank", "r")
    assert hit.related[0][0].key == "lora_rank"


# known_optimizer


def test_known_optimizer_suggests_a_name_of_the_framework(run_of):
    text = "base_model: a/b\nadapter: lora\nlora_r: 8\nlearning_rate: 1e-4\noptimizer: adamw_torhc\n"
    (hit,) = _run(run_of(text), "known_optimizer", names_of="axolotl")
    assert (hit.at.key, hit.suggest) == ("optimizer", "adamw_torch")
    assert _run(run_of(text.replace("torhc", "torch")), "known_optimizer", names_of="axolotl") == []
    assert _run(run_of(text.replace("optimizer:", "note:")), "known_optimizer", names_of="axolotl") == []


# golden


def _dropout(given, dropout, **args):
    scope = given(
        {"adapter.method": "lora", "train.task": "sft", "quant.on": False, "adapter.dropout": _written(dropout)}
    )
    found = _run(scope, "golden", parameter="adapter.dropout", **args)
    return [(hit.tier, hit.data["side"], hit.data["entry"], hit.suggest) for hit in found]


@pytest.mark.parametrize(
    ("dropout", "tier", "side"), [(1, "S", "above"), (1.5, "S", "above"), (0.25, "A", "above"), (-0.1, "B", "below")]
)
def test_golden_gives_the_tier_of_the_worst_bound_that_is_broken(given, dropout, tier, side):
    assert _dropout(given, dropout) == [(tier, side, "dropout", 0.05)]


@pytest.mark.parametrize("dropout", [0, 0.05, 0.2, None, "0.9", True])
def test_golden_is_silent_within_its_bounds_and_about_what_is_no_number(given, dropout):
    assert _dropout(given, dropout) == []


def test_golden_of_one_side_or_one_entry(given):
    assert _dropout(given, -0.1, side="above") == []
    assert _dropout(given, 1, side="above") == [("S", "above", "dropout", 0.05)]
    assert _dropout(given, 1, entry="dropout") == [("S", "above", "dropout", 0.05)]
    assert _dropout(given, 1, entry="dropout-diffusion") == []


def test_golden_takes_the_first_entry_that_holds(given):
    values = {"adapter.method": "lora", "quant.on": True, "model.billions": 70.0, "train.task": "sft"}
    (hit,) = _run(given({**values, "adapter.dropout": _written(1)}), "golden", parameter="adapter.dropout")
    assert hit.data["entry"] == "dropout-qlora-large"


def test_golden_with_an_unknown_condition_or_value_is_unknown(given):
    known = {"adapter.method": "lora", "adapter.dropout": _written(HIDDEN)}
    assert _run(given(known), "golden", parameter="adapter.dropout") == HIDDEN


def test_golden_of_another_method_is_silent(given):
    scope = given({"adapter.method": "full", "adapter.dropout": _written(0.99)})
    assert _run(scope, "golden", parameter="adapter.dropout") == []
