from __future__ import annotations

import pytest

AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 32\n"
    "lora_target_modules: [q_proj, k_prj, v_proj]\nlearning_rate: 2e-4\n"
)


def _told(run):
    return [(one.tier, one.key, one.span.line) for one in run.findings]


def test_a_rule_fires_where_its_condition_holds(linted, rule):
    one = rule(when={"adapter.alpha": {"gt": 16}}, at=("adapter.alpha",))
    run = linted(AXOLOTL, one)
    assert _told(run) == [("S", "lora_alpha", 4)]
    finding = run.findings[0]
    assert (finding.rule, finding.name, finding.parameter, finding.value) == ("LL990", "own-rule", "adapter.alpha", 32)
    assert (finding.pointer, finding.origin, finding.message) == ("/lora_alpha", "set", "it breaks: lora_alpha is 32")
    assert _told(linted(AXOLOTL, rule(when={"adapter.alpha": {"gt": 32}}, at=("adapter.alpha",)))) == []


def test_the_span_gives_the_value_back(linted, rule):
    span = linted(AXOLOTL, rule(when={"adapter.alpha": 32}, at=("adapter.alpha",))).findings[0].span
    assert AXOLOTL[span.start : span.end] == "32"
    assert (span.column, span.end_column) == (13, 15)


@pytest.mark.parametrize(("frameworks", "fires"), [(None, True), (["axolotl", "trl"], True), (["trl"], False)])
def test_a_rule_is_for_its_frameworks(linted, rule, frameworks, fires):
    run = linted(AXOLOTL, rule(at=("adapter.rank",), frameworks=frameworks))
    assert bool(run.findings) is fires


@pytest.mark.parametrize(
    ("spec", "targets", "told"),
    [
        ("axolotl>=0.1", {}, [("A", "lora_r", 3)]),
        ("axolotl>=0.1", {"axolotl": "0.19.0"}, [("S", "lora_r", 3)]),
        ("axolotl<0.1", {}, []),
        ("axolotl>=0.19", {"axolotl": "0.9.0"}, []),
    ],
)
def test_a_version_that_nobody_pinned_caps_the_tier(linted, rule, spec, targets, told):
    assert _told(linted(AXOLOTL, rule(at=("adapter.rank",), versions=[spec]), targets=targets)) == told


def test_the_assumed_version_is_named(linted, rule):
    from loralint.knowledge.versions import assumed

    (finding,) = linted(AXOLOTL, rule(at=("adapter.rank",), versions=["axolotl>=0.1"])).findings
    assert (
        finding.message
        == f"it breaks, judged by axolotl {assumed('axolotl')['axolotl']}, which nobody pinned: lora_r is 16"
    )


@pytest.mark.parametrize("tier", ["A", "B"])
def test_only_tier_s_is_capped(linted, rule, tier):
    (finding,) = linted(AXOLOTL, rule(at=("adapter.rank",), versions=["axolotl>=0.1"], tier=tier)).findings
    assert (finding.tier, "nobody pinned" in finding.message) == (tier, False)


def test_the_first_level_that_holds_gives_the_tier(linted, rule):
    levels = [
        {"tier": "S", "when": {"adapter.alpha": {"gt": 64}}},
        {"tier": "A", "when": {"adapter.alpha": 32}},
        {"tier": "B"},
    ]
    assert _told(linted(AXOLOTL, rule(at=("adapter.rank",), levels=levels))) == [("A", "lora_r", 3)]
    lower = AXOLOTL.replace("32", "8")
    assert _told(linted(lower, rule(at=("adapter.rank",), levels=levels))) == [("B", "lora_r", 3)]


def test_without_a_level_that_holds_there_is_no_finding(linted, rule):
    run = linted(AXOLOTL, rule(at=("adapter.rank",), levels=[{"tier": "S", "when": {"adapter.alpha": 1}}]))
    assert (run.findings, run.notes) == ((), ())


def test_a_level_of_unknown_truth_does_not_hold(linted, rule):
    text = AXOLOTL.replace("lora_alpha: 32", "lora_alpha: ${ALPHA}")
    levels = [{"tier": "S", "when": {"adapter.alpha": {"gt": 1}}}, {"tier": "B"}]
    assert _told(linted(text, rule(at=("adapter.rank",), levels=levels))) == [("B", "lora_r", 3)]


def test_levels_see_the_data_of_the_hit(linted, rule):
    one = rule(
        uses="compare", args={"left": "adapter.alpha", "op": "le", "right": {"field": "adapter.rank"}},
        levels=[{"tier": "S", "when": {"hit.right": 15}}, {"tier": "A", "when": {"hit.right": 16}}],
        message="{left} against {right}",
    )  # fmt: skip
    run = linted(AXOLOTL, one)
    assert _told(run) == [("A", "lora_alpha", 4)]
    assert run.findings[0].message == "32 against 16"


def test_a_note_is_no_finding(linted, rule):
    run = linted(AXOLOTL, rule(at=("adapter.rank",), tier="note"))
    assert run.findings == ()
    assert [(one.kind, one.message, one.rules, one.key) for one in run.notes] == [
        ("info", "it breaks: lora_r is 16", ("LL990",), "lora_r")
    ]
    assert (run.score, run.verdict) == (100, "pass")


