"""The tables of golden/, such as hardware, models and the probe's bands -> the parts that `knowledge` loads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

from loralint.authoring.knowledge_rows import (
    Family,
    GpuGroup,
    GpuRow,
    HardwareFile,
    ModelRow,
    ModelsFile,
    NamesFile,
    OptimizersFile,
    ProbeFile,
    Release,
    Strict,
    VersionsFile,
)
from loralint.authoring.load import load
from loralint.authoring.precedence import PrecedenceFile, precedence
from loralint.knowledge import hardware, models, versions

_File = TypeVar("_File", bound=Strict)


def read(golden_dir: Path, name: str, model: type[_File]) -> _File:
    """Read and check one authored file. Raises AuthoringError or pydantic.ValidationError."""
    return model.model_validate(load(golden_dir / f"{name}.yaml"))


def compile_knowledge(golden_dir: Path) -> dict[str, object]:
    """Give the JSON parts by file name. Raises ValueError where two rows claim one spelling."""
    return {
        "hardware.json": _hardware(read(golden_dir, "hardware", HardwareFile)),
        **_models(read(golden_dir, "models", ModelsFile), read(golden_dir, "model_names", NamesFile)),
        "versions.json": _versions(read(golden_dir, "versions", VersionsFile)),
        "optimizers.json": _optimizers(read(golden_dir, "optimizers", OptimizersFile)),
        "probe.json": read(golden_dir, "probe", ProbeFile).model_dump(),
        "precedence.json": precedence(read(golden_dir, "precedence", PrecedenceFile)),
    }


def _claim(table: dict[str, Any], spelling: str, value: object) -> None:
    if table.setdefault(spelling, value) != value:
        raise ValueError(f"{spelling!r} names two rows: {table[spelling]} and {value}")


def _hardware(file: HardwareFile) -> dict[str, object]:
    gpus: list[dict[str, object]] = []
    keys: dict[str, Any] = {}
    for group in file.groups:
        for row in group.gpus:
            index, spellings = len(gpus), [row.name, *row.aliases]
            gpus.append({"name": row.name, "vendor": group.vendor, **_known(memory=row.memory), **_flags(group, row)})
            for spelling in spellings:
                _claim(keys, hardware.key(spelling), [index, None])
            for size in row.memory:
                suffixed = (f"{spelling} {size:g}{unit}" for spelling in spellings for unit in ("GB", "GiB", "G"))
                for spelling in (*suffixed, *row.sized.get(size, ())):
                    _claim(keys, hardware.key(spelling), [index, size if len(row.memory) > 1 else None])
    return {"gpus": gpus, "keys": keys}


def _flags(group: GpuGroup, row: GpuRow) -> dict[str, object]:
    """Flags of one GPU. NVIDIA: bf16, TF32 and FlashAttention-2 came with Ampere (8.0), fp8 with Ada (8.9)."""
    if (capability := group.compute_capability) is not None:
        ampere = capability >= 8.0
        return {
            "compute_capability": capability,
            "bf16": ampere,
            "tf32": ampere,
            "flash_attention_2": ampere,
            "fp8": capability >= 8.9,
        }
    fp8 = group.fp8 if row.fp8 is None else row.fp8
    return _known(bf16=group.bf16, tf32=group.tf32, flash_attention_2=group.flash_attention_2, fp8=fp8)


def _known(**values: object) -> dict[str, object]:
    """Leave out what is not known, so that the parts stay small."""
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def _versions(file: VersionsFile) -> dict[str, object]:
    known = {name: package.known for name, package in file.packages.items()}
    known |= {name: [release.version for release in entry.releases] for name, entry in file.frameworks.items()}
    frameworks = {
        name: {
            "newest": entry.releases[0].version,
            "judged": entry.judged.version if entry.judged else entry.releases[0].version,
            "releases": {
                release.version: {
                    "assumed": {name: release.version, **_assumed(release, known, newest=index == 0)},
                    "requires": {package: spec for package, spec in release.requires.items() if spec},
                }
                for index, release in enumerate(entry.releases)
            },
        }
        for name, entry in file.frameworks.items()
    }
    return {"frameworks": frameworks, "packages": {name: package.known[0] for name, package in file.packages.items()}}


def _assumed(release: Release, known: dict[str, list[str]], *, newest: bool) -> dict[str, str]:
    """Resolve each requirement; what an old release leaves open above is left out, its time is not known."""
    found = {}
    for package, spec in release.requires.items():
        if spec.startswith("==") and "," not in spec and "*" not in spec:
            found[package] = spec.removeprefix("==")
        elif newest or "<" in spec:
            fitting = [version for version in known[package] if versions.satisfies(version, spec)]
            found |= {package: fitting[0]} if fitting else {}
    return found


def _optimizers(file: OptimizersFile) -> dict[str, object]:
    spellings: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {}
    for index, row in enumerate(file.optimizers):
        for spelling in row.names:
            _claim(spellings, spelling.lower(), index)
        for framework, names in row.own.items():
            for spelling in names:
                _claim(own.setdefault(framework, {}), spelling.lower(), index)
    for framework, accepted in file.accepted.items():
        if missing := [name for name in accepted.names if name not in spellings and name not in own.get(framework, {})]:
            raise ValueError(f"{framework} accepts optimizers that no row describes: {missing}")
    rows = [
        _known(**row.model_dump(exclude={"names", "own", "source"}, exclude_defaults=True)) for row in file.optimizers
    ]
    return {
        "accepted": {framework: accepted.names for framework, accepted in file.accepted.items()},
        "names": spellings,
        "optimizers": rows,
        "own": own,
    }


def _models(file: ModelsFile, named: NamesFile) -> dict[str, object]:
    ids: dict[str, tuple[int, set[str]]] = {}
    for index, row in enumerate(file.models):
        if row.family not in file.families:
            raise ValueError(f"{row.ids[0]}: family {row.family!r} is not described")
        for name in row.ids:
            other, listed = ids.setdefault(models.key(name), (index, set()))
            full = name.lower().rpartition("/")[2]
            if other != index and not any(one.endswith("/" + full) for one in listed):
                other, listed = ids.setdefault(full, (index, set()))  # converted to another architecture: glm-4-9b-hf
            if other != index:
                raise ValueError(f"{name!r} names two rows: {file.models[other].ids[0]} and {row.ids[0]}")
            listed.add(name.lower())
    shown = {key: [" ".join(sorted(listed)), *_model(file.models[index])] for key, (index, listed) in ids.items()}
    return {
        "models.json": shown,
        "models_families.json": {name: _family(family) for name, family in file.families.items()},
        "models_config.json": {row.ids[0]: row.config for row in file.models if row.config},
        "models_named.json": {"names": _names(named, file), "patterns": _patterns(file)},
    }


def _model(row: ModelRow) -> list[object]:
    known = {"id": row.ids[0], "family": row.family, "source": row.source, **row.facts.model_dump()}
    return [known[name] for name in models.ROW]


def _family(family: Family) -> list[object]:
    known = {**family.model_dump(), "fp16_source": family.source if family.fp16_unsafe else None}
    return [known[name] for name in models.FAMILY]


def _names(named: NamesFile, file: ModelsFile) -> dict[str, str]:
    """Family by name, without the suffixes of copies, except `-hf` where it makes another architecture."""
    names: dict[str, str] = {}
    for family, several in named.names.items():
        if family not in file.families:
            raise ValueError(f"{several[0]}: family {family!r} is not described")
        for name in several:
            _claim(names, name.lower() if name.lower().endswith("-hf") else models.key(name), family)
    return names


def _patterns(file: ModelsFile) -> list[list[str]]:
    """Family, literal prefix and pattern, in the order in which they are tried."""
    return [
        [name, _literal_prefix(pattern), pattern] for name, row in file.families.items() for pattern in row.patterns
    ]


def _literal_prefix(pattern: str) -> str:
    """Give the literal text that a pattern begins with, so that a name can be dismissed without compiling it."""
    prefix = re.match(r"(?:[a-z0-9_-](?![?*{])|\\\.)*", pattern)
    return prefix[0].replace("\\", "") if prefix else ""
