"""What of a commit can be approved, by the name that the gate calls it."""

from __future__ import annotations

import os
import tempfile

from loralint.engine.approval import Subject, id_of, models_of, subject_of
from loralint.engine.ratchet import distinct
from loralint.gate.faults import protected_file
from loralint.gate.git import commit_of
from loralint.gate.judging import Asked, judge_tree, settings_of
from loralint.gate.tree import write_tree


def subjects(top: str, head: str, asked: Asked) -> dict[str, Subject]:
    """Id -> subject of every finding of tier A in a commit. Raises GitError, SettingsError and ValueError."""
    with tempfile.TemporaryDirectory(prefix="loralint-approve-") as folder:
        tree = write_tree(top, commit_of(top, head), os.path.join(folder, "tree"))
        report = judge_tree(tree, settings_of(tree), asked)
        models = models_of(report)
        found = [subject_of(one, models[one.rule, one.span, one.key]) for one in distinct(report) if one.tier == "A"]
        return {id_of(one): one for one in found}


def protected_subject(top: str, head: str, name: str) -> Subject:
    """The subject for a protected file as a commit has it, "deleted" if it has none. Raises GitError."""
    from loralint.gate.git import items

    found = items(top, "ls-tree", "-z", "--full-tree", commit_of(top, head), "--", name)
    mode, _, blob = found[0].partition("\t")[0].split() if found else ("", "", "")
    return subject_of(protected_file(name, f"{mode} {blob}" if found else "deleted")[0], ())
