"""What is made of files in memory, and what is refused."""

from __future__ import annotations

import json

import pytest

import loralint
from loralint.api import around, make_job, options
from loralint.engine.lint import Job
from loralint.engine.mend import mend
from loralint.engine.settings import Settings
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.read import read_file

from .rules import own_rule

AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\n"
)


@pytest.fixture
def mended(tmp_path, monkeypatch):
    """mended({"a.yaml": text}, rules...) -> what becomes of the files; without rules those that ship."""
    monkeypatch.chdir(tmp_path)

    def run(files, *rules, unsafe=False, start=None, **given):
        for name, text in files.items():
            (tmp_path / name).write_text(text, newline="")
        names = start or sorted(files)
        settings = Settings(root=str(tmp_path))
        job = make_job(settings, options(settings=settings, **given))
        if rules:
            job = Job(rules, Options("", None, {}, ""), settings, "2026-01-15")
        documents = [read_file(name, name) for name in names]
        return mend(documents, job, lambda: around(names), unsafe=unsafe)

    return run


def told(found):
    return [(one.finding.rule, one.finding.key, one.reason) for one in found.refused]


def test_safe_fixes_only_unless_asked(mended):
    text = AXOLOTL + "lora_dropout: -0.1\nlr_schedular: cosine\n"
    found = mended({"a.yaml": text})
    assert found.texts == {"a.yaml": text.replace("-0.1", "0")}
    assert [(one.rule, one.key, one.line, one.before, one.after) for one in found.changes] == [
        ("LL353", "lora_dropout", 8, "lora_dropout: -0.1", "lora_dropout: 0")
    ]
    assert found.unsafe == 1
    all_of_it = mended({"a.yaml": text}, unsafe=True)
    assert all_of_it.texts == {"a.yaml": text.replace("-0.1", "0").replace("schedular", "scheduler")}
    assert all_of_it.unsafe == 0


def test_a_misspelt_key_is_renamed_before_a_missing_one_is_added(mended):
    text = AXOLOTL.replace("lora_alpha: 16", "lora_aplha: 32")
    assert mended({"a.yaml": text}, unsafe=True).texts == {"a.yaml": text.replace("aplha", "alpha")}


def test_a_key_that_is_written_three_times_takes_two_passes(mended):
    text = AXOLOTL + "warmup_steps: 1\nwarmup_steps: 2\nwarmup_steps: 3\n"
    found = mended({"a.yaml": text})
    assert found.texts == {"a.yaml": AXOLOTL + "warmup_steps: 3\n"}
    assert len(found.changes) == 2


def test_a_fix_that_brings_a_grave_finding_is_refused(mended):
    bad = own_rule("adapter.dropout", {"set": {"adapter.dropout": 0.5}}, {"adapter.dropout": {"ne": 0.5}})
    grave = own_rule("adapter.dropout", {}, {"adapter.dropout": 0.5})._replace(id="LL991", tiers=[(None, "A")])
    found = mended({"a.yaml": AXOLOTL + "lora_dropout: 0.1\n"}, bad, grave)
    assert found.texts == {}
    assert told(found) == [("LL990", "lora_dropout", "it would bring a finding of tier A: LL991 at adapter.dropout")]


def test_a_grave_finding_that_was_there_before_is_no_reason(mended):
    fix = own_rule("adapter.dropout", {"set": {"adapter.dropout": 0.5}}, {"adapter.dropout": {"ne": 0.5}})
    grave = own_rule("adapter.rank", {}, {"adapter.rank": 16})._replace(id="LL991", tiers=[(None, "S")])
    assert mended({"a.yaml": AXOLOTL + "lora_dropout: 0.1\n"}, fix, grave).texts != {}


def test_a_fix_that_leaves_its_finding_is_refused(mended):
    rule = own_rule("adapter.rank", {"set": {"adapter.alpha": 8}}, {"adapter.rank": {"gt": 0}})
    found = mended({"a.yaml": AXOLOTL}, rule)
    assert found.texts == {}
    assert told(found) == [("LL990", "lora_r", "LL990 would still be found")]


