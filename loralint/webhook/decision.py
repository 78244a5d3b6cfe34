"""From what was found to an answer: the mode, what is new, and who is trusted."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from loralint.webhook.judging import Judged, Told
from loralint.webhook.messages import named, refusal, warnings
from loralint.webhook.objects import KINDS
from loralint.webhook.review import Head

MODES = ("off", "warn", "enforce")
# Whose children were checked with their parent. Others are named by --trusted-controller.
CONTROLLERS = frozenset(f"system:serviceaccount:kube-system:{name}-controller" for name in ("job", "cronjob"))


class Decision(NamedTuple):
    """verdict: allow, warn, deny; message: of a refusal."""

    verdict: str
    warnings: list[str]
    message: str = ""


def is_trusted(head: Head, controllers: Collection[str]) -> bool:
    """Whether a controller made the object from a parent that was checked itself; refused, it would try for ever.

    Anybody may write ownerReferences, so the name of who creates it has to be the controller's.
    """
    return head.parent in KINDS and head.user in controllers


def decide(judged: Judged, head: Head, mode: str, *, trusted: bool = False, notes: tuple[str, ...] = ()) -> Decision:
    """What is answered. notes: what could not be looked at."""
    found = list(judged.findings)
    denied = [one for one in found if one.tier == "S" and one.new] if mode == "enforce" and not trusted else []
    what, tail = named(head.kind, head.name), (*judged.unread, *notes)
    if denied:
        rest = [one for one in found if one not in denied]
        return Decision("deny", warnings(rest, what=what, tail=tail), refusal(denied, f"{head.kind} {head.name}"))
    said = warnings(found, what=what, tail=tail, enforced=mode == "enforce" and not trusted)
    return Decision("warn" if found else "allow", said)


def rules_of(found: Collection[Told]) -> str:
    """The rules of findings, for logs and audit annotations."""
    return ",".join(dict.fromkeys(one.rule for one in found))
