from __future__ import annotations

import pytest

from loralint.model import Finding, Note, Related, Report, Run, Span, Table
from loralint.render import FORMATS, render
from loralint.render.frame import WIDTH, frame
from loralint.render.style import Style

TEXT = "base_model: a/b\nadapter: lora\nlora_r: 16\n\n\tlora_alpha: 32  # é\nlearning_rate: 2e-4\n"


def _span(text, word, file="c.yaml"):
    start = text.index(word)
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Span(file, start, start + len(word), line, column, line, column + len(word))


def _finding(tier="S", word="16", message="training stops: it is too much", key="lora_r", **more):
    return Finding("LL900", "own-rule", tier, message, "write lora_r: 8", _span(TEXT, word), key, "/k", "", None,
                   more.pop("origin", "set"), **more)  # fmt: skip


def _run(*findings, notes=(), framework="axolotl", verdict="block", file="c.yaml"):
    return Run((file,), framework, 49, verdict, findings, tuple(notes))


def _full(*runs, color=False, **texts):
    return render("full", Report(runs, texts or {"c.yaml": TEXT}), color=color)


def test_full_says_effect_place_frame_cause_and_what_to_write():
    assert _full(_run(_finding())) == (
        "[S] training stops  LL900 own-rule\n"
        "  --> c.yaml:3:9\n"
        "  2 | adapter: lora\n"
        "  3 | lora_r: 16\n"
        "    |         ^^\n"
        "  why:   it is too much\n"
        "  help:  write lora_r: 8\n"
        "\n"
        "c.yaml (axolotl): block, score 49/100; 1 S\n"
    )


def test_full_tells_notes_of_the_one_clean_run_and_not_of_many():
    clean = _run(notes=[Note("info", "alpha/r is 2")], verdict="pass")
    assert _full(clean).startswith("c.yaml: note: alpha/r is 2\n")
    assert "alpha/r" not in _full(clean, clean)


def test_full_names_defaults_related_places_and_notes():
    finding = _finding("A", origin="default", related=(Related("d.yaml", 7, "r", "divided by it"),))
    notes = [
        Note("not-checked", "no --gpu given", ("LL1", "LL2")),
        Note("info", "alpha/r is 2"),
        Note("not-checked", "no rows", ("LL3",)),
    ]
    assert _full(_run(finding, notes=notes, verdict="review")) == (
        "[A] training stops  LL900 own-rule\n"
        "  --> c.yaml:3:9  `lora_r` is not written; this is the default\n"
        "  2 | adapter: lora\n"
        "  3 | lora_r: 16\n"
        "    |         ^^\n"
        "  why:   it is too much\n"
        "  also:  d.yaml:7 r divided by it\n"
        "  help:  write lora_r: 8\n"
        "\n"
        "c.yaml: note: alpha/r is 2\n"
        "c.yaml: not checked: 2 rules: no --gpu given\n"
        "c.yaml: not checked: 1 rule: no rows\n"
        "\n"
        "c.yaml (axolotl): review, score 49/100; 1 A\n"
    )


def test_notes_take_three_lines_at_most():
    notes = [Note("not-checked", f"reason {n}", ("LL1",)) for n in range(5)]
    lines = [line for line in _full(_run(notes=notes, verdict="pass")).splitlines() if line.startswith("c.yaml: ")]
    assert lines == [
        "c.yaml: not checked: 1 rule: reason 0",
        "c.yaml: not checked: 1 rule: reason 1",
        "c.yaml: and 3 more notes (--format json has them all)",
    ]


def test_a_probe_that_says_nothing_says_why_first_and_once():
    notes = [Note("info", f"note {n}") for n in range(3)] + [Note("not-checked", "probe: the config has no LoRA alpha")]
    silent = _run(_finding(), notes=notes)
    assert _full(silent).splitlines()[:3] == [
        "probe: not checked: the config has no LoRA alpha",
        "",
        "[S] training stops  LL900 own-rule",
    ]
    assert _full(silent).count("no LoRA alpha") == 1
    concise = render("concise", Report((silent,)), color=False)
    assert concise.startswith("c.yaml: probe: not checked: the config has no LoRA alpha\n")
    assert "not checked in 2 runs: probe: the config has no LoRA alpha" in _full(silent, silent)


