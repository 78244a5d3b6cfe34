from __future__ import annotations

import pytest

from loralint.knowledge.versions import assumed

AXOLOTL = "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlearning_rate: 2e-4\n"
TRL = "model_name_or_path: Qwen/Qwen2.5-0.5B\ndataset_name: trl-lib/Capybara\nuse_peft: true\nlora_r: 8\n"


def test_what_is_written_wins_over_the_default(assembled):
    config = assembled(AXOLOTL).config
    rank, dropout = config.get("adapter.rank"), config.get("adapter.dropout")
    assert (rank.value, rank.origin, rank.key, rank.span.line) == (16, "set", "lora_r", 3)
    assert (dropout.origin, dropout.key, dropout.span) == ("default", "lora_dropout", None)
    assert dropout.source == f"axolotl {assumed('axolotl')['axolotl']}"


def test_a_null_that_the_framework_takes_for_absent_gives_the_default(assembled):
    value = assembled(AXOLOTL + "lora_dropout:\n").config.get("adapter.dropout")
    assert (value.value, value.origin) == (0, "default")


def test_a_field_that_the_framework_lacks_is_absent(assembled):
    value = assembled(AXOLOTL).config.get("run.gpu")
    assert (value.value, value.origin, value.known) == (None, "absent", False)


def test_the_earlier_row_wins_and_remembers_what_it_hides(assembled):
    value = assembled(AXOLOTL.replace("lora\n", "qlora\n") + "load_in_4bit: true\nload_in_8bit: true\n").config.get(
        "quant.bits"
    )
    assert value.value in (4, 8)
    assert value.shadowed
    assert {value.key, *(other.key for other in value.shadowed)} >= {"load_in_4bit", "load_in_8bit"}
    assert all(other.span is not None for other in value.shadowed)


def test_of_two_equal_keys_the_last_counts(assembled):
    assert assembled(AXOLOTL + "lora_r: 64\n").config.get("adapter.rank").value == 64


def test_options_win_over_everything(assembled):
    config = assembled(AXOLOTL, gpu="T4", rows=500).config
    rows, gpu = config.get("run.rows"), config.get("run.gpu")
    assert (rows.value, rows.origin, rows.source, rows.key) == (500, "option", "--rows", "--rows")
    assert (gpu.value, gpu.origin, gpu.source) == ("T4", "option", "--gpu")


def test_a_text_that_is_filled_in_later_is_unknown(assembled):
    value = assembled(AXOLOTL.replace("lora_r: 16", "lora_r: ${RANK}")).config.get("adapter.rank")
    assert (value.known, value.origin) == (False, "set")
    assert value.value.reason == "`${RANK}` is filled in only when the run starts"


def test_the_way_back(assembled):
    config = assembled(AXOLOTL).config
    assert config.write("adapter.rank", 8) == ("lora_r", 8)
    assert config.write("schedule.warmup_steps", 10) == ("warmup_steps", 10)
    assert config.write("run.gpu", "T4") is None
    assert config.key("schedule.warmup_steps") == "warmup_steps"
    assert config.key("run.gpu") == "run.gpu"


def test_the_way_back_prefers_a_key_that_is_in_use(assembled):
    text = "finetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\n"
    assert assembled(text).config.write("precision.bf16", True) == ("bf16", True)
    assert assembled(TRL + "lora_target_modules: q_proj\n").config.write("adapter.rank", 4) == ("lora_r", 4)


def test_fields_are_those_of_the_framework(assembled):
    fields = list(assembled(AXOLOTL).config.fields())
    assert {"adapter.rank", "optim.lr"} <= set(fields)
    assert len(fields) == len(set(fields))


@pytest.mark.parametrize(("targets", "version"), [({}, assumed("axolotl")["axolotl"]), ({"axolotl": "0.9.0"}, "0.9.0")])
def test_the_version_is_pinned_or_assumed(assembled, targets, version):
    versions = assembled(AXOLOTL, targets=targets).config.versions
    assert versions.of("axolotl") == version
    assert dict(versions.pinned) == targets
    assert versions.satisfy(f"axolotl>={version}")
    assert not versions.satisfy("axolotl<0.0.1")


def test_of_a_package_without_a_version_nothing_holds(assembled):
    versions = assembled(AXOLOTL).config.versions
    assert versions.of("nothing-of-the-kind") == ""
    assert not versions.satisfy("nothing-of-the-kind>=0")


def test_what_the_pinned_release_needs_is_assumed_with_it(assembled):
    versions = assembled(AXOLOTL).config.versions
    assert versions.of("transformers") == assumed("axolotl")["transformers"]


def test_a_file_may_state_its_own_version(assembled):
    text = '{"peft_type": "LORA", "r": 8, "peft_version": "0.15.1"}'
    versions = assembled(text, "adapter_config.json").config.versions
    assert (versions.of("peft"), "peft" in versions.pinned) == ("0.15.1", True)
    told = assembled(text, "adapter_config.json", targets={"peft": "0.17.0"}).config.versions
    assert told.of("peft") == "0.17.0"
