from __future__ import annotations

import json
import re
import tracemalloc

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as given_by
from hypothesis import strategies as st

import loralint
from loralint.data import lines
from loralint.render import FORMATS, render

CONFIG = (
    "base_model: Qwen/Qwen2.5-0.5B\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\nsequence_len: 64\ndatasets:\n  - path: train.jsonl\n    type: alpaca\n"
)
TRL = "model_name_or_path: a/b\nuse_peft: true\nlora_r: 16\nlearning_rate: 2.0e-4\noutput_dir: out\nmax_length: 16\n"
SECRET = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"


@pytest.fixture
def words():
    """words(7) -> seven words."""
    return lambda count: " ".join(["word"] * count)


def test_good_rows_give_no_finding_and_say_how_many_were_looked_at(checked, alpaca):
    run = checked([alpaca(f"Say {number}.", f"It is {number}.") for number in range(100)])
    assert run.run.findings == ()
    assert run.run.files == ("config.yaml", "train.jsonl")
    assert any("train.jsonl: all 100 rows looked at; layout instruct" in note for note in run.notes)


def test_half_of_the_rows_are_said_to_be_no_longer_than_the_longest(checked, alpaca):
    run = checked([alpaca("a" * 70, "b" * 90) for _ in range(10)])
    (note,) = (note for note in run.notes if "half have up to" in note)
    half, longest = re.findall(r"[\d,]+(?= characters|$)", note)
    assert half == longest


def test_a_finding_names_rows_and_points_at_the_first(checked, alpaca):
    rows = [alpaca(f"Say {number}.", "" if number % 10 == 3 else "Yes.") for number in range(100)]
    run = checked(rows)
    finding = next(one for one in run.findings if one.rule == "LL605")
    assert (finding.span.file, finding.span.line, finding.key, finding.tier) == ("train.jsonl", 4, "output", "A")
    assert "10 of 100 rows of train.jsonl have no text in output (lines 4, 14, 24, 34, 44 ...)" in finding.message


def test_rows_are_counted_for_everything_in_steps(checked, alpaca):
    rows = [alpaca(f"Say {number}.", f"It is {number}.") for number in range(40)]
    config = CONFIG + "num_epochs: 1\nwarmup_steps: 100\ngradient_accumulation_steps: 1\n"
    assert "LL421" in [finding.rule for finding in checked(rows, config).run.findings]
    told = checked(rows, config, rows=100_000).run.findings
    assert "LL421" not in [finding.rule for finding in told]
    two = config.replace("datasets:\n", "datasets:\n  - path: other.jsonl\n    type: alpaca\n")
    assert "LL421" not in [finding.rule for finding in checked(rows, two).run.findings]


def test_no_part_of_a_row_is_shown(checked, alpaca):
    marker = "zanzibar"
    rows = [
        json.dumps(alpaca(marker, f"{SECRET} {marker}\x1b[31m")),
        '{"instruction": "' + marker,
        json.dumps({marker * 4: marker, "instruction": None}),
        json.dumps([marker]),
        json.dumps(alpaca(marker, [[marker]])),
        json.dumps(alpaca(marker, f"{marker} <|im_start|>")),
    ]
    run = checked("\n".join(rows * 2), CONFIG)
    assert {"LL601", "LL604", "LL614", "LL617", "LL618", "LL626"} <= set(run.rules)
    report = loralint.check("config.yaml", data=["train.jsonl"])
    for name in FORMATS:
        text = render(name, report, color=False)
        assert marker not in text
        assert SECRET not in text
        assert "\x1b" not in text


def test_unknown_fields_are_named_but_not_long_ones(checked):
    config = CONFIG.replace("type: alpaca", "type: my_module.own")
    run = checked([{"alpha": 1, "b" * 100: 2, f"{SECRET}": 3}], config)
    note = next(one for one in run.notes if "with no fields that are known" in one)
    assert "alpha" in note
    assert "b" * 40 not in note
    assert SECRET not in note
    assert run.findings == []


def test_several_files_are_one_data_set(checked, alpaca, tmp_path):
    checked([alpaca("Say hello.", "Hello!")])
    (tmp_path / "more.jsonl").write_text(json.dumps(alpaca("Say hello.", "Hello!")) + "\n")
    report = loralint.check("config.yaml", data=["train.jsonl", "more.jsonl"])
    finding = next(one for one in report.runs[0].findings if one.rule == "LL614")
    assert (finding.span.file, finding.span.line) == ("more.jsonl", 1)
    assert "line 1 repeats line 1 of train.jsonl" in finding.message


