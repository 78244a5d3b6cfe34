"""The folder from which other programs name files: the root of the git checkout."""

from __future__ import annotations

import os


def checkout(folder: str) -> str:
    """The nearest folder at or above this one that is a checkout's root; empty where there is none."""
    current = os.path.abspath(folder)
    while not os.path.exists(os.path.join(current, ".git")):  # a folder, or in a worktree a file
        parent = os.path.dirname(current)
        if parent == current:
            return ""
        current = parent
    return current


def root_for(file: str) -> str:
    """The root for a report on this file: of the checkout around the working folder, else around the file.

    Without a checkout it is the working folder. The one around the working folder counts first, because a submodule's
    files are reported to the repository that holds it.
    """
    here = checkout(os.curdir)
    if here and os.path.abspath(file).startswith(os.path.join(here, "")):
        return here
    return checkout(os.path.dirname(os.path.abspath(file))) or os.getcwd()
