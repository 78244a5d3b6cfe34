"""The authored files: every row has a source, no spelling is claimed twice, and the compiled parts are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from loralint.authoring.compile import compact
from loralint.authoring.knowledge import compile_knowledge
from loralint.authoring.precedence import PrecedenceFile

GOLDEN = Path(__file__).parents[2] / "golden"
DATA = Path(__file__).parents[2] / "loralint" / "_data"
FILES = ("hardware", "models", "model_names", "versions", "optimizers", "precedence", "probe")
PARTS = {
    "hardware",
    "models",
    "models_config",
    "models_families",
    "models_named",
    "versions",
    "optimizers",
    "precedence",
    "probe",
}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Give a copy of the authored files to spoil."""
    for name in FILES:
        (tmp_path / f"{name}.yaml").write_text((GOLDEN / f"{name}.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_the_compiled_parts_are_fresh() -> None:
    parts = compile_knowledge(GOLDEN)
    assert set(parts) == {f"{name}.json" for name in PARTS}
    for name, value in parts.items():
        assert (DATA / name).read_text(encoding="utf-8") == compact(value), (
            f"{name} is stale: compile the authored data"
        )


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("optimizers", {"names": ["adamw_torch"]}, "names two rows"),
        ("optimizers", {"unknown_key": 1}, "Extra inputs"),
        ("optimizers", {"state_bits": "8"}, "Input should be"),
        ("models", {"ids": ["else/Llama-2-7b-hf"]}, "names two rows"),
        ("models", {"family": "nonesuch"}, "not described"),
        ("models", {"source": ""}, "at least 1 character"),
    ],
)
def test_a_wrong_row_is_refused(golden: Path, name: str, change: dict[str, object], message: str) -> None:
    file = golden / f"{name}.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    data[name][-1] |= change
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        compile_knowledge(golden)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "New", "memory": [16], "aliases": ["T4"]}, "names two rows"),
        ({"name": "New", "memory": [16], "sized": {24: ["New 24"]}}, "not in memory"),
        ({"name": "New", "memory": "16"}, "valid list"),
    ],
)
def test_a_wrong_gpu_is_refused(golden: Path, row: dict[str, object], message: str) -> None:
    file = golden / "hardware.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    data["groups"][-1]["gpus"].append(row)
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        compile_knowledge(golden)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"nonesuch": ["some-model"]}, "not described"),
        ({"llama": ["one-name"], "qwen2": ["One-Name-AWQ"]}, "names two rows"),
    ],
)
def test_a_wrong_name_is_refused(golden: Path, names: dict[str, list[str]], message: str) -> None:
    (golden / "model_names.yaml").write_text(yaml.safe_dump({"source": "x", "names": names}), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        compile_knowledge(golden)


def test_releases_stand_newest_first(golden: Path) -> None:
    file = golden / "versions.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    data["frameworks"]["trl"]["releases"].reverse()
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(ValueError, match="descending"):
        compile_knowledge(golden)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"field": ["optim.rate"]}, "no such fields"),
        ({"weaker": ["flags"]}, "stronger and weaker at once"),
        ({"is": "lost"}, "Input should be"),
        ({"stronger": ["yaml"]}, "Input should be"),
    ],
)
def test_a_wrong_row_of_precedence_is_refused(change: dict[str, object], message: str) -> None:
    row = {"field": ["optim.lr"], "stronger": ["flags"], "weaker": ["config"], "is": "ignored", "message": "m",
           "source": "s"}  # fmt: skip
    with pytest.raises(ValueError, match=message):
        PrecedenceFile.model_validate({"groups": {}, "together": [], "rows": [{**row, **change}]})
