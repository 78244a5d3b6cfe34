"""The layers, and what a check of one YAML file loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What `loralint check one.yaml` must never load: slow, or able to run or reach something.
NEVER = {
    "tree_sitter", "tree_sitter_toml", "pathspec", "tomllib", "pydantic", "jsonschema", "rich", "jinja2", "difflib",
    "pathlib", "dataclasses", "logging", "subprocess", "socket", "ssl", "http", "urllib", "email", "importlib.metadata",
    "asyncio", "multiprocessing", "concurrent", "pickle", "ctypes", "tempfile", "zipfile", "sqlite3", "unittest", "pdb",
    "fractions", "decimal", "statistics", "random", "csv", "xml", "html", "omegaconf", "torch", "transformers", "peft",
    "numpy", "loralint.authoring", "loralint.data", "datasketch", "pyarrow", "tokenizers", "hashlib",
}  # fmt: skip
LOADED = """
import json, sys
before = set(sys.modules)
import click, yaml
free = set(sys.modules)
sys.argv = ["loralint", "check", {path!r}]
from loralint.__main__ import run
try:
    run()
except SystemExit:
    pass
print(json.dumps([sorted(set(sys.modules) - free), sorted(free)]), file=sys.stderr)
"""


def _loaded(path: Path) -> tuple[set[str], set[str]]:
    """Modules that a check of this file loads: beyond click and yaml, and with them."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    code = LOADED.format(path=str(path))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=path.parent, env=env
    )
    new, free = json.loads(done.stderr.splitlines()[-1])
    return set(new), set(free)


def _standard(name: str) -> bool:
    """Also what PyYAML's compiled parser brings with it."""
    top = name.partition(".")[0]
    return top in sys.stdlib_module_names or top == "cython_runtime" or top.startswith("_cython_")


GOOD = ROOT / "benchmarks" / "lora.yaml"
BAD = (
    "base_model: a/b\nadapter: lora\nlora_r: 0\nlora_alpha: 16\nlearning_rate: 5.0\noptimizer: adamw_torch\n"
    "micro_batch_size: 1\nbf16: true\nfp16: true\n"
)


@pytest.fixture(scope="module")
def clean():
    return _loaded(GOOD)


def test_a_clean_yaml_file_loads_click_yaml_and_the_standard_library(clean):
    new, free = clean
    foreign = {
        name
        for name in new | free
        if not _standard(name) and name.partition(".")[0] not in {"click", "yaml", "loralint"}
    }
    # what the interpreter's own start-up hooks of an environment load is not ours
    started = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert foreign - set(started) == set()


def test_a_clean_yaml_file_loads_nothing_heavy(clean):
    new, _ = clean
    assert {name for name in new if name in NEVER or name.partition(".")[0] in NEVER} == set()


def test_a_faulty_yaml_file_loads_no_more_than_it_needs(tmp_path):
    (tmp_path / "bad.yaml").write_text(BAD, encoding="utf-8")
    new, _ = _loaded(tmp_path / "bad.yaml")
    heavy = NEVER - {"difflib"}  # finds the word that a slip meant
    assert {name for name in new if name in heavy or name.partition(".")[0] in heavy} == set()


def test_a_project_file_that_fixes_nothing_is_not_parsed(tmp_path):
    (tmp_path / "lora.yaml").write_text(GOOD.read_text("utf-8"), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.x]\nrun = "pip-compile -r requirements.in -c some.txt"\n', "utf-8")
    new, _ = _loaded(tmp_path / "lora.yaml")
    assert {name for name in new if "toml" in name} == set()


def test_few_modules_of_ours_are_loaded(clean):
    new, _ = clean
    ours = {name for name in new if name.startswith("loralint")}
    assert 30 < len(ours) <= 100
    commands = {f"loralint.cli.{name}" for name in ("explain", "golden", "rules", "show", "baseline")}
    formats = {
        f"loralint.render.{name}"
        for name in (
            "json_v1",
            "frame",
            "concise",
            "statistics",
            "page",
            "sarif",
            "junit",
            "github",
            "gitlab",
            "markdown",
        )
    }
    assert ours & (commands | formats) == set()


def test_only_the_reader_of_the_file_is_loaded(clean):
    new, _ = clean
    readers = {"axolotl", "llamafactory", "trl", "transformers", "peft", "torchtune", "alignment_handbook"}
    assert {name for name in readers if f"loralint.frameworks.readers.{name}" in new} == {"axolotl"}
    assert {"loralint.source.json", "loralint.source.toml"} & new == set()


def test_importing_the_package_loads_next_to_nothing():
    code = "import sys; import loralint; loralint.__version__; print(*sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    assert {name for name in out.split() if name.startswith("loralint")} == {"loralint", "loralint.version"}


def test_the_layers_hold():
    """All contracts of pyproject.toml, by import-linter's own command."""
    command = Path(sys.executable).with_name("lint-imports")
    if not command.exists():
        pytest.skip("import-linter is not installed")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([command, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stdout[-3000:]
    assert ", 0 broken." in done.stdout