def test_what_the_line_of_a_probe_says_is_not_said_again_as_a_note():
    table = Table("verdict", "probe: no verdict: 5 steps are too few (the embedded model)", (), ())
    notes = [
        Note("not-checked", "probe: 5 steps are too few"),
        Note("not-checked", "probe: stopped; the rest was not tried"),
    ]
    out = _full(_run(notes=notes, verdict="pass")._replace(tables=(table,)))
    assert out.count("5 steps are too few") == 1
    assert "c.yaml: not checked: probe: stopped; the rest was not tried" in out


def test_the_worst_tier_comes_first_and_totals_last():
    out = _full(
        _run(_finding("B"), _finding("S", "lora_alpha"), _finding("A", suppressed={"by": "inline", "reason": ""}))
    )
    heads = [line[:3] for line in out.splitlines() if line.startswith("[")]
    assert heads == ["[S]", "[B]"]
    assert out.endswith("c.yaml (axolotl): block, score 49/100; 1 S, 1 B, 1 suppressed\n")


def test_several_runs_are_counted():
    clean = _run(verdict="pass", file="d.yaml")
    assert _full(_run(_finding()), clean, clean).endswith("3 runs: 1 block, 2 pass; 1 S\n")


def test_a_finding_of_a_file_that_several_runs_read_is_told_once():
    shared, own = _finding(), _finding(key="lora_alpha")
    told = _full(_run(shared, file="a.sh"), _run(shared, own, file="b.sh"))
    assert (told.count("-->"), told.splitlines()[-1]) == (2, "2 runs: 2 block; 2 S")
    report = Report((_run(shared), _run(shared)), {"c.yaml": TEXT})
    assert render("concise", report, color=False).count("\n") == 1


def test_a_flag_has_no_blanks_behind_its_place():
    assert "  --> c.yaml:3:9\n" in _full(_run(_finding(origin="flag")))


def test_nothing_found_is_said():
    assert _full() == "no training config found\n"
    assert _full(_run(verdict="pass")) == "c.yaml (axolotl): pass, score 49/100; no findings\n"


def test_a_message_without_a_cause_has_no_why():
    assert "why:" not in _full(_run(_finding(message="training stops")))


def test_color_only_adds_codes():
    import re

    runs = (_run(_finding(), notes=[Note("info", "x")]), _run(_finding("A"), verdict="review"), _run(verdict="pass"))
    colored = _full(*runs, color=True)
    assert "\x1b[1;31m[S]\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == _full(*runs)


def test_concise_is_one_line_a_finding():
    shown = render(
        "concise", Report((_run(_finding(), _finding("B", suppressed={"by": "inline", "reason": ""})),)), color=True
    )
    assert shown == "c.yaml:3:9: S LL900 training stops: it is too much; write lora_r: 8\n"
    assert render("concise", Report(()), color=False) == ""


def test_concise_in_a_notebook_names_the_cell():
    finding = _finding()._replace(span=_span(TEXT, "16")._replace(cell=4))
    assert render("concise", Report((_run(finding),)), color=False).startswith("c.yaml:cell 4:3: ")


def test_statistics_count_by_rule_worst_tier_first():
    runs = (
        _run(_finding("B"), _finding("B"), _finding("S")),
        _run(_finding("B"), _finding("A")._replace(rule="LL901")),
    )
    assert render("statistics", Report(runs), color=False) == (
        "     1  S  LL900  own-rule\n     1  A  LL901  own-rule\n     3  B  LL900  own-rule\n"
    )


# The code frame


def _frame(text, span):
    return list(frame(text, span, Style(on=False)))


def test_carets_stand_under_the_value_also_behind_tabs_and_wide_text():
    assert _frame(TEXT, _span(TEXT, "32")) == ["  5 |  lora_alpha: 32  # é", "    |              ^^"]


def test_the_line_before_is_shown_unless_it_is_empty():
    assert len(_frame(TEXT, _span(TEXT, "lora_r"))) == 3
    assert len(_frame(TEXT, _span(TEXT, "lora_alpha"))) == 2


