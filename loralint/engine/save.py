"""Mended texts put into their files, each with its audit records first, so that no change is without one."""

from __future__ import annotations

from typing import NamedTuple

from loralint.engine.mend import Change, Mended
from loralint.engine.trail import Trail
from loralint.source.read import encoding_of
from loralint.source.rewrite import Original, RefusedError, encoded, original, replace


class Saved(NamedTuple):
    """changes: those that stand on the disk now. refused: file -> why it stays as it was."""

    changes: tuple[Change, ...]
    refused: dict[str, str]


def barred(file: str) -> str:
    """Why a file cannot be rewritten; "" if it can."""
    try:
        original(file)
    except RefusedError as error:
        return str(error)
    return ""


def save(mended: Mended, trail: Trail | None) -> Saved:
    """Write every changed file, or leave it whole. trail: None to keep no records."""
    made: list[Change] = []
    refused: dict[str, str] = {}
    for file, text in mended.texts.items():
        changes = [one for one in mended.changes if one.file == file]
        try:
            old = _unchanged(file, mended.before[file])
            _save(old, encoded(text, old.data), changes, trail)
            made += changes
        except RefusedError as error:
            refused[file] = str(error)
    return Saved(tuple(made), refused)


def _save(old: Original, data: bytes, changes: list[Change], trail: Trail | None) -> None:
    added = trail.add(changes, old.data, data) if trail is not None else None
    try:
        replace(old, data)
    except RefusedError:
        if trail is not None and added is not None:
            trail.take_back(added)
        raise


def _unchanged(file: str, text: str) -> Original:
    """The file, which is still what a reader made this text of; see `source.read`."""
    old = original(file)
    encoding, skip = encoding_of(old.data)
    try:
        read = old.data[skip:].decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError:
        raise RefusedError(f"it is not valid {encoding.upper()}") from None
    if read != text:
        raise RefusedError("it has changed since it was read")
    return old
