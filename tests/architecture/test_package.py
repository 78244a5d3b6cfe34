"""Wheel and sdist build, and the wheel works where nothing else is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8") if (ROOT / "README.md").exists() else ""
CONFIG = "base_model: a/b\nadapter: lora\nlora_r: 0\nlora_alpha: 16\nlora_target_linear: true\nlearning_rate: 0.0002\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """dist/ with a wheel and an sdist, built with what is installed here."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return out


def test_the_wheel_holds_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"loralint"}
    for name in ("loralint/py.typed", "loralint/_data/rules.json", "loralint/_data/report.schema.json"):
        assert name in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name or name.endswith(".pyc") for name in names)
    assert wheel.stat().st_size < 9_000_000  # 7 MB of it are the weights that --probe trains on


def test_the_sdist_holds_what_the_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "loralint/api.py",
        "tests/conftest.py",
        "golden/versions.yaml",
    ):
        assert name in names
    assert any(name.startswith("rules/") for name in names)
    assert not any(name.startswith((".ci", ".git/")) for name in names)


def test_the_installed_wheel_works_from_an_empty_folder(built, tmp_path):
    """In an environment of its own, which borrows only the dependencies that are installed here."""
    (wheel,) = built.glob("*.whl")
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    (site,) = (home / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for package in ("click", "yaml"):
        found = Path(__import__(package).__file__).parent
        (site / package).symlink_to(found)
    folder = tmp_path / "empty"
    folder.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LORALINT", "VIRTUAL"))}

    def run(*arguments: str, stdin: str = ""):
        command = [str(home / "bin" / "python"), "-m", "loralint", *arguments]
        return subprocess.run(command, capture_output=True, text=True, input=stdin, check=False, cwd=folder, env=env)

    done = run("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "no training config found\n", "")
    done = run("check", "-", "--format", "concise", stdin=CONFIG)
    assert (done.returncode, done.stderr) == (1, "")
    assert "LL304" in done.stdout
    assert run("explain", "LL304").returncode == 0
    assert run("golden").returncode == 0


def test_the_script_of_the_package_is_the_command():
    import tomllib

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["loralint"].partition(":")
    from importlib import import_module

    assert callable(getattr(import_module(module), name))


# The README's commands


def test_the_readme_s_commands_are_commands():
    from loralint.cli import COMMANDS

    told = set(re.findall(r"`loralint ([a-z-]+)", README)) | set(re.findall(r"bin/loralint ([a-z-]+)", README))
    assert {"check", "show", "explain", "rules", "golden", "baseline"} <= told
    assert told <= set(COMMANDS)


def test_the_readme_s_options_are_options():
    from importlib import import_module

    known = {
        option
        for name in ("check", "show", "explain", "rules", "golden", "baseline", "gate")
        for param in import_module(f"loralint.cli.{name}").command.params
        for option in param.opts
    } | {"--group", "--index-url", "--check", "--help"}  # pip's and our tools'
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) <= known


def test_the_readme_s_files_exist():
    linked = set(re.findall(r"\]\(([^)#:]+)\)", README))
    example = set(re.findall(r"loralint check (examples/\S+)", README))
    assert example
    assert [name for name in sorted(linked | example) if not (ROOT / name).exists()] == []


def test_the_readme_s_rules_exist():
    from loralint.knowledge.rules import find

    assert [code for code in sorted(set(re.findall(r"\bLL\d{3}\b", README))) if find(code) is None] == []


def test_the_readme_s_example_has_faults(tmp_path):
    """And it is probed, where torch is there; the report then lies beside it."""
    import shlex
    import shutil
    from importlib.util import find_spec

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    line = next(line for line in README.splitlines() if "loralint check examples/" in line)
    arguments = shlex.split(line.partition("bin/loralint ")[2])
    assert "--probe" in arguments
    probes = find_spec("torch") is not None
    if not probes:
        arguments.remove("--probe")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "loralint", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=env,
    )
    assert done.returncode == 1
    assert "[S] " in done.stdout
    assert done.stdout.startswith("probe: STABLE. ") == probes
    assert (tmp_path / "loralint-report.html").is_file() == probes


def test_the_test_command_of_the_readme_is_what_ci_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8") if (ROOT / ".ci" / "run").exists() else "\npytest\n"
    assert "--group dev" in README
    assert ".venv/bin/pytest" in README
    assert script.rstrip().splitlines()[-1] == "pytest"
