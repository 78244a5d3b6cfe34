"""Reviews of a pull request as its forge told them, which may stand in for signatures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from loralint.engine.settings import SettingsError

_MAY_WRITE = frozenset({"admin", "maintain", "write"})
_DECIDE = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})


def reviewers(text: str, head: str) -> list[str]:
    """Who approves this very commit and may write, by each one's last word; without who opened it or wrote all of it.

    text: {"author": login, "wrote": [login, ...], "reviews": [{"user", "state", "commit", "permission"}, ...]},
    these in the order of their making; wrote: who wrote the commits, as far as the forge knows.
    Raises SettingsError for anything else.
    """
    try:
        body = json.loads(text)
        wrote, last = {str(one).lower() for one in body.get("wrote", ())}, _last_words(body["reviews"])
        barred = {str(body["author"]).lower(), *(wrote if len(wrote) == 1 else ())}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SettingsError('not {"author": ..., "reviews": [...]} as the action writes it') from None
    return sorted(user for user, one in last.items() if user not in barred and _approves(one, head))


def _last_words(reviews: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """A comment takes nothing back."""
    return {str(one["user"]).lower(): one for one in reviews if one["state"] in _DECIDE}


def _approves(review: Mapping[str, Any], head: str) -> bool:
    return review["state"] == "APPROVED" and review["commit"] == head and review["permission"] in _MAY_WRITE
