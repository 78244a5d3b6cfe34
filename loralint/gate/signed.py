"""Whether the commits that are about to be pushed and that change configs are signed."""

from __future__ import annotations

import os
import tempfile

from loralint.engine.ratchet import judged
from loralint.engine.settings_file import Gate
from loralint.gate.change import commits_between
from loralint.gate.faults import unsigned
from loralint.gate.git import commit_of, text
from loralint.gate.judging import Asked, judge_tree, settings_of
from loralint.gate.signature import signers_of
from loralint.gate.tree import write_tree
from loralint.model import Finding

_SETTINGS = frozenset({"loralint.toml", "pyproject.toml"})


def unsigned_between(top: str, base: str, head: str) -> list[Finding]:
    """One finding for each such commit that is not, none where the settings of the base do not want it.

    base: what the other side has already; empty for nothing: then the settings are those of `head`, and the commits
    those since the settings want signatures. Raises GitError, SettingsError and ValueError.
    """
    head = commit_of(top, head)
    base = commit_of(top, base) if base else ""
    since = base or _wanted_since(top, head)
    with tempfile.TemporaryDirectory(prefix="loralint-signed-") as folder:
        settings = settings_of(write_tree(top, base or head, os.path.join(folder, "settings"), _SETTINGS))
        rules = settings.gate or Gate()
        if not rules.require_signed:
            return []
        trees = [write_tree(top, one, os.path.join(folder, one)) for one in {base or head, since or head, head}]
        known = next(tree for tree in trees if tree.folder.endswith(base or head))
        configs = {name for tree in trees for name in judged(judge_tree(tree, settings, Asked()))}
        signers = signers_of(known, rules)
        return list(unsigned(top, commits_between(top, since, head), configs, signers))


def _wanted_since(top: str, head: str) -> str:
    """The first commit whose settings spoke of signatures; empty if that is the very first of all."""
    plain = ("--no-ext-diff", "--no-textconv", "--no-patch", "--format=%H %P")
    said = text(top, "log", "-Grequire-signed", *plain, "--reverse", head, "--", *sorted(_SETTINGS)).splitlines()
    first, *parents = said[0].split() if said else [""]
    return first if parents else ""
