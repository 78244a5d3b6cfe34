"""The scripts of the action, run as GitHub would run them, with a `gh` that answers from files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from .conftest import BAD, GOOD, ODD

ROOT = Path(__file__).parents[2]
STEPS = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


def test_nothing_that_others_write_stands_in_a_script():
    for step in STEPS:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_what_is_installed_is_pinned():
    lines = (ROOT / "templates/constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if not line.startswith("#")}
    wanted = re.findall(
        r'^    "([\w-]+)>=', (ROOT / "pyproject.toml").read_text().partition("[project.optional")[0], re.MULTILINE
    )
    assert set(wanted) | {"hatchling"} <= pinned
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines if not line.startswith("#"))


@pytest.fixture
def runner(tmp_path):
    """Run a step by its name, as in the repository of the working folder."""
    bin_ = tmp_path / "temp/loralint/bin"
    bin_.mkdir(parents=True)
    (bin_ / "loralint").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m loralint "$@"\n')
    (bin_ / "loralint").chmod(0o755)

    def run(name: str, **env: str) -> subprocess.CompletedProcess[str]:
        step = next(one for one in STEPS if one["name"] == name)
        files = {"GITHUB_STEP_SUMMARY": tmp_path / "summary", "GITHUB_OUTPUT": tmp_path / "output"}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            check=False, capture_output=True, text=True, timeout=120,
            env={**os.environ, "RUNNER_TEMP": str(tmp_path / "temp"), "GITHUB_ACTION_PATH": str(ROOT), "ARGUMENTS": "",
                 "GITHUB_REPOSITORY": "group/name", **{key: str(path) for key, path in files.items()}, **env},
        )  # fmt: skip

    return run


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BAD, 1)])
def test_the_gate_step(repository, runner, tmp_path, text, code):
    repository.write("configs/second.yaml", text)
    head = repository.commit()
    done = runner("Gate", BASE="main", HEAD=head, ARGUMENTS="--gpu A100-80GB --rows 1000")
    assert done.returncode == code, done.stderr
    assert (tmp_path / "output").read_text() == f"passed={'false' if code else 'true'}\n"
    assert ("::error" in done.stdout) is bool(code)
    assert (tmp_path / "summary").read_text()
    assert json.loads((tmp_path / "temp/loralint.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize("base", ["$(touch hit)", "`touch hit`", "; touch hit", "--help", "main' || touch hit '"])
def test_a_branch_name_runs_nothing(repository, runner, base):
    done = runner("Gate", BASE=base, HEAD="HEAD")
    assert done.returncode == 2
    assert not (repository.folder / "hit").exists()


PEOPLE = [
    {"user": {"login": "ann", "type": "User"}, "state": "APPROVED", "commit_id": "HEAD"},
    {"user": {"login": "bob", "type": "User"}, "state": "APPROVED", "commit_id": "HEAD"},
    {"user": {"login": "robot", "type": "Bot"}, "state": "APPROVED", "commit_id": "HEAD"},
    {"user": None, "state": "APPROVED", "commit_id": "HEAD"},
]


@pytest.mark.parametrize(("people", "code"), [(PEOPLE, 0), (PEOPLE[1:], 1), ([], 1)])
def test_reviews_are_fetched_and_confirm_a_record(repository, runner, tmp_path, people, code):
    if shutil.which("jq") is None:
        pytest.skip("jq is not here")
    repository.propose(ODD, signs=False)
    repository.approve("stranger", "--no-sign")
    head = repository.commit()
    reviews = [{**one, "commit_id": head} for one in people]
    _fake_gh(tmp_path, reviews)
    path = f"{tmp_path}/fake{os.pathsep}{os.environ['PATH']}"
    fetched = runner("Fetch reviews", NUMBER="7", PATH=path)
    assert fetched.returncode == 0, fetched.stderr
    assert fetched.stdout == ""
    assert json.loads((tmp_path / "temp/reviews.json").read_text())["wrote"] == ["mallory"]
    assert runner("Gate", BASE="main", HEAD=head).returncode == code


def test_without_leave_to_read_reviews_signatures_count_alone(repository, runner, tmp_path):
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "gh").write_text("#!/bin/sh\nexit 1\n")
    (fake / "gh").chmod(0o755)
    done = runner("Fetch reviews", NUMBER="7", PATH=f"{fake}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 0
    assert "::notice" in done.stdout
    assert not (tmp_path / "temp/reviews.json").exists()
    assert runner("Gate", BASE="main", HEAD="HEAD").returncode == 0


def test_sarif_is_uploaded(repository, runner, tmp_path):
    if shutil.which("jq") is None:
        pytest.skip("jq is not here")
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "gh").write_text(f'#!/bin/sh\necho "$@" > {fake}/asked\n')
    (fake / "gh").chmod(0o755)
    head = repository.git("rev-parse", "HEAD")
    runner("Gate", BASE="main", HEAD=head)
    done = runner("Upload SARIF", HEAD=head, NUMBER="7", PATH=f"{fake}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert "repos/group/name/code-scanning/sarifs" in (fake / "asked").read_text()
    sent = json.loads((tmp_path / "temp/loralint.upload.json").read_text())
    assert (sent["commit_sha"], sent["ref"]) == (head, "refs/pull/7/head")


def _fake_gh(tmp_path, reviews):
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "reviews.json").write_text(json.dumps(reviews))
    (fake / "gh").write_text(
        f'#!/bin/sh\nfor word; do last="$word"; done\ncase "$last" in\n*/reviews) cat {fake}/reviews.json ;;\n'
        """*/commits) echo '[{"author": {"login": "mallory", "type": "User"}}, {"author": null}]' ;;\n"""
        '*/collaborators/*) echo \'{"permission": "write"}\' ;;\n'
        '*) echo \'{"user": {"login": "mallory"}}\' ;;\nesac\n'
    )
    (fake / "gh").chmod(0o755)


def test_the_gitlab_template_gates_merge_requests():
    job = yaml.safe_load((ROOT / "templates/gitlab-ci.yml").read_text())["loralint"]
    assert job["variables"]["GIT_DEPTH"] == "0"
    assert any("loralint gate --base" in line for line in job["script"])
