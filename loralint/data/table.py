"""Parquet, by pyarrow, which comes with the extra `data`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from loralint.data.given import ROWS
from loralint.data.lines import sampled
from loralint.data.row import Row, Source, sampling

_BATCH = 256
# A few bytes can say "the same ten megabytes, a million times": what a file says it unpacks to is believed and bounded.
_GROUP_BYTES = 2 * 1024 * 1024 * 1024
_BATCH_BYTES = 64 * 1024 * 1024
MISSING = "Parquet is read with pyarrow, which the extra loralint[data] brings"


def read_table(file: BinaryIO, source: Source, size: int) -> Iterator[Row]:
    """The rows of a Parquet file; why not all of them were read is left in the source."""
    source.unit = "row"
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        source.unread = MISSING
        return
    try:
        table = parquet.ParquetFile(file, memory_map=False, buffer_size=1 << 20)
        rows = table.metadata.num_rows
        source.every = max(source.every, sampling(rows, ROWS))
        if _largest(table) > _GROUP_BYTES:
            source.unread = "it unpacks to more than 2 GiB at once"
            return
        if any(_shares(field.type, pa) for field in table.schema_arrow):
            source.unread = "it shares values inside of lists or fields, which may unpack to any size"
            return
        yield from _batches(table, source, size / max(1, rows))
    except (pa.ArrowException, OSError, ValueError):
        yield Row(source.total + 1, 1, None, "it is no whole Parquet file")


def _largest(table: Any) -> int:
    """Bytes that its largest row group says it unpacks to."""
    groups = range(table.metadata.num_row_groups)
    return max((table.metadata.row_group(number).total_byte_size for number in groups), default=0)


def _shares(kind: Any, pa: Any) -> bool:
    """Whether the size of an array of this type says nothing of that of its values."""
    top = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(word in str(top) for word in ("dictionary", "run_end", "view"))


def _batches(table: Any, source: Source, bytes_a_row: float) -> Iterator[Row]:
    # values of a dictionary are shared in the batch and no longer in Python, so that they come one row at a time
    shared = any("dictionary" in str(field.type) for field in table.schema_arrow)
    for batch in table.iter_batches(batch_size=_BATCH):
        if batch.nbytes > _BATCH_BYTES:
            source.unread = "some hundred rows of it unpack to more than 64 MiB"
            return
        step = 1 if shared else _BATCH
        for at in range(0, batch.num_rows, step):
            for value in batch.slice(at, step).to_pylist():
                source.total += 1
                if source.every == 1 or sampled(json.dumps(value, default=str).encode(), source.every):
                    yield Row(source.total, 1, value)
        source.progress(int(bytes_a_row * batch.num_rows))
