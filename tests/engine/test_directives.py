from __future__ import annotations

import pytest

from loralint.knowledge.rules import all_rules, find

HEAD = "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\n"
TAIL = "lora_target_linear: true\nmicro_batch_size: 1\nlearning_rate: 0.0002\n"


def _run(linted, middle, name="config.yaml", **given):
    """Findings of three rules that ship, told as (rule, line, suppressed by); 101 is a misspelt key, 304 a rank."""
    wanted = ("LL101", "LL304", "LL004", "LL005", "LL006")
    run = linted(middle, *(rule for rule in all_rules() if rule.id in wanted), name=name, **given)
    return run, [(one.rule, one.span.line, (one.suppressed or {}).get("by")) for one in run.findings]


def test_on_the_same_line(linted):
    run, told = _run(linted, HEAD + "lora_aplha: 32  # loralint: ignore[LL101] an old fork wants it\n" + TAIL)
    assert told == [("LL101", 4, "inline")]
    assert run.findings[0].suppressed == {"by": "inline", "reason": "an old fork wants it"}
    assert (run.verdict, run.score) == ("pass", 100)


def test_on_the_next_line(linted):
    _, told = _run(linted, HEAD + "# loralint: ignore[LL101] an old fork wants it\nlora_aplha: 32\n" + TAIL)
    assert told == [("LL101", 5, "inline")]


@pytest.mark.parametrize(
    "comment", ["#loralint:ignore[LL101]", "#  loralint: ignore[ll101]", "# loralint: ignore[ LL101 ]"]
)
def test_spellings(linted, comment):
    assert _run(linted, f"{HEAD}lora_aplha: 32  {comment}\n{TAIL}")[1] == [("LL101", 4, "inline")]


def test_a_name_serves_as_code(linted):
    text = f"{HEAD}lora_aplha: 32  # loralint: ignore[{find('LL101').name}]\n{TAIL}"
    assert _run(linted, text)[1] == [("LL101", 4, "inline")]


@pytest.mark.parametrize("at", ["top", "end"])
def test_for_the_whole_file(linted, at):
    comment = "# loralint: ignore-file[LL101] generated\n"
    text = HEAD + "lora_aplha: 32\nlearning_rte: 1\n" + TAIL
    _, told = _run(linted, comment + text if at == "top" else text + comment)
    shift = 1 if at == "top" else 0
    assert told == [("LL101", 4 + shift, "inline"), ("LL101", 5 + shift, "inline")]


def test_two_lines_above_is_too_far(linted):
    _, told = _run(linted, HEAD + "# loralint: ignore[LL101]\n\nlora_aplha: 32\n" + TAIL)
    assert told == [("LL005", 4, None), ("LL101", 6, None)]


def test_a_comment_behind_a_key_says_nothing_of_the_next_line(linted):
    _, told = _run(linted, HEAD.rstrip() + "  # loralint: ignore[LL101]\nlora_aplha: 32\n" + TAIL)
    assert told == [("LL005", 3, None), ("LL101", 4, None)]


def test_unknown_unused_and_blanket_ignores_are_told_at_their_place(linted):
    text = (
        HEAD + "lora_alpha: 16  # loralint: ignore[LL999] x\n# loralint: ignore[LL101] y\n# loralint: ignore\n"
        "# loralint: ignore[] z\n" + TAIL
    )
    run, told = _run(linted, text)
    assert told == [("LL004", 4, None), ("LL005", 5, None), ("LL006", 6, None), ("LL006", 7, None)]
    assert {one.tier for one in run.findings} == {"B"}
    first = run.findings[0].span
    assert text[first.start : first.end] == "# loralint: ignore[LL999] x"
    assert (first.column, first.end_column) == (17, 17 + len("# loralint: ignore[LL999] x"))


def test_several_codes_are_judged_one_by_one(linted):
    _, told = _run(linted, HEAD + "lora_aplha: 32  # loralint: ignore[LL101, LL304, LL999] x\n" + TAIL)
    assert told == [("LL101", 4, "inline"), ("LL004", 4, None), ("LL005", 4, None)]


def test_a_code_that_one_comment_names_again_is_told_once(linted):
    _, told = _run(linted, HEAD + "lora_aplha: 32  # loralint: ignore[LL101, LL304, LL101,LL304] x\n" + TAIL)
    assert told == [("LL101", 4, "inline"), ("LL005", 4, None)]


def test_a_comment_does_not_lift_tier_s(linted):
    run, told = _run(linted, HEAD.replace("lora_r: 16", "lora_r: 0  # loralint: ignore[LL304] on purpose") + TAIL)
    assert told == [("LL304", 3, None)]
    assert run.verdict == "block"
    (note,) = [note for note in run.notes if note.kind == "info"]
    assert (note.rules, note.key) == (("LL304",), "lora_r")
    assert note.message.startswith("a comment does not lift LL304, which is tier S")


def test_a_hash_inside_a_text_is_no_comment(linted):
    _, told = _run(linted, HEAD + 'lora_aplha: "32 # loralint: ignore[LL101] x"\n' + TAIL)
    assert told == [("LL101", 4, None)]


def test_ignores_can_be_switched_off(linted):
    text = HEAD + "lora_aplha: 32  # loralint: ignore[LL101] x\n" + TAIL
    assert _run(linted, text, inline=False)[1] == [("LL101", 4, None)]


def test_json_has_no_ignores(linted):
    text = '{"peft_type": "LORA", "r": 0, "note": "# loralint: ignore[LL304]"}'
    assert [one for one in _run(linted, text, "adapter_config.json")[1] if one[0] == "LL304"] == [("LL304", 1, None)]