def test_evaluation_rows_in_the_training_data(checked, alpaca):
    train = [alpaca(f"Say {number}.", f"It is {number}.") for number in range(50)]
    held_out = [alpaca(f"Say {number}.", f"It is {number}.") for number in range(49, 69)]
    run = checked(train, evaluation=held_out)
    assert run.tier("LL616") == "A"
    assert "1 of 20 rows of eval.jsonl stand in the training data too (line 1 repeats line 50 of train.jsonl)" in (
        run.message("LL616")
    )
    run = checked(train, evaluation=[alpaca("Say 7.", "It is 7.")] + [alpaca(f"Ask {n}.", f"{n}.") for n in range(99)])
    assert run.tier("LL616") == "B"
    assert "LL616" not in checked(train, evaluation=[alpaca("Say 7.", "Seven.")]).rules


def test_in_a_sample_the_share_of_leaks_stays_the_same(checked, alpaca, monkeypatch):
    monkeypatch.setattr(lines, "ROWS", 1000)
    monkeypatch.setattr(lines, "_FIRST", 0)
    train = [alpaca(f"Say {number}.", f"It is {number}.") for number in range(8000)]
    held_out = train[:400] + [alpaca(f"Ask {number}.", f"It is {number}.") for number in range(400)]
    run = checked(train, evaluation=held_out)
    message = run.message("LL616")
    count, looked = (int(word) for word in message.split(": ")[1].split(" rows")[0].split(" of "))
    assert 60 < looked < 150
    assert 0.35 < count / looked < 0.65
    assert any("of 8,000 rows looked at, a sample chosen by content" in note for note in run.notes)


def test_the_order_and_the_form_of_the_rows_change_no_count(checked, alpaca):
    rows = [alpaca(f"Say {number}.", ["", "Yes.", "nan", "\x01"][number % 4]) for number in range(40)]
    rows += rows[:7]
    as_lines = checked(rows)
    as_array = checked(json.dumps(rows, indent=2), name="train.json")
    backwards = checked(rows[::-1])

    def counts(run):
        return sorted(
            (one.rule, one.key, one.tier, one.message.split(" (")[0].split(": ")[1].split()[0]) for one in run.findings
        )

    assert counts(as_lines) == counts(as_array) == counts(backwards)
    assert [one.span.line for one in as_array.findings if one.rule == "LL605"] == [2]
    assert "(rows 1, 5, 9, 13, 17 ...)" in as_array.message("LL605")


@pytest.mark.parametrize(
    ("length", "prompt", "answer", "rules"),
    [
        (64, 64, 1, ["LL607"]),
        (64, 65, 1, ["LL606"]),
        (64, 10, 54, []),
        (64, 10, 55, ["LL607"]),
        (128, 65, 1, []),
    ],
)
def test_the_bound_of_lengths(checked, alpaca, words, length, prompt, answer, rules):
    config = CONFIG.replace("sequence_len: 64", f"sequence_len: {length}")
    run = checked([alpaca(words(prompt), words(answer))], config)
    assert [rule for rule in run.rules if rule in ("LL606", "LL607")] == rules


def test_a_prompt_that_is_learnt_itself_is_no_loss_of_labels(checked, alpaca, words):
    run = checked([alpaca(words(70), "Yes.")], CONFIG + "train_on_inputs: true\n")
    assert run.rules == ["LL607"]


def test_lengths_of_trl(checked, words):
    row = {"prompt": words(20), "completion": "Yes."}
    assert checked([row], TRL + "dataset_name: json\n").rules == ["LL606"]
    turns = [{"role": "user", "content": words(20)}, {"role": "assistant", "content": "Yes."}]
    assert checked([{"messages": turns}], TRL + "dataset_name: json\n").rules == ["LL607"]
    assert checked([row], TRL + "dataset_name: json\npacking: true\n").rules == []
    assert checked([row], TRL + "dataset_name: json\ntruncation_mode: keep_end\n").rules == []


