"""What holds for the observations of every reader."""

from __future__ import annotations

from loralint.frameworks.axolotl import READER


def test_a_file_full_of_unknown_keys_is_told_whole_but_not_compared_for_minutes(reading, observed) -> None:
    found = observed(
        reading(READER, "".join(f"lora_dropuot_{index}: 1\nlora_dropout{index}: 1\n" for index in range(500)))
    )
    assert len(found) == 1000
    assert {one.kind for one in found.values()} == {"unknown"}
    assert 0 < sum(one.replacement != "" for one in found.values()) <= 100
