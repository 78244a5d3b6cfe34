"""The search against what users reported in public, in our own words, and the rules that were at fault."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.engine.symptoms import search, words_of
from loralint.knowledge.data import part
from loralint.knowledge.rules import all_rules

TRACEBACK = """Traceback (most recent call last):
  File "/home/me/train.py", line 112, in <module>
    main()
  File "/opt/lib/python3.11/site-packages/transformers/training_args.py", line 1700, in __post_init__
    raise ValueError(
ValueError: --load_best_model_at_end requires the saving steps to be a round multiple of the evaluation steps, \
but found 50, which is not a round multiple of 20.
"""
# every one of these must lead to its rule within the first three
SURE = [
    (TRACEBACK, "LL431"),
    (
        "ValueError: Target modules {'q_proj', 'v_proj'} not found in the base model. Please check the target modules",
        "LL330",
    ),
    ("ValueError: Target modules qkv_proj not found in the base model.", "LL330"),
    ("ValueError: Some keys are not used by the HfArgumentParser: ['evaluation_strategy'].", "LL103"),
    ("ValueError: Some keys are not used by the HfArgumentParser: ['lora_rnak']", "LL101"),
    (
        "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0",
        "LL214",
    ),
    ("ValueError: Attempting to unscale FP16 gradients.", "LL220"),
    ("ValueError: Cannot initialize PiSSA adapter on quantized models.", "LL234"),
    ("ValueError: Cannot flatten integer dtype tensors, when FSDP wraps the model.", "LL243"),
    ("ValueError: Cannot specify val_size if eval_dataset is not None.", "LL436"),
    ("ValueError: evaluation strategy 'no', save strategy 'epoch' must match.", "LL434"),
    ("AssertionError from EarlyStoppingCallback (load_best_model_at_end was switched off).", "LL433"),
    ("TypeError: '<=' not supported between float and str in the optimizer.", "LL107"),
    ("TypeError: SFTConfig.__init__() got an unexpected keyword argument 'max_seq_length'.", "LL103"),
    ('Warning "quantization_bit will not affect on the PTQ-quantized models"; the option is ignored.', "LL237"),
    ("trainable params: 8030261248 || all params: 8030261248 || trainable%: 100.0", "LL301"),
    ("trainable params 100%", "LL301"),
    ("model outputs unchanged after training", "LL206"),
    ("learning rate is 0 in the logs", "LL403"),
    ("No error; tokens of packed samples attend to each other.", "LL451"),
    ("Long samples lose everything past 1024 tokens.", "LL456"),
    ("20 epochs requested, training stops after 10 steps", "LL445"),
    ("loss is 0 from the first step", "LL217"),
    ("loss is nan", "LL217"),
    ("loss is nan", "LL218"),
    ("the adapter does not learn", "LL402"),
    ("Prodigy does not learn", "LL404"),
    ("Zero images found and the run stops with a 'no data' message.", "LL713"),
    ("RuntimeError that NaN was detected in latents", "LL706"),
    ("nvidia-smi not found in the pod", "LL801"),
    ("Workers hang in init_process_group or crash-loop in a user namespace.", "LL827"),
    ("Job creation fails: limit must be set for non overcommitable resources.", "LL801"),
    ("DataLoader worker (pid 125) is killed by signal: Bus error.", "LL824"),
]
# what nothing in a config explains, or what no rule knows yet
UNKNOWN = [
    "hello",
    "",
    "how do I bake a cake",
    "No space left on device",
    "ConnectionError: couldn't reach huggingface.co",
    "permission denied",
]


@pytest.mark.parametrize(("text", "rule"), SURE, ids=[rule for _, rule in SURE])
def test_a_symptom_leads_to_its_rule(text, rule):
    assert rule in [one.id for one in search(text)[:3]]


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_nobody_knows_leads_nowhere(text):
    assert search(text) == []


@pytest.mark.parametrize("rule", all_rules(), ids=[rule.id for rule in all_rules()])
def test_every_symptom_that_a_rule_states_finds_it(rule):
    for symptom in part("rules_cold")[rule.id].get("symptoms", ()):
        assert rule in search(symptom), symptom


def test_at_most_five_are_told():
    assert len(search("loss learning rate adapter steps model fails to train nan zero")) <= 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("diverged", "diverges"),
        ("quantised", "quantized"),
        ("initialising", "initialization"),
        ("EarlyStopping", "early_stopping"),
        ("doesn't", "doesnt"),
        ("steps", "step"),
    ],
)
def test_two_spellings_of_one_word(one, other):
    assert words_of(one) == words_of(other)


def test_names_count_whole_and_by_their_parts():
    assert words_of("learning_rate") == {"learning_rat", "learn", "rat"}


def test_numbers_of_the_run_do_not_count():
    assert words_of("step 1234, loss 0, 4-bit, 100%") == {"step", "los", "0", "4", "bit", "100"} - {"los"} | {"loss"}


@given(st.text(max_size=300))
def test_any_text_can_be_asked(text):
    assert len(search(text)) <= 5


def test_a_huge_text_takes_no_time():
    started = time.perf_counter()
    search("ValueError: a_b" + "_a" * 1_000_000 + "\n" * 100_000)
    assert time.perf_counter() - started < 1