def test_a_tokenizer_beside_the_config_counts(checked, alpaca, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    (tmp_path / "model").mkdir()
    made.save(str(tmp_path / "model" / "tokenizer.json"))
    rows = [alpaca("x" * 70, "Yes.")]
    assert "LL606" not in checked(rows).rules
    assert checked(rows, CONFIG.replace("Qwen/Qwen2.5-0.5B", "model")).tier("LL606") == "S"
    assert checked(rows, tokenizer="model/tokenizer.json").tier("LL606") == "S"


def test_already_formatted_prompts_of_trl_are_meant(checked):
    row = {"prompt": "<|im_start|>user\nHi<|im_end|>\n", "completion": "Hello!<|im_end|>"}
    assert checked([row], TRL + "dataset_name: json\n").rules == []


def test_reinforcement_learning_has_prompts_only(checked):
    config = CONFIG.replace("    type: alpaca\n", "    type: my_rewards.own\n") + "rl: grpo\n"
    rows = [{"messages": [{"role": "user", "content": f"What is {number}?"}]} for number in range(9)]
    assert checked(rows, config).rules == []


SWIFT = "model: Qwen/Qwen2.5-7B-Instruct\ntuner_type: lora\ndataset: [train.jsonl]\n"


def test_labels_stand_in_the_place_of_answers(checked):
    rows = [{"messages": [{"role": "user", "content": f"Film {number}"}], "label": number % 2} for number in range(9)]
    assert checked(rows, SWIFT + "task_type: seq_cls\nnum_labels: 2\n").rules == []
    assert checked(rows, SWIFT).rules == ["LL610"]


def test_rows_of_swift_for_pretraining_have_one_turn(checked):
    rows = [{"messages": [{"role": "assistant", "content": f"All about {number}."}]} for number in range(9)]
    assert checked(rows, SWIFT).rules == []


def test_a_conversation_may_end_with_a_call(checked):
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "look"}}]}
    rows = [{"messages": [{"role": "user", "content": f"Look at {number}!"}, call]} for number in range(9)]
    assert checked(rows, SWIFT).rules == []


def test_without_the_extra_it_says_what_was_not_checked(checked, alpaca, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "datasketch" else real(name, *more)
    )
    run = checked([alpaca("Say hello.", "Hello!")])
    note = next(one for one in run.run.notes if "the extra loralint[data]" in one.message)
    assert (note.kind, note.rules) == ("not-checked", ("LL615", "LL628"))


def test_settings_and_comments_lift_findings_on_rows(checked, alpaca):
    rows = [alpaca("Say hello.", "Hello!"), alpaca("Say hello.", "Hello!"), alpaca("", "Hello!")]
    run = checked(rows, "# loralint: ignore-file[LL614] weighted on purpose\n" + CONFIG)
    lifted = {one.rule: one.suppressed for one in run.findings}
    assert lifted["LL614"] is not None
    assert lifted["LL624"] is None


def test_a_comment_for_a_line_of_the_config_is_none_for_that_row(checked, alpaca):
    same = alpaca("Say hello.", "Hello!")
    run = checked([same, same], f"# loralint: ignore[LL614] of line 2\n{CONFIG}")
    (finding,) = (one for one in run.findings if one.rule == "LL614")
    assert (finding.span.line, finding.suppressed) == (2, None)


def test_memory_does_not_grow_with_the_file(checked, alpaca, tmp_path):
    checked([alpaca("Say hello.", "Hello!")])
    peaks = []
    for count in (2_000, 8_000):
        (tmp_path / "train.jsonl").write_text(
            "".join(json.dumps(alpaca(f"Say {n}.", f"{n} " * 300)) + "\n" for n in range(count))
        )
        tracemalloc.start()
        loralint.check("config.yaml", data=["train.jsonl"])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 8_000 * 400  # a hash and a place for each row, not its thousand characters


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given_by(
    st.lists(st.binary(max_size=60) | st.sampled_from([b'{"instruction": "a", "output": "b"}', b"[", b"{}", b"null"]))
)
def test_no_file_is_too_odd(checked, pieces):
    for name in ("train.jsonl", "train.json"):
        run = checked(b"\n".join(pieces), name=name)
        assert all(one.span.line >= 1 for one in run.run.findings)


def test_hostile_lines_are_bounded(checked):
    deep = '{"instruction": ' + "[" * 900 + "]" * 900 + ', "output": "b"}'
    many = '{"instruction": "a", "output": [' + "[]," * 500_000 + "1]}"
    long = '{"instruction": "' + "x" * 6_000_000 + '", "output": "b"}'
    run = checked("\n".join([deep, many, long, '{"instruction": "' + "\x00" * 1000]))
    assert {"LL601", "LL626"} <= set(run.rules)
    assert "train.jsonl: rows longer than 4 MiB, 1 in number" in run.notes


def test_what_is_not_learnt_makes_no_other_row_but_what_is_asked_with_does(checked, alpaca):
    same = [alpaca("Say hello.", "Hello!", id=number) for number in range(2)]
    assert "LL614" in checked(same).rules
    other = [alpaca("Say hello.", "Hello!", tools=[{"name": number}]) for number in range(2)]
    assert "LL614" not in checked(other).rules
