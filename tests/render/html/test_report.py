"""The HTML report: what it says, and that nothing of a config gets out of its place."""

from __future__ import annotations

import base64
import hashlib
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import loralint
from loralint.engine.settings import Settings
from loralint.model import Edit, Finding, Fix, Note, Related, Report, Run, Series, Span, Table
from loralint.render import render

from .conftest import BAD, BLOCK, GOOD, page_of

pytest.importorskip("jinja2")

BIDI = "".join(
    map(chr, [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x200E, 0x200F, 0x061C])
)
HOSTILE = st.one_of(
    st.text(max_size=30),
    st.text(alphabet=f"<>&\"'`=/!-{{}}%\n\t\0\x1b\u2028\ud800{BIDI}", max_size=30),
    st.sampled_from([
        "</script><script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", '"><svg onload=alert(1)>',
        "{{ 7*7 }}", "{% raw %}", "<!--", "]]>", "javascript:alert(1)", "&lt;b&gt;", "a" * 30_000,
    ]),
)  # fmt: skip


@st.composite
def reports(draw) -> Report:
    text, file = draw(HOSTILE), draw(HOSTILE.filter(bool))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    finding = Finding(
        "LL101", draw(HOSTILE), draw(st.sampled_from("SAB")), f"{draw(HOSTILE)}: {draw(HOSTILE)}", draw(HOSTILE),
        Span(file, start, end, 1, 1, 1, 2), draw(HOSTILE), draw(HOSTILE), "", draw(HOSTILE), "set",
        (Related(file, 1, draw(HOSTILE), draw(HOSTILE)),), Fix(True, (Edit(file, start, end, draw(HOSTILE)),)),
    )  # fmt: skip
    lifted = finding._replace(suppressed={"by": "settings", "reason": draw(HOSTILE), "expires": "2030-01-01"})
    notes = (Note("not-checked", draw(HOSTILE), ("LL101",)), Note("info", draw(HOSTILE)))
    tables = (Table("verdict", draw(HOSTILE), ("what", "value"), ((draw(HOSTILE), draw(HOSTILE)),)),)
    series = (Series("ramp", draw(HOSTILE), draw(HOSTILE), ((1e-5, 0.0), (1e-4, 1.5), (1e-3, None))),)
    run = Run((file,), draw(HOSTILE), 40, "block", (finding, lifted), notes, (), draw(HOSTILE), tables, series)
    return Report((run,) * draw(st.integers(1, 2)), {file: text})


KNOWN = """html head meta title style body a header span small button main div svg circle text p strong b section h1
 h2 h3 h4 h5 article code pre dl dt dd details summary ul li figure figcaption rect path polyline table thead tr th
 tbody td caption footer script label input output"""


def _assert_inert(page, *, runs: int = 1) -> None:
    """Only our own elements, nothing that loads or runs anything, and one script and style that the policy knows."""
    assert {tag for tag, _ in page.tags} <= set(KNOWN.split())
    assert len(page.all("script")) == len(page.all("style")) == 1
    for _, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on") or name in {"style", "src", "srcset", "action"}]
        assert (attrs.get("href") or "#").startswith("#")
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; ")
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert all(one.isprintable() or one == "\n" for one in page.source)
    assert page.open == []


@settings(deadline=None, max_examples=150)
@given(reports())
def test_nothing_that_a_config_holds_is_mark_up(report):
    page = page_of(report)
    _assert_inert(page)
    assert not set(page.text) & set(BIDI)


def test_a_page_that_has_every_part_is_inert_and_well_formed(page):
    made = page({"bad.yaml": BAD, "good.yaml": GOOD}, gpu="T4")
    _assert_inert(made)
    names = [attrs["id"] for _, attrs in made.tags if attrs.get("id")]
    assert len(names) == len(set(names))
    links = {attrs["href"].removeprefix("#") for attrs in made.all("a")}
    assert links <= set(names)


def test_the_verdict_comes_first_with_a_sentence(page):
    made = page(BLOCK, gpu="T4")
    assert made.text.index("block Do not start") < made.text.index("Findings")
    assert "Do not start this run as it is: " in made.text
    assert made.all("svg", class_="ring")[0]["aria-label"].startswith("Score ")


