"""The golden list against itself, and against the table of topics that it has to cover."""

from __future__ import annotations

from pathlib import Path

import pytest

from loralint.authoring.compile import read_parameters
from loralint.canonical.fields import FIELDS
from loralint.facts import FACTS

FILES = [file for _, file in read_parameters(Path(__file__).parents[2] / "golden" / "parameters")]
ENTRIES = {entry.id: (file.parameter, entry) for file in FILES for entry in file.entries}

# What the list must speak of, and the entries that do.
TOPICS = {
    "1 rate, supervised fine-tuning": ["lr-sft", "lr-sft-large", "lr-sft-wide", "step-first-sft", "step-product"],
    "2 rate against that of full fine-tuning": ["lr-inherited-sft", "lr-inherited-preference", "lr-inherited-rl"],
    "3 rate, preference tuning": ["lr-preference", "step-first-preference"],
    "4 rate, reinforcement learning": ["lr-rl", "step-first-rl"],
    "5 rate, diffusion": [
        "lr-diffusion", "lr-diffusion-sd15", "lr-diffusion-sdxl", "lr-diffusion-dit", "lr-diffusion-flux2",
        "lr-diffusion-video", "lr-inherited-diffusion", "step-first-diffusion", "step-first-unet",
    ],
    "6 rate, adaptive optimizers": ["lr-adaptive", "warmup-adaptive"],
    "7 rate, Lion": ["lr-lion", "weight-decay-lion"],
    "8 rate, Adafactor": ["lr-adafactor"],
    "9 rate, SGD": ["lr-sgd"],
    "10 8-bit optimizer state": ["state-bits"],
    "11 alpha and its ratio": ["alpha", "alpha-diffusion", "ratio", "ratio-diffusion"],
    "12 rank": ["rank", "rank-sft", "rank-preference", "rank-rl", "rank-diffusion", "rank-diffusion-unet"],
    "13 rsLoRA": ["rslora", "rslora-small", "alpha-eff-rslora"],
    "14 DoRA": ["dora"],
    "15 LoRA+": ["loraplus"],
    "16 PiSSA and relatives": ["lr-pissa", "init"],
    "17 initialisation": ["init", "alpha-eff-gaussian"],
    "18 dropout": ["dropout", "dropout-qlora", "dropout-qlora-large", "dropout-diffusion"],
    "19 bias": ["bias"],
    "20 target modules, language models": ["targets"],
    "21 target modules, diffusion": ["targets-diffusion"],
    "22 adapter stored in fp16": ["adapter-dtype", "adapter-dtype-adam-eps", "eps-fp16-adapter"],
    "23 adapter stored in bf16": ["frozen-share"],
    "24 bf16 against hardware": ["bf16-unsupported", "bf16-supported"],
    "25 fp16 compute": ["fp16", "fp16-beside-bf16", "fp16-unsafe-model", "compute-dtype", "compute-dtype-unsafe-model"],
    "26 QLoRA quantisation": ["quant-type", "quant-double", "compute-dtype", "compute-dtype-no-bf16"],
    "27 clipping": ["clip", "clip-qlora", "clip-diffusion"],
    "28 warm-up": ["warmup", "warmup-ratio"],
    "29 schedule": ["schedule", "schedule-preference", "schedule-diffusion"],
    "30 weight decay": ["weight-decay", "decay-total"],
    "31 betas and epsilon": ["beta1", "beta2", "eps", "eps-preference"],
    "32 effective batch": ["batch", "batch-sft", "batch-diffusion", "steps"],
    "33 epochs": ["epochs", "epochs-rl", "epochs-sft", "epochs-diffusion"],
    "34 text encoder": ["text-encoder", "text-encoder-adaptive"],
    "35 kohya's norm scaling and network dropout": ["clip-diffusion", "dropout-diffusion"],
    "36 row length and labels": ["sequence-len"],
    "37 removed and ignored arguments": ["warmup-ratio", "layers-pattern"],
}  # fmt: skip


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_its_entries(topic):
    assert [entry for entry in TOPICS[topic] if entry not in ENTRIES] == []


def test_there_are_37_topics_and_no_entry_outside_of_them():
    assert [int(topic.split()[0]) for topic in TOPICS] == list(range(1, 38))
    assert set(ENTRIES) - {entry for entries in TOPICS.values() for entry in entries} == {
        "alpha-eff",  # plain LoRA, beside rsLoRA and the gaussian start
        "step-first-sft-width-unknown",
    }


@pytest.mark.parametrize("entry_id", ENTRIES)
def test_numbers_agree_with_one_another(entry_id):
    _, entry = ENTRIES[entry_id]
    if entry.recommended is not None:
        assert entry.fine(entry.recommended)
    for bound in entry.bounds:
        if entry.range is None:
            assert bound.tier == "note" or not any(bound.breaks(word) for word in entry.set or ())
        elif "is" not in bound.sides():
            low, high = entry.range
            limit = next(iter(bound.sides().values()))
            assert limit <= low or limit >= high
            assert not bound.breaks((low + high) / 2)


