from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from loralint.api import check
from loralint.cli import main
from loralint.engine.approval import FOLDER, models_of, sha256, subject_of, write_record
from loralint.engine.recorded import recorded

TEXT = (
    "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\nlora_dropout: -0.1\n"
    "learning_rate: 2e-4\n"
)
ODD = TEXT.replace("lora_dropout: -0.1", "lora_aplha: 32")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A checkout with a config, which is the working folder."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "train.yaml").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _report():
    return check("configs/train.yaml", figures=True)


def _tables(project):
    return {one.name: one for one in recorded(_report(), str(project))}


def _approve(project, reason="swept"):
    """A record as `loralint approve` writes it, unsigned."""
    report = _report()
    (finding,) = (one for one in report.runs[0].findings if one.tier == "A")
    subject = subject_of(finding, models_of(report)[finding.rule, finding.span, finding.key])
    data = write_record(subject, "Ann", reason, "2026-01-15T10:00:00+00:00", "loralint 0.1.0")
    (project / FOLDER).mkdir(parents=True, exist_ok=True)
    path = project / FOLDER / f"{sha256(data)}.json"
    path.write_bytes(data)
    return path


def test_without_records_there_are_no_tables(project):
    assert recorded(_report(), str(project)) == ()


def test_what_fixes_changed(project):
    assert CliRunner().invoke(main, ["check", "configs", "--fix"]).exit_code == 0
    table = _tables(project)["audit"]
    assert table.title == "1 change that fixes made; the trail is whole"
    ((_, _, file, rule, before, after),) = table.rows
    assert (file, rule, before, after) == ("configs/train.yaml:6", "LL353", "lora_dropout: -0.1", "lora_dropout: 0")


def test_a_trail_that_was_tampered_with(project):
    CliRunner().invoke(main, ["check", "configs", "--fix"])
    (record,) = (project / ".loralint" / "audit").glob("*.json")
    record.write_text(record.read_text().replace("-0.1", "-0.2"), encoding="utf-8")
    assert "the trail has 1 fault: " in _tables(project)["audit"].title


def test_an_approval_that_only_the_gate_can_confirm(project):
    (project / "configs" / "train.yaml").write_text(ODD, encoding="utf-8")
    _approve(project)
    table = _tables(project)["approvals"]
    assert table.title == f"1 approval in {FOLDER}"
    (row,) = table.rows
    assert row[1:] == (
        "LL101", "configs/train.yaml", "32", "Ann", "swept",
        "whether two people have signed it, `loralint gate` says",
    )  # fmt: skip


def test_an_approval_of_another_value_is_void(project):
    (project / "configs" / "train.yaml").write_text(ODD, encoding="utf-8")
    _approve(project)
    (project / "configs" / "train.yaml").write_text(ODD.replace("aplha: 32", "aplha: 64"), encoding="utf-8")
    ((*_, state),) = _tables(project)["approvals"].rows
    assert state == "void: the value changed since it was written"
    (project / "configs" / "train.yaml").write_text(TEXT, encoding="utf-8")
    ((*_, state),) = _tables(project)["approvals"].rows
    assert state == "void: no finding of this report is what it was written for"


def test_an_edited_record_is_void(project):
    (project / "configs" / "train.yaml").write_text(ODD, encoding="utf-8")
    path = _approve(project)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"reason": "better"}), encoding="utf-8")
    ((*_, state),) = _tables(project)["approvals"].rows
    assert state.startswith("void: ")
    assert "better" not in str(_tables(project))
