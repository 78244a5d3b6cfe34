"""What an editor holds: a text that may not be on the disk yet, under the name that a reader knows it by."""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from urllib.parse import unquote

from pygls.uris import to_fs_path, uri_scheme

from loralint.source.document import Document
from loralint.source.read import read_bytes

# Language as editors call it -> the suffix by which readers know it.
_SUFFIXES = {
    "yaml": ".yaml", "json": ".json", "jsonc": ".json", "toml": ".toml", "python": ".py", "shellscript": ".sh",
    "sh": ".sh", "bash": ".bash", "zsh": ".zsh", "makefile": ".mk", "make": ".mk", "powershell": ".ps1", "bat": ".bat",
    "dotenv": ".env", "helm": ".yaml", "dockercompose": ".yaml", "ipynb": ".ipynb",
}  # fmt: skip
_KNOWN = re.compile(r"\.(?:ya?ml|json|toml|py|ipynb|sh|bash|zsh|mk|ps1|bat|cmd|env)$|(?:^|/)makefile$", re.IGNORECASE)


class Buffer(NamedTuple):
    """path: absolute; of a buffer that was never saved the one that it would have in its folder."""

    uri: str
    path: str
    text: str
    version: int

    @property
    def real(self) -> str:
        """The path with its links followed."""
        return os.path.realpath(self.path)

    @property
    def mark(self) -> int:
        """Characters of a byte order mark, which readers do not count."""
        return len(self.text) - len(self.text.lstrip("\ufeff"))

    def document(self, text: str | None = None) -> Document:
        """The buffer, or what it would be with another text, as a document."""
        return read_bytes((self.text if text is None else text).encode(), self.path)


def buffer(uri: str, language: str, text: str, version: int, folder: str) -> Buffer | None:
    """The buffer, None for one that no training is written in. folder: of buffers that are no files."""
    scheme, suffix = uri_scheme(uri), _SUFFIXES.get(language.lower().partition(".")[0], "")
    # a lone half of a surrogate pair is no text; one character in its place keeps all offsets
    text = text.encode("utf-8", "replace").decode()
    if scheme == "untitled" and suffix:
        name = re.sub(r"[^\w.-]+", "-", unquote(uri.partition(":")[2])) or "untitled"
        path = os.path.join(folder, name if name.endswith(suffix) else name + suffix)
        return Buffer(uri, os.path.abspath(path), text, version)
    path = to_fs_path(uri) or "" if scheme == "file" else ""
    if not path or "\0" in path or not (suffix or _KNOWN.search(path)):
        return None
    return Buffer(uri, os.path.abspath(path), text, version)
