"""prime-rl's SFT trainer: the trainer's own sections at the root, beside `data`."""

from __future__ import annotations

from loralint.frameworks.convert import never, not_null
from loralint.frameworks.readers.prime_rl import READER as RL
from loralint.frameworks.readers.prime_rl import SHARED, trainer
from loralint.frameworks.table import Entry

TABLE = (
    *trainer(""),
    *SHARED,
    Entry("train.task", "", write=never, default="sft"),
    Entry("batch.global", "data.batch_size", not_null, default=128),
    Entry("data.datasets", "data.name", lambda name: [name] if isinstance(name, str) else name, never),
    Entry("data.sequence_len", "data.seq_len", not_null, default=128),
)
READER = RL._replace(table=TABLE)
