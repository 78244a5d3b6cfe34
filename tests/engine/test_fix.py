"""Fixes: what they write, that they keep every other byte, and that the rule is silent afterwards."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import loralint
from loralint.engine.settings import Settings
from loralint.source.edit import apply

AXOLOTL = "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlearning_rate: 2e-4\n"


def _fixed(linted, rule, text, fix, name="config.yaml", **given):
    """The text after the fix of the rule's only finding, or None when it has no fix."""
    (finding,) = linted(text, rule(at=("adapter.rank",), fix=fix, **given), name=name).findings
    return None if finding.fix is None else apply(text, finding.fix.edits)


def test_set_replaces_the_value(linted, rule):
    text = AXOLOTL.replace("lora_alpha: 32", "lora_alpha:   32   # twice r")
    assert _fixed(linted, rule, text, {"set": {"adapter.alpha": 16}, "safe": True}) == text.replace("32   #", "16   #")


def test_set_takes_the_suggestion(linted, rule):
    fix = {"set": {"adapter.alpha": "{suggest}"}, "safe": False}
    assert _fixed(linted, rule, AXOLOTL, fix, args={"suggest": 8}) == AXOLOTL.replace("32", "8")
    assert _fixed(linted, rule, AXOLOTL, fix) is None


def test_a_suggestion_that_nobody_knows_is_no_fix(linted, rule):
    fix = {"set": {"adapter.alpha": "{suggest}"}, "safe": False}
    text = AXOLOTL.replace("16", "${RANK}")
    assert _fixed(linted, rule, text, fix, args={"suggest": {"field": "adapter.rank"}}) is None


def test_set_inserts_an_absent_key_behind_the_finding(linted, rule):
    fixed = _fixed(linted, rule, AXOLOTL, {"set": {"schedule.warmup_steps": 10}, "safe": True})
    assert fixed == AXOLOTL.replace("lora_r: 16\n", "lora_r: 16\nwarmup_steps: 10\n")


def test_set_writes_the_framework_s_own_words(linted, rule):
    llamafactory = "finetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nlora_rank: 8\nbf16: true\n"
    fixed = _fixed(
        linted, rule, llamafactory, {"set": {"precision.fp16": True, "precision.bf16": False}, "safe": False}
    )
    assert fixed == llamafactory.replace("lora_rank: 8\nbf16: true", "lora_rank: 8\nfp16: true\nbf16: false")


def test_set_of_what_the_framework_cannot_write_is_no_fix(linted, rule):
    assert _fixed(linted, rule, AXOLOTL, {"set": {"run.gpu": "T4"}, "safe": True}) is None


def test_set_to_what_is_in_force_is_no_fix(linted, rule):
    assert _fixed(linted, rule, AXOLOTL, {"set": {"adapter.alpha": 32}, "safe": True}) is None
    assert _fixed(linted, rule, AXOLOTL, {"set": {"adapter.alpha": 32, "adapter.rank": 8}, "safe": True}) == (
        AXOLOTL.replace("16", "8")
    )


def test_remove_takes_the_line_with_its_comment(linted, rule):
    text = AXOLOTL.replace("lora_alpha: 32\n", "lora_alpha: 32  # gone\n# stays\n")
    assert _fixed(linted, rule, text, {"remove": ["adapter.alpha"], "safe": True}) == text.replace(
        "lora_alpha: 32  # gone\n", ""
    )


def test_remove_takes_every_line_of_a_key_that_is_written_twice(linted, rule):
    text = AXOLOTL + "lora_alpha: 8\n"
    assert _fixed(linted, rule, text, {"remove": ["adapter.alpha"], "safe": True}) == AXOLOTL.replace(
        "lora_alpha: 32\n", ""
    )


def test_remove_of_an_absent_key_is_no_fix(linted, rule):
    assert _fixed(linted, rule, AXOLOTL, {"remove": ["optim.weight_decay"], "safe": True}) is None


def test_several_parts_make_one_fix(linted, rule):
    fix = {"set": {"adapter.alpha": 16, "adapter.rank": 8}, "remove": ["optim.lr"], "safe": True}
    assert _fixed(linted, rule, AXOLOTL, fix) == AXOLOTL.replace("lora_r: 16", "lora_r: 8").replace("32", "16").replace(
        "learning_rate: 2e-4\n", ""
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"peft_type": "LORA", "r": 8, "lora_alpha": 0}', '{"peft_type": "LORA", "r": 8, "lora_alpha": 16}'),
        ('{\n  "peft_type": "LORA",\n  "r": 8\n}\n', '{\n  "peft_type": "LORA",\n  "r": 8,\n  "lora_alpha": 16\n}\n'),
    ],
)
def test_json(linted, rule, text, after):
    assert _fixed(linted, rule, text, {"set": {"adapter.alpha": 16}, "safe": True}, "adapter_config.json") == after


