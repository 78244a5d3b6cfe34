"""verl's SFT trainer: `model` and `optim` at the root; until 0.8 `model` had `partial_pretrain` and the strategy."""

from __future__ import annotations

from loralint.frameworks.convert import dtype, long_dtype, never, not_null
from loralint.frameworks.readers.verl import READER as RL
from loralint.frameworks.readers.verl import TRAINER, model, optimizer, precision, sharding
from loralint.frameworks.table import Entry

TABLE = (
    *model("model."),
    Entry("model.base", "model.partial_pretrain", not_null, never),
    *optimizer("optim."),
    *precision("engine."),
    *sharding("engine.strategy", "model.fsdp_config."),
    Entry("model.dtype", "engine.model_dtype", dtype, long_dtype),
    Entry("dist.fsdp", "model.strategy", lambda name: str(name).startswith("fsdp"), never),
    *TRAINER,
    Entry("batch.micro", "data.micro_batch_size_per_gpu", not_null),
    Entry("batch.global", "data.train_batch_size", not_null),
    Entry("train.task", "", write=never, default="sft"),
    Entry("data.sequence_len", "data.max_length", not_null),
    Entry("checkpoint.save_total_limit", "trainer.max_ckpt_to_keep", not_null),
)
READER = RL._replace(table=TABLE)
