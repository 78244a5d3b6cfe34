from __future__ import annotations

import pytest

AXOLOTL = "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlearning_rate: 2e-4\n"


@pytest.mark.parametrize(
    "text",
    [
        "", "# only a comment\n", "a: 1\n", "- 1\n- 2\n", "just text\n", "on: push\njobs:\n  test:\n    runs-on: x\n",
        "services:\n  web:\n    image: nginx\n", "repos: []\n", "a: [1\n", "<html>\n", "\t\n",
    ],
)  # fmt: skip
def test_what_is_no_run_is_left_alone(assembled, text):
    assert assembled(text) is None


def test_a_run_is_recognised_with_a_reason(assembled):
    found = assembled(AXOLOTL)
    assert found.config.reader.name == "axolotl"
    assert "`base_model`" in found.reason


def test_a_framework_that_is_given_overrides(assembled):
    found = assembled("a: 1\n", framework="trl")
    assert (found.config.reader.name, found.reason) == ("trl", "--framework")


def test_a_broken_file_that_looks_like_a_run_is_one(assembled):
    found = assembled(AXOLOTL + "datasets: [a\n")
    (fault,) = [one for one in found.observations if one.kind == "syntax"]
    assert (fault.effect, fault.value.span.line) == ("crash", 6)
    assert found.reason == "its text looks like one"


def test_several_documents_are_observed_at_the_second(assembled):
    found = assembled(AXOLOTL + "---\na: 1\n")
    (fault,) = [one for one in found.observations if one.kind == "several-documents"]
    assert fault.value.span.line == 7


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_byte_order_change_nothing(assembled, encoding):
    value = assembled(AXOLOTL.encode(encoding)).config.get("adapter.rank")
    assert (value.value, value.span.start) == (16, AXOLOTL.index("16"))
