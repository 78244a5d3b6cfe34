"""deploy/chart/files/policy.yaml: the rules that the API server's own CEL can hold, for a cluster without the webhook.

A rule is held for a framework if every part of its condition is a line of a text (`policy_lines`), its only tier is S,
and the engine finds it in a text of just these lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

import yaml

from loralint.api import make_job, options, report
from loralint.authoring.policy_cel import SIGNATURES, YAML, expression, variables
from loralint.authoring.policy_lines import Held, held
from loralint.engine.lint import Job
from loralint.engine.settings import Settings
from loralint.frameworks.detect import reader
from loralint.frameworks.table import Entry
from loralint.run.project import Project
from loralint.source.read import read_text

PATH = "deploy/chart/files/policy.yaml"
NAME = "configs.loralint.dev"
_CONFIG_MAPS = {
    "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]
}  # fmt: skip
_HEAD = "# Written by `python -m loralint.authoring`; edits here are lost.\n"
# The values by which a text of a few lines becomes a run, for what a rule does not speak of.
_FILLED = {
    "axolotl": {"base_model": "m/m", "adapter": "lora", "lora_r": "8", "lora_alpha": "16", "learning_rate": "0.0002",
                "micro_batch_size": "1"},
    "llamafactory": {"model_name_or_path": "m/m", "stage": "sft", "finetuning_type": "lora", "do_train": "true",
                     "learning_rate": "0.0002"},
}  # fmt: skip


class Validation(NamedTuple):
    """One rule for one framework."""

    rule: str
    framework: str
    held: Held
    message: str


def policy(rules: list[dict[str, Any]]) -> dict[str, str]:
    """Path -> text of the policy. rules: as compiled."""
    found = list(validations(rules))
    held_ = [
        {"expression": expression(one.framework, one.held), "message": one.message, "reason": "Invalid"}
        for one in found
    ]
    spec = {
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": [_CONFIG_MAPS]},
        "matchConditions": [{"name": "yaml", "expression": f"has(object.data) && object.data.exists(key, {YAML})"}],
        "variables": list(variables()),
        "validations": held_,
    }  # fmt: skip
    whole = {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME}, "spec": spec,
    }  # fmt: skip
    return {PATH: _HEAD + _listed(found) + yaml.safe_dump(whole, sort_keys=False, width=10_000)}


def validations(rules: list[dict[str, Any]]) -> Iterator[Validation]:
    """All rules that can be held, by framework."""
    for framework in SIGNATURES:
        rows = _rows(framework)
        for rule in rules:
            if framework not in (rule["frameworks"] or [framework]) or rule["preview"] or rule["versions"]:
                continue
            conditions = _conditions(rule)
            lines = held(conditions, rows) if conditions else None
            if lines and lines.lines and _is_found(rule["id"], framework, lines):
                yield Validation(rule["id"], framework, lines, _message(rule, lines))


def _conditions(rule: Mapping[str, Any]) -> list[list[Any]]:
    """The rule as one conjunction of comparisons; empty where it is anything else."""
    if rule["each"] or [tier for _, tier in rule["tiers"]] != ["S"] or rule["tiers"][0][0]:
        return []
    when = rule["when"]
    parts = [] if when is None else when[1:] if when[0] == "all" else [when]
    if any(part[0] in ("all", "any", "not") for part in parts):
        return []
    wrong = _wrong(rule["uses"], rule["with"])
    return [*parts, *wrong] if wrong is not None else []


def _wrong(uses: str, given: Mapping[str, Any]) -> list[list[Any]] | None:
    """What the check itself finds wrong; of a range one side, the lower."""
    if uses == "condition":
        return []
    if uses == "one_of" and not given.get("ignore_case"):
        return [["not_in", given["field"], given["values"]]]
    if uses == "range":
        sides = {"min": "lt", "above": "le"}
        return next(([[sides[side], given["field"], given[side]]] for side in sides if side in given), None)
    return None


def _rows(framework: str) -> dict[str, list[Entry]]:
    """The rows of a reader by field, in their order."""
    table = sorted(reader(framework).table, key=lambda row: row.field)
    return {field: list(rows) for field, rows in groupby(table, key=lambda row: row.field)}


def _message(rule: Mapping[str, Any], lines: Held) -> str:
    """What comes of it, where, and where to read more; the value is left out, since it may be anything."""
    start = rule["message"].partition(": ")[0]
    said = start if "{" not in start else rule["name"].replace("-", " ")
    return (
        f"{said}: see {' and '.join(line.key for line in lines.lines)} ({rule['id']}; `loralint explain {rule['id']}`)"
    )


def _is_found(rule: str, framework: str, lines: Held) -> bool:
    """Whether the engine finds the rule, as one that blocks, in a text of these lines."""
    return rule in blocking(witness(framework, lines))


def blocking(text: str) -> frozenset[str]:
    """The rules that block a text, as a key of a ConfigMap."""
    looked = report([read_text(text, "config.yaml")], _job(), project=Project())
    return frozenset(one.rule for run in looked.runs for one in run.findings if one.tier == "S" and not one.suppressed)


@cache
def _job() -> Job:
    settings = Settings()
    return make_job(settings, options(settings=settings), fixes=False)


def witness(framework: str, lines: Held) -> str:
    """A text in which the rule holds."""
    written = {**_FILLED[framework], **{line.key: line.witness for line in lines.lines}}
    return "".join(f"{key}: {value}\n" for key, value in written.items())


def _listed(found: list[Validation]) -> str:
    """Which rules are held, as a comment."""
    lines = []
    for framework, ones in groupby(found, key=lambda one: one.framework):
        lines.append(f"# {framework}: {', '.join(one.rule for one in ones)}\n")
    return "".join(lines)
