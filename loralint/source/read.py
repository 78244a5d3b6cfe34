"""Files and bytes to documents. Nothing here raises: what goes wrong is a problem in the document."""

from __future__ import annotations

import codecs
import os
import re
import stat
from typing import BinaryIO

from loralint.source.document import Document
from loralint.source.limits import BYTES, HEAD, NOTEBOOK_BYTES

_FORMATS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".py": "python", ".ipynb": "notebook"}
_FORMATS |= {".sh": "shell", ".bash": "shell", ".zsh": "shell", ".mk": "make", "makefile": "make", ".ps1": "powershell"}
_FORMATS |= {".sbatch": "shell", ".slurm": "shell"}
_FORMATS |= {".bat": "cmd", ".cmd": "cmd", ".env": "text"}
# Texts that hold no tree; what reads programs takes them as they are.
# programs that Windows reads in the machine's own code page: what is no UTF-8 there is text like any other
_CODE_PAGES = frozenset({"powershell", "cmd"})
PROGRAMS = frozenset({"python", "notebook", "shell", "make", "powershell", "cmd", "text"})
# UTF-32 before UTF-16: the little-endian marks start alike.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TOML = r"(?m)\[\[?[\w.\"' -]+\]\]?[ \t]*(?:#.*)?$|[\w.\"'-]+[ \t]*=[ \t]*[\[{\"'\w+-]"
_JSON = r"\{(?![{%])|\["
_PREAMBLE = r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*"


def read_file(path: str, shown: str, format: str | None = None) -> Document:  # noqa: A002 - the interface's name
    """Read a regular file; `shown` is the name that reports use and, if no format is given, names it by its suffix."""
    try:
        data, whole = _load(path, _limit(shown, format))
    except NotRegularError as error:
        return _failed(shown, "unreadable", f"not read: it is {error}, not a regular file")
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "the name is not usable"
        return _failed(shown, "unreadable", f"cannot be read: {reason.lower()}")
    if whole:
        return read_bytes(data, shown, format)
    return _too_large(data, shown, format)


def read_bytes(data: bytes, shown: str, format: str | None = None) -> Document:  # noqa: A002 - the interface's name
    """Read a text; its format is given, or follows from the suffix of `shown`, or from the text itself."""
    if len(data) > _limit(shown, format):
        return _too_large(data[:HEAD], shown, format)
    encoding, skip = encoding_of(data)
    try:
        text, fault = data[skip:].decode(encoding), None
    except UnicodeDecodeError as error:
        text, fault = data[skip:].decode(encoding, "replace"), error
    text = text.lstrip("\ufeff")
    doc = Document(shown, format or _format(shown, text), text)
    if fault and doc.format not in _CODE_PAGES:
        at = len(data[skip : skip + fault.start].decode(encoding, "replace").lstrip("\ufeff"))
        bad = data[skip + fault.start : skip + fault.start + 1].hex()
        name = encoding.removesuffix("-le").removesuffix("-be").upper()
        doc.fault("encoding", f"the byte 0x{bad} is not valid {name}; save the file as UTF-8", at)
    else:
        _parse(doc)
    return doc


def read_text(text: str, shown: str, format: str | None = None) -> Document:  # noqa: A002 - the interface's name
    """Read what is a text already; see `read_bytes`."""
    doc = Document(shown, format or _format(shown, text), text)
    if len(text) > BYTES:
        doc = Document(shown, doc.format, text[:HEAD])
        doc.fault("too-large", f"larger than {BYTES // 1024 // 1024} MiB: not a training config", 0)
    else:
        _parse(doc)
    return doc


def _parse(doc: Document) -> None:
    if doc.format in PROGRAMS:
        return
    if doc.format == "json":
        from loralint.source import json as reader
    elif doc.format == "toml":
        from loralint.source import toml as reader  # type: ignore[no-redef]
    else:
        from loralint.source import yaml as reader  # type: ignore[no-redef]
    reader.read(doc)


class NotRegularError(Exception):
    """The path leads to something that may block, never end or act when opened; the message names it."""


def open_regular(path: str) -> BinaryIO:
    """Open a regular file to read its bytes. Raises NotRegularError, or OSError as `open` does.

    The file may be swapped after the first look, so what was opened is looked at again, without waiting for a writer.
    """
    refuse_irregular(path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        _regular(os.fstat(descriptor))
    except NotRegularError:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def refuse_irregular(path: str) -> None:
    """Raises NotRegularError for a pipe, a socket, a device or a folder, or OSError as `os.stat` does."""
    _regular(os.stat(path))


def _limit(shown: str, format: str | None) -> int:  # noqa: A002
    """Give the bytes that are read of a file at most: a notebook holds its pictures too."""
    notebook = format == "notebook" or (format is None and shown.lower().endswith(".ipynb"))
    return NOTEBOOK_BYTES if notebook else BYTES


def _load(path: str, limit: int) -> tuple[bytes, bool]:
    """Give the content and whether that is all; of a file that is too large only its head."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(HEAD if size > limit else size + 1)
        if size < len(data) <= limit:  # it has grown, or its size is not told
            data += file.read(limit + 1 - len(data))
    whole = size <= limit and len(data) <= limit
    return (data if whole else data[:HEAD]), whole


def _regular(status: os.stat_result) -> None:
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
        raise NotRegularError(next((name for test, name in kinds if test(mode)), "a device"))


def encoding_of(data: bytes) -> tuple[str, int]:
    """Give the encoding that a byte order mark says, else UTF-8, and the length of the mark."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name, len(mark)
    return "utf-8", 0


def _format(shown: str, text: str) -> str:
    name = os.path.basename(shown).lower()
    known = _FORMATS.get(os.path.splitext(name)[1] or name)
    if known:
        return known
    preamble = re.match(_PREAMBLE, text)
    text = text[preamble.end() :] if preamble else text
    if re.match(_TOML, text):
        return "toml"
    return "json" if re.match(_JSON, text) else "yaml"


def _failed(shown: str, kind: str, message: str) -> Document:
    doc = Document(shown, _format(shown, ""), "")
    doc.fault(kind, message, 0)
    return doc


def _too_large(head: bytes, shown: str, format: str | None = None) -> Document:  # noqa: A002
    encoding, skip = encoding_of(head)
    text = head[skip:].decode(encoding, "replace").lstrip("\ufeff")
    doc = Document(shown, format or _format(shown, text), text)
    doc.fault("too-large", f"larger than {_limit(shown, format) // 1024 // 1024} MiB: not a training config", 0)
    return doc
