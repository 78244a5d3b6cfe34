"""Files of ms-swift 2's `scripts/benchmark`: arguments of version 2 below `args`, and experiments that vary them."""

from __future__ import annotations

from loralint.frameworks.readers.ms_swift import READER as PLAIN

READER = PLAIN._replace(
    table=tuple(row._replace(key=f"args.{row.key}" if row.key else "") for row in PLAIN.table),
    keys="",
    observe=(),
    pins=lambda _: {"ms-swift": "2.6.1"},
)
