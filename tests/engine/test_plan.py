"""A process that lints for weeks must not keep something of every file."""

import gc
import tracemalloc

from loralint import check

CONFIG = "base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nlora_r: 16\nlora_alpha: 32\ndatasets: [{{path: d{}}}]\n"


def test_memory_does_not_grow_with_the_files_checked(tmp_path):
    path = tmp_path / "config.yaml"

    def lint(times: int) -> int:
        for number in range(times):
            path.write_text(CONFIG.format(number), encoding="utf-8")
            check([path], target=[f"peft=0.{number % 30}.0"])
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    lint(70)  # what is read once is there, and what is kept for some versions is full
    tracemalloc.start()
    try:
        first = lint(70)
        assert lint(210) - first < 300_000
    finally:
        tracemalloc.stop()