def test_two_fixes_that_undo_one_another_end(mended):
    up = own_rule("adapter.rank", {"set": {"adapter.rank": 64}}, {"adapter.rank": 16})
    down = own_rule("adapter.rank", {"set": {"adapter.rank": 16}}, {"adapter.rank": 64})._replace(id="LL991")
    found = mended({"a.yaml": AXOLOTL}, up, down)
    assert [reason for _, _, reason in told(found)] == ["it would undo another fix"]


def test_of_a_key_that_is_written_twice_the_one_that_counts_is_set(mended):
    rule = own_rule("adapter.rank", {"set": {"adapter.rank": 8}}, {"adapter.rank": {"ne": 8}})
    text = AXOLOTL + "lora_r: 64\n"
    assert mended({"a.yaml": text}, rule).texts == {"a.yaml": text.replace("64", "8")}


def test_one_companion_of_two_runs_must_suit_both(mended):
    """What is right for the first run would be a grave fault of the second."""
    config = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: lora\ndeepspeed: ds.json\n"
    files = {
        "a.yaml": config + "learning_rate: 0.0001\n",
        "b.yaml": config + "learning_rate: 0.0002\n",
        "ds.json": '{"zero_optimization": {"stage": 2}}\n',
    }
    up = own_rule("dist.zero_stage", {"set": {"dist.zero_stage": 3}}, {"dist.zero_stage": 2, "optim.lr": 0.0001})
    grave = own_rule("dist.zero_stage", {}, {"dist.zero_stage": 3, "optim.lr": 0.0002})
    grave = grave._replace(id="LL991", tiers=[(None, "S")])
    assert mended(files, up).texts == {"ds.json": files["ds.json"].replace("2", "3")}
    found = mended(files, up, grave)
    assert found.texts == {}
    assert told(found) == [
        ("LL990", "zero_optimization.stage", "it would bring a finding of tier S: LL991 at dist.zero_stage")
    ]


def test_what_a_comment_or_the_settings_lift_is_left(mended):
    assert mended({"a.yaml": AXOLOTL + "lora_dropout: -0.1  # loralint: ignore[LL353] as it is\n"}).texts == {}


def test_a_file_that_does_not_parse_is_left(mended):
    found = mended({"a.yaml": AXOLOTL + "lora_dropout: -0.1\n---\na: [\n"}, unsafe=True)
    assert found.texts == {}
    assert {reason for _, _, reason in told(found)} <= {"the file has a fault that has to be mended first"}


@pytest.mark.parametrize("name", ["adapter_config.json", "config.toml", "train.py", "run.sh", "job.yaml"])
def test_every_format(mended, name):
    inner = "".join(f"    {line}\n" for line in (AXOLOTL + "lora_dropout: -0.1\n").splitlines())
    texts = {
        "adapter_config.json": '{"peft_type": "LORA", "r": 8, "lora_alpha": 16, "lora_dropout": -0.1}',
        "config.toml": 'network_module = "networks.lora"\npretrained_model_name_or_path = "x"\n'
        "network_dim = 8\nnetwork_alpha = -8\n",
        "train.py": "from peft import LoraConfig, get_peft_model\n"
        'c = LoraConfig(r=8, lora_alpha=-16, target_modules=["q_proj"])\n'
        "m = get_peft_model(m, c)\n",
        "run.sh": "#!/bin/sh\nllamafactory-cli train --stage sft --model_name_or_path Qwen/Qwen2.5-7B "
        "--finetuning_type lora --lora_dropout -0.1\n",
        "job.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a.yaml: |\n{inner}",
    }
    text = texts[name]
    found = mended({name: text})
    assert found.refused == ()
    assert found.texts == {name: text.replace("-0.1", "0").replace("-16", "16").replace("-8", "8")}


def test_a_notebook(mended):
    source = [
        "from peft import LoraConfig, get_peft_model\n",
        'c = LoraConfig(r=8, bias="none", lora_alpha=-16)\n',
        "get_peft_model(m, c)",
    ]
    text = json.dumps({"cells": [{"cell_type": "code", "source": source}], "nbformat": 4}, indent=1)
    found = mended({"a.ipynb": text})
    assert found.texts == {"a.ipynb": text.replace("-16", "16")}
    assert [(one.cell, one.line) for one in found.changes] == [(1, 2)]


