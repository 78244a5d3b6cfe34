"""What the caller says about a run beyond its files."""

from collections.abc import Mapping
from typing import NamedTuple


class Options(NamedTuple):
    """gpu: as given, "T4" or "A100-80GBx8". rows: of training data. targets: package -> version. framework: a name."""

    gpu: str = ""
    rows: int | None = None
    targets: Mapping[str, str] = {}
    framework: str = ""