def test_json_remove_takes_one_comma(linted, rule):
    text = '{"peft_type": "LORA", "r": 8, "lora_alpha": 0}'
    fixed = _fixed(linted, rule, text, {"remove": ["adapter.alpha"], "safe": True}, "adapter_config.json")
    assert fixed == '{"peft_type": "LORA", "r": 8}'


def test_a_fix_that_rests_on_an_unpinned_version_is_not_safe(linted, rule):
    one = rule(at=("adapter.rank",), fix={"set": {"adapter.rank": 8}, "safe": True}, versions=["axolotl>=0.1"])
    assert linted(AXOLOTL, one).findings[0].fix.safe is False
    assert linted(AXOLOTL, one, targets={"axolotl": "0.19.0"}).findings[0].fix.safe is True


def test_a_value_behind_an_anchor_is_left_alone(linted, rule):
    text = AXOLOTL.replace("lora_r: 16", "lora_r: &r 16").replace("lora_alpha: 32", "lora_alpha: *r")
    assert _fixed(linted, rule, text, {"remove": ["adapter.rank"], "safe": True}) is None
    assert _fixed(linted, rule, text, {"set": {"adapter.alpha": 8}, "safe": True}) == text.replace("*r", "8")


def _mended(text: str, rule: str, name: str = "config.yaml") -> str | None:
    """The text after the fix of the first finding of a rule that ships, or None when it has no fix."""
    finding = next(one for one in _check(text, name).findings if one.rule == rule)
    return None if finding.fix is None else apply(text, finding.fix.edits)


@pytest.mark.parametrize(
    ("old", "new"),
    [("lora_aplha: 32", "lora_alpha: 32"), ("'lora_aplha': 32", '"lora_alpha": 32'), ("? lora_aplha\n: 32", None)],
)
def test_rename_keeps_the_quotes(old, new):
    text = AXOLOTL.replace("lora_alpha: 32", old)
    assert _mended(text, "LL101") == AXOLOTL.replace("lora_alpha: 32", new or "? lora_alpha\n: 32")


def test_rename_never_makes_a_second_key_of_that_name():
    assert _mended(AXOLOTL + "lora_aplha: 8\n", "LL101") is None


def test_of_two_equal_keys_the_earlier_goes():
    assert (
        _mended(AXOLOTL + "lora_r: 64  # new\n", "LL106") == AXOLOTL.replace("lora_r: 16\n", "") + "lora_r: 64  # new\n"
    )


# Properties over the rules that ship. Each line is a fault that one of them mends, or a plain one.
LINES = st.sampled_from([
    "lora_r: 16", "lora_r: 0", "lora_r:    -4  # odd", "'lora_r': 8", "lora_alpha: 0", "lora_alpha: -16",
    "lora_aplha: 32",
    "lora_dropuot: 0.1", "learning_rate: 2e-4", "learning_rate: 0.0002", "learning_rte: 2.0e-4", "lora_r: 64",
    "micro_batch_size: 1", "micro_batch_size: 2  # per card", "# a comment", "", "warmup_ratio: 0.03",
    "warmup_steps: 10",
    "optimizer: adamw_torhc", "lr_scheduler: cosin", "bf16: true", "fp16: true", 'gradient_checkpointing: "false"',
    "lora_target_modules: [q_proj, v_proj]", "lora_target_modules:\n  - q_proj\n  - k_prj",
    "lora_modules_to_save: [lm_head]",
    "datasets:\n  - path: a.jsonl\n    type: chat_template", "load_in_4bit: true", "load_in_8bit: true",
    "sequence_len: 512",
    "val_set_size: 0.1", "eval_steps: 20", "save_steps: 50", "weight_decay: 0.01", "max_grad_norm: 1.0",
    "sample_packing: true", "num_epochs: 3", "special_tokens: {pad_token: <pad>}", "wandb_projct: mine",
    "adapter: lora",
])  # fmt: skip
CONFIGS = st.lists(LINES, min_size=1, max_size=14)
HEADS = st.sampled_from(["adapter: lora\n", "adapter: qlora\n", "adapter: lora\nload_in_4bit: true\n"])
ENDS = st.sampled_from(["\n", "\r\n"])


