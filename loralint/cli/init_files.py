"""What `loralint init` writes, from what the repository holds."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import NamedTuple

from loralint.model import Report
from loralint.source.shown import shown
from loralint.version import __version__

_HOOKS = f"""\
repos:
  - repo: local
    hooks:
      - id: loralint
        name: loralint
        entry: loralint check --force-exclude
        language: python
        additional_dependencies: ["loralint=={__version__}"]
        types: [text]
        files: '\\.(ya?ml|json|toml|py|ipynb|sh|bash|zsh|ps1|bat|cmd|mk)$|(^|/)(Makefile|config\\.env)$'
        require_serial: true
"""
_GITHUB = f"""\
# A pull request passes by what is new in it. Which workflow to make required: docs/gate.md of loralint.
name: loralint
on: pull_request
permissions: {{contents: read}}
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5  # pin it to a commit
        with: {{fetch-depth: 0, persist-credentials: false}}
      - run: pip install "loralint=={__version__}"
      - run: loralint gate --base "origin/$GITHUB_BASE_REF" --format github
"""
_GITLAB = f"""\
# A merge request passes by what is new in it.
loralint:
  image: docker.io/library/python:3.13-slim
  variables: {{GIT_DEPTH: "0"}}
  rules: [{{if: $CI_PIPELINE_SOURCE == "merge_request_event"}}]
  script:
    - apt-get -qq update && apt-get -qq install -y git openssh-client
    - pip install --quiet "loralint=={__version__}"
    - git fetch --quiet origin "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
    - loralint gate --base FETCH_HEAD
"""


class Found(NamedTuple):
    """What a repository holds. gpus: cards that its runs name; frameworks: with the number of runs of each."""

    gpus: tuple[str, ...]
    frameworks: tuple[tuple[str, int], ...]
    findings: int


def found_in(report: Report) -> Found:
    """From a report with settings."""
    runs = [run for run in report.runs if run.framework]
    named = [one.value.value for run in runs for one in run.settings if one.parameter == "run.gpu"]
    cards = tuple(sorted({one for one in named if isinstance(one, str) and one}))
    counts = Counter(str(run.framework) for run in runs)
    return Found(cards, tuple(counts.most_common()), sum(len(run.findings) for run in runs))


def files(found: Found, forge: str) -> dict[str, str]:
    """Path -> text of each file. forge: github, gitlab or "" for no workflow."""
    workflow = {"github": (".github/workflows/loralint.yml", _GITHUB), "gitlab": (".gitlab-ci.yml", _GITLAB)}.get(forge)
    return {
        "loralint.toml": _settings(found),
        ".pre-commit-config.yaml": _HOOKS,
        **({workflow[0]: workflow[1]} if workflow else {}),
    }


def forge_of(folder: str) -> str:
    """Github or gitlab, by the files of a folder or the address it was cloned from; "" where nothing tells."""
    if os.path.isdir(os.path.join(folder, ".github")):
        return "github"
    if os.path.exists(os.path.join(folder, ".gitlab-ci.yml")):
        return "gitlab"
    try:
        with open(os.path.join(folder, ".git", "config"), encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 16)
    except OSError:
        return ""
    return next((name for name in ("github", "gitlab") if f"{name}." in text), "")


def _settings(found: Found) -> str:
    """Only what was seen is set; what else may be said stands as a comment."""
    runs = ", ".join(f"{count} of {name}" for name, count in found.frameworks) or "none yet"
    cards = ", ".join(shown(card) for card in found.gpus)
    lines = [f"# Runs found here: {runs}. All keys: docs/settings.md of loralint; `loralint schema settings`."]
    if len(found.gpus) == 1:
        lines += [f"gpu = {json.dumps(found.gpus[0])}  # the one card that the runs name"]
    else:
        why = f"the runs name {cards}" if cards else "no run names its card"
        lines += [f'# gpu = "A100-80GB"  # {why}; with one, memory and precision are checked']
    lines += ['# target = ["transformers=5.24"]  # versions to judge by, where no file pins them']
    if found.findings:
        lines += [
            f"# {found.findings} findings stand today. To count new ones only: `loralint baseline .`, and then",
            '# baseline = "loralint-baseline.json"',
        ]
    lines += ['# rules = ["lint/rules/*.yaml"]  # of your own: `loralint rules new X001 some-name`']
    return "\n".join(lines) + "\n"
