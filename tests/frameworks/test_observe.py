"""What holds for the observations of every reader."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.axolotl import READER
from loralint.frameworks.readers.llamafactory import READER as LLAMAFACTORY


def test_a_file_full_of_unknown_keys_is_told_whole_but_not_compared_for_minutes(reading, observed) -> None:
    found = observed(
        reading(READER, "".join(f"lora_dropuot_{index}: 1\nlora_dropout{index}: 1\n" for index in range(500)))
    )
    assert len(found) == 1000
    assert {one.kind for one in found.values()} == {"unknown"}
    assert 0 < sum(one.replacement != "" for one in found.values()) <= 100


@pytest.mark.parametrize("word", ["false", "no", "Off", "0"])
def test_a_quoted_no_is_on_where_nothing_converts_it_and_off_where_something_does(reading, observed, word) -> None:
    text = f'quantization_bit: 4\ndouble_quantization: "{word}"\n'
    assert reading(LLAMAFACTORY, text).get("quant.double").value is True
    assert observed(reading(LLAMAFACTORY, text))["double_quantization"].replacement == "false"
    assert reading(READER, f'peft_use_dora: "{word}"\n').get("adapter.dora").value is False
