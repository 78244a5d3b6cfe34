"""KAITO's tuning: the text `training_config.yaml` of a ConfigMap, whose sections are dataclasses of the libraries.

Its script hands them to `from_pretrained`, BitsAndBytesConfig, LoraConfig and TRL's SFTTrainer with Transformers' own
TrainingArguments. HfArgumentParser reads each section as flags, so texts become what a field wants.
Source: kaito-project/kaito@b0be50f presets/workspace/tuning/text-generation/{fine_tuning,parser,cli}.py.
"""

from __future__ import annotations

from loralint.frameworks.python.tables import Shape, table
from loralint.frameworks.table import Entry, Reader

_SECTIONS = {"from_pretrained": "ModelConfig", "BitsAndBytesConfig": "QuantizationConfig"}
_SHAPE = Shape(
    framework="transformers",
    arguments="TrainingArguments",
    adapter="LoraConfig",
    quantiser="BitsAndBytesConfig",
    load="auto",
    task="sft",
)


def _named(row: Entry) -> Entry:
    """The row under the name that KAITO gives the section."""
    section, dot, rest = row.key.partition(".")
    return row._replace(key=f"{_SECTIONS.get(section, section)}{dot}{rest}")


READER = Reader(
    name="transformers",
    title="KAITO",
    dialect="pyyaml",
    table=tuple(_named(row) for row in table(_SHAPE)),
    keys="",
    coerces=True,
    packages=("transformers", "peft"),
    section="training_config",
    kin=("peft",),
)
