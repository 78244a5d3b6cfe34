"""The gate's HTML report tells who approved what, and whether the audit trail is whole."""

from __future__ import annotations

import pytest

from .conftest import CONFIG, GOOD, ODD

pytest.importorskip("jinja2")


def _page(repository):
    repository.gate("--output", "html=report.html")
    text = (repository.folder / "report.html").read_text(encoding="utf-8")
    (repository.folder / "report.html").unlink()
    return text


def test_who_approved_what_and_why(repository):
    repository.propose(ODD)
    assert "Approvals and audit" not in _page(repository)
    repository.approved("ann")
    assert "unverified: 1 of 2 people have signed it" in _page(repository)
    repository.approved("bob")
    page = _page(repository)
    assert "approved by ann@example.org, bob@example.org" in page
    assert "swept, see experiment 14" in page


def test_a_record_that_the_change_takes_out_of_the_trail_is_missed(repository):
    with repository.base():
        repository.write(CONFIG, GOOD + "lora_dropout: -0.1\n")
        repository.run("check", CONFIG, "--fix")
    assert "1 change that fixes made; the trail is whole" in _page(repository)
    for one in (repository.folder / ".loralint" / "audit").glob("*.json"):
        one.unlink()
    repository.commit()
    assert "the trail has 1 fault: " in _page(repository)