def test_a_span_over_several_lines_is_underlined_to_the_end_of_its_first():
    span = _span(TEXT, "lora_r")._replace(end_line=5, end_column=3)
    assert _frame(TEXT, span)[-1] == "    | ^^^^^^^^^^"


def test_of_a_long_line_the_part_around_the_span_shows():
    text = '{"a": 1,\n"pad": "' + "x" * 300 + '", "r": 64, "tail": "' + "y" * 300 + '"}\n'
    shown, carets = _frame(text, _span(text, "64"))
    assert shown.startswith("  2 | …xxx")
    assert shown.endswith("y…")
    assert len(shown) == len("  2 | ") + WIDTH
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "64"


def test_a_span_that_ends_within_the_width_leaves_the_line_as_it_is():
    text = "x" * (WIDTH - 2) + "64" + "y" * 40
    shown, carets = _frame(text, _span(text, "64"))
    assert shown.startswith("  1 | xxx")
    assert len(carets) == len("    | ") + WIDTH


@pytest.mark.parametrize("column", [500, 20_000])
def test_a_secret_that_moves_the_text_of_a_long_line_is_masked_all_the_same(column):
    secret = "hf_" + "A1b2C3d4" * 5
    text = f'token: "{secret}" ' + "x" * column + " r: 64\n"
    lines = _frame(text, _span(text, "64"))
    assert not any(secret[:10] in line for line in lines)
    assert "64" not in lines[0] or "^" in lines[-1]


def test_a_span_outside_of_the_text_has_no_frame():
    assert _frame(TEXT, Span("c", 0, 1, 99, 1, 99, 2)) == []
    assert _frame("", Span("c", 0, 0, 1, 1, 1, 1)) == []


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\x0b", "\x0c"])
def test_lines_are_those_of_an_editor(odd):
    text = f"# a{odd}b\nlora_r: 16\n"
    assert _frame(text, _span(text, "16"))[1:] == ["  2 | lora_r: 16", "    |         ^^"]


def test_control_characters_and_secrets_never_show_and_take_the_carets_with_them():
    text = "x: hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH\ny: \x1b[31mred\u202e 16\n"
    shown = _frame(text, _span(text, "16"))
    assert shown == ["  1 | x: ***", r"  2 | y: \x1b[31mred\u202e 16"]


def test_a_secret_below_its_name_does_not_show():
    key = "3f9a1c7e5b2d8064f1e3a5c7b9d0e2f4a6c8b0d1"
    text = f"wandb_api_key:\n  {key}\nlora_r: 16\n"
    assert _frame(text, _span(text, "16")) == ["  2 |   ***", "  3 | lora_r: 16", "    |         ^^"]
    assert _frame(text, _span(text, key)) == ["  1 | wandb_api_key:", "  2 |   ***"]


def test_long_lines_are_cut():
    text = "x: " + "a" * 500 + " 16\n"
    for wanted in ("x", "16"):
        line, carets = _frame(text, _span(text, wanted))
        assert len(line) == len("  1 | ") + 120 or line.endswith(" 16")
        assert len(carets) <= len(line) <= len("  1 | ") + 120


def test_names_of_files_and_keys_are_made_harmless(report_on):
    report = report_on(
        'base_model: a/b\nadapter: lora\n"lora_\\e[31mr": 1\nlearning_rate: 1e-4\n', "a\x1b]0;x\x07.yaml"
    )
    assert report.runs
    for name in (*FORMATS, "statistics"):
        assert all(char.isprintable() or char == "\n" for char in render(name, report, color=False))


def test_one_real_run_as_it_is_printed(report_on):
    text = "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_aplha: 32\nlearning_rate: 0.0002\n"
    report = report_on(text, select_rules=["LL101"])
    finding = report.runs[0].findings[0]
    effect, _, cause = finding.message.partition(": ")
    assert render("full", report, color=False) == (
        f"[A] {effect}  LL101 misspelt-key\n"
        "  --> config.yaml:4:1\n"
        "  3 | lora_r: 16\n"
        "  4 | lora_aplha: 32\n"
        "    | ^^^^^^^^^^\n"
        f"  why:   {cause}\n"
        f"  help:  {finding.help}\n"
        "\n"
        "config.yaml (axolotl): review, score 85/100; 1 A\n"
    )
