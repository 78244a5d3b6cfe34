"""A scan over objects as an API server lists them."""

from __future__ import annotations

import json
import threading
from functools import cache
from http.server import ThreadingHTTPServer

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webhook.answers import Answering
from tests.webhook.reviews import BAD, GOOD, job, lending, pod, referring

pytest.importorskip("lightkube")


def _kubeconfig(file, server):
    file.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": server}}],
        "users": [{"name": "it", "user": {"token": "hunter2"}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }))  # fmt: skip


def _map(name, text, namespace="team", key="train.yaml"):
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {key: text}}


def _job(name, mounts, **more):
    return {**job(name=name, mounts=mounts), **more}


def _scan(job, *objects, without=()):
    from loralint.webhook.objects import group_kind
    from loralint.webhook.scan import scan

    def listed(kind):
        return [one for one in objects if group_kind(one) == kind]

    def get(namespace, wanted):
        fitting = [one for one in listed(wanted.resource) if one["metadata"]["name"] == wanted.name]
        here = [one for one in fitting if one["metadata"].get("namespace") in (None, namespace)]
        return here[0] if here else f"{wanted.shown} is not there"

    return list(scan(listed, get, job, without=without))


def _rules(seen, name):
    return {told.rule for one in seen if one.name == name for told in one.findings}


def test_maps_and_jobs_with_the_maps_that_they_mount(judging_job):
    seen = _scan(judging_job, _map("bad", BAD), _map("good", GOOD), _job("uses-bad", "bad"), _job("uses-good", "good"))
    assert _rules(seen, "bad")
    assert not _rules(seen, "good")
    assert _rules(seen, "bad") <= _rules(seen, "uses-bad")
    assert not {told.rule for one in seen if one.name == "uses-good" for told in one.findings if told.tier == "S"}


def test_jobs_with_the_runtimes_and_templates_that_they_name(judging_job):
    meta = {"name": "torch"}
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": meta,
        **lending("ClusterTrainingRuntime", "any"),
    }  # fmt: skip
    runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"] = pod(mounts="bad")
    uses = referring("TrainJob", runtimeRef=meta, trainer={"numNodes": 1})
    gone = referring("Workflow", workflowTemplateRef={"name": "lora"})
    seen = _scan(judging_job, runtime, uses, gone, _map("bad", BAD))
    assert [(one.kind, one.not_checked) for one in seen if one.kind != "ConfigMap"] == [
        ("Workflow", "WorkflowTemplate/lora is not there"), ("TrainJob", "")
    ]  # fmt: skip
    (told,) = [one.findings for one in seen if one.kind == "TrainJob"]
    assert ("LL304", "ConfigMap/bad/train.yaml") in {(one.rule, one.place) for one in told}


def test_a_config_that_is_no_text_of_ours_is_said_to_be_unchecked(judging_job):
    odd = {**_map("odd", GOOD), "binaryData": {"b.yaml": "IyDp"}}
    (one,) = _scan(judging_job, odd)
    assert one.not_checked == "`b.yaml` is text neither in UTF-8 nor in UTF-16"


class _Api(Answering):
    """A cluster that knows some namespaces, and holds nothing but a config in kube-system."""

    def said(self):
        path = self.path.partition("?")[0]
        closed = "/namespaces/closed/" in path
        code = 404 if "/apis/" in path or path.endswith("/namespaces/tpyo") else 200
        code = 403 if path.endswith("/shut") or (closed and "policyreports" not in path) else code
        held = path in ("/api/v1/configmaps", "/api/v1/namespaces/kube-system/configmaps")
        return code, {
            "apiVersion": "v1", "kind": "Status" if code != 200 else "List", "metadata": {"name": "x"},
            "items": [_map("slipped", BAD, "kube-system")] if held else [],
            **({"code": code, "message": f"no {path}"} if code != 200 else {}),
        }  # fmt: skip


@pytest.fixture
def empty(tmp_path):
    """scan(namespace) -> what the command says of a cluster with nothing in it."""
    from click.testing import CliRunner

    from loralint.cli import main

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _kubeconfig(tmp_path / "config", f"http://127.0.0.1:{server.server_port}")
    yield lambda *given: CliRunner().invoke(main, ["scan-cluster", "--kubeconfig", str(tmp_path / "config"), *given])
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["tpyo", "../tpyo", ""])
def test_a_namespace_that_is_not_there_is_a_usage_error(empty, name):
    done = empty("-n", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"there is no namespace `{name}`" in done.stderr


def test_a_namespace_that_is_there_and_holds_nothing(empty):
    for words in (("-n", "team"), ()):
        done = empty(*words)
        assert (done.exit_code, done.output) == (0, "0 objects looked at, 0 with findings\n")
    done = empty("-n", "shut")
    assert (done.exit_code, done.stdout) == (0, "0 objects looked at, 0 with findings\n")
    assert "not checked: whether there is a namespace `shut`: no /api/v1/namespaces/shut" in done.stderr


def test_kinds_that_may_not_be_listed_are_told_together_with_the_rights_that_would_do(empty):
    done = empty("-n", "closed")
    assert done.exit_code == 3
    first, *_, rule = done.stderr.splitlines()
    kinds = int(first.split()[2])
    assert kinds > 10
    assert first.startswith(f"not checked: {kinds} kinds, for want of rights: no /ap")
    (given_,) = yaml.safe_load(rule)
    assert given_["verbs"] == ["list"]
    assert {"configmaps", "jobs", "trainjobs"} <= set(given_["resources"])
    assert {"", "batch", "batch.volcano.sh"} <= set(given_["apiGroups"])
    assert len(done.stderr.splitlines()) == 3


def test_without_the_reports_of_the_cluster_their_crd_is_named(empty):
    done = empty("-n", "team", "--format", "policyreport", "--apply")
    assert done.exit_code == 3
    assert "the CRD policyreports.wgpolicyk8s.io is not installed" in done.stderr


def test_a_place_without_a_line_has_none(capsys):
    from loralint.cli.scan_cluster import _text
    from loralint.webhook.judging import Told
    from loralint.webhook.policy_report import reports
    from loralint.webhook.scan import Seen

    told = Told("LL304", "S", "ClusterTrainingRuntime/lora-rt", 0, "training stops", "")
    seen = Seen("team", "trainer.kubeflow.org/v1alpha1", "TrainJob", "t", "", (told,))
    _text([seen], [])
    assert "team/TrainJob/t ClusterTrainingRuntime/lora-rt: S LL304 training stops\n" in capsys.readouterr().out
    assert reports([seen])[0]["results"][0]["properties"] == {"key": "ClusterTrainingRuntime/lora-rt"}


def test_a_namespace_that_is_named_is_looked_at_also_where_all_leave_it_out(empty):
    assert empty().exit_code == 0
    done = empty("-n", "kube-system")
    assert done.exit_code == 1
    assert "kube-system/ConfigMap/slipped train.yaml:3: S LL304" in done.stdout


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
    seen = list(scan(lambda kind: [Unlisted(kind, "forbidden")] if kind == refused else [], lambda *_: "", judging_job))
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

    _kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
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