def test_a_baseline_is_not_used_up_by_looking(tmp_path, monkeypatch):
    from collections import Counter

    from loralint.engine.baseline import count

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(
        AXOLOTL + "lora_dropout: -0.1\nlora_dropuot: 1\nwarmup_steps: 1\nwarmup_steps: 2\n"
    )
    settings = Settings(root=str(tmp_path))
    known = count(
        (one for run in loralint.check("a.yaml").runs for one in run.findings if one.rule != "LL353"), str(tmp_path)
    )
    job = make_job(settings, options(settings=settings), baseline=Counter(known), baseline_root=str(tmp_path))
    found = mend([read_file("a.yaml", "a.yaml")], job, lambda: Project("."))
    assert [one.rule for one in found.changes] == ["LL353"]
    assert found.refused == ()
    assert job.baseline == known


def test_a_value_that_an_alias_repeats_is_left(mended):
    rule = own_rule("adapter.rank", {"set": {"adapter.rank": 8}}, {"adapter.rank": {"ne": 8}})
    text = AXOLOTL.replace("lora_r: 16", "lora_r: &r 16").replace("lora_alpha: 16", "lora_alpha: *r")
    found = mended({"a.yaml": text}, rule)
    assert found.texts == {}
    assert told(found) == [("LL990", "lora_r", "it would change lora_alpha too")]


def test_what_stands_beside_stays_where_nobody_knows_it(mended):
    """A scalar that no field reads is looked at as well."""
    from loralint.engine.accept import fault_of
    from loralint.model import Edit, Run
    from loralint.source.read import read_text

    def judged(text):
        document = read_text(text, "a.yaml")
        return [(Run(("a.yaml",), "axolotl", 100, "pass", ()), (document,))]

    old = "lora_r: 16\nother:\n  deep: x\n"
    new = "lora_r: 8\nother:\n  deep: x\n"
    edit = {"a.yaml": [Edit("a.yaml", 8, 10, "8")]}
    assert fault_of(judged(old), judged(new), [], edit) == ""
    for torn in ("lora_r: 8\nother:\n  deep: y\n", "lora_r: 8\nother:\n  deeq: x\n", "lora_r: 8\nother: {}\n"):
        assert fault_of(judged(old), judged(torn), [], edit) == "it would change what stands beside it"
    assert "would not be read" in fault_of(judged(old), judged("lora_r: [8\n"), [], edit)


def test_a_renamed_section_keeps_its_contents(mended):
    from loralint.engine.accept import fault_of
    from loralint.model import Edit, Run
    from loralint.source.read import read_text

    def judged(text):
        return [(Run(("a.yaml",), "axolotl", 100, "pass", ()), (read_text(text, "a.yaml"),))]

    edit = {"a.yaml": [Edit("a.yaml", 0, 4, "peft")]}
    assert fault_of(judged("lora:\n  r: 8\n"), judged("peft:\n  r: 8\n"), [], edit) == ""
    assert fault_of(judged("lora:\n  r: 8\n"), judged("peft:\n  s: 8\n"), [], edit) != ""


def test_a_config_in_quotes_is_left(mended):
    text = (
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a.yaml: "'
        + (AXOLOTL + "lora_dropout: -0.1\n").replace("\n", "\\n")
        + '"\n'
    )
    assert mended({"job.yaml": text}).texts == {}


def test_what_needs_too_many_tries_is_told(mended, monkeypatch):
    from loralint.engine import mend as module

    monkeypatch.setattr(module, "_TRIES", 1)
    found = mended({"a.yaml": AXOLOTL + "warmup_steps: 1\nwarmup_steps: 2\nwarmup_steps: 3\n"})
    assert len(found.changes) == 1
    assert [(rule, reason.partition(";")[0]) for rule, _, reason in told(found)] == [
        ("LL106", "the file needs more fixes than are made in one go")
    ]
