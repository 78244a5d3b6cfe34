"""Files rewritten in one step: whoever looks, and whenever the machine stops, finds the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import NamedTuple

from loralint.source.discover import lexically_within, within
from loralint.source.read import NotRegularError, encoding_of, open_regular

# What a rewrite leaves beside the file if it is killed; nothing lints it.
SUFFIX = ".loralint-tmp"


class RefusedError(Exception):
    """The file stays as it is; the message says why."""


class Original(NamedTuple):
    """A file as it was read. path: what to open, links followed."""

    path: str
    data: bytes
    status: os.stat_result


def encoded(text: str, data: bytes) -> bytes:
    """A text in the encoding of the bytes that an earlier state of it was read from, byte order marks kept.

    Raises ValueError for a character that the encoding lacks.
    """
    encoding, skip = encoding_of(data)
    before = data[skip:].decode(encoding)
    marks = before[: len(before) - len(before.lstrip("\ufeff"))]
    return data[:skip] + (marks + text).encode(encoding)


def original(path: str) -> Original:
    """Read a file that is to be rewritten. Raises RefusedError where that could harm anything but its text."""
    home = os.curdir if lexically_within(path, os.path.abspath(os.curdir)) else os.path.dirname(path)
    if not within(path, home):
        raise RefusedError("it is reached by a symbolic link that leads out of the project")
    real = os.path.realpath(path)
    try:
        with open_regular(real) as file:
            status, data = os.fstat(file.fileno()), file.read()
    except (OSError, NotRegularError) as error:
        raise RefusedError(_reason(error)) from None
    if status.st_nlink > 1:
        raise RefusedError(f"it has {status.st_nlink} hard links, of which only one would change")
    if not status.st_mode & 0o222 or not os.access(real, os.W_OK):
        raise RefusedError("it is read-only")
    return Original(real, data, status)


def leads_elsewhere(root: str, folder: str) -> bool:
    """Whether a link stands on the way from a root to a folder below it, which may not exist yet."""
    folder = os.path.normpath(folder)
    return os.path.realpath(os.path.join(root, folder)) != os.path.join(os.path.realpath(root), folder)


def replace(old: Original, data: bytes) -> None:
    """Put new bytes in the place of a file, with its mode, owner and attributes. Raises RefusedError.

    They are written beside it, forced to the disk and renamed over it. A file that has changed since it was read stays.
    """
    try:
        beside = _beside(old, data)
        try:
            _still(old)
            os.replace(beside, old.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
        sync_folder(os.path.dirname(old.path))
    except OSError as error:
        raise RefusedError(_reason(error)) from None


def _still(old: Original) -> None:
    if original(old.path).data != old.data:
        raise RefusedError("it has changed since it was read")


def _beside(old: Original, data: bytes) -> str:
    """A new file with these bytes next to the old one, on the disk; its name."""
    import tempfile

    folder, name = os.path.split(old.path)
    descriptor, path = tempfile.mkstemp(SUFFIX, f".{name[:100]}.", folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            _like(old, descriptor)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    return path


def _like(old: Original, descriptor: int) -> None:
    """Give an open file the owner, mode and attributes of another."""
    own = os.fstat(descriptor)
    if hasattr(os, "fchown") and (own.st_uid, own.st_gid) != (old.status.st_uid, old.status.st_gid):
        try:
            os.fchown(descriptor, old.status.st_uid, old.status.st_gid)
        except OSError:
            raise RefusedError("its owner or group could not be kept") from None
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.status.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):  # file systems without them, and those that only the system may set
            for name in os.listxattr(old.path):
                os.setxattr(descriptor, name, os.getxattr(old.path, name))


def sync_folder(folder: str) -> None:
    """Force the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"it cannot be written: {os.strerror(error.errno).lower() if error.errno else error}"
    return f"it is {error}, not a regular file"