def test_a_good_run_has_no_findings_and_no_empty_section(page):
    made = page(GOOD, gpu="A100-80GB")
    assert "No fault was found that stops or spoils this run" in made.text
    for absent in ("Findings", "Micro-training", "Lifted findings"):
        assert absent not in made.text


def test_a_finding_says_place_code_cause_fix_and_sources(page):
    text = page(BLOCK).text
    start = text.index("LL101 misspelt-key")
    told = text[start : text.index("Against the golden list")]
    for wanted in ("config.yaml:4", "4 | lora_alhpa: 512", "^^^^^^^^^^", "Why", "Instead"):
        assert wanted in told
    for wanted in ("--unsafe-fixes", "-lora_alhpa: 512", "+lora_alpha: 512"):
        assert wanted in told
    assert "Reasons and sources" in told


def test_each_value_stands_on_its_range(page):
    made = page(BAD.replace("0.0002", "0.02"))
    gauges = made.all("figure", class_="gauge")
    assert "S" in gauges[0]["class"].split()  # the worst first
    assert "learning rate: 0.02; fine is" in " ".join(
        svg["aria-label"] for svg in made.all("svg") if svg.get("aria-label")
    )
    plane = [svg["aria-label"] for svg in made.all("svg") if "First step E" in (svg.get("aria-label") or "")]
    assert plane == ["First step E is 0.64, fine 0.0004 to 0.05. Product step P is 52.4, fine 1.0e-05 to 0.1."]


def test_the_schedule_the_layers_and_the_memory_are_drawn(page):
    made = page(BAD, gpu="T4")
    assert "1,000 steps; the highest rate is 0.0002 at step 100, where warm-up ends; it ends at 0." in made.text
    assert "96 of 226 layers get an adapter" in made.text
    assert len(made.all("li", class_="all")) == 3
    assert re.search(r"Does not fit in 16\.0 GiB|May not fit in 16\.0 GiB", made.text)


def test_what_is_not_known_is_said(page):
    made = page(BAD.replace("max_steps: 1000", "num_epochs: 1").replace("meta-llama/Llama-3.1-8B", "some/one"))
    assert "The learning rate over the run is not drawn: the number of training rows is unknown" in made.text
    assert "Not drawn: " in made.text
    assert "Not checked" in made.text


def test_settings_say_where_they_come_from_and_what_they_hide(page):
    made = page({"config.yaml": BAD, "run.sh": "axolotl train config.yaml --learning-rate 0.0003\n"})
    assert "default of axolotl" in made.text
    assert "hides learning_rate: 0.0002 (config.yaml:12)" in made.text


def test_curves_of_a_probe_are_drawn_with_the_run_and_the_edge():
    rows = (("rate", 0.02), ("edge_rate", 0.004), ("edge_reached", True), ("steps", 36), ("cause", None))
    broke = (("ramp_edge_rate", 0.03), ("ramp_edge_reached", True))
    verdict = Table("verdict", "probe: UNSTABLE.", ("what", "value"), rows + broke)
    ramp = Series("ramp", "learning rate", "loss", ((1e-5, 0.0), (1e-3, 0.2), (1e-2, 1.5), (1e-1, None)))
    inputs = Table("inputs", "inputs: the largest", ("module", "max"), (("down_proj", 8.25),))
    run = Run(("a.yaml",), "trl", 100, "pass", (), (), (), "", (verdict, inputs), (ramp,))
    made = page_of(Report((run,)))
    assert "probe: UNSTABLE." in made.text
    assert len(made.all("polyline")) == 1
    assert len(made.all("path", class_="broken")) == 1
    assert [one["class"] for one in made.all("path", class_="mark")] == ["mark edge", "mark run", "mark breaks"]
    labels = made.all("text", class_="note")
    assert len({one["y"] for one in labels}) == 3  # near each other, and none upon another
    assert "Ended after 4 of 36 steps, since the loss stood far above the base's." in made.text
    assert "inputs: the largest" in made.text
    assert "8.25" in made.text
    assert "cause" not in made.text.lower()


