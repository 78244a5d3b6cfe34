"""The hook before a push, by its command."""

from __future__ import annotations

import pytest

from .conftest import CONFIG, GOOD


@pytest.fixture
def wanting(repository):
    """The base wants signed commits, and has old ones that are not."""
    repository.git("checkout", "-q", "main")
    repository.as_person("ann", signs=False)
    repository.write(CONFIG, GOOD + "seed: 1\n")
    repository.commit("of old")
    with repository.base():
        repository.write("loralint.toml", "[gate]\nrequire-signed = true\n")
    return repository


@pytest.mark.parametrize("base", [["--base", "main"], []])
@pytest.mark.parametrize(
    ("name", "signs", "code"), [(CONFIG, True, 0), (CONFIG, False, 1), ("readme.md", False, 0), ("new.yaml", False, 1)]
)
def test_commits_since_signatures_are_wanted(wanting, base, name, signs, code):
    wanting.as_person("ann", signs=signs)
    wanting.write(name, GOOD + "seed: 2\n")
    wanting.commit()
    result = wanting.run("signed", *base)
    assert result.exit_code == code, result.output
    assert ("is not signed by an allowed signer" in result.output) is bool(code)


def test_a_stranger_s_signature_is_none(wanting):
    wanting.as_person("ann", key="stranger")
    wanting.write(CONFIG, GOOD + "seed: 2\n")
    wanting.commit()
    assert wanting.run("signed", "--base", "main").exit_code == 1


def test_where_the_settings_want_none(repository):
    repository.propose(GOOD + "seed: 2\n", signs=False)
    assert repository.run("signed", "--base", "main").exit_code == 0


def test_what_pre_commit_says_counts(wanting, monkeypatch):
    wanting.propose(GOOD + "seed: 2\n", signs=False)
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", wanting.git("rev-parse", "HEAD"))
    wanting.write("readme.md", "x")
    monkeypatch.setenv("PRE_COMMIT_TO_REF", wanting.commit())
    assert wanting.run("signed").exit_code == 0
    assert wanting.run("signed", "--base", "main").exit_code == 1


def test_a_base_that_is_not_there(wanting):
    result = wanting.run("signed", "--base", "0" * 40)
    assert result.exit_code == 2
    assert "there is no such commit here" in result.output
