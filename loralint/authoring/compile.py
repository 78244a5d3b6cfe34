"""rules/ and golden/ -> the committed data of the package, split into what `check` reads and what only people read,
the generated pages of docs/ and the policy of the Helm chart.

Everything is deterministic: files in order of their names, keys sorted, no white space, one trailing newline.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from loralint.authoring.conditions import normal
from loralint.authoring.docs import documents
from loralint.authoring.hot import cold_rule, hot_rule, row, wording
from loralint.authoring.knowledge import compile_knowledge
from loralint.authoring.load import AuthoringError, load
from loralint.authoring.names import TOPICS
from loralint.authoring.parameter import Entry, ParameterFile
from loralint.authoring.policy import policy
from loralint.authoring.rule import RuleFile
from loralint.authoring.schema import schema
from loralint.render.rule_page import tiers_of

Model = TypeVar("Model", bound=BaseModel)


def compiled(root: Path) -> dict[str, str]:
    """Path below `root` -> text, of every file that is compiled from the authored data. Raises AuthoringError."""
    golden = root / "golden"
    rules = read_rules(root / "rules")
    parameters = [file for _, file in read_parameters(golden / "parameters")]
    _entries_exist(rules, parameters)
    data: dict[str, Any] = {
        "rules": [hot_rule(rule, path.parent.name) for path, rule in rules],
        "rules_cold": {rule.id: cold_rule(rule) for _, rule in rules},
        "golden": {file.parameter: [hot_entry(entry) for entry in file.entries] for file in parameters},
        "golden_cold": {file.parameter: cold_parameter(file) for file in parameters},
        **{f"keys-{path.stem}": load(path) for path in sorted((golden / "keys").glob("*.yaml"))},
    }
    for hot in data["rules"]:
        hot["gives"] = tiers_of(hot, data["golden"]).split()
    data |= {name.removesuffix(".json"): part for name, part in compile_knowledge(golden).items()}
    said = {hot["id"]: wording(hot) for hot in data["rules"]}
    stored = {**data, "rules": [row(hot) for hot in data["rules"]], "rules_wording": said}
    return {
        **{f"loralint/_data/{name}.json": compact(part) for name, part in stored.items()},
        "rules/_schema.json": indented(schema(RuleFile, "loralint rule")),
        "golden/_schema.json": indented(schema(ParameterFile, "loralint golden parameter")),
        **documents(data),
        **policy(data["rules"]),
    }


def read_rules(folder: Path) -> list[tuple[Path, RuleFile]]:
    """All rules with their files, in order of their ids."""
    rules = sorted(_models(folder, RuleFile), key=lambda pair: pair[1].id)
    for path, rule in rules:
        if path.name != f"{rule.id}-{rule.name}.yaml":
            raise AuthoringError(f"{path}: call the file {rule.id}-{rule.name}.yaml")
        if path.parent.name not in TOPICS:
            raise AuthoringError(f"{path}: a rule's folder is its topic, one of {', '.join(TOPICS)}")
    _unique(rules, lambda rule: rule.id)
    _unique(rules, lambda rule: rule.name)
    return rules


def read_parameters(folder: Path) -> list[tuple[Path, ParameterFile]]:
    """All golden parameters with their files."""
    files = _models(folder, ParameterFile)
    for path, file in files:
        if path.name != f"{file.parameter}.yaml":
            raise AuthoringError(f"{path}: call the file {file.parameter}.yaml")
    _unique(files, lambda file: file.parameter)
    _unique([(path, entry) for path, file in files for entry in file.entries], lambda entry: entry.id)
    return files


def hot_entry(entry: Entry) -> dict[str, Any]:
    """What a check reads of a golden entry; a bound is {side: value, tier, then}."""
    hot = entry.model_dump(include={"id", "name", "recommended", "range", "set", "tolerance", "evidence"})
    bounds = [{**bound.sides(), "tier": bound.tier, "then": bound.then} for bound in entry.bounds]
    return hot | {"when": entry.when and normal(entry.when), "bounds": bounds}


def cold_parameter(file: ParameterFile) -> dict[str, Any]:
    """What only people read of a golden parameter."""
    entries = {entry.id: entry.model_dump(include={"conditions", "sources", "when"}) for entry in file.entries}
    return file.model_dump(include={"title", "unit", "why"}) | {"entries": entries}


def compact(data: object) -> str:
    """The form of committed data: one line, sorted keys. NaN and infinity are refused."""
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def indented(data: object) -> str:
    """The form of a schema, which people may read."""
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _entries_exist(rules: list[tuple[Path, RuleFile]], parameters: list[ParameterFile]) -> None:
    """Rules that judge by the golden list name a parameter, and perhaps an entry, that it has."""
    known = {file.parameter: {entry.id for entry in file.entries} for file in parameters}
    for path, rule in rules:
        parameter, entry = rule.with_.get("parameter"), rule.with_.get("entry")
        if rule.uses == "golden" and (parameter not in known or (entry and entry not in known[parameter])):
            raise AuthoringError(f"{path}: the golden list has no {parameter}{f', {entry}' if entry else ''}")


def _models(folder: Path, model: type[Model]) -> list[tuple[Path, Model]]:
    return [(path, validated(path, model)) for path in sorted(folder.rglob("*.yaml"))]


def validated(path: Path, model: type[Model]) -> Model:
    """One authored file as its model. Raises AuthoringError that lists every fault with its place."""
    try:
        return model.model_validate(load(path))
    except ValidationError as error:
        faults = "".join(f"\n  {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise AuthoringError(f"{path}:{faults}") from error


def _unique(files: list[tuple[Path, Model]], key: Callable[[Model], str]) -> None:
    seen: dict[str, Path] = {}
    for path, model in files:
        if key(model) in seen:
            raise AuthoringError(f"{path}: {key(model)} is already used by {seen[key(model)]}")
        seen[key(model)] = path
