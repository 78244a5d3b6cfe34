"""The head of a GGUF file, walked before a library reads it that trusts every number in it.

Of an array that is said to have 2**60 entries it makes 2**60 objects, however few the file has.
"""

from __future__ import annotations

import mmap
import os
from struct import Struct, error

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_SIZES = (1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8)  # bytes of a value by its type; of the two with 0 the file says it
_STRING, _ARRAY = 8, 9
_WHOLE = {4: "I", 5: "i", 10: "Q", 11: "q"}
# Each entry becomes some objects of Python. The largest vocabularies known to us have 262,144 tokens and twice as many
# merges, in 20 MB.
_MOST_ENTRIES, _MOST_BYTES = 3_000_000, 1 << 27
_MOST_FIELDS, _MOST_TENSORS, _MOST_DIMENSIONS = 10_000, 100_000, 4
_COUNTS_LAYERS = b".block_count"
_SHORT = "its weights are cut short or damaged: its head has no end where it should"


class _Head:
    """The bytes of a file, and a place in them."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at, self.order, self.entries = data, 0, "<", 0

    def number(self, form: str) -> int:
        one = Struct(self.order + form)
        found: int = one.unpack_from(self.data, self.at)[0]
        self.at += one.size
        return found

    def count(self, most: int, what: str) -> int:
        found = self.number("Q")
        if found > most:
            raise ValueError(f"its head names {found:,} {what}")
        return found

    def skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self.data):
            raise ValueError(_SHORT)

    def text(self) -> bytes:
        length = self.number("Q")
        self.skip(length)
        return self.data[self.at - length : self.at]

    def texts(self, count: int) -> None:
        read, data, at = Struct(self.order + "Q").unpack_from, self.data, self.at
        for _ in range(count):  # a million of them, so no call more than this
            at += read(data, at)[0] + 8
        self.at = at
        self.skip(0)


def refuse_odd_head(path: str, most_layers: int) -> None:
    """Raise ValueError for a GGUF file whose head is not whole, or would take hours or all memory to read."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if file.read(4) != _MAGIC:
            raise ValueError("it is no GGUF file")
        with mmap.mmap(file.fileno(), min(size, _MOST_BYTES), access=mmap.ACCESS_READ) as data:
            try:
                _walk(_Head(data), most_layers)
            except (error, OverflowError):  # the end of the data, or numbers that lie beyond any
                raise ValueError(_SHORT) from None


def _walk(head: _Head, most_layers: int) -> None:
    head.skip(len(_MAGIC))
    version = head.number("I")
    if not version & 0xFFFF:  # written by a machine of the other order of bytes
        head.order, version = ">", int.from_bytes(version.to_bytes(4, "little"), "big")
    if version not in _VERSIONS:
        raise ValueError(f"it is of version {version} of GGUF, and 2 and 3 are read")
    tensors = head.count(_MOST_TENSORS, "tensors")
    for _ in range(head.count(_MOST_FIELDS, "fields")):
        _field(head, most_layers)
    for _ in range(tensors):
        _tensor(head)


def _field(head: _Head, most_layers: int) -> None:
    name, kind = head.text(), head.number("I")
    if name.endswith(_COUNTS_LAYERS):
        if kind not in _WHOLE:
            raise ValueError("its head gives the number of its layers as no whole number")
        layers = head.number(_WHOLE[kind])
        if not 0 < layers <= most_layers:
            raise ValueError(f"its head names {layers} layers")
    elif kind == _ARRAY:
        kind = head.number("I")
        _values(head, kind, head.count(_MOST_ENTRIES, "entries of an array"))
    else:
        _values(head, kind, 1)


def _values(head: _Head, kind: int, count: int) -> None:
    head.entries += count
    if head.entries > _MOST_ENTRIES:
        raise ValueError(f"its head has more than {_MOST_ENTRIES:,} entries")
    if kind == _STRING:
        head.texts(count)
    elif kind < len(_SIZES) and _SIZES[kind]:
        head.skip(count * _SIZES[kind])
    else:
        raise ValueError(f"its head has a field of a type that is not read ({kind})")


def _tensor(head: _Head) -> None:
    head.text()
    dimensions = head.number("I")
    if dimensions > _MOST_DIMENSIONS:
        raise ValueError(f"its head names a tensor of {dimensions} dimensions")
    head.skip(dimensions * 8 + 4 + 8)
