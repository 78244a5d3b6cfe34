"""What a server shows of what we say: lengths, lines and their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loralint.webhook.judging import Told
from loralint.webhook.messages import named, refusal, warnings

TOLD = st.builds(
    Told, st.sampled_from(["LL304", "LL405"]), st.sampled_from("SAB"), st.text(max_size=300), st.integers(0, 9**9),
    st.text(max_size=3000), st.text(max_size=3000), st.booleans(),
)  # fmt: skip


@given(st.lists(TOLD, max_size=60), st.lists(st.text(max_size=400), max_size=30), st.text(max_size=300))
def test_all_warnings_fit_what_the_server_shows(found, tail, name):
    said = warnings(found, what=named("ConfigMap", name), tail=tail)
    assert sum(map(len, said)) <= 4096
    assert all(len(one) <= 230 and one.isprintable() for one in said)


@given(st.lists(TOLD, min_size=1, max_size=60), st.text(max_size=300))
def test_a_refusal_is_short_and_each_line_is_one(found, what):
    said = refusal(found, what)
    assert len(said) <= 8192
    assert said.replace("\n", "").isprintable()
    assert said.startswith("loralint: ")


def test_the_summary_comes_first_and_counts_what_is_hidden():
    found = [Told("LL304", "S", "train.yaml", 3, "training stops", "write lora_r: 16")] * 12
    first, second, *_ = warnings(found, what="ConfigMap/train")
    assert first == "loralint: ConfigMap/train: 12 findings: 12 will stop or spoil the training, 8 shown"
    assert second == "LL304 ConfigMap/train: train.yaml:3 training stops; write lora_r: 16"


def test_of_a_long_name_both_ends_are_kept():
    assert named("ConfigMap", "x" * 200 + "-one") != named("ConfigMap", "x" * 200 + "-two")
    assert len(named("ConfigMap", "x" * 200)) == 80
    assert named("", "") == ""
