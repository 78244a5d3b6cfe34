"""`loralint.toml` or `[tool.loralint]` of pyproject.toml: data only, nothing in it is ever executed or fetched."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from loralint.engine.settings import Settings, SettingsError
from loralint.model import TIERS

KEYS: dict[str, type] = {
    "select": list,
    "ignore": list,
    "exclude": list,
    "preview": bool,
    "gpu": str,
    "target": list,
    "model-config": list,
    "model-cache": str,
    "fail-on": str,
    "min-score": int,
    "tiers": dict,
    "baseline": str,
    "per-file-ignores": dict,
    "exceptions": list,
    "gate": dict,
    "rules": list,
    "golden": list,
}
GATE_KEYS: dict[str, type] = {
    "allowed-signers": str,
    "protected": list,
    "require-signed": bool,
    "inline-ignores": bool,
    "openpgp-keys": str,
}
_WORDS = {list: "a list", bool: "true or false", str: "a text in quotes", dict: "a table", int: "a whole number"}
EXCEPTION_KEYS = frozenset({"rule", "path", "reason", "expires"})


class Exemption(NamedTuple):
    """A dated exception for a rule in some files; the only way to lift a tier S finding. expires: ISO date."""

    rule: str
    path: str
    reason: str
    expires: str


class Gate(NamedTuple):
    """How `loralint gate` decides. allowed_signers: file of keys; protected: patterns of files that two must approve;
    require_signed: commits that change configs are signed; inline_ignores: comments of the change lift tier A;
    openpgp_keys: folder of public keys, each file named after the person.
    """

    allowed_signers: str = ".loralint/allowed_signers"
    protected: tuple[str, ...] = ()
    require_signed: bool = False
    inline_ignores: bool = False
    openpgp_keys: str = ".loralint/openpgp"


def read_settings(data: bytes, path: str, inside: str) -> Settings | None:
    """The settings of a file, or of its table `inside`; None when it has no such table. Raises SettingsError."""
    try:
        table: Any = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: {error}") from None
    for name in inside.split(".") if inside else ():
        table = table.get(name)
        if not isinstance(table, dict):
            return None
    return parse_settings(table, path)


def parse_settings(table: Mapping[str, Any], path: str) -> Settings:
    """Check names and types. Raises SettingsError with the file, the key and what it must be."""
    _refuse_odd(table, KEYS, path)
    fail_on = table.get("fail-on", "S")
    if fail_on not in TIERS:
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
        tuple(map(str, table.get("model-config", ()))),
        table.get("model-cache", ""),
        _gate(table["gate"], path) if "gate" in table else None,
        tuple(map(str, table.get("rules", ()))),
        tuple(map(str, table.get("golden", ()))),
        os.path.dirname(os.path.abspath(path)),
        tuple((rules, _tier(path, rules, tier)) for rules, tier in table.get("tiers", {}).items()),
        _min_score(path, table.get("min-score", 0)),
    )


def _refuse_odd(table: Mapping[str, Any], known: Mapping[str, type], path: str, prefix: str = "") -> None:
    for key, value in table.items():
        wanted = known.get(key)
        if wanted is None:
            raise SettingsError(f"{path}: unknown key `{prefix}{key}`; known are {', '.join(sorted(known))}")
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise SettingsError(f"{path}: `{prefix}{key}` must be {_WORDS[wanted]}")


def _gate(table: Mapping[str, Any], path: str) -> Gate:
    _refuse_odd(table, GATE_KEYS, path, "gate.")
    return Gate(
        table.get("allowed-signers", Gate().allowed_signers),
        tuple(map(str, table.get("protected", ()))),
        table.get("require-signed", False),
        table.get("inline-ignores", False),
        table.get("openpgp-keys", Gate().openpgp_keys),
    )


def _tier(path: str, rules: str, tier: object) -> str:
    if not isinstance(tier, str) or tier not in TIERS:
        raise SettingsError(f"{path}: the tier of `{rules}` in `tiers` must be S, A or B; `ignore` switches a rule off")
    return tier


def _min_score(path: str, least: int) -> int:
    if not 0 <= least <= 100:
        raise SettingsError(f"{path}: `min-score` must be 0 to 100")
    return least


def _codes(path: str, codes: object) -> tuple[str, ...]:
    if not isinstance(codes, list):
        raise SettingsError(f"{path}: each of `per-file-ignores` must be a list of rules")
    return tuple(map(str, codes))


def _exemption(path: str, raw: object) -> Exemption:
    if not isinstance(raw, dict) or set(raw) != EXCEPTION_KEYS:
        raise SettingsError(f"{path}: each of `exceptions` needs exactly {', '.join(sorted(EXCEPTION_KEYS))}")
    expires = str(raw["expires"])
    try:
        date.fromisoformat(expires)
    except ValueError:
        raise SettingsError(f"{path}: `expires` of an exception must be a date such as 2027-01-31") from None
    if not str(raw["reason"]).strip():
        raise SettingsError(f"{path}: an exception needs a `reason`")
    return Exemption(str(raw["rule"]), str(raw["path"]), str(raw["reason"]), expires)
