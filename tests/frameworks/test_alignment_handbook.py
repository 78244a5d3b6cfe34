"""The Alignment Handbook: TRL's keys, with mixtures and a chat template of its own."""

from __future__ import annotations

from loralint.frameworks.readers.alignment_handbook import READER

MIXTURE = """model_name_or_path: some/model
chat_template: "{% for m in messages %}{{ m.content }}{% endfor %}"
dataset_mixture:
  datasets:
    - id: a/one
      config: default
      weight: 0.5
    - id: b/two
  test_split_size: 1000
use_peft: true
lora_r: 16
"""


def test_a_mixture_gives_its_datasets(reading) -> None:
    config = reading(READER, MIXTURE)
    found = config.get("data.datasets")
    assert found.value == ["a/one", "b/two"]
    assert [item.span.line for item in found.items] == [5, 8]
    assert config.get("data.val_size").value == 1000
    assert config.get("data.template").key == "chat_template"
    assert config.get("adapter.method").value == "lora"


def test_its_own_keys_are_known_and_trls_still_move(reading, observed) -> None:
    assert not observed(reading(READER, MIXTURE))
    text = MIXTURE + "torch_dtype: bfloat16\nwarmup_ratio: 0.1\n"
    found = observed(reading(READER, text))
    assert {key: (one.kind, one.replacement, one.package) for key, one in found.items()} == {
        "torch_dtype": ("renamed", "dtype", "trl"),
        "warmup_ratio": ("renamed", "warmup_steps", "transformers"),
    }
    assert not observed(reading(READER, text, pins={"trl": "0.19.1", "transformers": "4.53.3"}))


def test_a_slip_inside_a_mixture_is_seen(reading, observed) -> None:
    found = observed(reading(READER, MIXTURE.replace("config:", "colunms:")))
    assert {key: (one.kind, one.effect, one.replacement) for key, one in found.items()} == {
        "dataset_mixture.datasets[0].colunms": ("unknown", "lost", "columns")
    }


def test_the_old_form_is_read_and_told(reading, observed) -> None:
    text = "model_name_or_path: some/model\ndataset_mixer:\n  a/one: 1.0\n  b/two: 0.5\npreprocessing_num_workers: 4\n"
    config = reading(READER, text)
    assert config.get("data.datasets").value == ["a/one", "b/two"]
    found = observed(config)
    assert found["dataset_mixer"].effect == "crash"
    assert found["preprocessing_num_workers"].replacement == "dataset_num_proc"
