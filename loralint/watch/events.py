"""Scalars of TensorBoard's event files, without TensorBoard.

Its own reader comes with a web server and brings a dozen packages (90 MB with `tbparse`), for four fields of a format
that has not changed since 2015: TFRecord frames (length, checksum, data, checksum) around protobuf messages. A frame
that is not whole ends the file: it is still being written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from loralint.watch.history import Record

_FRAME = struct.Struct("<QI")
_LARGEST = 1 << 24  # bytes of an event with scalars; pictures and graphs are larger and passed over
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5  # wire types of protobuf
# Numbers of the fields, from tensorboard/compat/proto/{event,summary,tensor}.proto.
_STEP, _SUMMARY = 2, 5
_VALUE = 1
_TAG, _SIMPLE, _TENSOR = 1, 2, 8
_CONTENT, _FLOATS, _DOUBLES = 4, 5, 6


class _BrokenError(ValueError):
    """A message ends in the middle of a field, or is none."""


def is_events(head: bytes) -> bool:
    """Whether a file begins as an event file does: with the event that names its version."""
    return b"brain.Event:" in head[:64]


def scalars(data: bytes) -> tuple[list[Record], int]:
    """Every event with scalars as a record of tag -> value with its `step`, and how many frames were left out."""
    records: list[Record] = []
    broken = at = 0
    while at + _FRAME.size <= len(data):
        length, _ = _FRAME.unpack_from(data, at)
        start = at + _FRAME.size
        at = start + length + 4
        if at > len(data):
            return records, broken + 1
        if length <= _LARGEST:
            try:
                records.extend(_event(data[start : start + length]))
            except (_BrokenError, struct.error):
                broken += 1
    return records, broken + (at != len(data))


def _event(data: bytes) -> Iterator[Record]:
    fields = list(_fields(data))
    step = next((value for number, value in fields if number == _STEP), 0)
    values: dict[str, object] = {}
    for number, value in fields:
        if number == _SUMMARY and isinstance(value, bytes):
            values.update(_summary(value))
    if values:
        yield Record({"step": step, **values})


def _summary(data: bytes) -> Iterator[tuple[str, float]]:
    for number, value in _fields(data):
        if number == _VALUE and isinstance(value, bytes):
            parts = dict(_fields(value))
            tag, scalar = parts.get(_TAG), parts.get(_SIMPLE)
            if scalar is None and isinstance(tensor := parts.get(_TENSOR), bytes):
                scalar = _scalar(tensor)
            if isinstance(tag, bytes) and isinstance(scalar, float):
                yield tag.decode("utf-8", "replace"), scalar


def _scalar(data: bytes) -> float | None:
    """The value of a tensor that holds one number, as TensorFlow 2 writes scalars."""
    parts = dict(_fields(data))
    for number, form in ((_FLOATS, "<f"), (_DOUBLES, "<d"), (_CONTENT, "<f")):
        value = parts.get(number)
        if isinstance(value, float):
            return value
        if isinstance(value, bytes) and len(value) == struct.calcsize(form):
            return float(struct.unpack(form, value)[0])
    return None


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """(number, value) of each field of a message. Raises _BrokenError where it is none."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
        elif kind in (_DOUBLE, _FLOAT):
            form = "<d" if kind == _DOUBLE else "<f"
            yield number, float(struct.unpack_from(form, data, at)[0])
            at += struct.calcsize(form)
        elif kind == _BYTES:
            length, at = _varint(data, at)
            if at + length > len(data):
                raise _BrokenError
            yield number, data[at : at + length]
            at += length
        else:
            raise _BrokenError


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise _BrokenError
