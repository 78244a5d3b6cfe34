from __future__ import annotations

import os

import pytest

from loralint.engine.settings import Settings, SettingsError, load_settings
from loralint.engine.settings_file import Exemption, Gate

WHOLE = """
select = ["LL2", "keys"]
ignore = ["LL445"]
exclude = ["archive/", "*.bak.yaml"]
preview = true
gpu = "A100-80GBx8"
target = ["transformers=5.24"]
fail-on = "A"
baseline = "known.json"
rules = ["lint/rules/*.yaml"]
golden = ["lint/golden.yaml"]
min-score = 80

[tiers]
LL214 = "A"
keys = "B"

[per-file-ignores]
"experiments/**" = ["LL402", "LL3"]

[[exceptions]]
rule = "LL214"
path = "configs/tpu/*.yaml"
reason = "runs on TPU v5e"
expires = 2027-03-31
"""


def _write(folder, text, name="loralint.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def _pyproject(text):
    """The same table below [tool.loralint]."""
    tables = (
        text.replace("[[", "[[tool.loralint.")
        .replace("\n[per", "\n[tool.loralint.per")
        .replace("\n[tiers", "\n[tool.loralint.tiers")
    )
    return '[project]\nname = "x"\n\n[tool.loralint]\n' + tables


@pytest.mark.parametrize(("name", "text"), [("loralint.toml", WHOLE), ("pyproject.toml", _pyproject(WHOLE))])
def test_every_key_is_read(tmp_path, name, text):
    _write(tmp_path, text, name)
    assert load_settings(str(tmp_path)) == Settings(
        root=str(tmp_path), file=str(tmp_path / name), select=("LL2", "keys"), ignore=("LL445",),
        exclude=("archive/", "*.bak.yaml"), preview=True, gpu="A100-80GBx8", target=("transformers=5.24",), fail_on="A",
        baseline="known.json", per_file_ignores=(("experiments/**", ("LL402", "LL3")),),
        exceptions=(Exemption("LL214", "configs/tpu/*.yaml", "runs on TPU v5e", "2027-03-31"),),
        rules=("lint/rules/*.yaml",), golden=("lint/golden.yaml",), own_root=str(tmp_path),
        tiers=(("LL214", "A"), ("keys", "B")), min_score=80,
    )  # fmt: skip


def test_without_a_file_there_are_the_defaults(tmp_path):
    (tmp_path / ".git").mkdir()
    assert load_settings(str(tmp_path)) == Settings(root=str(tmp_path))
    assert (Settings().fail_on, Settings().preview) == ("S", False)


def test_the_nearest_file_above_counts(tmp_path):
    _write(tmp_path, 'gpu = "T4"')
    inner = _write(tmp_path / "a", 'gpu = "L4"') / "b"
    inner.mkdir()
    assert load_settings(str(inner)).gpu == "L4"
    assert load_settings(str(inner)).root == str(tmp_path / "a")


def test_nothing_above_the_checkout_counts(tmp_path):
    _write(tmp_path, 'gpu = "T4"')
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert load_settings(str(tmp_path / "repo")).gpu == ""


def test_loralint_toml_goes_before_pyproject(tmp_path):
    _write(tmp_path, 'gpu = "T4"')
    _write(tmp_path, '[tool.loralint]\ngpu = "L4"', "pyproject.toml")
    assert load_settings(str(tmp_path)).gpu == "T4"


@pytest.mark.parametrize("text", ['[project]\nname = "x"', '# tool.loralint is not used\n[project]\nname = "x"', ""])
def test_a_pyproject_without_our_table_is_passed_over(tmp_path, text):
    _write(tmp_path, 'gpu = "T4"')
    assert load_settings(str(_write(tmp_path / "inner", text, "pyproject.toml"))).gpu == "T4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "unknown key `selct`; known are baseline, exceptions, exclude, fail-on, gate, g"),
        ("plugins = ['x.py']", "unknown key `plugins`"),
        ("rules = 'https://example.org/rules'", "`rules` must be a list"),
        ('select = "LL2"', "`select` must be a list"),
        ("preview = 1", "`preview` must be true or false"),
        ("gpu = ['T4']", "`gpu` must be a text in quotes"),
        ('per-file-ignores = ["x"]', "`per-file-ignores` must be a table"),
        ("min-score = 101", "`min-score` must be 0 to 100"),
        ("min-score = true", "`min-score` must be a whole number"),
        ("min-score = 79.5", "`min-score` must be a whole number"),
        ('tiers = ["LL214"]', "`tiers` must be a table"),
        ('tiers.LL214 = "off"', "the tier of `LL214` in `tiers` must be S, A or B; `ignore` switches a rule off"),
        ("tiers.LL214 = ['A']", "the tier of `LL214` in `tiers` must be S, A or B"),
        ('fail-on = "C"', "`fail-on` must be S, A or B"),
        ('[per-file-ignores]\n"a" = "LL1"', "each of `per-file-ignores` must be a list of rules"),
        ('exceptions = ["LL214"]', "each of `exceptions` needs exactly expires, path, reason, rule"),
        ('[[exceptions]]\nrule = "LL214"', "each of `exceptions` needs exactly expires, path, reason, rule"),
        (
            '[[exceptions]]\nrule = "LL214"\npath = "x"\nreason = "y"\nexpires = "soon"',
            "`expires` of an exception must be a date such as 2027-01-31",
        ),
        (
            '[[exceptions]]\nrule = "LL214"\npath = "x"\nreason = " "\nexpires = 2027-01-31',
            "an exception needs a `reason`",
        ),
        ("gate = true", "`gate` must be a table"),
        ("[gate]\nallow = true", "unknown key `gate.allow`; known are allowed-signers, inline-ignores, openpgp-keys, "),
        ('[gate]\nprotected = "golden"', "`gate.protected` must be a list"),
        ('[gate]\nrequire-signed = "yes"', "`gate.require-signed` must be true or false"),
        ("gpu = ", "Invalid value"),
        ("gpu = " + "[" * 5000, "recursion"),
        ("gpu = 'a'\ngpu = 'b'", "Cannot overwrite a value"),
    ],
)
def test_errors_name_the_file_and_what_to_change(tmp_path, text, message):
    _write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path))
    assert str(caught.value).startswith(f"{tmp_path / 'loralint.toml'}: ")
    assert message in str(caught.value)


def test_how_a_change_is_gated(tmp_path):
    _write(
        tmp_path, '[gate]\nallowed-signers = "keys"\nprotected = ["a/**"]\nrequire-signed = true\ninline-ignores = true'
    )
    assert load_settings(str(tmp_path)).gate == ("keys", ("a/**",), True, True, ".loralint/openpgp")
    assert load_settings(str(_write(tmp_path / "b", "[gate]"))).gate == Gate()


def test_a_file_that_is_no_utf8_is_an_error(tmp_path):
    (tmp_path / "loralint.toml").write_bytes(b'gpu = "\xff"')
    with pytest.raises(SettingsError, match=r"loralint\.toml"):
        load_settings(str(tmp_path))


def test_a_folder_or_pipe_of_that_name_is_no_settings_file(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "loralint.toml").mkdir()
    os.mkfifo(tmp_path / "pyproject.toml")
    assert load_settings(str(tmp_path)) == Settings(root=str(tmp_path))
