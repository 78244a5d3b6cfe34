"""Formats for other programs, as a pipeline calls them."""

from __future__ import annotations

import json
import os
from xml.etree import ElementTree as ET

import pytest

NAMES = ["sarif", "junit", "github", "gitlab", "markdown"]


def _uris(out: str) -> list[str]:
    results = json.loads(out)["runs"][0]["results"]
    return [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results]


def test_several_at_once_with_the_exit_code(command, folder):
    outputs = [part for name in NAMES for part in ("--output", f"{name}={name}.out")]
    done = command("check", "block.yaml", "review.yaml", *outputs)
    assert done.returncode == 1
    assert b"[S]" in done.stdout
    log = json.loads((folder / "sarif.out").read_bytes())
    assert log["runs"][0]["invocations"][0]["exitCode"] == 1
    suites = ET.fromstring((folder / "junit.out").read_bytes()).findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["block.yaml", "review.yaml"]
    assert [suite.get("failures") for suite in suites] == ["1", "0"]
    assert (folder / "github.out").read_text(encoding="utf-8").startswith("::error file=block.yaml,line=3,")
    assert {one["location"]["path"] for one in json.loads((folder / "gitlab.out").read_bytes())} == {
        "block.yaml", "review.yaml",
    }  # fmt: skip
    assert (folder / "markdown.out").read_text(encoding="utf-8").startswith("## loralint: block\n")


def test_the_tier_that_fails_decides_in_junit_too(command, folder):
    done = command("check", "review.yaml", "--fail-on", "A", "--format", "junit")
    assert done.returncode == 1
    assert ET.fromstring(done.stdout).get("failures") == "1"


@pytest.mark.parametrize("given", ["deep/c.yaml", ".", "deep", "{folder}/deep", "deep/../deep/c.yaml"])
def test_paths_start_at_the_root_of_the_repository_whatever_was_given(invoke, folder, given):
    (folder / "deep").mkdir()
    (folder / "deep" / "c.yaml").write_bytes((folder / "block.yaml").read_bytes())
    for name in ("block.yaml", "review.yaml", "small.yaml"):
        (folder / name).unlink()
    given = given.format(folder=folder)
    assert set(_uris(invoke("check", given, "--format", "sarif").output)) == {"deep/c.yaml"}
    assert "file=deep/c.yaml," in invoke("check", given, "--format", "github").output
    assert '"path": "deep/c.yaml"' in invoke("check", given, "--format", "gitlab").output


@pytest.mark.parametrize("where", ["deep", "..", "/"])
def test_paths_start_at_the_root_of_the_repository_wherever_it_is_called(invoke, folder, monkeypatch, where):
    (folder / "deep").mkdir()
    monkeypatch.chdir(where)
    given = os.path.relpath(folder / "block.yaml")
    assert set(_uris(invoke("check", given, "--format", "sarif").output)) == {"block.yaml"}


def test_without_a_checkout_paths_start_at_the_working_folder(invoke, folder, monkeypatch):
    (folder / ".git").rmdir()
    assert set(_uris(invoke("check", str(folder / "block.yaml"), "--format", "sarif").output)) == {"block.yaml"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_knows_few_characters_does_not_break_the_format(command, folder, encoding):
    (folder / "漢é.yaml").write_bytes((folder / "block.yaml").read_bytes() + "zebra_漢é: 1\n".encode())
    for name in ("sarif", "gitlab"):
        out = command("check", "漢é.yaml", "--format", name, PYTHONIOENCODING=encoding).stdout
        assert "zebra_漢é" in str(json.loads(out))
    out = command("check", "漢é.yaml", "--format", "junit", PYTHONIOENCODING=encoding).stdout
    assert "zebra_漢é" in "".join(ET.fromstring(out).itertext())


def test_a_baselined_finding_is_a_suppressed_result(invoke, folder):
    assert invoke("baseline", "block.yaml").exit_code == 0
    (name,) = [name for name in os.listdir(folder) if "baseline" in name]
    done = invoke("check", "block.yaml", "--baseline", name, "--format", "sarif")
    run = json.loads(done.output)["runs"][0]
    assert done.exit_code == 0
    assert {one["suppressions"][0]["kind"] for one in run["results"]} == {"external"}
