"""A scan over objects as an API server lists them."""

from __future__ import annotations

import json

import pytest

from tests.webhook.reviews import BAD, GOOD, job

pytest.importorskip("lightkube")


def _map(name, text, namespace="team", key="train.yaml"):
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {key: text}}


def _job(name, mounts, **more):
    return {**job(name=name, mounts=mounts), **more}


def _scan(job, *objects, without=()):
    from loralint.webhook.objects import group_kind
    from loralint.webhook.scan import scan

    return list(scan(lambda kind: [one for one in objects if group_kind(one) == kind], job, without=without))


def _rules(seen, name):
    return {told.rule for one in seen if one.name == name for told in one.findings}


def test_maps_and_jobs_with_the_maps_that_they_mount(judging_job):
    seen = _scan(judging_job, _map("bad", BAD), _map("good", GOOD), _job("uses-bad", "bad"), _job("uses-good", "good"))
    assert _rules(seen, "bad")
    assert not _rules(seen, "good")
    assert _rules(seen, "bad") <= _rules(seen, "uses-bad")
    assert not {told.rule for one in seen if one.name == "uses-good" for told in one.findings if told.tier == "S"}


def test_what_is_over_or_not_asked_for_is_left_out(judging_job):
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    parent = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "x", "controller": True}
    child = _job("child", "bad")
    child["metadata"]["ownerReferences"] = [parent]
    seen = _scan(
        judging_job, _job("done", "bad", status=done), child, _map("lock", BAD, key="leader"),
        _map("system", BAD, namespace="kube-system"), without=("kube-system",),
    )  # fmt: skip
    assert seen == []


def test_a_kind_that_cannot_be_listed_is_told(judging_job):
    from loralint.webhook.resources import Resource
    from loralint.webhook.scan import scan
    from loralint.webhook.stored import Unlisted

    refused = Resource("batch", "Job")
    seen = list(scan(lambda kind: [Unlisted(kind, "forbidden")] if kind == refused else [], judging_job))
    assert seen == [Unlisted(refused, "forbidden")]


def test_one_report_a_namespace_that_quotes_no_value(judging_job):
    from loralint.webhook.policy_report import reports

    secret = BAD + "wandb_project: only-for-us\n"
    made = reports(_scan(judging_job, _map("bad", secret), _map("good", GOOD, "other")), ["emptied"])
    assert [one["metadata"]["namespace"] for one in made] == ["emptied", "other", "team"]
    assert made[0]["results"] == []
    assert made[1]["summary"]["pass"] == 1
    first = made[2]["results"][0]
    assert (first["result"], first["severity"]) == ("fail", "high")
    assert first["resources"][0]["uid"] == "uid-bad"
    assert first["properties"]["key"] == "train.yaml"
    values = [line.partition(": ")[2] for line in secret.splitlines()]
    text = json.dumps(made[2])
    assert not [value for value in values if len(value) > 4 and value in text]


def test_a_report_is_capped(judging_job):
    from loralint.webhook.policy_report import MOST_RESULTS, reports
    from loralint.webhook.scan import Seen

    bad = next(one for one in _scan(judging_job, _map("bad", BAD)) if isinstance(one, Seen))
    report = reports([bad] * 2000)[0]
    assert len(report["results"]) == MOST_RESULTS
    assert int(report["metadata"]["annotations"]["loralint.dev/left-out"]) == 2000 * len(bad.findings) - MOST_RESULTS
    assert report["summary"]["fail"] >= 2000