def test_a_probe_that_says_nothing_says_why_where_its_curves_would_be():
    run = Run(("a.yaml",), "trl", 100, "pass", (), (Note("not-checked", "probe: the config has no LoRA alpha"),))
    made = page_of(Report((run,)))
    assert "Micro-training" in made.text
    assert "probe: not checked: the config has no LoRA alpha" in made.text
    assert "All numbers of the verdict" not in made.text


def test_lifted_findings_stay_lifted_and_say_by_what(page):
    made = page(BAD.replace("lora_alhpa: 512", "lora_alhpa: 512  # loralint: ignore[LL101] kept as a note"))
    assert "lifted by a comment: kept as a note" in made.text
    assert made.all("article", class_="finding") == []


def test_approvals_and_audit_are_told_and_inert(page):
    hostile = "<b>x</b>\n::error::y"
    report = loralint.check({"adapter": "lora", "base_model": "a/b", "lora_r": 8}, figures=True)._replace(
        recorded=(
            Table("approvals", "1 approval in .loralint/approvals", ("by", "reason"), (("Ann", hostile),)),
            Table("audit", "1 change that fixes made; the trail is whole", ("file", "after"), (("a.yaml:3", hostile),)),
        )
    )
    seen = page_of(report)
    assert "Approvals and audit" in seen.text
    assert "the trail is whole" in seen.text
    assert r"<b>x</b>\n::error::y" in seen.text
    assert "<b>x" not in seen.source
    assert "Approvals and audit" not in page(GOOD).text


def test_several_runs_have_an_index_and_a_section_each(page):
    made = page({"bad.yaml": BAD, "good.yaml": GOOD, "other.yaml": BAD.replace("0.0002", "0.02")}, gpu="A100-80GB")
    assert "3 runs" in made.text
    assert len(made.all("details", class_="run")) == 3
    rows = [attrs for attrs in made.all("tr") if "data-run" in attrs]
    assert [row["data-verdict"] for row in rows] == ["review", "pass", "block"]
    assert "The rules behind the findings" in made.text


def test_a_hundred_runs_are_at_most_five_megabytes(page):
    texts = {f"{number}.yaml": BLOCK for number in range(20)}
    assert len(page(texts, gpu="T4").source) <= 20 * 50_000


def test_files_that_could_not_be_read_are_told():
    run = Run(("big.yaml",), None, 100, "pass", (), (Note("not-checked", "it is too large"),))
    text = page_of(Report((run,))).text
    assert "No training config found" in text
    assert "big.yaml it is too large" in text


SECRET = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"


@pytest.mark.parametrize(
    "text",
    [
        BAD + f"hub_token: {SECRET}\n",
        BAD.replace("lora_alhpa: 512", f"lora_alhpa: {SECRET}"),
        BAD.replace("meta-llama/Llama-3.1-8B", SECRET),
        BAD.replace("lora_alhpa", SECRET),
        BAD.replace("sequence_len", f"# {SECRET}\nsequence_len").replace("1024", "10\n241").replace("bf16", SECRET),
    ],
)
def test_a_secret_never_shows(text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.yaml"
        file.write_text(text, encoding="utf-8")
        report = loralint.check(file, settings=Settings(preview=True), figures=True, gpu="T4")
    assert SECRET not in render("html", report, color=False)


def test_a_report_does_not_depend_on_anything_but_its_runs(page):
    assert page(BAD, gpu="T4").source == page(BAD, gpu="T4").source


@pytest.mark.parametrize(
    "value", ["1" + "0" * 400, "9" * 5000, "1.0e+308", ".inf", ".nan", "-5", "0", "true", "[1, x]", "~"]
)
@pytest.mark.parametrize("key", ["lora_r", "learning_rate", "lora_alpha", "max_steps", "warmup_steps", "sequence_len"])
def test_numbers_that_no_run_can_mean_are_drawn_or_left_out(page, key, value):
    _assert_inert(page(re.sub(rf"(?m)^{key}: .*", f"{key}: {value}", GOOD), gpu="T4"))
