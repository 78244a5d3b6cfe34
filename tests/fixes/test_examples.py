"""Every fix that a rule's example shows is one that is taken, and once it is made there is no more to fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from loralint.api import around, make_job, options
from loralint.authoring.compile import read_rules
from loralint.authoring.rule import Example, RuleFile
from loralint.engine.mend import mend
from loralint.engine.settings import Settings
from loralint.source.read import read_file

RULES = [rule for _, rule in read_rules(Path(__file__).parents[2] / "rules")]
NAMES = {"shell": "run.sh", "python": "train.py", "peft": "adapter_config.json"}
TOML = ("sd-scripts", "musubi-tuner", "diffusion-pipe")
# What the mended example has wrong besides, and was hidden by the fault: (rule, what its fix would bring).
REFUSED = {"LL304": "it would bring a finding of tier A: LL402 at optim.lr"}


def _examples():
    for rule in RULES:
        for number, example in enumerate(rule.examples, 1):
            if example.bad and example.finds and example.finds.fixed and not example.options.probe:
                yield pytest.param(rule, example, id=f"{rule.id}-{number}")


def _mended(file: Path, framework: str, example: Example):
    given, settings = example.options, Settings(preview=True)
    chosen = options(
        gpu=given.gpu or "",
        target=[f"{package}={version}" for package, version in given.target.items()],
        framework="" if framework in ("shell", "python") else framework,
        rows=given.rows,
        settings=settings,
    )
    companions = tuple(str(file.parent / name) for name in given.companions)
    job = make_job(settings, chosen._replace(companions=companions, env=dict(given.env)))
    paths = [str(file)]
    return mend([read_file(paths[0], paths[0])], job, lambda: around(paths), unsafe=True)


@pytest.mark.parametrize(("rule", "example"), list(_examples()))
def test_example(rule: RuleFile, example: Example, tmp_path):
    (framework, text), = example.bad.items()  # fmt: skip
    toml = "config.toml" if framework in TOML else "config.json" if text.lstrip()[:1] == "{" else "config.yaml"
    file = tmp_path / NAMES.get(framework, toml)
    file.write_bytes(text.encode())
    for name, lines in example.options.companions.items():
        (tmp_path / name).write_text(lines)
    found = _mended(file, framework, example)
    refused = {one.finding.rule: one.reason for one in found.refused}
    assert refused.get(rule.id) == REFUSED.get(rule.id)
    assert (rule.id in {one.rule for one in found.changes}) is (rule.id not in REFUSED)
    for path, fixed in found.texts.items():
        Path(path).write_bytes(fixed.encode())
    assert _mended(file, framework, example).texts == {}
