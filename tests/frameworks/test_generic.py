"""Home-made configs: leaves by name in any nesting, no defaults, unknown where two disagree, never an S."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import loralint
from loralint.frameworks.leaves import homemade, leaves
from loralint.frameworks.readers.generic import READER
from loralint.model import Unknown
from loralint.source.read import read_bytes

FILE = """\
model:
  base_model: org/m
  quantization: {load_in_4bit: true, bnb_4bit_quant_type: nf4, bnb_4bit_compute_dtype: bfloat16}
lora:
  r: 16
  alpha: 32
  dropout: 0.05
  target_modules: [q_proj, v_proj]
training:
  learning_rate: 2e-4
  per_device_train_batch_size: 4
  gradient_accumulation_steps: 8
  num_train_epochs: 3
  bf16: "true"
plot: {alpha: 0.5, r: 3}
"""


def test_reads_leaves_in_any_nesting(reading, observed):
    config = reading(READER, FILE)
    expected = {
        "model.base": "org/m",
        "adapter.method": "lora",
        "adapter.rank": 16,
        "adapter.alpha": 32,
        "adapter.dropout": 0.05,
        "adapter.targets": ["q_proj", "v_proj"],
        "quant.bits": 4,
        "quant.method": "bnb",
        "quant.type": "nf4",
        "quant.compute_dtype": "bf16",
        "optim.lr": 2e-4,
        "batch.micro": 4,
        "batch.accumulation": 8,
        "train.epochs": 3,
        "precision.bf16": True,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("optim.lr").key == "training.learning_rate"
    assert config.get("optim.lr").pointer == "/training/learning_rate"
    assert observed(config) == {}


def test_nothing_absent_has_a_default(reading):
    config = reading(READER, FILE)
    for field in ("optim.weight_decay", "schedule.name", "train.seed", "adapter.bias", "model.dtype"):
        assert config.get(field).origin == "absent", field


@pytest.mark.parametrize(
    "text", ["model: {name: org/m}\n", "model:\n  id: org/m\n", "base_model: {name_or_path: org/m}\n"]
)
def test_the_name_of_a_model_is_its_base(reading, text):
    config = reading(
        READER, f"experiment: {{name: org/run}}\ndata: {{name: org/rows}}\n{text}lora: {{r: 8}}\nlr: 1e-4\n"
    )
    assert config.get("model.base").value == "org/m"


def test_a_model_called_by_a_word_is_none(reading):
    assert reading(READER, "model: {name: baseline}\nlora: {r: 8}\nlr: 1e-4\n").get("model.base").origin == "absent"


def test_two_that_disagree_are_unknown(reading):
    text = "a: {learning_rate: 1e-4}\nb: {lr: 2e-4, seed: 1}\nc: {seed: 1}\nlora: {r: 8}\n"
    config = reading(READER, text)
    assert config.get("optim.lr").value == Unknown("`a.learning_rate` and `b.lr` say different things")
    assert config.get("train.seed").value == 1


def test_rank_0_means_no_adapter(reading):
    config = reading(READER, "m: {lora_rank: 0, lora_alpha: 16}\nlr: 1e-5\n")
    assert config.get("adapter.method").value == "full"
    assert config.get("adapter.alpha").origin == "absent"


def test_changes_a_setting_where_it_stands_and_adds_none(reading):
    config = reading(READER, FILE)
    assert config.write("adapter.rank", 8) == ("lora.r", 8)
    assert config.write("optim.lr", 1e-4) == ("training.learning_rate", 1e-4)
    assert config.write("optim.weight_decay", 0.1) is None
    assert config.write("quant.bits", 8) is None


def test_never_says_s(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("lora: {r: -8, lora_alpha: 16, dropout: 1.5}\ntraining: {learning_rate: -1, epochs: 3}\n")
    report = loralint.check([str(file)])
    findings = [finding for run in report.runs for finding in run.findings]
    assert {run.framework for run in report.runs} == {"generic"}
    assert {finding.rule for finding in findings} >= {"LL304", "LL343", "LL403"}
    assert {finding.tier for finding in findings} == {"A"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lora: {r: 8, x: {alpha: 1}}\n", ["lora_rank", "lora_alpha"]),
        ("r: 8\nlora_alpha: 16\n", ["lora_rank", "lora_alpha"]),
        ("r: 8\nalpha: 16\n", []),
        ("peft_kwargs: {rank: 8}\nother: {rank: 9}\n", ["lora_rank"]),
    ],
)
def test_short_names_count_beside_long_ones(text, names):
    root = read_bytes(text.encode(), "c.yaml").root
    assert root is not None
    assert [leaf.name for leaf in leaves(root) if leaf.name.startswith("lora_")] == names


_KEYS = st.sampled_from(
    ["name", "image", "lr", "epochs", "env", "alpha", "rank", "r", "dropout", "steps", "lora", "port"]
)
_TREES = st.recursive(
    st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(_KEYS, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_KEYS, _TREES, max_size=4))
def test_a_home_made_run_has_both_kinds_of_keys(tree):
    document = read_bytes(json.dumps(tree).encode(), "c.json")
    found = homemade(document)
    if found:
        adapter, training = found
        assert "lora" in adapter
        assert training.rpartition(".")[2] in {"lr", "epochs"}


LISTED = """\
image: org/train
command: [accelerate, launch, run_lora.py, --lora_rank, "8", --lora-alpha=16, "--num_train_epochs=3", --bf16,
          --lora_target_modules, q_proj, v_proj, --learning_rate, *rate]
