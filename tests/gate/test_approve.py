from __future__ import annotations

import json

import pytest

from .conftest import CONFIG, GOOD, ODD


def test_a_new_finding_of_tier_a_waits_for_two_people(repository):
    repository.propose(ODD)
    assert repository.rules() == [("A", "LL101")]
    assert "nobody has approved it" in repository.gate().output
    repository.approve("ann")
    repository.as_person("ann")
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 1
    assert "unverified: 1 of 2 people have signed it" in result.output
    repository.approve("bob", reason="")
    repository.as_person("bob")
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 0, result.output
    assert "gate: passed" in result.output
    assert len(list((repository.folder / ".loralint/approvals").glob("*.json"))) == 1


def test_the_record_says_who_when_why_and_for_what(repository):
    repository.propose(ODD)
    repository.approve("ann", reason="on purpose")
    record = json.loads(next((repository.folder / ".loralint/approvals").glob("*.json")).read_text())
    assert record["reason"] == "on purpose"
    assert record["time"].endswith("+00:00")
    finding = record["finding"]
    assert (finding["file"], finding["rule"], finding["pointer"]) == (CONFIG, "LL101", "/lora_aplha")
    assert finding["value"] == "32"
    assert finding["models"] == ["NousResearch/Llama-2-7b-hf"]
    assert len(finding["logic"]) == 16


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("mallory", "ann", "1 of 2 people have signed it; the change's only author does not count"),
        ("ann", "ann", "1 of 2 people"),
        ("ann", "stranger", "1 of 2 people"),
        ("stranger", "mallory2", "0 of 2 people"),
    ],
)
def test_signatures_that_do_not_make_two_people(repository, first, second, message):
    repository.propose(ODD)
    repository.approve(first)
    repository.approve(second)
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 1
    assert message in result.output


def test_a_second_persons_commit_of_the_approval_makes_nobody_an_author(repository):
    repository.propose(ODD)
    repository.approve("ann")
    repository.approve("mallory")
    repository.as_person("ann")
    repository.commit("approve")
    assert repository.gate().exit_code == 1


def test_without_signed_commits_three_people_are_needed(repository):
    repository.propose(ODD, signs=False)
    repository.approved("ann", "bob")
    result = repository.gate()
    assert result.exit_code == 1
    assert "2 of 3 people have signed it; who made the change is not proved" in result.output
    repository.approve("eve")
    repository.commit()
    assert repository.gate().exit_code == 0


@pytest.mark.parametrize(
    ("later", "what"),
    [
        (ODD.replace("32", "64"), "the value changed"),
        (ODD.replace("Llama-2-7b-hf", "Llama-2-13b-hf"), "the model changed"),
    ],
)
def test_an_approval_is_void_when_what_it_is_for_changes(repository, later, what):
    repository.propose(ODD)
    repository.approved("ann", "bob")
    assert repository.gate().exit_code == 0
    repository.write(CONFIG, later)
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 1
    assert f"its approval is void: {what}" in result.output


def test_what_was_approved_and_merged_stands_at_the_base(repository):
    repository.propose(ODD)
    repository.approved("ann", "bob")
    repository.git("branch", "-f", "main")
    repository.write("other.yaml", GOOD)
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 0
    assert "1 older at the base" in result.output


def test_a_finding_that_is_none(repository):
    result = repository.run("approve", "abcdef123456", "--reason", "x")
    assert result.exit_code == 2
    assert "no finding of tier A is called abcdef123456 in HEAD; there is none" in result.output


def test_a_reason_and_a_key_are_needed(repository):
    repository.propose(ODD)
    found = repository.gate().output.partition("loralint approve ")[2].split()[0]
    assert "say why the value is right" in repository.run("approve", found).output
    result = repository.run("approve", found, "--reason", "x")
    assert result.exit_code == 2
    assert "no key to sign with" in result.output
    assert repository.run("approve", found, "--reason", "x", "--no-sign").exit_code == 0


def test_approvals_do_not_follow_a_link_out_of_the_checkout(repository, tmp_path):
    repository.propose(ODD)
    found = repository.gate().output.partition("loralint approve ")[2].split()[0]
    outside = tmp_path / "outside"
    outside.mkdir()
    (repository.folder / ".loralint/approvals").symlink_to(outside)
    assert repository.run("approve", found, "--reason", "x", "--no-sign").exit_code == 2
    assert not list(outside.iterdir())


REVIEWS = [
    {"user": "ann", "state": "APPROVED", "commit": "HEAD", "permission": "write"},
    {"user": "bob", "state": "APPROVED", "commit": "HEAD", "permission": "admin"},
]


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({}, True),
        ({"permission": "read"}, False),
        ({"commit": "0" * 40}, False),
        ({"state": "CHANGES_REQUESTED"}, False),
        ({"user": "Mallory"}, False),
        ({"user": "ANN"}, False),
    ],
)
def test_reviews_of_the_forge_confirm_a_record(repository, tmp_path, change, passes):
    repository.propose(ODD, signs=False)
    repository.approve("stranger", "--no-sign")
    head = repository.commit()
    reviews = [{**one, "commit": head} for one in REVIEWS]
    reviews[1] |= change
    path = tmp_path / "reviews.json"
    path.write_text(json.dumps({"author": "mallory", "reviews": reviews}))
    assert repository.gate("--reviews", str(path)).exit_code == (0 if passes else 1)


def test_reviews_without_a_record_approve_nothing(repository, tmp_path):
    repository.propose(ODD)
    head = repository.git("rev-parse", "HEAD")
    path = tmp_path / "reviews.json"
    path.write_text(json.dumps({"author": "mallory", "reviews": [{**one, "commit": head} for one in REVIEWS]}))
    assert repository.gate("--reviews", str(path)).exit_code == 1


def test_a_protected_file_wants_two_people(repository):
    with repository.base():
        repository.write("loralint.toml", '[gate]\nprotected = ["loralint.toml", "golden/**"]\n')
        repository.write("golden/rates.yaml", "a: 1\n")
    repository.as_person("mallory")
    repository.write("golden/rates.yaml", "a: 2\n")
    repository.commit()
    assert repository.rules() == [("A", "LG002")]
    for name in ("ann", "bob"):
        done = repository.run(
            "approve", "golden/rates.yaml", "--reason", "measured anew", "--key", str(repository.key(name))
        )
        assert done.exit_code == 0, done.output
    repository.commit()
    assert repository.gate().exit_code == 0
    repository.write("golden/rates.yaml", "a: 3\n")
    repository.commit()
    assert repository.gate().exit_code == 1
