"""What lies between a base and a commit: the point they part at, files, renames, commits."""

from __future__ import annotations

from typing import NamedTuple

from loralint.gate.git import GitError, git, is_shallow, items, text

# Pairs of files that git compares for renames; what is beyond is no rename, and `strayed` still looks at it.
_MOST_RENAMES = "2000"


class Change(NamedTuple):
    """fork: what findings are compared with; renamed: old name -> new name; touched: names now of what differs;
    added, deleted: names of files that are there on one side only.
    """

    fork: str
    renamed: dict[str, str]
    touched: frozenset[str]
    added: frozenset[str]
    deleted: frozenset[str]


class Commit(NamedTuple):
    """A commit of the change. files: that it changes against its parent; none are told of a merge."""

    id: str
    merge: bool
    files: tuple[str, ...]


def fork_of(repository: str, base: str, head: str) -> str:
    """The merge base; the base itself when there are several, which is the stricter. Raises GitError."""
    try:
        found = text(repository, "merge-base", "--all", base, head).split()
    except GitError as error:
        if is_shallow(repository):
            raise GitError(
                "this clone is shallow and lacks the commit where the change parts from its base; get it with: "
                "git fetch --unshallow origin (in GitHub Actions: actions/checkout with fetch-depth: 0)"
            ) from error
        raise GitError("the two have no common history") from None
    return found[0] if len(found) == 1 else base


def change_between(repository: str, fork: str, head: str) -> Change:
    """The files that differ. Raises GitError."""
    plain = ("--no-ext-diff", "--no-textconv")
    fields = iter(items(repository, "diff-tree", "-r", "-z", "--raw", "-M", f"-l{_MOST_RENAMES}", *plain, fork, head))
    renamed: dict[str, str] = {}
    touched: set[str] = set()
    added: set[str] = set()
    deleted: set[str] = set()
    for about in fields:
        status, name = about.split()[-1], next(fields)
        if status.startswith("R"):
            renamed[name] = name = next(fields)
        if status.startswith("A"):
            added.add(name)
        (deleted if status.startswith("D") else touched).add(name)
    return Change(fork, renamed, frozenset(touched), frozenset(added), frozenset(deleted))


def commits_between(repository: str, base: str, head: str) -> list[Commit]:
    """The commits that the change brings, newest first; all there are for an empty base."""
    found = []
    for line in text(repository, "rev-list", "--parents", head, *([f"^{base}"] if base else [])).splitlines():
        commit, *parents = line.split()
        files = items(repository, "diff-tree", "--root", "-r", "-z", "--name-only", "--no-commit-id", commit)
        found.append(Commit(commit, len(parents) > 1, tuple(files)))
    return found


def was_there(repository: str, commit: str, name: str) -> bool:
    """Whether any commit up to this one ever had a file of this name."""
    return bool(git(repository, "rev-list", "--max-count=1", "--full-history", commit, "--", name).strip())


def last_author(repository: str, commit: str, name: str, line: int) -> str:
    """Who git says wrote a line last; anyone can write any name there. Empty when it cannot be told."""
    try:
        said = text(repository, "blame", "--no-textconv", "--porcelain", f"-L{line},{line}", commit, "--", name)
    except GitError:
        return ""
    return next((one.removeprefix("author ") for one in said.splitlines() if one.startswith("author ")), "")
