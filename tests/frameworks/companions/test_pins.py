"""Versions that requirements files, pyproject.toml, lock files and conda environments fix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.frameworks.companions.pins import Pins, is_pins, read_pins
from loralint.source.read import read_bytes

POETRY = """[tool.poetry.dependencies]
python = "^3.11"
trl = "0.24.0"
peft = {version = "==0.17.1", extras = ["x"]}
torch = "^2.4"
x = {git = "https://g"}
"""
CONDA = """name: x
dependencies:
  - python=3.11
  - pytorch=2.4.0=py3.11_cuda
  - pip:
    - transformers==4.57.1
    - trl>=0.20
"""
SETUP = """from setuptools import setup
DEPS = ['trl==0.24.0']
DEPS.append('torch>=2.4')
setup(name='x', install_requires=DEPS + ['peft==0.17.1'], extras_require={'dev': ['ruff==0.1']})
"""

# as Transformers' own, Open R1's and VLM-R1's
BY_NAME = """_deps = [
    "trl[vllm]==0.18.0",  # for GRPO
    # "peft==0.1.0",
    "torch>=2.4",
]
# "accelerate==0.1.0"
deps = {name: one for one, name in (re.findall(r"^(([^=<>]+).*)$", one)[0] for one in _deps)}
setup(name='x', install_requires=[deps["trl"], deps["torch"]])
"""


def pins(name: str, text: str) -> Pins:
    return read_pins(read_bytes(text.encode(), name))


def versions(name: str, text: str) -> tuple[dict[str, object], dict[str, object]]:
    found = pins(name, text)
    return {k: v.value for k, v in found.exact.items()}, {k: v.value for k, v in found.lower.items()}


@pytest.mark.parametrize(
    ("line", "exact", "lower"),
    [
        ("transformers==4.57.1", {"transformers": "4.57.1"}, {}),
        ("trl == 0.24.0  # as the card says", {"trl": "0.24.0"}, {}),
        ("peft[quality]==0.17.1; python_version >= '3.9'", {"peft": "0.17.1"}, {}),
        ("torch==2.6.0+cu124", {"torch": "2.6.0+cu124"}, {}),
        ("Flash_Attn===2.7.4.post1", {"flash-attn": "2.7.4.post1"}, {}),
        ("deepspeed (==0.18.1)", {"deepspeed": "0.18.1"}, {}),
        ("accelerate>=1.2,<2", {}, {"accelerate": "1.2"}),
        ("datasets~=3.0", {}, {"datasets": "3.0"}),
        ("transformers==4.*", {}, {"transformers": "4"}),
        ("transformers", {}, {}),
        ("transformers<5", {}, {}),
        ("# transformers==4.57.1", {}, {}),
        ("-e git+https://github.com/x/y.git#egg=y", {}, {}),
        ("transformers @ git+https://github.com/huggingface/transformers@v4.49.0", {"transformers": "4.49.0"}, {}),
        ("trl @ git+https://github.com/huggingface/trl@main", {}, {}),
        ("peft==0.17.1 --hash=sha256:aa==", {"peft": "0.17.1"}, {}),
        ("peft==0.17.1 \\\n    --hash=sha256:aa", {"peft": "0.17.1"}, {}),
        ("torch==2.1 ; sys_platform=='linux'\ntorch==2.2 ; sys_platform=='darwin'", {}, {}),
        ("torch==2.1\ntorch==2.1", {"torch": "2.1"}, {}),
    ],
)
def test_a_requirement(line: str, exact: dict[str, str], lower: dict[str, str]) -> None:
    assert versions("requirements.txt", line + "\n") == (exact, lower)


@pytest.mark.parametrize(
    ("line", "upper"),
    [
        ("transformers>=4.32.0,<4.38.0", {"transformers": "<4.38.0"}),
        ("transformers >= 4.26 , <= 4.29.2", {"transformers": "<=4.29.2"}),
        ("transformers~=4.38.1", {"transformers": "<4.39"}),
        ("transformers~=4.38", {"transformers": "<5"}),
        ("transformers==4.38.*", {"transformers": "<4.39"}),
        ("transformers!=4.38", {}),
        ("transformers==4.38.0", {}),
        ("torch<2.9\ntorch<2.8", {}),
    ],
)
def test_an_upper_bound(line: str, upper: dict[str, str]) -> None:
    found = pins("requirements.txt", line + "\n")
    assert {name: one.value for name, one in found.upper.items()} == upper


@pytest.mark.parametrize(
    ("line", "exact"),
    [
        ("git+https://github.com/huggingface/transformers.git@v4.36.0", {"transformers": "4.36.0"}),
        ("-e git+https://github.com/huggingface/peft@0.17.1#egg=peft", {"peft": "0.17.1"}),
        ("git+https://github.com/huggingface/transformers.git", {}),
        ("git+https://github.com/huggingface/transformers.git@main", {}),
        ("git+ssh://git@github.com/huggingface/transformers.git@v4.36.0", {}),
    ],
)
def test_the_tag_of_a_repository(line: str, exact: dict[str, str]) -> None:
    assert versions("requirements.txt", line + "\n") == (exact, {})


def test_places_and_includes() -> None:
    found = pins("requirements-gpu.txt", "-r base.txt\n--constraint=c.txt\n  trl[peft] == 0.24.0  # x\n")
    assert [one.value for one in found.includes] == ["base.txt", "c.txt"]
    span = found.exact["trl"].span
    assert span is not None
    assert (span.line, span.column, span.end_column) == (3, 3, 22)
    assert found.exact["trl"].text == "trl[peft] == 0.24.0"


@pytest.mark.parametrize(
    ("name", "text", "exact", "lower"),
    [
        ("uv.lock", 'version = 1\n\n[[package]]\nname = "transformers"\nversion = "4.57.1"\n',
         {"transformers": "4.57.1"}, {}),
        ("poetry.lock", '[[package]]\nname = "peft"\nversion = "0.17.1"\ndescription = ""\n', {"peft": "0.17.1"}, {}),
        ("Pipfile.lock", '{"default": {"trl": {"hashes": [], "version": "==0.24.0"}}, "develop": {}}',
         {"trl": "0.24.0"}, {}),
        ("pyproject.toml", '[project]\ndependencies = ["trl==0.24.0", "torch>=2.4"]\n', {"trl": "0.24.0"},
         {"torch": "2.4"}),
        ("pyproject.toml", POETRY,
         {"trl": "0.24.0", "peft": "0.17.1"}, {"python": "3.11", "torch": "2.4"}),
        ("environment.yml", CONDA,
         {"python": "3.11", "torch": "2.4.0", "transformers": "4.57.1"}, {"trl": "0.20"}),
        ("Pipfile", '[packages]\ntrl = "==0.24.0"\npeft = {version = ">=0.17", extras = ["x"]}\ntorch = "*"\n',
         {"trl": "0.24.0"}, {"peft": "0.17"}),
        ("setup.cfg", "[options]\ninstall_requires =\n    trl==0.24.0\n\n    torch>=2.4\n[x]\ny =\n    peft==0.1\n",
         {"trl": "0.24.0"}, {"torch": "2.4"}),
        ("setup.cfg", "[options]\ninstall_requires = trl==0.24.0\nzip_safe = no\n", {"trl": "0.24.0"}, {}),
        ("setup.cfg", "[options]\npackages = find:\n", {}, {}),
        ("setup.py", SETUP,
         {"trl": "0.24.0", "peft": "0.17.1"}, {"torch": "2.4"}),
        ("setup.py", BY_NAME, {"trl": "0.18.0"}, {"torch": "2.4"}),
        ("setup.py", "install_requires = ['trl==0.24.0']\nsetup(install_requires=install_requires)\n",
         {"trl": "0.24.0"}, {}),
        ("setup.py", "requires = [\n  'trl==0.24.0',\n", {}, {}),
        ("setup.py", "setup(install_requires=open('requirements.txt').read())\n", {}, {}),
        ("setup.py", "setup(install_requires=['trl==0.24.0'\n", {}, {}),
        ("train.txt", "trl==0.24.0\n", {}, {}),
        ("Pipfile.lock", "[]", {}, {}),
        ("pyproject.toml", "[project]\ndependencies = 3\n", {}, {}),
    ],
)  # fmt: skip
def test_other_files(name: str, text: str, exact: dict[str, str], lower: dict[str, str]) -> None:
    assert versions(name, text) == (exact, lower)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "setup.py",
            "setup(name='x', install_requires=['torch>=2'], extras_require={'rl': ['trl==0.8.0', 'ray>=2']})\n",
        ),
        ("pyproject.toml", '[project]\nname = "x"\n[project.optional-dependencies]\nrl = ["trl==0.8.0", "ray>=2"]\n'),
    ],
)
def test_what_an_extra_fixes_is_a_bound(name: str, text: str) -> None:
    found = pins(name, text)
    assert found.exact == {}
    assert found.lower["ray"].value == "2"
    assert {package: value.value for package, value in found.upper.items()} == {"trl": "<=0.8.0"}


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("requirements.txt", True), ("a/requirements/train.txt", False), ("dev-requirements.in", True),
     ("constraints.txt", True), ("Pipfile.lock", True), ("environment.yaml", True), ("train.yaml", False)],
)  # fmt: skip
def test_names(name: str, is_one: bool) -> None:
    assert is_pins(name) is is_one


@given(st.text(alphabet="abc-_.=<>~![]();@# \\\n\r\t\"'0123456789v", max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = pins("requirements.txt", text)
    document = read_bytes(text.encode(), "requirements.txt")
    for one in (*found.exact.values(), *found.lower.values(), *found.upper.values(), *found.includes):
        assert one.span is not None
        assert document.text[one.span.start : one.span.end] == one.text
        assert "\n" not in one.text
