"""Git, asked without a shell and so that nothing of a repository runs: no hooks, filters, fetches or replacements."""

from __future__ import annotations

import os
import subprocess

_SECONDS = 120
# A repository's own settings may name programs to run; none of the commands used here needs them.
_GUARDS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "protocol.allow=never",
    "diff.external=", "core.pager=cat", "log.showSignature=false", "submodule.recurse=false", "core.quotePath=false",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}


class GitError(Exception):
    """Git is not there, or says no; the message says it, and what to do where that is known."""


def git(folder: str, *arguments: str, stdin: bytes = b"") -> bytes:
    """The output of a git command in a folder. Raises GitError."""
    guards = [word for guard in _GUARDS for word in ("-c", guard)]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, and no argument reaches a shell
            ["git", "-C", folder, "--no-pager", *guards, *arguments],  # noqa: S607 - the user's own git
            input=stdin, capture_output=True, check=False, timeout=_SECONDS, env={**os.environ, **_ENVIRONMENT},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError("git cannot be run" if isinstance(error, OSError) else "git does not answer") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        if "promisor" in said:
            raise GitError(
                "this clone is partial and lacks files; get them with: git fetch --refetch --no-filter origin"
            )
        raise GitError(said.splitlines()[-1] if said else f"git {arguments[0]} failed")
    return done.stdout


def text(folder: str, *arguments: str) -> str:
    """The same as a text without the last line break."""
    return git(folder, *arguments).decode(errors="surrogateescape").rstrip("\n")


def items(folder: str, *arguments: str) -> list[str]:
    """The same for output with -z."""
    return [one for one in git(folder, *arguments).decode(errors="surrogateescape").split("\0") if one]


def commit_of(folder: str, reference: str) -> str:
    """The commit that a name means. Raises GitError for a name that could be an option, a range or another object."""
    odd = not reference.isprintable() or any(word in reference for word in ("..", ":", " ", "{", "*"))
    if not reference or odd or reference.startswith(("-", "^")):
        raise GitError("it is not the name of one commit")
    try:
        return text(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    except GitError as error:
        if "rev-parse failed" not in str(error):
            raise
        branch = reference.removeprefix("origin/")
        raise GitError(f"there is no such commit here; fetch it first: git fetch origin {branch}") from None


def is_shallow(folder: str) -> bool:
    """Whether history was cut off by --depth."""
    return text(folder, "rev-parse", "--is-shallow-repository") == "true"


def top_of(folder: str) -> str:
    """The top of the working tree around a folder. Raises GitError."""
    try:
        return text(folder, "rev-parse", "--show-toplevel")
    except GitError as error:
        raise GitError(f"the gate needs a git checkout ({error})") from None
