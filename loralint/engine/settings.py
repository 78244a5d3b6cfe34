"""What a project says once, and where it says it; the file itself is read by `settings_file`, when there is one."""

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from loralint.engine.settings_file import Exemption, Gate

# Annotations are real objects here, not texts: a NamedTuple compiles each text, which every start would pay for.


class Settings(NamedTuple):
    """What a project says once. root: folder of the settings file, which paths and patterns are relative to.

    tiers: selector of rules -> the tier of their findings. min_score: of a run, below which a check does not pass.
    rules, golden: patterns of files with rules and golden entries of the project's own, below own_root.
    """

    root: str = "."
    file: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    preview: bool = False
    gpu: str = ""
    target: tuple[str, ...] = ()
    fail_on: str = "S"
    baseline: str = ""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exceptions: tuple["Exemption", ...] = ()
    model_config: tuple[str, ...] = ()
    model_cache: str = ""
    gate: "Gate | None" = None
    rules: tuple[str, ...] = ()
    golden: tuple[str, ...] = ()
    own_root: str = "."
    tiers: tuple[tuple[str, str], ...] = ()
    min_score: int = 0


class SettingsError(Exception):
    """The settings file cannot be used; the message names the file and what to change."""


def load_settings(folder: str) -> Settings:
    """The nearest settings file at or above `folder`, not above its git checkout. Raises SettingsError."""
    current = os.path.abspath(folder)
    while True:
        for name in ("loralint.toml", "pyproject.toml"):
            found = _from_file(os.path.join(current, name), name)
            if found is not None:
                return found
        parent = os.path.dirname(current)
        if parent == current or os.path.exists(os.path.join(current, ".git")):
            return Settings(root=os.path.abspath(folder))
        current = parent


def _from_file(path: str, name: str) -> Settings | None:
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        data = file.read(1 << 20)
    if name == "pyproject.toml" and b"tool.loralint" not in data:
        return None
    from loralint.engine.settings_file import read_settings

    return read_settings(data, path, inside="tool.loralint" if name == "pyproject.toml" else "")
