"""The Alignment Handbook (925acdfe): TRL's keys with dataset mixtures and a chat template of its own."""

from __future__ import annotations

from loralint.frameworks.convert import never, not_null
from loralint.frameworks.readers import trl
from loralint.frameworks.table import Entry

OWN = (
    Entry("data.datasets", "dataset_mixture.datasets", trl.paths, never),
    Entry("data.datasets", "dataset_mixer", trl.paths, never),
    Entry("data.val_size", "dataset_mixture.test_split_size", not_null),
    Entry("data.template", "chat_template", not_null),
)

READER = trl.READER._replace(
    name="alignment-handbook",
    title="Alignment Handbook",
    table=(*OWN, *trl.TABLE),
    keys="alignment-handbook",
    packages=("alignment-handbook", *trl.READER.packages),
)
