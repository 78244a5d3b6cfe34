"""A baseline: findings that were there when loralint came, counted by file, rule and structural path.

Lines are not part of the key, so moving a key does not revive its finding; a second one of the same kind does.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from loralint.engine.settings import SettingsError
from loralint.model import Finding
from loralint.source.secrets import redact

Key = tuple[str, str, str]
# Characters that are read: enough for some 50,000 findings.
_LENGTH = 8 * 1024 * 1024


def key_of(finding: Finding, root: str) -> Key:
    """(file relative to the baseline's folder with /, rule, JSON pointer in which no key shows a secret)."""
    relative = os.path.relpath(os.path.abspath(finding.span.file), root)
    return relative.replace(os.sep, "/"), finding.rule, redact(finding.pointer or finding.key)


def apply_baseline(findings: list[Finding], baseline: Counter[Key], root: str) -> list[Finding]:
    """Mark what the baseline covers and take it from the counts, so that what is left over is stale."""
    out = []
    for finding in findings:
        key = key_of(finding, root)
        covered = finding.suppressed is None and baseline[key] > 0
        baseline[key] -= covered
        out.append(finding._replace(suppressed={"by": "baseline", "reason": ""}) if covered else finding)
    return out


def read_baseline(path: str) -> Counter[Key]:
    """Counts by key. Raises SettingsError when the file is missing or none of ours."""
    import json

    if not os.path.isfile(path):  # a device or a pipe may never end
        raise SettingsError(f"{path}: not a baseline that can be read (no such file)")
    try:
        with open(path, encoding="utf-8") as file:
            data = json.loads(file.read(_LENGTH))
        return Counter({(one["file"], one["rule"], one["pointer"]): int(one["count"]) for one in data["entries"]})
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SettingsError(f"{path}: not a baseline that can be read ({error})") from None


def write_baseline(path: str, counts: Counter[Key]) -> None:
    """Sorted, one entry a line, so that a diff of it can be reviewed."""
    import json

    lines = [
        json.dumps(
            {"file": file, "rule": rule, "pointer": pointer, "count": count},
            ensure_ascii=not (file + pointer).isprintable(),  # names may hold bytes that are no UTF-8
        )
        for (file, rule, pointer), count in sorted(counts.items())
        if count > 0
    ]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"version": 1, "entries": [\n' + ",\n".join(lines) + "\n]}\n")


def count(findings: Iterable[Finding], root: str) -> Counter[Key]:
    """What a baseline of these findings would hold; what a comment or the settings lift stays out."""
    kept = (one for one in findings if one.suppressed is None or one.suppressed["by"] == "baseline")
    return Counter(key_of(finding, root) for finding in kept)