@pytest.mark.parametrize("entry_id", ENTRIES)
def test_bounds_go_from_strong_to_weak(entry_id):
    """A value breaks several bounds of one side only in the order of their tiers, the strongest farthest out."""
    strength = {"note": 0, "B": 1, "A": 2, "S": 3}
    _, entry = ENTRIES[entry_id]
    for sides, sign in ((("above", "at_least"), 1), (("below", "at_most"), -1)):
        outer = [
            (sign * limit, strength[bound.tier])
            for bound in entry.bounds
            for side, limit in bound.sides().items()
            if side in sides
        ]
        assert [tier for _, tier in sorted(outer)] == sorted(tier for _, tier in outer)


@pytest.mark.parametrize("entry_id", ENTRIES)
def test_second_hand_values_never_gate(entry_id):
    _, entry = ENTRIES[entry_id]
    assert entry.evidence != "second-hand" or {bound.tier for bound in entry.bounds} <= {"note"}


def test_only_a_product_step_far_beyond_every_edge_blocks():
    """The rate, the first step and rounding ask for a second look; S is for the product step past 2.5."""
    judged = {"optim.lr", "lora.E", "lora.P", "rounding.frozen_share"}
    blocking = [
        (parameter, bound.sides())
        for parameter, entry in ENTRIES.values()
        for bound in entry.bounds
        if parameter in judged and bound.tier == "S"
    ]
    assert blocking == [("lora.P", {"above": 2.5})]


def test_matters_of_taste_are_notes_at_most():
    taste = {"lora.ratio", "adapter.targets", "schedule.name", "optim.state_bits", "adapter.dora", "adapter.rslora"}
    tiers = {bound.tier for parameter, entry in ENTRIES.values() if parameter in taste for bound in entry.bounds}
    assert tiers <= {"note"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parameter)
def test_parameters_are_values_that_a_run_has(file):
    assert file.parameter in FIELDS or file.parameter in FACTS


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parameter)
def test_an_entry_that_always_holds_comes_last(file):
    assert [entry.id for entry in file.entries[:-1] if entry.when is None] == []


# Shipped configs of good repute: none may meet more than a note.
SHIPPED = [
    ("QLoRA 7B", "lr-sft", 2e-4),
    ("QLoRA 65B", "lr-sft-large", 1e-4),
    ("torchtune", "lr-sft", 3e-4),
    ("torchtune Qwen2 0.5B", "lr-sft", 2e-3),
    ("LLaMA-Factory", "lr-sft", 1e-4),
    ("TRL's command line", "lr-sft", 2e-5),
    ("Tinker at its best rate", "lr-sft", 1e-3),
    ("alignment-handbook DPO", "lr-preference", 5e-6),
    ("ms-swift ORPO", "lr-preference", 1e-4),
    ("Tinker GRPO", "lr-rl", 4e-5),
    ("Prodigy in diffusers", "lr-adaptive", 1.0),
    ("CogVideoX Prodigy", "lr-adaptive", 0.5),
    ("LoRA paper GPT-2 M", "step-first-sft", 6.4e-3),
    ("torchtune Qwen2 0.5B", "step-first-sft", 0.128),
    ("torchtune Qwen2 0.5B", "step-first-sft-width-unknown", 0.128),
    ("axolotl's lowest", "step-first-sft", 9.6e-5),
    ("torchtune Qwen2 0.5B", "step-product", 0.23),
    ("Raschka r256 alpha 512", "step-product", 0.19),
    ("QLoRA", "ratio", 0.25),
    ("TRL RL r1 alpha 32", "ratio", 32),
    ("TRL SFT r256 alpha 16", "ratio", 0.0625),
    ("TRL RL", "rank-rl", 1),
    ("TRL SFT", "rank-sft", 256),
    ("torchtune at 2e-5, width 2048", "frozen-share", 0.45),
    ("LoRA+ README", "loraplus", 20),
    ("litgpt", "dropout", 0.1),
    ("torchtune warm-up", "warmup", 0.1),
]


@pytest.mark.parametrize(("config", "entry_id", "value"), SHIPPED)
def test_shipped_configs_meet_no_tier(config, entry_id, value):
    _, entry = ENTRIES[entry_id]
    assert [bound.then for bound in entry.bounds if bound.tier != "note" and bound.breaks(value)] == []


# Runs that were seen to fail: each must meet a tier.
FAILED = [
    ("35 models at 3e-3", "lr-sft", 3e-3),
    ("Llama 70B at 1e-3", "lr-sft-wide", 1e-3),
    ("Llama 70B at 1e-3", "step-product", 0.26),
    ("alpha 0", "alpha", 0),
    ("AdamW's rate with Prodigy", "lr-adaptive", 1e-4),
    ("GRPO's default with LoRA", "lr-inherited-rl", 1e-6),
    ("SFTConfig's default with LoRA", "lr-inherited-sft", 2e-5),
    ("fp16 adapter", "adapter-dtype", "fp16"),
    ("random B", "init", False),
    ("dropout of 1", "dropout", 1.0),
]


@pytest.mark.parametrize(("config", "entry_id", "value"), FAILED)
def test_runs_that_failed_meet_a_tier(config, entry_id, value):
    _, entry = ENTRIES[entry_id]
    assert [bound.then for bound in entry.bounds if bound.tier != "note" and bound.breaks(value)] != []
