"""Who counts where several sources set one thing."""

from __future__ import annotations

import pytest

from loralint.frameworks.companions.settle import settle
from loralint.frameworks.detect import NAMES
from loralint.frameworks.readers.trl import READER
from loralint.frameworks.table import Layer
from loralint.knowledge.data import part
from loralint.knowledge.precedence import ORDER, rank, relation, together
from loralint.model import Unknown, Value
from loralint.source.document import Document


def source(kind: str, **values: object) -> Layer:
    named = {field.replace("__", "."): given for field, given in values.items()}
    placed = {field: (Value(given, key=field, field=field),) for field, given in named.items()}
    return Layer(READER, Document(kind, "yaml", ""), placed, kind=kind)


def settled(framework: str, *layers: Layer, launcher: str = "") -> tuple[dict[str, dict[str, object]], list[str]]:
    kept, told = settle(layers, framework, (launcher,), lambda spec: spec == "trl>=0.19")
    values = {one.kind: {field: several[0].value for field, several in one.values.items()} for one in kept}
    return values, [f"{one.data['weaker']} {one.value.key} {one.effect}" for one in told]


def test_flags_before_the_config_is_ordinary() -> None:
    values, told = settled("trl", source("config", optim__lr=1e-4), source("flags", optim__lr=2e-4))
    assert list(values) == ["flags", "config"]
    assert values["config"] == {"optim.lr": 1e-4}  # shown as what was overridden
    assert told == []


def test_what_a_file_says_counts_before_what_its_name_seems_to_say() -> None:
    named, read = source("config", dist__zero_stage=3), source("deepspeed", dist__zero_stage=2)
    assert settled("axolotl", named, read) == ({"config": {}, "deepspeed": {"dist.zero_stage": 2}}, [])
    assert settled("axolotl", named)[0] == {"config": {"dist.zero_stage": 3}}


def test_switches_of_their_own_are_both_on_whoever_says_so() -> None:
    one, other = source("config", precision__bf16=True), source("flags", precision__fp16=True)
    spelt = {field: (several[0]._replace(key="mixed_precision"),) for field, several in other.values.items()}
    values, _ = settled("llamafactory", one, other._replace(values=spelt))
    assert values == {"flags": {"precision.fp16": True}, "config": {}}
    own = {field: (several[0]._replace(key=field[-4:]),) for field, several in other.values.items()}
    said = {field: (several[0]._replace(key=field[-4:]),) for field, several in one.values.items()}
    values, _ = settled("llamafactory", one._replace(values=said), other._replace(values=own))
    assert values == {"flags": {"precision.fp16": True}, "config": {"precision.bf16": True}}


@pytest.mark.parametrize("kind", ["env", "launcher", "accelerate"])
def test_kohya_takes_no_precision_from_its_launcher(kind: str) -> None:
    values, told = settled("sd-scripts", source("config", optim__lr=1e-4), source(kind, precision__bf16=True))
    assert values[kind] == {}
    assert told == [f"{kind} precision.bf16 lost"]


def test_kohya_with_another_precision_than_its_launcher() -> None:
    _, told = settled("sd-scripts", source("config", precision__fp16=True), source("launcher", precision__bf16=True))
    assert told == ["launcher precision.bf16 lost"]
    _, told = settled("sd-scripts", source("config", precision__bf16=True), source("launcher", precision__bf16=True))
    assert told == []


def test_the_trainer_takes_the_launchers_precision_where_it_has_none() -> None:
    both = source("config", precision__bf16=False, precision__fp16=False), source("accelerate", precision__bf16=True)
    values, told = settled("transformers", *both)
    assert values["accelerate"] == {"precision.bf16": True}
    assert told == []


def test_two_precisions_are_never_mixed() -> None:
    values, told = settled(
        "musubi-tuner", source("flags", precision__fp16=True), source("accelerate", precision__bf16=True)
    )
    assert values["accelerate"] == {}
    assert told == ["accelerate precision.bf16 lost"]


def test_a_precision_that_is_filled_in_later_may_be_the_same() -> None:
    unknown = Unknown("filled in")
    for field in ("precision__bf16", "precision__fp16"):
        _, told = settled("transformers", source("config", precision__bf16=unknown), source("env", **{field: True}))
        assert told == []
        _, told = settled("transformers", source("config", precision__bf16=True), source("env", **{field: unknown}))
        assert told == []


def test_trl_switches_bf16_on_by_itself() -> None:
    _, told = settled("trl", source("accelerate", precision__fp16=True))
    assert told == ["accelerate precision.fp16 lost"]
    _, told = settled("transformers", source("accelerate", precision__fp16=True))
    assert told == []


def test_the_package_whose_version_decides_is_named() -> None:
    _, told = settle((source("env", precision__fp16=True),), "trl", (), lambda _: True)
    assert [one.package for one in told] == ["trl"]


def test_the_datasets_file_counts_before_the_command_line() -> None:
    values, told = settled("sd-scripts", source("flags", batch__micro=4), source("dataset", batch__micro=1))
    assert values == {"flags": {}, "dataset": {"batch.micro": 1}}
    assert told == ["flags batch.micro lost"]
    values, told = settled("sd-scripts", source("flags", batch__micro=4), source("dataset"))
    assert values["flags"] == {"batch.micro": 4}
    assert told == []


def test_a_rows_launcher_and_versions_decide() -> None:
    pair = source("env", dist__visible_devices=4), source("launcher", dist__visible_devices=2)
    assert settled("trl", *pair, launcher="accelerate")[1] == ["env dist.visible_devices lost"]
    assert settled("trl", *pair, launcher="torchrun")[1] == []
    assert relation("default", "env", "precision.bf16", "trl", (), lambda _: False).how == "override"


@pytest.mark.parametrize("one", ORDER)
@pytest.mark.parametrize("other", ORDER)
def test_the_order_of_the_question_does_not_matter(one: str, other: str) -> None:
    for field in ("optim.lr", "precision.bf16", "batch.micro"):
        asked = relation(one, other, field, "sd-scripts", ("accelerate",), lambda _: True)
        assert asked == relation(other, one, field, "sd-scripts", ("accelerate",), lambda _: True) or one == other
        assert {asked.stronger, asked.weaker} == {one, other}
    assert rank(one) <= rank(other) or relation(one, other, "optim.lr", "trl", (), lambda _: True).stronger == other


@pytest.mark.parametrize(
    ("framework", "loser"), [("diffusers", "flags"), ("trl", "env"), ("torchtune", "env"), ("sd-scripts", "flags")]
)
def test_accelerates_own_count_of_passes(framework: str, loser: str) -> None:
    _, told = settled(framework, source("env", batch__accumulation=1), source("flags", batch__accumulation=8))
    assert told == [f"{loser} batch.accumulation lost"]


def test_fields_that_are_decided_together() -> None:
    assert together("precision.bf16") == together("precision.fp16") == ("precision.bf16", "precision.fp16")
    assert together("optim.lr") == ("optim.lr",)


def test_rows_name_frameworks_that_exist() -> None:
    rows = [row for several in part("precedence")["rows"].values() for row in several]
    assert {name for frameworks, *_ in rows for name in frameworks} <= set(NAMES)
