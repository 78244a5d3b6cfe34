from __future__ import annotations

import datetime as dt
import math

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from loralint.model import Unknown
from loralint.source.read import read_bytes
from loralint.source.scalars import is_template, number_text, plain, resolve, value

# What frameworks' loaders make of bare text: PyYAML, OmegaConf. Observed with the loaders themselves.
FACTS = [
    ("2e-4", "2e-4", 2e-4),
    ("1e5", "1e5", 1e5),
    ("5e-05", "5e-05", 5e-05),
    ("2E-4", "2E-4", 2e-4),
    ("+1e-4", "+1e-4", 1e-4),
    ("2.0e4", "2.0e4", 2e4),
    ("2.0e-4", 2e-4, 2e-4),
    (".5e-3", 5e-4, 5e-4),
    ("1.", 1.0, 1.0),
    ("yes", True, True),
    ("no", False, False),
    ("On", True, True),
    ("off", False, False),
    ("y", "y", "y"),
    ("none", "none", "none"),
    ("None", "None", "None"),
    ("0o17", "0o17", "0o17"),
    ("~", None, None),
    ("null", None, None),
    ("", None, None),
    ("017", 15, 15),
    ("1:30", 90, 90),
    ("1_000", 1000, 1000),
    ("2026-01-01", "2026-01-01", "2026-01-01"),
    ("${x}", "${x}", "${x}"),
    ("0x1F", 31, 31),
    ("-0b11", -3, -3),
    ("-.inf", -math.inf, -math.inf),
    ("1:30.5", 90.5, 90.5),
    ("08", "08", "08"),
    ("1_0e3", "1_0e3", 10000.0),
]


def node(text: str, name: str = "a.yaml"):
    doc = read_bytes(f"k: {text}".encode(), name)
    assert doc.problems == []
    return doc.root.get("k")


@pytest.mark.parametrize(("text", "pyyaml", "omega"), FACTS)
def test_facts(text, pyyaml, omega):
    for dialect, expected in (("pyyaml", pyyaml), ("omegaconf", omega)):
        made = value(node(text), dialect)
        assert (made, type(made)) == (expected, type(expected))


@pytest.fixture(scope="module")
def omega():
    """OmegaConf's own YAML loader; it moved within the package."""
    pytest.importorskip("omegaconf")
    try:
        from omegaconf._yaml import get_yaml_loader
    except ImportError:
        from omegaconf._utils import get_yaml_loader
    return get_yaml_loader()


NUMBERLIKE = st.one_of(
    st.text("0123456789_.eE+-:xXbo", min_size=1, max_size=10),
    st.from_regex(r"[-+]?[0-9_]{0,3}\.?[0-9_]{0,3}([eE][-+]?[0-9]{1,2})?", fullmatch=True),
    st.from_regex(
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([tT ][0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?(Z|[-+][0-9])?)?", fullmatch=True
    ),
    st.sampled_from(
        ["yes", "No", "ON", "true", "False", "null", "NULL", "~", "y", "<<", "=", ".inf", "-.INF", ".NaN", "+.5", "-.5"]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=6),
)


@given(NUMBERLIKE)
@example("1_:30._")
@example("0b_")
@example("0x_")
@example("1.e+400")
def test_the_dialects_are_the_loaders(omega, text):
    try:
        [root] = read_bytes(f"k: {text}".encode(), "a.yaml").roots
        scalar = root.get("k")
    except ValueError:
        return
    if scalar is None or scalar.kind != "scalar" or not scalar.plain or scalar.alias:
        return
    for dialect, loader in (("pyyaml", yaml.CSafeLoader), ("omegaconf", omega)):
        ours = value(scalar, dialect)
        try:
            theirs = yaml.load(f"k: {text}", loader)["k"]
        except (yaml.YAMLError, ValueError, OverflowError):
            assert isinstance(ours, Unknown) or scalar.tag == "timestamp"
            continue
        if isinstance(theirs, dt.date):
            theirs = scalar.raw
        assert type(ours) is type(theirs)
        assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@given(NUMBERLIKE)
def test_resolution_is_pyyamls(text):
    theirs = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))
    if text not in {"!", "&", "*"}:
        assert resolve(text) == theirs.removeprefix("tag:yaml.org,2002:")


def test_quoted_and_tagged_text_is_not_resolved_again():
    for text in ('"2e-4"', "'2e-4'", "!!str 2e-4"):
        assert value(node(text), "omegaconf") == "2e-4"
    assert value(node("!!float 2e-4"), "pyyaml") == 2e-4
    assert value(node("!!int '7'"), "pyyaml") == 7


@pytest.mark.parametrize(
    "text", ["!foo 1", "!!int abc", "!!bool maybe", "!!float x", "!!binary aGk=", "=", "0x" + "f" * 299]
)
def test_what_a_loader_would_refuse_is_unknown(text):
    assert isinstance(value(node(text), "pyyaml"), Unknown)


def test_integers_never_overflow_a_float():
    assert value(node("9" * 300), "pyyaml") == int("9" * 300)
    for text in ("9" * 301, "9" * 5000, "-" + "9" * 301):
        assert isinstance(value(node(text), "pyyaml"), Unknown)


def test_plain_builds_the_whole_tree():
    doc = read_bytes(b"a: [1, {b: 2e-4}, 2026-01-01]\nyes: x\n7: y\nlr: 1\nlr: 2\n", "a.yaml")
    assert plain(doc.root, "omegaconf") == {"a": [1, {"b": 2e-4}, "2026-01-01"], True: "x", 7: "y", "lr": 2}
    assert value(doc.root.get("a"), "pyyaml") == [1, {"b": "2e-4"}, "2026-01-01"]


def test_json_and_toml_values_are_native_and_yaml_can_be_asked_of_them():
    number = read_bytes(b'{"k": 1e-4, "t": "1"}', "a.json").root
    assert value(number.get("k"), "json") == 1e-4
    assert value(number.get("k"), "pyyaml") == "1e-4"
    assert value(number.get("k"), "omegaconf") == 1e-4
    assert value(number.get("t"), "pyyaml") == "1"
    when = read_bytes(b"k = 2026-01-01", "a.toml").root.get("k")
    assert value(when, "toml") == "2026-01-01"
    assert when.native == dt.date(2026, 1, 1)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2e-4", 2e-4),
        ("1e5", 1e5),
        ("5e-05", 5e-5),
        (" 3 ", 3),
        ("1_000", 1000),
        ("-7", -7),
        (".5", 0.5),
        ("1.", 1.0),
        ("2.0E+3", 2000.0),
        ("", None),
        ("1,000", None),
        ("r16", None),
        ("1e999", None),
        ("nan", None),
        (".", None),
        ("0x10", None),
        ("1__0", None),
        ("9" * 301, None),
        ("٣", None),
    ],
)
def test_number_text(text, number):
    assert number_text(text) == number
    assert type(number_text(text)) is type(number)


@pytest.mark.parametrize("text", ["${x}", "a/${env:HOME}", "{{ .Values.lr }}", "$(RUN_NAME)", "{{x}}"])
def test_templates(text):
    assert is_template(text)


@pytest.mark.parametrize("text", ["", "$x", "cost $5", "{x}", "$()", "$(ls -l)", "$", "${}", "<name>"])
def test_no_templates(text):
    assert not is_template(text)
