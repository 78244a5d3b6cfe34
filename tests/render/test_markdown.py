from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from loralint.model import Finding, Note, Report, Run, Span
from loralint.render import render
from loralint.render.inert import code, inert
from loralint.render.markdown import MOST

AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 0\nlora_alpha: 16\nlora_aplha: 32\n"
    "lora_target_linear: true\nlearning_rate: 2e-4\n"
)
GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def _text_outside_code(markdown: str) -> str:
    """The text of a document that a forge would look for references in; nothing in it may be more than text."""
    text = []
    for token in GFM.parse(markdown):
        for one in token.children or ():
            assert one.type in {"text", "code_inline", "softbreak", "strong_open", "strong_close"}, (one, markdown)
            text.append(one.content if one.type == "text" else " ")
        if token.type == "html_block":
            assert token.content.strip().startswith(("<details><summary>", "</details>"))
    return "".join(text)


def _finding(number: int = 0, **given) -> Finding:
    span = Span("f.yaml", number, number + 1, number + 1, 1, number + 1, 2)
    finding = Finding("LL1", "n", "A", "m: c", "h", span, f"k{number}", f"/k{number}", "", None, "set")
    return finding._replace(**given)


def test_a_whole_document(report_on):
    report = report_on(AXOLOTL, select_rules=["LL304", "LL101", "LL421"])
    rank, misspelt = sorted(report.runs[0].findings, key=lambda one: one.span.line)
    out = render("markdown", report, color=True)
    assert out.startswith(f"""## loralint: block

1 run: 1 block; 1 S, 1 A.

| run | framework | verdict | score | S | A | B |
| --- | --- | --- | --: | --: | --: | --: |
| `config.yaml` | axolotl | block | {report.runs[0].score} | 1 | 1 | 0 |

### Blocks the run (S)

- **{rank.message.partition(": ")[0]}**
  `config.yaml:3:9` (LL304 rank-not-positive)

  ~~~text
    2 | adapter: lora
    3 | lora_r: 0
      |         ^
  ~~~

  Why: {rank.message.partition(": ")[2]}

  Instead: {rank.help}
""")
    assert misspelt.help in out
    assert GFM.render(out).count("<table>") == 1


def test_small_findings_notes_and_what_is_lifted_are_folded():
    findings = (
        _finding(tier="B", message="odd: thing"),
        _finding(1, suppressed={"by": "settings", "reason": "runs on @tpu", "expires": "2027-01-01"}),
    )
    notes = (Note("not-checked", "no --rows given"), Note("info", "said"))
    out = render("markdown", Report((Run(("f.yaml",), "trl", 97, "pass", findings, notes),)), color=False)
    assert out.count("<details>") == out.count("</details>") == 3
    assert "- not checked: no --rows given\n- note: said\n" in out
    assert out.rstrip().endswith("(by settings until 2027-01-01: runs on `@tpu`)\n\n</details>")
    assert "### " not in out


@pytest.mark.parametrize("count", [1, 60, 4000])
def test_it_never_outgrows_a_comment_and_counts_what_is_left_out(count):
    findings = tuple(_finding(number, tier="SAB"[number % 3], message=f"{number}ü: c") for number in range(count))
    out = render("markdown", Report((Run(("f.yaml",), "trl", 0, "block", findings),)), color=False)
    assert len(out.encode()) <= MOST
    assert out.count("<details>") == out.count("</details>")
    shown = out.count("- **")
    left = sum(int(part.split(" ", 1)[0]) for part in out.rpartition("No room here for ")[2].split("**")[0].split(", ")
               ) if "No room" in out else 0  # fmt: skip
    assert shown + left == count
    assert (left > 0) == (count == 4000)


def test_many_runs_the_worst_stand_in_the_table():
    runs = [Run((f"{number}.yaml",), "trl", 100, "pass", ()) for number in range(200)]
    runs.append(Run(("bad.yaml",), "trl", 0, "block", ()))
    out = render("markdown", Report(tuple(runs)), color=False)
    assert out.index("bad.yaml") < out.index("0.yaml`")
    assert "151 more runs are not in this table, none of them worse." in out


def test_nothing_to_judge(report_on):
    assert render("markdown", report_on("a: 1\n"), color=False) == "## loralint: no training config found\n"


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("write `lora_alpha`, or remove the line", "write `lora_alpha`, or remove the line"),
        ("lora_r 0 leaves no room", "lora_r 0 leaves no room"),
        ("by @someone in #12 at https://x.example", "by `@someone` in `#12` at `https://x.example`"),
        ("[a](b) <b> ![i](j) *x* __y__", "`[a](b)` `<b>` `![i](j)` `*x*` `__y__`"),
        ("~z~ $m$ &amp; :tada:", "`~z~` `$m$` `&amp;` `:tada:`"),
        ("`x`@y", "`x` `@y`"),
        ("``` [x](y) `", "```` ``` ```` `[x](y)` `` ` ``"),
        ("a\nb\u202ec", "`a\\nb\\u202ec`"),
        ("0123abc 50% www.x.example", "`0123abc` 50% `www.x.example`"),
        ("", ""),
    ],
)  # fmt: skip
def test_inert(text, out):
    assert inert(text) == out


def test_code_in_a_table_ends_no_cell():
    assert code("a|b`c", table=True) == "`` a\\x7cb`c ``"


PIECES = st.lists(
    st.one_of(
        st.sampled_from([
            "`", "``", "```", "~~~", "[", "](", ")", "![", "<", ">", "<b>", "</details>", "<!--", "@me", "#1", "|",
            "\\", "*", "**", "_", "__", "~~", "&lt;", "https://x.example", "www.x.example", "a@b.example",
            "\n", "\r", "\n\n", "    ", "- ", "1. ", "# ", "::error::", "##[error]", "\u202e", "$", ":tada:", "!1",
            "GH-1", " ", "a", "=",
        ]),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(PIECES, PIECES, PIECES)
def test_nothing_from_a_value_comes_alive(one, two, three):
    span = Span(f"{three}.yaml", 0, 1, 1, 1, 1, 2)
    findings = tuple(
        _finding(number, tier=tier, name=one, message=f"{one}: {two}", help=three, span=span, suppressed=lifted)
        for number, (tier, lifted) in enumerate([
            ("S", None), ("B", None), ("A", {"by": "inline", "reason": one}),
        ])
    )  # fmt: skip
    run = Run((f"{two}.yaml",), "trl", 0, "block", findings, (Note("not-checked", two), Note("info", one)))
    report = Report((run,), {f"{three}.yaml": f"{one}\n{two}"})
    text = _text_outside_code(render("markdown", report, color=False))
    for alive in ("@", "://", "www.", "#1", "!1", "GH-1", ":tada:", "$", "<", "&", "]("):
        assert alive not in text