def test_an_unknown_is_a_note_and_never_a_finding(linted, rule):
    text = AXOLOTL.replace("lora_alpha: 32", "lora_alpha: ${ALPHA}")
    rules = [
        rule(id="LL993", when={"adapter.alpha": {"gt": 1}}, at=("adapter.rank",)),
        rule(id="LL991", uses="range", args={"field": "adapter.alpha", "min": 1}),
        rule(id="LL992", when={"any": [{"adapter.alpha": 1}, {"adapter.rank": 16}]}, at=("adapter.rank",), tier="B"),
        rule(id="LL994", when={"adapter.alpha": 1, "adapter.rank": 8}, at=("adapter.rank",)),
    ]
    run = linted(text, *rules)
    assert [one.rule for one in run.findings] == ["LL992"]
    (note,) = run.notes
    assert (note.kind, note.rules) == ("not-checked", ("LL991", "LL993"))
    assert note.message == "`${ALPHA}` is filled in only when the run starts"


def test_what_was_not_checked_is_grouped_by_reason_largest_first(linted, rule):
    text = AXOLOTL.replace("lora_alpha: 32", "lora_alpha: ${ALPHA}").replace("lora_r: 16", "lora_r: ${RANK}")
    alpha = [rule(id=f"LL98{n}", when={"adapter.alpha": 1}, at=("adapter.alpha",)) for n in range(2)]
    rank = rule(id="LL970", when={"adapter.rank": 1}, at=("adapter.rank",))
    notes = linted(text, rank, *alpha).notes
    assert [one.rules for one in notes] == [("LL980", "LL981"), ("LL970",)]


def test_each_runs_a_rule_once_per_item(linted, rule):
    one = rule(
        each="adapter.targets", when={"item": {"not_in": ["q_proj", "v_proj"]}},
        args={"suggest": "k_proj"}, message="{value} is nowhere: beside {get:item}",
    )  # fmt: skip
    run = linted(AXOLOTL, one)
    assert _told(run) == [("S", "lora_target_modules[1]", 5)]
    finding = run.findings[0]
    assert AXOLOTL[finding.span.start : finding.span.end] == "k_prj"
    assert (finding.message, finding.parameter) == ("k_prj is nowhere: beside k_prj", "adapter.targets")
    assert finding.pointer == "/lora_target_modules/1"


def test_each_takes_levels_by_item(linted, rule):
    levels = [{"tier": "A", "when": {"item": "q_proj"}}, {"tier": "B"}]
    told = [(tier, line) for tier, _, line in _told(linted(AXOLOTL, rule(each="adapter.targets", levels=levels)))]
    assert told == [("A", 5), ("B", 5), ("B", 5)]


def test_each_of_an_unknown_item_or_list_is_not_checked(linted, rule):
    one = rule(each="adapter.targets", when={"item": "lm_head"})
    run = linted(AXOLOTL.replace("k_prj", "'${LAYER}'").replace("v_proj", "lm_head"), one)
    assert [finding.key for finding in run.findings] == ["lora_target_modules[2]"]
    assert [note.message for note in run.notes] == ["`${LAYER}` is filled in only when the run starts"]
    run = linted(AXOLOTL.replace("[q_proj, k_prj, v_proj]", "${TARGETS}"), one)
    assert (run.findings, [note.rules for note in run.notes]) == ((), [("LL990",)])
    assert linted(AXOLOTL.replace("lora_target_modules", "note"), one).findings == ()


def test_a_finding_on_an_absent_key_stands_at_what_was_read(linted, rule):
    run = linted(AXOLOTL, rule(when={"adapter.rank": 16, "schedule.name": {"ne": "x"}}, at=("optim.weight_decay",)))
    (finding,) = run.findings
    assert (finding.span.line, finding.key, finding.origin) == (3, "weight_decay", "default")


def test_a_finding_about_nothing_that_is_written_stands_at_the_start(linted, rule):
    (finding,) = linted(AXOLOTL, rule(at=("optim.weight_decay",))).findings
    assert (finding.span.line, finding.span.column, finding.span.start, finding.span.end) == (1, 1, 0, 0)


def test_related_places_are_told(linted, rule):
    one = rule(at=("adapter.rank",), args={"related": {"adapter.alpha": "divided by it", "data.streaming": "no place"}})
    (finding,) = linted(AXOLOTL, one, shown="config.yaml").findings
    assert [one._asdict() for one in finding.related] == [
        {"file": "config.yaml", "line": 4, "key": "lora_alpha", "message": "divided by it", "cell": None}
    ]


def test_findings_come_in_order_of_the_file(linted, rule):
    rules = [
        rule(id="LL991", at=("optim.lr",)),
        rule(id="LL993", at=("adapter.rank",)),
        rule(id="LL992", at=("adapter.rank",)),
    ]
    assert [(one.rule, one.span.line) for one in linted(AXOLOTL, *rules).findings] == [
        ("LL992", 3), ("LL993", 3), ("LL991", 6)
    ]  # fmt: skip


def test_the_same_rule_says_the_same_thing_of_one_place_once(linted, rule):
    one = rule(each="adapter.targets", at=("adapter.rank",))
    assert len(linted(AXOLOTL, one).findings) == 1


def test_settings_are_told_when_asked_for(linted, rule):
    assert linted(AXOLOTL, rule(at=("adapter.rank",))).settings == ()
    settings = {one.parameter: one.value for one in linted(AXOLOTL, show_settings=True).settings}
    assert (settings["adapter.rank"].value, settings["adapter.rank"].origin) == (16, "set")
