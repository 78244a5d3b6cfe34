"""docs/claims.md against itself, the rules and the tests that it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from loralint.authoring.compile import read_rules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/claims.md").read_text("utf-8")
RULES = {rule.id: rule for _, rule in read_rules(ROOT / "rules")}
VERDICTS = {"true", "true under conditions", "false", "unknown"}
PARTS = ["As people say it", "Verdict", "What is true", "How we know", "Shown by", "Rules"]
ANCHOR = re.compile(r"docs/claims\.md#(c\d\d)")

# What the articles claim that were reviewed for this page, by the review's own numbers, and where it is answered.
# fmt: off
REVIEWED = {
    "0.1": "c28", "0.2": "c28", "0.3": "c29", "0.4": "c29", "0.5": "c29", "0.6": "c19", "0.7": "c29", "0.8": "c30",
    "0.9": "c19", "0.10": "c29", "0.11": "c23", "0.12": "c23", "0.13": "c14", "0.14": "c06", "0.15": "c32",
    "0.16": "c18", "0.17": "c51", "0.18": "c30", "0.19": "c31", "0.20": "c38",
    "1.1": "c02", "1.2": "c15", "1.3": "c48", "1.4": "c48", "1.5": "c50", "1.6": "c50", "1.7": "c10", "1.8": "c11",
    "1.9": "c43", "1.10": "c44", "1.11": "c44", "1.12": "c41", "1.13": "c42", "1.14": "c45", "1.15": "c17",
    "1.16": "c48", "1.17": "c22", "1.18": "c22", "1.19": "c39", "1.20": "c40", "1.21": "c50", "1.22": "c26",
    "1.23": "c27", "1.24": "c50", "1.25": "c33", "1.26": "c33", "1.27": "c34", "1.28": "c56", "1.29": "c25",
    "1.30": "c46", "1.31": "c56", "1.32": "c47", "1.33": "c55", "1.34": "c56",
    "2.1": "c05", "2.2": "c20", "2.3": "c21", "2.4": "c35", "2.5": "c35", "2.6": "c33", "2.7": "c36", "2.8": "c37",
    "2.9": "c37", "2.10": "c54", "2.11": "c01", "2.12": "c05", "2.13": "c24", "2.14": "c03", "2.15": "c09",
    "2.16": "c12", "2.17": "c16", "2.18": "c49", "2.19": "c53", "2.20": "c51", "2.21": "c04", "2.22": "c34",
}
# fmt: on


class Claim(NamedTuple):
    title: str
    parts: dict[str, str]


def _claims() -> dict[str, Claim]:
    found = {}
    for anchor, number, title, text in re.findall(
        r'^<a id="(c\d\d)"></a>\n## C(\d\d) (.+)\n\n((?:(?!<a id=).*\n?)*)', PAGE, re.MULTILINE
    ):
        assert anchor == f"c{number}"
        items = re.findall(r"^- \*\*(.+?):\*\* ((?:.+\n?(?:  .+\n?)*))", text, re.MULTILINE)
        assert anchor not in found
        found[anchor] = Claim(title, {name: " ".join(value.split()) for name, value in items})
    return found


CLAIMS = _claims()


def test_claims_are_numbered_without_a_gap():
    assert list(CLAIMS) == [f"c{number:02}" for number in range(1, len(CLAIMS) + 1)]
    assert PAGE.count("\n## ") == len(CLAIMS)


@pytest.mark.parametrize("anchor", CLAIMS)
def test_a_claim_has_all_its_parts(anchor):
    parts = CLAIMS[anchor].parts
    assert list(parts) == PARTS
    assert all(parts.values())
    assert parts["Verdict"] in VERDICTS


def test_the_table_sums_up_every_claim():
    rows = re.findall(r"^\| \[C(\d\d)\]\(#(c\d\d)\) \| [^|]+ \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert all(anchor == f"c{number}" for number, anchor, _, _ in rows)
    assert {anchor: (title, verdict) for _, anchor, title, verdict in rows} == {
        anchor: (claim.title, claim.parts["Verdict"]) for anchor, claim in CLAIMS.items()
    }


@pytest.mark.parametrize("anchor", CLAIMS)
def test_what_shows_a_claim_exists(anchor):
    shown = CLAIMS[anchor].parts["Shown by"]
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", shown)
    assert named or shown.startswith("no test")
    for file, test in named:
        tree = ast.parse((Path(__file__).parent / file).read_text("utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_here_shows_a_claim():
    named = set(re.findall(r"`test_\w+\.py::(test_\w+)`", PAGE))
    for file in Path(__file__).parent.glob("test_*.py"):
        if file.name != Path(__file__).name:
            tree = ast.parse(file.read_text("utf-8"))
            tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert {test for test in tests if test.startswith("test_")} <= named


def test_rules_and_claims_name_each_other():
    by_page = {anchor: set(re.findall(r"\[(LL\d+)\]", claim.parts["Rules"])) for anchor, claim in CLAIMS.items()}
    by_rule = {
        anchor: {id_ for id_, rule in RULES.items() if f"docs/claims.md#{anchor}" in rule.sources} for anchor in CLAIMS
    }
    assert by_page == by_rule
    assert all(by_page[anchor] or claim.parts["Rules"].startswith("none: ") for anchor, claim in CLAIMS.items())


def test_links_to_rules_lead_to_their_headings():
    for id_, target in re.findall(r"\[(LL\d+)\]\(rules\.md#([\w-]+)\)", PAGE):
        assert target == f"{id_}-{RULES[id_].name}".lower()


def test_rules_name_no_claim_that_is_not_there():
    texts = [file.read_text("utf-8") for file in (ROOT / "rules").glob("*/*.yaml")]
    assert {anchor for text in texts for anchor in ANCHOR.findall(text)} <= CLAIMS.keys()


def test_every_reviewed_claim_is_answered(shared):
    review = (shared / "reference/golden/CLAIMS.md").read_text("utf-8")
    assert set(re.findall(r"^\| (\d\.\d+) \|", review, re.MULTILINE)) == REVIEWED.keys()
    assert set(REVIEWED.values()) <= CLAIMS.keys()


def test_what_a_claim_measured_earlier_says_that_the_suite_does_not_repeat_it():
    for claim in CLAIMS.values():
        known = claim.parts["How we know"].lower()
        assert ("measured earlier" in known) is ("not repeated by the suite" in known)
