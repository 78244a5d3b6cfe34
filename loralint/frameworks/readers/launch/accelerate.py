"""Options of `accelerate launch`, which beat those of its file.

Source: huggingface/accelerate@16cb6eb commands/launch.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.convert import never, when_true
from loralint.frameworks.readers.accelerate import TABLE as FILE
from loralint.frameworks.readers.launch import named
from loralint.frameworks.table import Entry, Reader

# What the launcher hands on only under --use_deepspeed and --use_fsdp has the same names in the file's sections.
_SECTIONS = ("deepspeed_config.", "fsdp_config.fsdp_")
_ABOUT_TYPE = "distributed_type"


def _options() -> Iterator[Entry]:
    for entry in FILE:
        if entry.key != _ABOUT_TYPE and ("." not in entry.key or entry.key.startswith(_SECTIONS)):
            yield entry._replace(key=entry.key.rpartition(".")[2])


TABLE: tuple[Entry, ...] = (
    Entry("dist.launcher_type", "use_deepspeed", when_true("deepspeed"), never),
    Entry("dist.launcher_type", "use_fsdp", when_true("fsdp"), never),
    Entry("dist.launcher_type", "multi_gpu", when_true("multi_gpu"), never),
    Entry("dist.launcher_type", "cpu", when_true("no"), never),
    Entry("dist.deepspeed", "use_deepspeed", when_true("accelerate's own"), never),
    Entry("dist.ds_clips", "use_deepspeed", when_true(canonical=True), never),
    Entry("dist.fsdp", "use_fsdp", when_true(canonical=True)),
    *_options(),
)

READER = Reader(
    name="accelerate",
    title="accelerate launch",
    dialect="flags",
    table=TABLE,
    keys="accelerate_launch",
    coerces=True,
    packages=("accelerate", "transformers"),
    combine=named("accelerate"),
)
