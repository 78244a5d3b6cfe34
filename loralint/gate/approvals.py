"""The approvals that a change brings along, held against the base's keys and the forge's reviews."""

from __future__ import annotations

import os
import posixpath
from typing import NamedTuple

from loralint.engine.approval import FOLDER, Record, Subject, confirmed, id_of, read_record, void
from loralint.engine.signers import Signer, people
from loralint.gate.change import Commit, was_there
from loralint.gate.git import is_shallow
from loralint.gate.signature import commit_key, signer_key
from loralint.gate.tree import Tree

_MOST_SIGNATURES = 20  # of one record: each costs a process
_MOST_RECORDS = 200


class Approvals(NamedTuple):
    """records: those that the change adds; signed: record -> people; authors: of the change, None where unproved;
    reviewers: who approved the commit at the forge, None where nobody asked it.
    """

    records: tuple[Record, ...]
    signed: dict[str, set[str]]
    authors: set[str] | None
    reviewers: list[str] | None

    def why_not(self, subject: Subject) -> str:
        """Why a finding is not approved; empty when it is."""
        fitting = [one for one in self.records if not one.fault and dict(one.subject) == dict(subject)]
        if not fitting:
            stale = [why for one in self.records if (why := void(one, subject))]
            return f"its approval is void: {stale[0]}" if stale else "nobody has approved it"
        answers = [self._unconfirmed(one) for one in fitting]
        return "" if "" in answers else answers[0]

    def state(self, record: Record) -> str:
        """What stands of a record that fits its finding, in words."""
        why = self._unconfirmed(record)
        who = sorted(self.signed.get(record.id, set())) or self.reviewers or []
        return why or f"approved by {', '.join(who)}"

    def faults(self) -> list[str]:
        """What is wrong with records, in words."""
        return [f"{FOLDER}/{one.id}.json: {one.fault}" for one in self.records if one.fault]

    def _unconfirmed(self, record: Record) -> str:
        if self.reviewers is not None and len(self.reviewers) >= 2:
            return ""
        why = confirmed(self.signed.get(record.id, set()), self.authors)
        if why and self.reviewers is not None:
            why += f"; {len(self.reviewers)} of 2 reviewers who may write have approved this commit"
        return f"unverified: {why}" if why else ""


def approvals(
    repository: str,
    base: str,
    commits: list[Commit],
    trees: tuple[Tree, Tree, Tree],
    signers: list[Signer],
    reviewers: list[str] | None,
) -> Approvals:
    """What a change says of its own approvals. trees: of the base, of where it parts from it, and of the change."""
    policy, before, after = trees
    names = [name for name in after.entries if posixpath.dirname(name) == FOLDER and name.endswith(".json")]
    added = [name for name in names if name not in policy.entries and name not in before.entries]
    records = tuple(_record(repository, base, name, after) for name in added[:_MOST_RECORDS])
    person = people(signers)
    signed = {one.id: _signed(one, after, signers, person) for one in records if not one.fault}
    return Approvals(records, signed, _authors(repository, commits, signers, person) if records else None, reviewers)


def _record(repository: str, base: str, name: str, after: Tree) -> Record:
    """A record, unless it was one before: what was approved once is not approved for ever."""
    record = read_record(posixpath.basename(name).removesuffix(".json"), after.read(name).encode())
    if record.fault:
        return record
    if was_there(repository, base, name):
        return record._replace(fault="it was in the history of the base already, so it is no approval of this change")
    if is_shallow(repository):
        return record._replace(
            fault="whether it was used before cannot be seen in a shallow clone; git fetch --unshallow"
        )
    return record


def _signed(record: Record, after: Tree, signers: list[Signer], person: dict[str, str]) -> set[str]:
    start = f"{FOLDER}/{record.id}."
    names = sorted(name for name in after.entries if name.startswith(start) and name.endswith(".sig"))
    with open(os.path.join(after.folder, f"{start}json"), "rb") as file:
        data = file.read()
    keys = {signer_key(data, after.read(name).encode(), signers) for name in names[:_MOST_SIGNATURES]}
    return {person[key] for key in keys if key}


def _authors(repository: str, commits: list[Commit], signers: list[Signer], person: dict[str, str]) -> set[str] | None:
    """Who made the change, told by keys; None when one of its commits does not prove it.

    Commits that bring approvals only are no work on the change, and a merge is none of its own: else a second person
    could be made an author, and the author's own approval count.
    """
    found = set()
    for one in commits:
        if not one.merge and any(not name.startswith(f"{FOLDER}/") for name in one.files):
            key = commit_key(repository, one.id, signers)
            if not key:
                return None
            found.add(person[key])
    return found or None


def call(subject: Subject) -> str:
    """The command that approves it."""
    return f'loralint approve {id_of(subject)} --reason "..."'