def _check(text: str, name: str, **options):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(text.encode())
        report = loralint.check(file, settings=Settings(preview=True), **options)
    return report.runs[0] if report.runs else None


def _fix_all(text: str, name: str, parse, **options) -> None:
    """Apply the fix of each finding alone: it parses, keeps the rest, and its rule says no more of that place."""
    run = _check(text, name, **options)
    before = parse(text)
    for finding in run.findings if run and before is not None else ():
        if finding.fix is None:
            continue
        fixed = apply(text, finding.fix.edits)
        assert parse(fixed) is not None, f"{finding.rule} breaks the file:\n{fixed}"
        _assert_rest_is_kept(text, fixed, finding.fix.edits)
        again = _check(fixed, name, **options)
        left = _times(again, finding) if again else 0
        assert left < _times(run, finding), f"{finding.rule} is not mended:\n{fixed}"


def _times(run, finding) -> int:
    """How often this is said of this; a key written three times takes two fixes."""
    wanted = (finding.rule, finding.key, finding.value)
    return sum((one.rule, one.key, one.value) == wanted for one in run.findings)


def _assert_rest_is_kept(text: str, fixed: str, edits) -> None:
    at, out = 0, []
    for edit in sorted(edits, key=lambda edit: edit.start):
        out += [text[at : edit.start], edit.text]
        at = edit.end
    assert fixed == "".join(out) + text[at:]
    assert sum(edit.end - edit.start for edit in edits) <= max(400, len(text) // 2)


def _yaml(text: str):
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def _json(text: str):
    try:
        return json.loads(text)
    except ValueError:
        return None


@settings(deadline=None, max_examples=60)
@given(HEADS, CONFIGS, ENDS, st.sampled_from(["", "T4", "A100-80GB"]))
def test_every_fix_in_yaml(head, lines, end, gpu):
    text = ("base_model: NousResearch/Llama-2-7b-hf\n" + head + "\n".join(lines) + "\n").replace("\n", end)
    _fix_all(text, "config.yaml", _yaml, gpu=gpu)


PEFT = st.fixed_dictionaries(
    {"peft_type": st.just("LORA")},
    optional={
        "r": st.sampled_from([0, -4, 8, 16, 512]), "lora_alpha": st.sampled_from([0, -8, 16, 1024]),
        "lora_dropout": st.sampled_from([0, 0.05, 1.0, 1.5, -1]), "bias": st.sampled_from(["none", "all", "nne"]),
        "target_modules": st.sampled_from(
            [["q_proj"], ["q_proj", "lm_head"], "all-linear", "all_linear", ["all-linear"], []]
        ),
        "modules_to_save": st.sampled_from([None, ["lm_head"], "lm_head"]), "lora_aplha": st.just(8),
        "use_rslora": st.booleans(), "use_dora": st.booleans(),
        "init_lora_weights": st.sampled_from([True, "pissa", "gausian"]),
        "task_type": st.sampled_from(["CAUSAL_LM", None]), "inference_mode": st.booleans(),
    },
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(PEFT, st.sampled_from([None, 2]))
def test_every_fix_in_json(config, indent):
    _fix_all(json.dumps(config, indent=indent), "adapter_config.json", _json)


HF = st.lists(
    st.sampled_from([
        "learning_rate: 2e-4", "learning_rate: 2.0e-4", "load_best_model_at_end: true", "eval_strategy: steps",
        "evaluation_strategy: steps", "eval_steps: 20", "save_steps: 50", "save_strategy: steps", "bf16: true",
        "fp16: true",
        "lora_rank: 0", "lora_rank: 8", "lora_alpha: 0", "warmup_ratio: 0.1", "warmup_steps: 100",
        "num_train_epochs: 3",
        "lora_target: all", "lora_target: q_proj,k_prj", "quantization_bit: 4", "template: qwen",
        "dataset: alpaca_en_demo",
        "per_device_train_batch_size: 1", "gradient_acumulation_steps: 8", "max_samples: 1000", "cutoff_len: 2048",
        "lr_scheduler_type: cosin", "optim: adamw_torhc", "flash_attn: fa2", "packing: true", "report_to: none",
    ]),
    max_size=14,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(HF, st.sampled_from(["", "T4"]))
def test_every_fix_in_llamafactory(lines, gpu):
    text = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: lora\n" + "\n".join(lines) + "\n"
    _fix_all(text, "train.yaml", _yaml, gpu=gpu)
