"""What the command line asks git besides the gate."""

from __future__ import annotations

from loralint.gate.git import GitError, commit_of, items, text


def author(folder: str) -> str:
    """Who would be the author of a commit here, else the name of the account."""
    try:
        return text(folder, "var", "GIT_AUTHOR_IDENT").rpartition(">")[0].strip() + ">"
    except GitError:
        import getpass

        try:
            return getpass.getuser()
        except (KeyError, OSError):  # an account without a name, as in some containers
            return "unknown"


def names_at(folder: str, reference: str, path: str) -> list[str]:
    """The files below a path of the folder as a commit has them, relative to the folder. Raises GitError."""
    return items(folder, "ls-tree", "-r", "-z", "--name-only", commit_of(folder, reference), "--", path)
