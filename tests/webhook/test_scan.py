"""A scan over objects as an API server lists them."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@cache
def _job_once():
    """No fixture: Hypothesis would print it."""
    from loralint.webhook.judging import webhook_job

    return webhook_job()


_KEYS = st.sampled_from([
    "spec", "template", "containers", "command", "args", "env", "volumes", "configMap", "name", "conditions", "type",
    "status", "phase", "kind", "replicatedJobs", "metadata", "ownerReferences", "data", "items", "train.yaml",
])  # fmt: skip
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 9)
    | st.sampled_from(["Job", "adapter: lora\nlora_r: 0", "/cfg/train.yaml"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(_JSON, _JSON, st.sampled_from(["JobSet", "Workflow", "PyTorchJob", "RayJob", "TrainJob", "Job", "ConfigMap"]))
def test_no_object_ends_a_scan(spec, status, kind):
    versions = {
        "JobSet": "jobset.x-k8s.io/v1alpha2", "Workflow": "argoproj.io/v1alpha1", "PyTorchJob": "kubeflow.org/v1",
        "RayJob": "ray.io/v1", "TrainJob": "trainer.kubeflow.org/v1alpha1", "Job": "batch/v1", "ConfigMap": "v1",
    }  # fmt: skip
    meta = {"name": "odd", "namespace": "team"}
    odd = {"apiVersion": versions[kind], "kind": kind, "metadata": meta, "spec": spec, "status": status, "data": spec}
    seen = _scan(_job_once(), odd, _map("bad", BAD))
    assert _rules(seen, "bad")
    assert not [one.not_checked for one in seen if "internal" in one.not_checked]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (["scan-cluster", "--apply"], "--format policyreport"),
        (["scan-cluster", "--kubeconfig", "FILE"], "no way to the API server"),
        (["scan-cluster", "--kubeconfig", "FILE", "--select", "LL000"], "LL000"),
        (["certs", "--kubeconfig", "FILE"], "no way to the API server"),
    ],
)
def test_what_keeps_a_command_from_the_cluster_is_a_usage_error(tmp_path, given_, said):
    from click.testing import CliRunner

    from loralint.cli import main

    nobody = {"server": "http://127.0.0.1:1"}
    (tmp_path / "config").write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it", "clusters": [{"name": "it", "cluster": nobody}],
        "users": [{"name": "it", "user": {"token": "hunter2"}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }))  # fmt: skip
    done = CliRunner().invoke(main, [str(tmp_path / "config") if one == "FILE" else one for one in given_])
    assert done.exit_code == 2
    assert said in done.stderr
    assert "hunter2" not in done.output


@pytest.mark.parametrize("text", ["{", "[]", "{}", "clusters: 3", "hunter2: [", "\xff"])
@pytest.mark.parametrize("command", ["scan-cluster", "certs", "serve"])
def test_a_file_that_is_no_kubeconfig_is_a_usage_error(tmp_path, command, text):
    import trustme
    from click.testing import CliRunner

    from loralint.cli import main

    made = trustme.CA().issue_cert("127.0.0.1")
    (tmp_path / "tls.key").write_bytes(made.private_key_pem.bytes())
    (tmp_path / "tls.crt").write_bytes(made.cert_chain_pems[0].bytes())
    (tmp_path / "config").write_text(text, encoding="latin-1")
    more = ["--cert-dir", str(tmp_path)] if command == "serve" else []
    done = CliRunner().invoke(main, [command, "--kubeconfig", str(tmp_path / "config"), *more])
    assert done.exit_code == 2
    assert "the kubeconfig cannot be used" in done.stderr
    assert "hunter2" not in done.output


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
