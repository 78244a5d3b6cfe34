from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import loralint
from loralint.model import Edit, Finding, Fix, Note, Report, Run, Span
from loralint.render import render

SCHEMA = json.loads((Path(loralint.__file__).parent / "_data" / "report.schema.json").read_text(encoding="utf-8"))
AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 0\nlora_aplha: 32\nlora_target_modules: [q_proj]\n"
    "learning_rate: 2e-4\nbf16: true\nlora_r: 0\n"
)


def _json(report):
    body = json.loads(render("json", report, color=True))
    jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(body)
    return body


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        (AXOLOTL, "config.yaml", {}),
        (AXOLOTL, "config.yaml", {"gpu": "T4", "rows": 1000, "show_settings": True}),
        (AXOLOTL + "datasets: [\n", "config.yaml", {}),
        ("a: 1\n", "config.yaml", {}),
        ('{"peft_type": "LORA", "r": -4, "lora_alpha": 0}', "adapter_config.json", {"show_settings": True}),
        (
            "learning_rate: .nan\noutput_dir: .inf\nper_device_train_batch_size: 1\n",
            "train.yaml",
            {"show_settings": True},
        ),
        ("? {a: b}\n: 1\n", "train.yaml", {"framework": "trl"}),
    ],
)
def test_real_reports_fit_the_schema(report_on, text, name, given):
    _json(report_on(text, name, **given))


def test_every_field_of_a_finding(report_on):
    report = report_on(AXOLOTL, select_rules=["LL101"])
    body = _json(report)
    assert (body["version"], body["tool"]) == (1, {"name": "loralint", "version": loralint.__version__})
    (run,) = body["runs"]
    assert (run["files"], run["framework"], run["score"], run["verdict"]) == (["config.yaml"], "axolotl", 85, "review")
    (finding,) = run["findings"]
    start = AXOLOTL.index("lora_aplha")
    assert {key: value for key, value in finding.items() if key not in ("message", "help")} == {
        "rule": "LL101", "name": "misspelt-key", "tier": "A", "overridden": None, "file": "config.yaml", "cell": None,
        "line": 4,
        "column": 1, "end_line": 4, "end_column": 11, "start": start, "end": start + 10, "key": "lora_aplha",
        "pointer": "/lora_aplha",
        "parameter": "", "value": "32", "origin": "set", "related": [],
        "fix": {
            "safe": False, "edits": [{"file": "config.yaml", "start": start, "end": start + 10, "text": "lora_alpha"}],
        },
        "suppressed": None,
    }  # fmt: skip
    assert "lora_aplha" in finding["message"]
    assert "`lora_alpha`" in finding["help"]


def test_columns_and_offsets_count_code_points(report_on):
    body = _json(report_on("# 🙂🙂 é\r\n" + AXOLOTL.replace("\n", "\r\n"), select_rules=["LL101"]))
    (finding,) = body["runs"][0]["findings"]
    text = ("# 🙂🙂 é\n" + AXOLOTL).replace("\n", "\r\n")
    assert text[finding["start"] : finding["end"]] == "lora_aplha"
    assert (finding["line"], finding["column"]) == (5, 1)


def test_settings_rows(report_on):
    rows = _json(report_on(AXOLOTL, show_settings=True))["runs"][0]["settings"]
    by_name = {row["parameter"]: row for row in rows}
    assert by_name["adapter.rank"] == {
        "parameter": "adapter.rank", "key": "lora_r", "value": 0, "origin": "set", "source": None, "line": 8,
        "shadowed": [],
    }  # fmt: skip
    assert (by_name["adapter.dropout"]["origin"], by_name["adapter.dropout"]["line"]) == ("default", None)


def test_what_json_has_no_word_for_is_text_or_null(report_on):
    text = AXOLOTL.replace("2e-4", ".nan").replace("[q_proj]", "['${A}', q_proj]")
    rows = {row["parameter"]: row for row in _json(report_on(text, show_settings=True))["runs"][0]["settings"]}
    assert rows["optim.lr"]["value"] == "nan"
    assert rows["adapter.targets"]["value"] == [None, "q_proj"]


def test_suppressed_findings_are_told_with_the_reason(report_on):
    text = AXOLOTL.replace("lora_aplha: 32", "lora_aplha: 32  # loralint: ignore[LL101] an old fork")
    (finding,) = _json(report_on(text, select_rules=["LL101"]))["runs"][0]["findings"]
    assert finding["suppressed"] == {"by": "inline", "reason": "an old fork"}


def test_unprintable_characters_are_escapes_and_mean_the_same():
    text = "a\x1b[31m\x9b\u202e\u200b\ud800é漢🙂"
    note = Note("info", text)
    out = render("json", Report((Run(("f",), None, 100, "pass", (), (note,)),)), color=False)
    assert all(char.isprintable() or char == "\n" for char in out)
    assert out.isascii()  # an output that lacks a character writes an escape of its own, which is no JSON
    assert json.loads(out)["runs"][0]["notes"][0]["message"] == text


def test_a_fix_that_would_copy_a_secret_is_left_out():
    span = Span("f", 0, 1, 1, 1, 1, 2)
    fix = Fix(True, (Edit("f", 0, 1, "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),))
    finding = Finding("LL101", "n", "A", "m", "h", span, "k", "/k", "", None, "set", fix=fix)
    body = _json(Report((Run(("f",), "trl", 85, "review", (finding,)),)))
    assert body["runs"][0]["findings"][0]["fix"] is None