env:
  - {name: LORA_DROPOUT, value: "1.5"}
  - {key: Lora_Modules_To_Save, value: "lm_head, embed_tokens"}
  - {name: HOME, valueFrom: {secretKeyRef: {name: a}}}
"""


def test_reads_flags_and_variables_of_a_list(reading):
    config = reading(READER, "rate: &rate 2e-4\n" + LISTED)
    expected = {
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 16,
        "adapter.dropout": 1.5,
        "adapter.targets": ["q_proj", "v_proj"],
        "adapter.modules_to_save": ["lm_head", "embed_tokens"],
        "optim.lr": 2e-4,
        "train.epochs": 3,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("precision.bf16").origin == "absent"  # a bare switch is no value
    rank, alpha, dropout = (config.get(f"adapter.{name}") for name in ("rank", "alpha", "dropout"))
    assert (rank.pointer, alpha.pointer, dropout.pointer) == ("/command/4", "/command/5", "/env/0/value")


def test_a_value_behind_an_equals_sign_has_its_own_place(reading, tmp_path):
    config = reading(READER, "rate: &rate 2e-4\n" + LISTED)
    text = (tmp_path / "train.yaml").read_text()
    spans = [config.get(field).span for field in ("adapter.alpha", "train.epochs")]
    assert [text[span.start : span.end] for span in spans] == ["16", "3"]
    assert [(span.line, text.splitlines()[span.line - 1][span.column - 1]) for span in spans] == [(3, "1"), (3, "3")]


def test_nothing_is_written_into_a_list(tmp_path):
    file = tmp_path / "job.yaml"
    file.write_text("command: [x.py, --lora_r=8, --lora_alpha=16, --lora_dropout=1.5, --num_epochs=3]\n")
    (run,) = loralint.check([str(file)]).runs
    (found,) = [finding for finding in run.findings if finding.rule == "LL343"]
    assert found.fix is None


@pytest.mark.parametrize(
    "text",
    [
        "args: [--enable-lora, --lora-modules, a=b, --max-lora-rank=16]\n",  # a server
        "env: [{name: LORA_R, value: '8'}]\n",
        "run: [lora_rank, 8, learning_rate, 2]\n",
        "env: [{name: LORA_R}, {value: 3}, {name: EPOCHS, value: {a: 1}}]\n",
    ],
)
def test_a_list_that_trains_nothing_is_no_run(text):
    assert homemade(read_bytes(text.encode(), "x.yaml")) == ()


def test_a_model_name_is_a_base_model_where_it_is_a_hub_id(reading):
    text = "lora_r: 8\nlora_alpha: 16\nlearning_rate: 2.0e-4\n"
    assert reading(READER, text + "model_name: mistralai/Mistral-7B-v0.1\n").get("model.base").known
    config = reading(READER, text + "model_name: my-run\nbase_model: mistralai/Mistral-7B-v0.1\n")
    assert config.get("model.base").value == "mistralai/Mistral-7B-v0.1"


_WORDS = st.lists(st.text(st.sampled_from("-=ab lor_8\n\"'\\: {}"), max_size=12), max_size=8)


@given(_WORDS, st.sampled_from(["  - {}\n", "  - |\n    --{}\n", "  - >-\n    --a={}\n"]))
def test_any_list_of_words_has_its_values_inside_the_file(words, form):
    text = "lora: 1\nrun:\n" + "".join(form.format(json.dumps(word)) for word in words)
    document = read_bytes(text.encode(), "x.yaml")
    assert document.root is not None
    for leaf in leaves(document.root):
        span = document.span(leaf.pair.value)
        assert 0 <= span.start <= span.end <= len(text)
        assert (span.line, span.column) == document.lines.place(span.start)
