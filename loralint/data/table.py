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
MISSING = "Parquet is read with pyarrow: pip install loralint[data]"


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
        yield from _batches(table, source, size / max(1, rows))
    except (pa.ArrowException, OSError, ValueError):
        yield Row(source.total + 1, 1, None, "it is no whole Parquet file")


def _largest(table: Any) -> int:
    """Bytes that its largest row group says it unpacks to."""
    groups = range(table.metadata.num_row_groups)
    return max((table.metadata.row_group(number).total_byte_size for number in groups), default=0)


def _batches(table: Any, source: Source, bytes_a_row: float) -> Iterator[Row]:
    for batch in table.iter_batches(batch_size=_BATCH):
        if batch.nbytes > _BATCH_BYTES:
            source.unread = "some hundred rows of it unpack to more than 64 MiB"
            return
        for value in batch.to_pylist():
            source.total += 1
            if source.every == 1 or sampled(json.dumps(value, default=str).encode(), source.every):
                yield Row(source.total, 1, value)
        source.progress(int(bytes_a_row * batch.num_rows))
