"""Versions: assumptions, comparison against specifiers, and --target values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.knowledge.data import part
from loralint.knowledge.versions import assumed, newest, parse, parse_targets, requires, satisfies


def test_axolotl_pins_its_companions() -> None:
    versions = assumed("axolotl", "0.21")
    assert versions["axolotl"] == "0.21.0"
    assert (versions["transformers"], versions["peft"], versions["trl"]) == ("5.20.1", "0.21.2", "1.14.1")


def test_a_run_without_a_pin_is_judged_by_the_newest_axolotl_that_was_run() -> None:
    assert newest("axolotl") == "0.21.0"
    assert assumed("axolotl")["axolotl"] == "0.19.0"
    assert assumed("axolotl")["transformers"] == "5.16.1"
    assert requires("axolotl", "0.19.0")["transformers"] == "==5.16.1"


def test_a_range_is_met_by_the_newest_known_release_in_it() -> None:
    assert assumed("llamafactory") == {
        "llamafactory": "0.9.5",
        "transformers": "5.6.0",
        "peft": "0.18.1",
        "trl": "0.24.0",
        "torch": "2.15.0",
        "accelerate": "1.11.0",
    }
    assert assumed("trl")["transformers"] == newest("transformers") == "5.24.0"


def test_an_old_release_does_not_meet_what_came_later() -> None:
    assert assumed("trl", "0.12.2") == {"trl": "0.12.2", "transformers": "4.46.3"}
    assert "transformers" not in assumed("trl", "0.17.0")


def test_unknown_frameworks_and_releases_assume_nothing() -> None:
    assert assumed("no-such") == {}
    assert requires("no-such") == {}
    assert newest("no-such") is None
    assert assumed("axolotl", "99.1") == {"axolotl": "99.1"}


def test_every_assumption_meets_its_requirement() -> None:
    for name, entry in part("versions")["frameworks"].items():
        for release, facts in entry["releases"].items():
            assert facts["assumed"][name] == release
            for package, spec in facts["requires"].items():
                if package in facts["assumed"]:
                    assert satisfies(facts["assumed"][package], spec), (name, release, package)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("5.24.0", (5, 24)),
        ("v2.6.0+cu124", (2, 6)),
        ("4.46.0rc1", (4, 46)),
        ("4.46.3", (4, 46, 3)),
        ("0", (0,)),
        ("5", (5,)),
        ("main", ()),
        ("", ()),
        ("9" * 5000, ()),
    ],
)
def test_parse(text: str, numbers: tuple[int, ...]) -> None:
    assert parse(text) == numbers


@pytest.mark.parametrize(
    ("version", "spec", "holds"),
    [
        ("4.46", ">=4.46,<5", True),
        ("5.0.0", ">=4.46,<5", False),
        ("4.5", ">=4.46", False),
        ("4.46.0", "==4.46", True),
        ("4.46.1", "==4.46", False),
        ("4.46.1", "==4.46.*", True),
        ("4.460", "!=4.46.*", True),
        ("4.46.9", "!=4.46.*", False),
        ("4.0.3", "==4.0.*", True),
        ("4.1", "==4.0.*", False),
        ("1.4.5", "~=1.4.2", True),
        ("1.5", "~=1.4.2", False),
        ("1.9", "~=1.4", True),
        ("2.0", "~=1.4", False),
        ("2.0", ">1.4", True),
        ("2.0", "<=2", True),
        ("2.0", "", True),
        ("main", ">=1", False),
        ("main", "", False),
    ],
)
def test_satisfies(version: str, spec: str, holds: bool) -> None:
    assert satisfies(version, spec) is holds


@pytest.mark.parametrize("spec", ["4.46", ">=", "=>4", ">=x", ">=4.*", ">=4;<5"])
def test_a_bad_specifier_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="version clause"):
        satisfies("4.46", spec)


def test_targets() -> None:
    assert parse_targets(["transformers=5.24", "trl==1.16", " peft = 0.21.2 "]) == {
        "transformers": "5.24",
        "trl": "1.16",
        "peft": "0.21.2",
    }
    assert parse_targets(["trl=1.16", "trl=1.16.0"]) == {"trl": "1.16"}
    assert parse_targets(["alignment_handbook=0.3"]) == {"alignment-handbook": "0.3"}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["transformers"], "not NAME=VERSION"),
        (["transformers=new"], "not NAME=VERSION"),
        (["=5"], "known are"),
        (["transfomers=5"], "known are"),
        (["trl=1.16", "trl=1.15"], "twice"),
    ],
)
def test_bad_targets_say_what_to_write(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_targets(texts)


@given(st.text())
def test_parse_never_raises(text: str) -> None:
    assert all(number >= 0 for number in parse(text))


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_comparison_agrees_with_numbers(left: list[int], right: list[int]) -> None:
    width = max(len(left), len(right))
    padded = [numbers + [0] * (width - len(numbers)) for numbers in (left, right)]
    one, other = (".".join(map(str, numbers)) for numbers in (left, right))
    assert satisfies(one, f">={other}") == (padded[0] >= padded[1])
    assert satisfies(one, f"<{other}") == (padded[0] < padded[1])
    assert satisfies(one, f"=={other}") == (padded[0] == padded[1])


@given(st.text(), st.text())
def test_a_specifier_is_read_or_refused(version: str, spec: str) -> None:
    try:
        assert isinstance(satisfies(version, spec), bool)
    except ValueError as error:
        assert "version clause" in str(error)  # noqa: PT017 - any text may come, most of it is refused
