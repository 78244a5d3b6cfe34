"""Public bug reports as small configs: the faulty one gets the right finding, its corrected twin does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from loralint.api import check

CASES = {path.name.split("-")[0]: path for path in (Path(__file__).parent / "cases").glob("*.yaml")}
# case -> rule, tier and key of the finding on the faulty config that the corrected one must not get
FOUND = {
    "D214": ("LL242", "A", "load_in_8bit"),
    "L002": ("LL330", "A", "lora_target"),
    "L010": ("LL324", "A", "lora_target"),
    "L020": ("LL464", "A", "warmup_steps"),
    "L024": ("LL231", "S", "load_in_8bit"),
    "L028": ("LL234", "S", "pissa_init"),
    "L050": ("LL421", "A", "warmup_steps"),
    "L051": ("LL422", "S", "warmup_steps"),
    "L057": ("LL501", "S", "use_unsloth"),
    "L059": ("LL451", "A", "sample_packing"),
    "L075": ("LL433", "S", "early_stopping_patience"),
    "L084": ("LL103", "S", "evaluation_strategy"),
    "L085": ("LL104", "A", "train_mm_proj_only"),
    "L098": ("LL237", "A", "quantization_bit"),
    "L107": ("LL436", "S", "val_size"),
}
# case -> why nothing is said of it; docs/ecosystem.md tells more
SILENT = {
    "L043": "LLaMA-Factory trains embedding and head by itself when it resizes the vocabulary",
    "L094": "the module names of Phi-3-small are not in the catalogue yet",
    "L099": "fp16 on Gemma 3 is told, but so is bf16 on the V100 of the corrected twin",
    "L118": "E and P lie within the bounds; only a probe run can tell",
    "L123": "no release of axolotl since 0.4 reads the switch",
}


def findings(case, side, folder):
    for item in case[side]:
        path = folder / side / item["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(item["text"])
    target = [case["target"]] if case.get("target") else []
    report = check(folder / side, gpu=case.get("gpu") or "", target=target)
    return [finding for run in report.runs for finding in run.findings]


def test_every_case_has_a_verdict():
    assert sorted(CASES) == sorted([*FOUND, *SILENT])


@pytest.mark.parametrize("name", sorted(FOUND))
def test_the_faulty_config_is_found_and_its_twin_is_not(name, tmp_path):
    case = yaml.safe_load(CASES[name].read_text())
    assert FOUND[name] in [(one.rule, one.tier, one.key) for one in findings(case, "input", tmp_path)]
    good = findings(case, "good", tmp_path)
    assert FOUND[name][0] not in [one.rule for one in good if one.key == FOUND[name][2]]
    assert not [one for one in good if one.tier == "S"]


@pytest.mark.parametrize("name", sorted(SILENT))
def test_what_is_not_told_is_not_told_falsely(name, tmp_path):
    case = yaml.safe_load(CASES[name].read_text())
    said = [one.rule for one in findings(case, "good", tmp_path) if one.tier == "S"]
    assert said == (["LL214"] if name == "L099" else [])
