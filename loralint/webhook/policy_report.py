"""What a scan saw as PolicyReports, one a namespace: dashboards know them, and etcd does not drown in them.

Whoever may read a namespace's reports need not be allowed to read its ConfigMaps. So a result says which rule holds,
where, and what comes of it, and quotes no value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loralint.knowledge.rules import find, wording
from loralint.webhook.judging import Told
from loralint.webhook.scan import Seen

GROUP, VERSION, KIND, PLURAL = "wgpolicyk8s.io", "v1alpha2", "PolicyReport", "policyreports"
NAME = "loralint"
# Of one namespace: a report has to fit into one object of etcd.
MOST_RESULTS = 300
_RESULTS = {"S": ("fail", "high"), "A": ("warn", "medium"), "B": ("warn", "low")}


def reports(seen: Iterable[Seen], namespaces: Iterable[str] = ()) -> list[dict[str, Any]]:
    """One report for each namespace in which something was looked at. namespaces: those whose old report must go."""
    of: dict[str, list[Seen]] = {namespace: [] for namespace in namespaces}
    for one in seen:
        of.setdefault(one.namespace, []).append(one)
    return [_report(namespace, of[namespace]) for namespace in sorted(of)]


def _report(namespace: str, seen: list[Seen]) -> dict[str, Any]:
    results = [_result(one, told) for one in seen for told in one.findings]
    results.sort(key=lambda result: ("high", "medium", "low").index(result["severity"]))
    counts = {kind: sum(result["result"] == kind for result in results) for kind in ("fail", "warn")}
    counts |= {"pass": sum(not one.findings and not one.not_checked for one in seen), "error": 0}
    counts["skip"] = sum(bool(one.not_checked) for one in seen)
    left = len(results) - MOST_RESULTS
    meta: dict[str, Any] = {"name": NAME, "namespace": namespace}
    if left > 0:
        meta["annotations"] = {"loralint.dev/left-out": str(left)}
    return {
        "apiVersion": f"{GROUP}/{VERSION}", "kind": KIND, "metadata": meta,
        "summary": counts, "results": results[:MOST_RESULTS],
    }  # fmt: skip


def _result(one: Seen, told: Told) -> dict[str, Any]:
    result, severity = _RESULTS[told.tier]
    rule = find(told.rule)
    resource = {"apiVersion": one.api_version, "kind": one.kind, "name": one.name, "namespace": one.namespace}
    if one.uid:
        resource["uid"] = one.uid
    place = {"key": told.place} if told.place else {}
    place |= {"line": str(told.line)} if told.line else {}
    return {
        "source": "loralint", "policy": told.rule, "rule": rule.name if rule else told.rule, "category": "training",
        "result": result, "severity": severity, "scored": True, "message": _headline(told), "resources": [resource],
        **({"properties": place} if place else {}),
    }  # fmt: skip


def _headline(told: Told) -> str:
    """What comes of it, without the cause, which has the values."""
    rule = find(told.rule)
    start = wording(rule).message.partition(": ")[0] if rule else ""
    said = start if start and "{" not in start else (rule.name.replace("-", " ") if rule else told.rule)
    return f"{said}; `loralint explain {told.rule}` says more"
