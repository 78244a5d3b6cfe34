"""The documentation site: every rule, parameter and trainer has its page, and no link leads nowhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loralint.authoring.site import write_site
from loralint.frameworks.detect import NAMES
from loralint.knowledge.data import shipped
from loralint.knowledge.rules import all_rules

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\]\(([^)#:\s]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"```.*?```|`[^`]*`|^    .*$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    count = write_site(ROOT, out)
    assert count == len(list((out / "docs").rglob("*.md")))
    return out


def test_everything_has_its_page(site):
    for rule in all_rules():
        page = (site / "docs" / "rules" / f"{rule.id}.md").read_text("utf-8")
        assert page.startswith(f"# {rule.id} {rule.name}")
        assert "## Examples" in page
        assert "## Sources" in page
    for name in shipped("golden"):
        assert (site / "docs" / "golden" / f"{name}.md").is_file()
    for name in NAMES:
        assert f"--framework {name}" in (site / "docs" / "frameworks" / f"{name}.md").read_text("utf-8")
    for name in ("axolotl-validate", "peft-doctor", "check-jsonschema", "kube-linter"):
        assert (site / "docs" / "coming-from" / f"{name}.md").is_file()


def test_every_symptom_is_found_with_its_rule(site):
    page = (site / "docs" / "symptoms.md").read_text("utf-8")
    stated = sum(len(one.get("symptoms", ())) for one in shipped("rules_cold").values())
    assert page.count("](rules/LL") == stated


def test_no_link_leads_nowhere(site):
    pages = list((site / "docs").rglob("*.md"))
    links = [(page, link) for page in pages for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8")))]
    assert len(links) > 1000
    assert [(str(page), link) for page, link in links if not (page.parent / link).is_file()] == []


def test_the_configuration_lists_every_page(site):
    listed = set(re.findall(r'"([\w./-]+\.md)"', (site / "mkdocs.yml").read_text("utf-8")))
    assert listed == {str(path.relative_to(site / "docs")) for path in (site / "docs").rglob("*.md")}
    assert json.loads((site / "mkdocs.yml").read_text("utf-8"))["theme"]["font"] is False  # nothing from elsewhere


def test_the_command(tmp_path):
    command = [sys.executable, "-m", "loralint.authoring"]
    done = subprocess.run(
        [*command, "site", "--out", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith(f"pages in {tmp_path}\n")
    assert subprocess.run([*command, "sites"], cwd=ROOT, capture_output=True, check=False).returncode == 2
