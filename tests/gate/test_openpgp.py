"""Approvals by OpenPGP keys, with a gpg that knows its owner's secret key only."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time

import pytest

from .conftest import CONFIG, ODD, signers


@pytest.fixture(scope="module")
def rings():
    """Name -> a gpg home with one key; bob's has expired."""
    if shutil.which("gpg") is None or shutil.which("gpg-agent") is None:
        pytest.skip("gpg is not here")
    top = tempfile.mkdtemp(prefix="gpg-", dir="/tmp")  # an agent's socket has a short name
    homes = {}
    for name in ("ann", "bob", "stranger"):
        home = homes[name] = os.path.join(top, name)
        os.mkdir(home, 0o700)
        ends = "seconds=1" if name == "bob" else "never"
        _gpg(home, "--quick-gen-key", f"{name}@example.org", "ed25519", "sign", ends)
    time.sleep(1.1)
    yield homes
    for home in homes.values():
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
    shutil.rmtree(top)


def _gpg(home, *words):
    words = ["gpg", "--homedir", home, "--batch", "--passphrase", "", "--pinentry-mode", "loopback", *words]
    return subprocess.run(words, check=True, capture_output=True).stdout.decode()


@pytest.fixture
def change(repository, rings):
    """A waiting finding by mallory; the base knows mallory's SSH key, eve's, and the OpenPGP keys of ann and bob."""
    with repository.base():
        people = [("mallory@example.org", "mallory"), ("eve@example.org,ann@example.org", "eve")]
        repository.write(".loralint/allowed_signers", signers(repository.keys, *people))
        for name in ("ann", "bob"):
            key = _gpg(rings[name], "--armor", "--export")
            repository.write(f".loralint/openpgp/{name}@example.org.asc", key)
    repository.propose(ODD)
    return repository


def _approve(repository, rings, monkeypatch, name):
    monkeypatch.setenv("GNUPGHOME", rings[name])
    found = repository.gate().output.partition("loralint approve ")[2].split()[0]
    done = repository.run("approve", found, "--reason", "swept", "--openpgp", f"{name}@example.org")
    repository.commit()
    return done


def _third(repository):
    """A third person, known by an SSH key alone."""
    known = (repository.folder / ".loralint/allowed_signers").read_text()
    repository.git("checkout", "-q", "main")
    repository.write(".loralint/allowed_signers", known + signers(repository.keys, ("bea@example.org", "bob")))
    repository.commit()
    repository.git("checkout", "-q", "change")


def test_two_people_with_keys_of_both_kinds(change, rings, monkeypatch):
    assert _approve(change, rings, monkeypatch, "ann").exit_code == 0
    assert "1 of 2 people" in change.gate().output
    _third(change)
    change.approve("bob", reason="")
    change.commit()
    result = change.gate()
    assert result.exit_code == 0, result.output


def test_one_person_with_keys_of_both_kinds(change, rings, monkeypatch):
    _approve(change, rings, monkeypatch, "ann")
    change.approve("eve", reason="")
    change.commit()
    assert "1 of 2 people" in change.gate().output


def test_a_key_that_the_base_does_not_know(change, rings, monkeypatch):
    _approve(change, rings, monkeypatch, "stranger")
    change.write(".loralint/openpgp/x@example.org.asc", _gpg(rings["stranger"], "--armor", "--export"))
    change.commit()
    result = change.gate()
    assert "0 of 2 people" in result.output
    assert ".loralint/openpgp/x@example.org.asc changes; this gate goes by the base's" in result.output


def test_an_expired_key(change, rings, monkeypatch):
    done = _approve(change, rings, monkeypatch, "bob")
    assert done.exit_code == 2
    assert "gpg cannot sign with bob@example.org" in done.output


def test_a_commit_that_gpg_signed(change, rings, monkeypatch):
    monkeypatch.setenv("GNUPGHOME", rings["ann"])
    change.as_person("ann")
    change.signing = ["-c", "gpg.format=openpgp", "-c", "user.signingkey=ann@example.org"]
    change.git("reset", "-q", "--hard", "main")
    change.write(CONFIG, ODD)
    change.commit()
    change.approve("mallory")
    change.commit()
    assert "1 of 2 people have signed it" in change.gate().output
    assert "not proved" not in change.gate().output
