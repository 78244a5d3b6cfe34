"""What git says, asked without a shell; nothing in a repository is executed or changed."""

from __future__ import annotations

import os
import subprocess

_SECONDS = 30


class GitError(Exception):
    """Git is not there, or says no; the message is its own."""


def git(folder: str, *arguments: str) -> str:
    """The output of a git command in a folder. Raises GitError."""
    # a repository's own settings may name programs to run; none of the commands used here needs them
    guarded = ["git", "-C", folder, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, and no argument reaches a shell
            guarded, capture_output=True, check=False, timeout=_SECONDS, env=environment, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError("git cannot be run" if isinstance(error, OSError) else "git does not answer") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(said[-1] if said else "git knows nothing of that name")
    return done.stdout.decode(errors="surrogateescape")


def author(folder: str) -> str:
    """Who would be the author of a commit here, else the name of the account."""
    try:
        return git(folder, "var", "GIT_AUTHOR_IDENT").rpartition(">")[0].strip() + ">"
    except GitError:
        import getpass

        try:
            return getpass.getuser()
        except (KeyError, OSError):  # an account without a name, as in some containers
            return "unknown"


def names_at(folder: str, reference: str, path: str) -> list[str]:
    """The files below a path of the folder as a commit has them, relative to the folder. Raises GitError."""
    commit = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}").strip()
    return [name for name in git(folder, "ls-tree", "-r", "-z", "--name-only", commit, "--", path).split("\0") if name]
