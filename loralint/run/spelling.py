"""How the users of a framework write a canonical field, without a file at hand."""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.detect import by_name, reader
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import versions_of


def keys_of(framework: str) -> Callable[[str], str]:
    """Canonical field -> dotted key at the framework's newest known release; the field itself where it has none.

    Raises ValueError for a framework that is not known.
    """
    found = reader(by_name(framework))
    return Config(found, (), Options(), versions_of(found.name, {})).key
