"""One review from its bytes to its answer, whatever happens on the way."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, NamedTuple

from loralint.version import __version__
from loralint.webhook.cache import Cache, digest
from loralint.webhook.decision import CONTROLLERS, Decision, decide, is_trusted, rules_of
from loralint.webhook.judging import Judged, Task, Told
from loralint.webhook.log import Log
from loralint.webhook.lookup import Looked, Lookup, beyond, unseen
from loralint.webhook.messages import NOT_CHECKED, named, warning, warnings
from loralint.webhook.metrics import Metrics
from loralint.webhook.objects import CONFIG_MAP, KINDS, POD
from loralint.webhook.patch import operations
from loralint.webhook.pool import Judge, Unjudged
from loralint.webhook.references import Wanted, config_map
from loralint.webhook.review import Head, Request, answer, read_head, read_request
from loralint.webhook.worker import place_in_code

# Bytes up to which a review is read in the event loop: some 2 ms.
_SMALL = 128 * 1024


class Policy(NamedTuple):
    """What whoever runs the service decides. controllers: see `decision.is_trusted`."""

    mode: str = "warn"
    mutate: bool = False
    pods: bool = False
    controllers: frozenset[str] = CONTROLLERS


class Outcome(NamedTuple):
    """An answer on its way. reason: why nothing was judged, and where in our code; rules: of findings, or of fixes."""

    decision: Decision
    found: tuple[Told, ...] = ()
    rules: str = ""
    reason: str = ""
    place: str = ""
    patch: str = ""


_ALLOWED = Outcome(Decision("allow", []))


def skipped(head: Head, reason: str, place: str = "") -> Outcome:
    """An object that is let through unjudged, with a warning where its author would like to know."""
    verdict = "error" if reason in ("internal", "crashed") else "skip"
    tail = [NOT_CHECKED[reason]] if reason in NOT_CHECKED else []
    said = warnings([], what=named(head.kind, head.name), tail=tail)
    return Outcome(Decision(verdict, said), reason=reason, place=place)


class Admission:
    """Answers reviews. judge: who judges; lookup: None where no map is looked up."""

    def __init__(
        self, policy: Policy, judge: Judge, lookup: Lookup | None = None, *, metrics: Metrics, log: Log
    ) -> None:
        self.policy = policy
        self.metrics = metrics
        self._judge = judge
        self._lookup = lookup
        self._log = log
        self._cache = Cache()
        self._asked: dict[bytes, asyncio.Task[Judged]] = {}

    async def validate(self, body: bytes, mode: str, seconds: float) -> dict[str, Any]:
        """Judge an object. Raises BadReviewError."""
        return await self._answered(body, "validate", mode or self.policy.mode, seconds)

    async def mutate(self, body: bytes, seconds: float) -> dict[str, Any]:
        """Mend a new ConfigMap. Raises BadReviewError."""
        return await self._answered(body, "mutate", "fix" if self.policy.mutate else "off", seconds)

    async def _answered(self, body: bytes, hook: str, mode: str, seconds: float) -> dict[str, Any]:
        began = monotonic()
        request = await self._read(body, seconds)
        outcome = _ALLOWED
        if mode != "off":
            outcome = await self._outcome(request, hook, mode, began + seconds)
        took = monotonic() - began
        self._count(request.head, outcome, hook, mode, took, len(body))
        decision = outcome.decision
        audit = {"version": __version__, "mode": mode, "milliseconds": str(round(took * 1000))}
        if outcome.rules:
            audit["rules"] = outcome.rules
        return answer(
            request.head.uid, allowed=decision.verdict != "deny", message=decision.message,
            warnings=decision.warnings, audit=audit, patch=outcome.patch,
        )  # fmt: skip

    async def _read(self, body: bytes, seconds: float) -> Request:
        if len(body) <= _SMALL:
            return read_request(body, pods=self.policy.pods)
        try:
            return await self._judge.read(body, seconds)
        except Unjudged as unjudged:
            return Request(read_head(body), unjudged.reason)

    async def _outcome(self, request: Request, hook: str, mode: str, until: float) -> Outcome:
        if request.skip:
            return skipped(request.head, request.skip)
        try:
            if hook == "mutate":
                return await self._mended(request, until)
            return await self._judged(request, mode, until)
        except Unjudged as unjudged:
            return skipped(request.head, unjudged.reason, unjudged.place)
        except Exception as error:  # noqa: BLE001 - a fault of ours must never keep an object out of a cluster
            return skipped(request.head, "internal", place_in_code(error))

    async def _judged(self, request: Request, mode: str, until: float) -> Outcome:
        """The outcome; none is refused for what was kept of the cluster, which may have been mended since."""
        outcome, kept = await self._tried(request, mode, until)
        if kept and outcome.decision.verdict == "deny":
            outcome, _ = await self._tried(request, mode, until, fresh=True)
        return outcome

    async def _tried(self, request: Request, mode: str, until: float, *, fresh: bool = False) -> tuple[Outcome, bool]:
        """The outcome, and whether it rests on what was kept of the cluster."""
        looked = await self._looked(request.head.namespace, request.referred, fresh=fresh)
        task = Task(request.text, request.base, (), looked.lent)
        judged = await self._verdict(task, until)
        names = [*request.maps, *(name for one in looked.lent for name in one.maps)]
        maps = dict.fromkeys(names if judged.trains else request.scripts)
        if maps:
            more = await self._looked(request.head.namespace, tuple(map(config_map, maps)), fresh=fresh)
            whole = await self._verdict(task._replace(maps=more.maps), until) if more.maps else judged
            if whole.trains:  # of what does not train nobody wants to know which map is missing
                looked, judged = looked.and_also(more), whole
        trusted = is_trusted(request.head, self.policy.controllers)
        decision = decide(judged, request.head, mode, trusted=trusted, notes=_notes(request, looked))
        return Outcome(decision, judged.findings, rules_of(judged.findings)), looked.kept

    async def _looked(self, namespace: str, several: tuple[Wanted, ...], *, fresh: bool) -> Looked:
        """What the cluster has of several objects; nothing where it is not asked."""
        looked = await self._lookup.objects(namespace, several, fresh=fresh) if self._lookup and several else Looked()
        for result in looked.results:
            self.metrics.lookups.labels(result).inc()
        return looked

    async def _verdict(self, task: Task, until: float) -> Judged:
        key = digest(task)
        judged = self._cache.get(key)
        if judged is None:
            judged = await asyncio.shield(self._asked.get(key) or self._ask(key, task, until - monotonic()))
            self._cache.put(key, judged)
        return judged

    def _ask(self, key: bytes, task: Task, seconds: float) -> asyncio.Task[Judged]:
        """Have it judged once, however many ask at the same time."""
        asked = self._asked[key] = asyncio.get_running_loop().create_task(self._judge.judge(task, seconds))
        asked.add_done_callback(lambda _: self._asked.pop(key))
        return asked

    async def _mended(self, request: Request, until: float) -> Outcome:
        """The patch of a new map. What Argo, Flux or Helm keep as a repository has it is left alone."""
        head = request.head
        if (head.group, head.kind) != CONFIG_MAP or head.operation != "CREATE" or request.managed:
            return _ALLOWED
        made = await self._judge.patch(dict(request.data), until - monotonic())
        if not made.texts:
            return _ALLOWED
        rules, told = ",".join(made.rules), ", ".join(made.texts)
        told = warning(f"fixed on the way in: {rules} in {told}", named(head.kind, head.name))
        return Outcome(Decision("patch", [told]), rules=rules, patch=operations(made.texts))

    def _count(self, head: Head, outcome: Outcome, hook: str, mode: str, took: float, size: int) -> None:
        metrics, verdict = self.metrics, outcome.decision.verdict
        kind = head.kind if (head.group, head.kind) in KINDS | {POD} else "other"
        operation = head.operation if head.operation in ("CREATE", "UPDATE", "DELETE", "CONNECT") else "other"
        metrics.requests.labels(kind, operation, verdict, str(head.dry_run).lower(), mode).inc()
        metrics.seconds.labels(hook).observe(took)
        metrics.size.observe(size)
        for one in outcome.found:
            metrics.findings.labels(one.rule, one.tier).inc()
        if outcome.reason:
            metrics.skipped.labels(outcome.reason).inc()
        if verdict == "error":
            metrics.internal_errors.inc()
        told = verdict == "deny" or (verdict != "allow" and outcome.decision.warnings)
        level = "error" if verdict == "error" else "info" if told else "debug"
        self._log(
            level, "review", hook=hook, uid=head.uid, group=head.group, kind=head.kind, operation=head.operation,
            namespace=head.namespace, name=head.name, mode=mode, verdict=verdict, rules=outcome.rules,
            ms=round(took * 1000, 1), dry_run=head.dry_run, reason=outcome.reason, place=outcome.place,
        )  # fmt: skip


def _notes(request: Request, looked: Looked) -> tuple[str, ...]:
    more = [beyond(looked.beyond)] if looked.beyond else []
    return (*request.unread, *more, *(unseen(*one) for one in looked.unseen))
