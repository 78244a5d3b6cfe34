"""The numbers behind the pictures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.model import Edit, Fix, Report, Setting, Table, Value
from loralint.render.html.block import coverage
from loralint.render.html.chart import chart
from loralint.render.html.golden import gauges
from loralint.render.html.memory import WIDTH, bar
from loralint.render.html.patch import patch
from loralint.render.html.scale import fitted

NUMBERS = st.floats(1e-12, 1e12)


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.sampled_from([True, False, None]))
def test_an_axis_holds_its_values_in_order(values, log):
    scale = fitted(values, 10, 300, log=log)
    places = [scale.at(one) for one in sorted(values)]
    assert places == sorted(places)
    assert all(10 <= one <= 300 for one in places)
    marks = list(scale.marks())
    assert marks
    assert all(10 <= at <= 300 for at, _ in marks)
    assert len({at for at, _ in marks}) <= 12


def test_an_axis_in_powers_of_ten_is_marked_there():
    assert [label for _, label in fitted([1e-5, 1e-1], 0, 100, log=True).marks()] == [
        "1.0e-05", "0.0001", "0.001", "0.01", "0.1",
    ]  # fmt: skip
    assert fitted([1e-4, 1e-2], 0, 100, log=True, pad=0).at(1e-3) == pytest.approx(50)


def test_a_curve_breaks_where_it_is_not_finite():
    made = chart("t", "x", "y", [(0, 1.0), (1, 2.0), (2, None), (3, 1.0), (4, 0.5)])
    assert len(made.lines) == 2
    assert len(made.broken) == 1
    assert chart("t", "x", "y", [(0, None)]) is None


def _gauge(parameter: str, value: object, entry: str):
    return gauges(Table("golden", "", (), ((Setting(parameter, Value(value, key="k")), entry, ""),)))[0]


@pytest.mark.parametrize(
    ("parameter", "value", "entry", "kind"),
    [
        ("lora.P", 2.6e-3, "step-product", "fine"),
        ("lora.P", 0.2, "step-product", "note"),
        ("lora.P", 0.3, "step-product", "A"),
        ("lora.P", 3.0, "step-product", "S"),
        ("lora.P", 1e-6, "step-product", "outside"),
        ("adapter.dropout", 1, "dropout-diffusion", "S"),
        ("adapter.alpha", 0, "alpha", "S"),
        ("adapter.alpha", -16, "alpha", "B"),
        ("adapter.bias", "none", "bias", "fine"),
        ("adapter.bias", "all", "bias", "A"),
        ("adapter.dora", True, "dora", "fine"),
        ("adapter.targets", ["q_proj", "v_proj"], "targets", "fine"),
        ("adapter.targets", ["c_attn"], "targets", "outside"),
    ],
)
def test_a_value_is_judged_as_the_rules_judge_it(parameter, value, entry, kind):
    assert _gauge(parameter, value, entry).kind == kind


def test_a_value_lies_in_the_zone_that_judges_it():
    for value, kind in ((0.01, "fine"), (0.2, "note"), (0.5, "A"), (40.0, "S")):
        one = _gauge("lora.P", value, "step-product")
        (zone,) = [zone for zone in one.zones if zone.x <= one.at <= zone.x + zone.width]
        assert zone.kind == kind


def test_a_value_far_beyond_everything_is_at_the_end_and_leaves_the_range_to_be_seen():
    one = _gauge("lora.P", 1e9, "step-product")
    fine = next(zone for zone in one.zones if zone.kind == "fine")
    assert one.at > one.scale.end * 0.9
    assert fine.width > one.scale.end / 10


def test_parts_of_memory_fill_the_bar_up_to_the_peak():
    rows = (("weights", 6.0), ("logits", 2.0), ("peak", 10.0), ("band", 1.0), ("measured", True), ("card", 16.0))
    made = bar(Table("memory", "", (), rows))
    last = made.parts[-1]
    assert last.name == "context and allocator"
    assert last.x + last.width == pytest.approx(10 / (16 * 1.03) * WIDTH, abs=0.2)
    assert made.verdict == "fits"


@pytest.mark.parametrize(
    ("card", "verdict"), [(16.0, "fits"), (10.5, "may not fit"), (8.0, "does not fit"), (None, "")]
)
def test_the_verdict_on_memory_is_that_of_show_memory(card, verdict):
    made = bar(Table("memory", "", (), (("weights", 6.0), ("peak", 10.0), ("band", 1.0), ("card", card))))
    assert made.verdict == verdict


def test_layers_stand_in_their_blocks():
    rows = (
        ("model.embed", 1, 0, 1, 500), ("model.layers.*.attn.q", 32, 32, 0, 64), ("model.layers.*.attn.k", 32, 4, 0, 8),
        ("model.layers.*.mlp.up", 32, 0, 0, 0), ("head", 1, 0, 0, 0),
    )  # fmt: skip
    made = coverage(Table("targets", "", (), rows))
    assert [(one.name, one.times, [group.name for group in one.groups]) for one in made.blocks] == [
        ("", 1, [""]), ("model.layers.*", 32, ["attn", "mlp"]), ("", 1, [""]),
    ]  # fmt: skip
    assert [layer.kind for one in made.blocks for group in one.groups for layer in group.layers] == [
        "whole", "all", "some", "none", "none",
    ]  # fmt: skip
    assert (made.adapted, made.layers, made.trained) == (36, 98, 572)


def test_a_fix_shows_the_lines_that_go_and_come():
    text = "a: 1\nb: 2\nc: 3\nd: 4\n"
    fix = Fix(True, (Edit("f.yaml", 8, 9, "20"),))
    assert patch(fix, Report((), {"f.yaml": text})) == [
        ("file", "f.yaml"), ("same", " a: 1"), ("del", "-b: 2"), ("add", "+b: 20"), ("same", " c: 3"),
    ]  # fmt: skip


def test_a_fix_beside_a_secret_or_without_its_text_shows_none_of_it():
    token = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    text = f"token: {token}\nb: 2\n"
    at = text.index("2\n")
    report = Report((), {"f.yaml": text})
    shown = patch(Fix(True, (Edit("f.yaml", at, at + 1, "3"),)), report)
    assert ("add", "+b: 3") in shown
    assert token not in str(shown)
    assert patch(Fix(True, (Edit("f.yaml", at, at + 1, token),)), report) == []
    assert patch(Fix(True, (Edit("g.yaml", 0, 1, "x"),)), report) == []


@given(st.text(alphabet="ab:\n\r", max_size=40), st.data())
def test_lines_of_a_fix_are_those_of_the_file(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.text(alphabet="xy\n", max_size=6))
    shown = patch(Fix(True, (Edit("f", start, end, new),)), Report((), {"f": text}))
    before, after = (text.replace("\r\n", "\n").replace("\r", "\n"), text[:start] + new + text[end:])
    lines = {"del": before.split("\n"), "add": after.replace("\r\n", "\n").replace("\r", "\n").split("\n")}
    for kind, line in shown[1:]:
        if kind in lines:
            assert line[1:] in lines[kind]
