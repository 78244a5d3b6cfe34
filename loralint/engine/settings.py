"""`loralint.toml` or `[tool.loralint]` of pyproject.toml: data only, nothing in it is ever executed or fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

_KEYS: dict[str, type] = {
    "select": list,
    "ignore": list,
    "exclude": list,
    "preview": bool,
    "gpu": str,
    "target": list,
    "fail-on": str,
    "baseline": str,
    "per-file-ignores": dict,
    "exceptions": list,
}
_EXCEPTION_KEYS = frozenset({"rule", "path", "reason", "expires"})


class Exemption(NamedTuple):
    """A dated exception for a rule in some files; the only way to lift a tier S finding. expires: ISO date."""

    rule: str
    path: str
    reason: str
    expires: str


class Settings(NamedTuple):
    """What a project says once. root: folder of the settings file, which paths and patterns are relative to."""

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
    exceptions: tuple[Exemption, ...] = ()


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
    import tomllib

    try:
        table: Any = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: {error}") from None
    if name == "pyproject.toml":
        table = table.get("tool", {}).get("loralint")
    return None if table is None else parse_settings(table, path)


def parse_settings(table: Mapping[str, Any], path: str) -> Settings:
    """Check names and types. Raises SettingsError with the file, the key and what it must be."""
    for key, value in table.items():
        wanted = _KEYS.get(key)
        if wanted is None:
            raise SettingsError(f"{path}: unknown key `{key}`; known are {', '.join(sorted(_KEYS))}")
        if not isinstance(value, wanted):
            raise SettingsError(f"{path}: `{key}` must be a {wanted.__name__}")
    fail_on = table.get("fail-on", "S")
    if fail_on not in ("S", "A", "B"):
        raise SettingsError(f"{path}: `fail-on` must be S, A or B")
    return Settings(
        os.path.dirname(os.path.abspath(path)),
        path,
        tuple(map(str, table.get("select", ()))),
        tuple(map(str, table.get("ignore", ()))),
        tuple(map(str, table.get("exclude", ()))),
        table.get("preview", False),
        table.get("gpu", ""),
        tuple(map(str, table.get("target", ()))),
        fail_on,
        table.get("baseline", ""),
        tuple((pattern, _codes(path, codes)) for pattern, codes in table.get("per-file-ignores", {}).items()),
        tuple(_exemption(path, one) for one in table.get("exceptions", ())),
    )


def _codes(path: str, codes: object) -> tuple[str, ...]:
    if not isinstance(codes, list):
        raise SettingsError(f"{path}: each of `per-file-ignores` must be a list of rules")
    return tuple(map(str, codes))


def _exemption(path: str, raw: object) -> Exemption:
    if not isinstance(raw, dict) or set(raw) != _EXCEPTION_KEYS:
        raise SettingsError(f"{path}: each of `exceptions` needs exactly {', '.join(sorted(_EXCEPTION_KEYS))}")
    expires = str(raw["expires"])
    from datetime import date

    try:
        date.fromisoformat(expires)
    except ValueError:
        raise SettingsError(f"{path}: `expires` of an exception must be a date such as 2027-01-31") from None
    if not str(raw["reason"]).strip():
        raise SettingsError(f"{path}: an exception needs a `reason`")
    return Exemption(str(raw["rule"]), str(raw["path"]), str(raw["reason"]), expires)
