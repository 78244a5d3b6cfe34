from __future__ import annotations

import pytest

from loralint.authoring.load import AuthoringError, load


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2e-4", 0.0002),
        ("1E5", 100000.0),
        (".5", 0.5),
        ("-3", -3),
        ("0", 0),
        ("true", True),
        ("no", "no"),
        ("on", "on"),
        ("017", "017"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("~", None),
        ("", None),
        ("none", "none"),
        ('"2e-4"', "2e-4"),
    ],
)
def test_scalars_are_read_as_yaml_1_2_reads_them(tmp_path, text, value):
    file = tmp_path / "one.yaml"
    file.write_text(f"key: {text}\n", "utf-8")
    read = load(file)["key"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: [1\n", "a: !!python/object:os.system {}\n"])
def test_faulty_yaml_names_the_file(tmp_path, text):
    file = tmp_path / "one.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(AuthoringError, match=r"one\.yaml"):
        load(file)
