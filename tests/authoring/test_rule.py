from __future__ import annotations

import pytest
from pydantic import ValidationError

from loralint.authoring.rule import RuleFile

BAD = {"bad": {"axolotl": "adapter: lora\n"}, "finds": {"key": "adapter", "line": 1}}
GOOD = {"good": {"axolotl": "adapter: lora\n"}}


def test_a_whole_rule_is_accepted(rule):
    assert RuleFile.model_validate(rule).id == "LL901"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"id": "L901"}, "id"),
        ({"name": "Rate_Too_High"}, "name"),
        ({"since": "next"}, "since"),
        ({"typo": 1}, "typo"),
        ({"tier": "C"}, "tier"),
        ({"tier": None}, "either a tier or levels"),
        ({"levels": [{"tier": "S"}]}, "either a tier or levels"),
        ({"tier": None, "levels": [{"tier": "S"}, {"tier": "B"}]}, "only the last level may hold always"),
        ({"tier": None, "levels": [{"tier": "S", "when": {"adapter.rnak": 1}}]}, "is adapter.rank meant"),
        ({"when": {"adapter.rank": {"near": 1}}}, "no operator"),
        ({"when": {"hit.side": "low"}}, "in levels only"),
        ({"each": "adapter.target"}, "is adapter.targets meant"),
        ({"at": "lora.E"}, "no canonical field"),
        ({"uses": "magic"}, "no check template"),
        ({"with": {"field": "optim.learning"}}, "no canonical field"),
        ({"with": {"fields": ["optim.lr", "x.y"]}}, "no canonical field"),
        ({"with": {"suggest": {"field": "x.y"}}}, "no canonical field"),
        ({"message": "it breaks at {key:lora.E}"}, "no canonical field"),
        ({"message": "it breaks at {get:nothing.here}"}, "no canonical field"),
        ({"message": "it breaks at {0}"}, "no placeholder"),
        ({"help": "write {write:adapter.rank}"}, "says no value"),
        ({"help": "write {write:adapter.rnak=16}"}, "is adapter.rank meant"),
        ({"help": ""}, "help"),
        ({"fix": {"safe": True}}, "sets, removes or rewrites"),
        ({"fix": {"set": {"optim.rate": 1}, "safe": True}}, "no canonical field"),
        ({"applies": {"transformers": "4.46"}}, "transformers"),
        ({"applies": {"framework": []}}, "framework"),
        ({"why": "because"}, "why"),
        ({"sources": []}, "sources"),
        ({"sources": ["everybody knows"]}, "sources"),
        ({"examples": [BAD]}, "examples"),
        ({"examples": [BAD, BAD]}, "at least one bad and one good"),
        ({"examples": [GOOD, GOOD]}, "at least one bad and one good"),
        ({"examples": [GOOD, {"bad": {"axolotl": "x: 1"}}]}, "says what it finds"),
        ({"examples": [BAD, {**GOOD, "finds": {"key": "x", "line": 1}}]}, "says what it finds"),
        ({"examples": [{**BAD, **GOOD}, GOOD]}, "either bad or good"),
        ({"examples": [GOOD, {**BAD, "finds": {"key": "adapter", "line": 2}}]}, "finds line 2 of a text with 1 lines"),
        ({"examples": [BAD, {**GOOD, "options": {"target": {"transformers": 4.5}}}]}, "target"),
    ],
)
def test_faults_are_refused_with_their_reason(rule, change, fault):
    with pytest.raises(ValidationError, match=fault):
        RuleFile.model_validate(rule | change)


@pytest.mark.parametrize(
    "source",
    [
        "https://github.com/huggingface/peft/issues/1",
        "arXiv:2305.14314",
        "huggingface/peft@5d602fd src/peft/tuners/lora/layer.py",
        "peft 0.21.2 tuners/lora/layer.py",
        "pytorch/pytorch#124996",
        "measured here: three seeds",
        "computed: 2 ** -8",
        "docs/claims.md#c07",
    ],
)
def test_kinds_of_sources(rule, source):
    assert RuleFile.model_validate(rule | {"sources": [source]}).sources == [source]


def test_levels_may_speak_of_the_hit(rule):
    levels = [{"tier": "S", "when": {"hit.side": "high"}}, {"tier": "note"}]
    assert RuleFile.model_validate(rule | {"tier": None, "levels": levels}).levels is not None
