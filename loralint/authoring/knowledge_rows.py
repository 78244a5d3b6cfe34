"""Models of golden/hardware.yaml, models.yaml, versions.yaml, optimizers.yaml and probe.yaml: no unknown key."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from loralint.knowledge import versions

Text = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]


class Strict(BaseModel):
    """Base of the authored rows: no unknown key, no coercion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GpuRow(Strict):
    """One GPU; `memory` lists the sizes in GiB that the name is sold with, `sized` spellings that fix one of them."""

    name: Text
    memory: list[int | float] = []
    aliases: list[Text] = []
    sized: dict[int | float, list[Text]] = {}
    fp8: bool | None = None

    @model_validator(mode="after")
    def _sizes_are_options(self) -> Self:
        if not set(self.sized) <= set(self.memory):
            raise ValueError(f"{self.name}: sized names a size that is not in memory")
        return self


class GpuGroup(Strict):
    """GPUs of one architecture. For NVIDIA the flags follow from the compute capability and are not written."""

    architecture: Text
    vendor: Literal["nvidia", "amd", "intel", "apple", "google", "aws", "huawei"]
    compute_capability: Positive | None = None
    bf16: bool | None = None
    tf32: bool | None = None
    flash_attention_2: bool | None = None
    fp8: bool | None = None
    source: Text
    gpus: list[GpuRow]

    @model_validator(mode="after")
    def _flags_follow(self) -> Self:
        flags = (self.bf16, self.tf32, self.flash_attention_2, self.fp8)
        if (self.vendor == "nvidia") != (self.compute_capability is not None):
            raise ValueError(f"{self.architecture}: a compute capability belongs to NVIDIA's GPUs and to each of them")
        if self.vendor == "nvidia" and any(flag is not None for flag in flags):
            raise ValueError(f"{self.architecture}: flags of NVIDIA's GPUs follow from the compute capability")
        return self


class HardwareFile(Strict):
    """golden/hardware.yaml."""

    groups: list[GpuGroup]


class Release(Strict):
    """One release; an empty specifier means that any version is accepted."""

    version: Text
    requires: dict[str, str] = {}
    source: Text


class Judged(Strict):
    """The release that a run without a pin is judged by, where that is not the newest, and why."""

    version: Text
    why: Text


class Framework(Strict):
    """A framework's releases, newest first."""

    releases: Annotated[list[Release], Field(min_length=1)]
    judged: Judged | None = None

    @model_validator(mode="after")
    def _newest_first(self) -> Self:
        order = [versions.parse(release.version) for release in self.releases]
        if order != sorted(set(order), reverse=True):
            raise ValueError(f"releases are not in descending order: {[release.version for release in self.releases]}")
        if self.judged is not None and self.judged.version not in [release.version for release in self.releases]:
            raise ValueError(f"{self.judged.version} is none of the releases")
        return self


class Package(Strict):
    """A package that is no framework, with its known releases, newest first."""

    known: Annotated[list[Text], Field(min_length=1)]
    source: Text


class VersionsFile(Strict):
    """golden/versions.yaml."""

    packages: dict[str, Package]
    frameworks: dict[str, Framework]


FAMILIES = Literal[
    "adamw", "adam", "sgd", "lion", "adafactor", "prodigy", "dadapt", "muon", "adagrad", "rmsprop", "lomo",
    "schedulefree", "galore", "apollo", "other",
]  # fmt: skip


class OptimizerRow(Strict):
    """One optimizer and its spellings; `own` are spellings that mean it in one framework only."""

    name: Text
    family: FAMILIES
    states: Annotated[int, Field(ge=0)] | None = None
    state_bits: Literal[4, 8, 16, 32] | None = None
    paged: bool = False
    fused: bool = False
    rounding: Literal["kahan", "stochastic"] | None = None
    bnb: bool = False
    unit_lr: bool = False
    names: list[Text] = []
    own: dict[str, list[Text]] = {}
    source: Text


class Accepted(Strict):
    """The closed set of spellings that a framework's newest known release accepts."""

    names: list[Text]
    source: Text


class OptimizersFile(Strict):
    """golden/optimizers.yaml."""

    optimizers: list[OptimizerRow]
    accepted: dict[str, Accepted]


class Family(Strict):
    """A model family: how unlisted ids of it begin, and what holds for all its members."""

    patterns: list[Text] = []
    modules: list[Text] = []
    blocks: list[Text] = []
    vision: bool = False
    moe: bool = False
    fp16_unsafe: bool = False
    source: Text


class ModelNumbers(Strict):
    """`params` in billions, `context` in tokens; `head_dim` where it is not hidden_size / num_heads."""

    params: Positive | None = None
    hidden_size: Count | None = None
    num_layers: Count | None = None
    intermediate_size: Count | None = None
    num_heads: Count | None = None
    num_kv_heads: Count | None = None
    head_dim: Count | None = None
    vocab_size: Count | None = None
    context: Count | None = None
    dtype: Literal["bf16", "fp16", "fp32"] | None = None
    tied: bool | None = None
    quantized: Literal["fp8", "mxfp4"] | None = None


class ModelRow(Strict):
    """Checkpoints of one shape. `config`: what else of config.json its layers follow from, by dotted name."""

    ids: Annotated[list[Text], Field(min_length=1)]
    family: Text
    facts: ModelNumbers
    config: dict[Text, bool | int | float | str | list[int] | None] = {}
    source: Text


class ModelsFile(Strict):
    """golden/models.yaml."""

    families: dict[str, Family]
    models: list[ModelRow]


class NamesFile(Strict):
    """golden/model_names.yaml: whole names by family, for models without sizes and for folders that are called so."""

    source: Text
    names: dict[str, list[Text]]


class ProbeBand(Strict):
    """Bounds on a run's peak rate over the rate at which its ramp broke."""

    stable: Positive
    edge: Positive
    unstable: Positive
    learns: Positive
    learns_of: dict[str, Positive] = {}
    may_stall: float = 0.0
    doubt: str = ""
    source: Text

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.stable < self.edge < self.unstable:
            raise ValueError("stable, edge and unstable rise")
        return self


class ProbeFile(Strict):
    """golden/probe.yaml: bands by kind of base model and optimizer, and whose bands an optimizer borrows."""

    bands: dict[Literal["embedded", "own", "cut"], dict[str, ProbeBand]]
    borrowed: dict[str, str] = {}
