"""What `loralint init` writes is what the tools it is for accept, and nothing that is there is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from loralint.engine.settings import load_settings

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}
      restartPolicy: Never
      containers:
        - name: train
          image: axolotl
          command: [axolotl, train, good.yaml]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def _written(folder):
    return {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file() and ".git/" not in str(one)}


def test_it_sets_a_repository_up(folder, invoke):
    (folder / ".github").mkdir()
    before = _written(folder)
    result = invoke("init")
    assert result.exit_code == 0, result.output
    assert _written(folder) - before == {"loralint.toml", ".pre-commit-config.yaml", ".github/workflows/loralint.yml"}
    assert load_settings(".").gpu == ""
    assert "of axolotl" in (folder / "loralint.toml").read_text("utf-8")
    (hook,) = yaml.safe_load((folder / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    assert hook["entry"] == "loralint check --force-exclude"
    steps = yaml.safe_load((folder / ".github/workflows/loralint.yml").read_text("utf-8"))["jobs"]["gate"]["steps"]
    assert steps[-1]["run"] == 'loralint gate --base "origin/$GITHUB_BASE_REF" --format github'
    assert invoke("check", "good.yaml").exit_code == 0
    assert invoke("gate", "--help").output.count("--base") >= 1


def test_the_card_that_all_runs_name(folder, invoke):
    (folder / "job.yaml").write_text(JOB, "utf-8")
    assert invoke("init").exit_code == 0
    assert "L40S" in load_settings(".").gpu


@pytest.mark.parametrize("name", ["loralint.toml", ".pre-commit-config.yaml", ".gitlab-ci.yml"])
def test_what_is_there_is_left_as_it_is(folder, invoke, name):
    (folder / name).write_text("# mine\n", "utf-8")
    result = invoke("init", "--forge", "gitlab")
    assert (folder / name).read_text("utf-8") == "# mine\n"
    assert f"{name}: there already" in result.output


def test_settings_in_pyproject_are_settings(folder, invoke):
    (folder / "pyproject.toml").write_text('[tool.loralint]\nfail-on = "A"\n', "utf-8")
    assert "loralint.toml: there already" in invoke("init").output
    assert not (folder / "loralint.toml").exists()


def test_a_dry_run_writes_nothing(folder, invoke):
    before = _written(folder)
    result = invoke("init", "--dry-run", "--forge", "github")
    assert _written(folder) == before
    assert "loralint.toml: would be written" in result.output


def test_without_a_forge_there_is_no_workflow_and_it_says_so(folder, invoke):
    assert "--forge says it" in invoke("init", "--dry-run").output
    (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = git@gitlab.example.org:a/b.git\n', "utf-8")
    assert ".gitlab-ci.yml: would be written" in invoke("init", "--dry-run").output


def test_the_hook_sees_the_files_that_the_published_one_sees(invoke, folder):
    invoke("init", "--forge", "none")
    ((made,),) = (repo["hooks"] for repo in yaml.safe_load((folder / ".pre-commit-config.yaml").read_text())["repos"])
    published = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {key: published[0][key] for key in ("id", "entry", "types", "files")} == {
        key: made[key] for key in ("id", "entry", "types", "files")
    }
