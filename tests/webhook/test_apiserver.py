"""Against a real kube-apiserver and etcd, found by KUBEBUILDER_ASSETS; everything is on loopback."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest
import yaml

from loralint.knowledge.rules import all_rules, compiled
from tests.deploy.test_chart import CHART, HELM, SETS
from tests.frameworks.test_kubernetes import NO_TEXTS, TEXTS
from tests.webhook.reviews import BAD, GOOD, WORSE, config_map, job, pod

pytest.importorskip("trustme")
cluster = pytest.importorskip("tests.webhook.cluster")
pytestmark = pytest.mark.skipif(
    not cluster.available(), reason="KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver"
)
NAMES = itertools.count()
MODES = {"warned": "warn", "enforced": "enforce", "left": "off", "unlabelled": None}
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    made = cluster.Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.wait()
        for one in cluster.kinds():
            assert made.http.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=one).is_success
        for name, mode in (MODES | {"loralint": None}).items():
            labels = {"loralint.dev/mode": mode} if mode else {}
            made.http.post("/api/v1/namespaces", json={"metadata": {"name": name, "labels": labels}})
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory, api):
    from tests.webhook.server import Server

    made = Server(
        tmp_path_factory.mktemp("serve"), "--kubeconfig", str(api.kubeconfig("admin")), "--log-level", "debug"
    )
    yield made.wait()
    made.stop()


@pytest.fixture
def hooked(api, server):
    _hook(api, cluster.hooks(server.ca, server.port))
    return api


def _hook(api, configuration):
    """Put the hooks in place, and wait until the API server asks them."""
    api.http.delete(f"{CONFIGURATION}/loralint")
    assert api.http.post(CONFIGURATION, json=configuration).is_success
    if configuration["webhooks"][0]["failurePolicy"] == "Ignore" and "127.0.0.1:1/" not in str(configuration):
        _until(lambda: _warnings(_create(api, config_map(BAD), "warned", dry=True)))
    else:
        time.sleep(2)


def _until(holds):
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def _path(obj, namespace, name=""):
    group, _, version = obj["apiVersion"].rpartition("/")
    start = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return f"{start}/namespaces/{namespace}/{obj['kind'].lower()}s" + (f"/{name}" if name else "")


def _fresh(obj):
    return {
        **obj,
        "metadata": {"name": f"one-{next(NAMES)}", **{k: v for k, v in obj["metadata"].items() if k == "annotations"}},
    }


def _create(api, obj, namespace, *, dry=False, client=None):
    made = _fresh(obj)
    query = {"dryRun": "All"} if dry else {}
    return (client or api.http).post(_path(made, namespace), json=made, params=query)


def _apply(api, obj, namespace, name, dry=False):
    query = {"fieldManager": "test", "force": "true", **({"dryRun": "All"} if dry else {})}
    head = {"Content-Type": "application/apply-patch+yaml"}
    sent = {**obj, "metadata": {"name": name}}
    return api.http.patch(_path(obj, namespace, name), content=json.dumps(sent), params=query, headers=head)


def _warnings(answer):
    return answer.headers.get_list("Warning")


def _train(**given):
    return {"spec": pod(**{"mounts": None, "command": LINE, **given})}


LINE = (
    "trl", "sft", "--model_name_or_path", "HuggingFaceTB/SmolLM2-135M", "--dataset_name", "trl-lib/Capybara",
    "--use_peft", "--learning_rate", "-1",
)  # fmt: skip
GOOD_LINE = (*LINE[:-1], "2e-4")
FLASH = ("--attn_implementation", "flash_attention_2", "--bf16", "true")


def _workloads(line):
    """One of every kind, each of which starts that line."""
    template, spec = _train(command=line), pod(mounts=None, command=line)
    container = spec["containers"][0]
    flat = {key: container[key] for key in ("image", "command")}
    master = {"spec": pod(mounts=None, command=line, name="pytorch")}  # the operator looks for this name
    jobs = [{"name": "train", "replicas": 1, "template": {"spec": {"template": template}}}]
    said = {
        "batch/v1 Job": {"backoffLimit": 0, "template": template},
        "batch/v1 CronJob": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}},
        "kubeflow.org/v1 PyTorchJob": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": master}}},
        "kubeflow.org/v1 MPIJob": {"mpiReplicaSpecs": {"Launcher": {"replicas": 1, "template": template}}},
        "trainer.kubeflow.org/v1alpha1 TrainJob": {"runtimeRef": {"name": "torch"}, "trainer": {**flat, "numNodes": 1}},
        "trainer.kubeflow.org/v1alpha1 TrainingRuntime": {"template": {"spec": {"replicatedJobs": jobs}}},
        "ray.io/v1 RayJob": {"entrypoint": " ".join(line), "rayClusterSpec": {"headGroupSpec": {"template": template}}},
        "jobset.x-k8s.io/v1alpha2 JobSet": {"replicatedJobs": jobs},
        "batch.volcano.sh/v1alpha1 Job": {"tasks": [{"name": "train", "replicas": 1, "template": template}]},
        "argoproj.io/v1alpha1 Workflow": {
            "entrypoint": "train",
            "templates": [{"name": "train", "container": container}],
        },
    }
    for kind, spec in said.items():
        version, _, name = kind.partition(" ")
        yield {"apiVersion": version, "kind": name, "metadata": {}, "spec": spec}
    kueue = {"queue-name": "kueue.x-k8s.io"}
    suspended = job(mounts=None, command=line, suspend=True)
    yield {**suspended, "metadata": {"name": "x", "annotations": kueue}}


IDS = [*[f"{one['apiVersion']} {one['kind']}" for one in _workloads(LINE)][:-1], "suspended Job"]


@pytest.mark.parametrize("number", range(len(IDS)), ids=IDS)
def test_every_kind_is_denied_warned_and_allowed(hooked, number):
    bad, good = list(_workloads(LINE))[number], list(_workloads(GOOD_LINE))[number]
    refused = _create(hooked, bad, "enforced")
    assert refused.status_code == 422, refused.text
    assert refused.json()["reason"] == "Invalid"
    assert "enforce.workloads.loralint.dev" in refused.json()["message"]
    assert "LL403" in refused.json()["message"]
    warned = _create(hooked, bad, "warned", dry=True)
    assert warned.status_code == 201
    assert "LL403" in str(_warnings(warned))
    assert _warnings(_create(hooked, bad, "unlabelled"))
    assert not _warnings(_create(hooked, bad, "left"))
    assert _create(hooked, good, "enforced").status_code == 201


def test_config_maps_by_create_update_dry_run_and_server_side_apply(hooked):
    assert _create(hooked, config_map(BAD), "enforced").status_code == 422
    assert _create(hooked, config_map(BAD), "enforced", dry=True).status_code == 422
    assert _warnings(_create(hooked, config_map(BAD), "warned"))
    assert _apply(hooked, config_map(GOOD), "enforced", "applied").status_code == 201
    assert _apply(hooked, config_map(BAD), "enforced", "applied", dry=True).status_code == 422
    assert _apply(hooked, config_map(BAD), "enforced", "applied").status_code == 422
    kept = hooked.http.get("/api/v1/namespaces/enforced/configmaps/applied").json()
    assert kept["data"]["train.yaml"] == GOOD
    kept["data"]["train.yaml"] = BAD
    assert hooked.http.put("/api/v1/namespaces/enforced/configmaps/applied", json=kept).status_code == 422


def test_bytes_that_are_no_utf_8_are_read_too(hooked):
    import base64

    binary = {"binaryData": {"train.yaml": base64.b64encode(BAD.encode("utf-16")).decode()}, "data": {}}
    assert _create(hooked, {**config_map(), **binary}, "enforced").status_code == 422


def test_what_was_bad_before_stays_editable_and_what_is_new_is_denied(hooked):
    obj = _fresh(config_map(BAD))
    path = _path(obj, "enforced", obj["metadata"]["name"])
    hooked.http.patch("/api/v1/namespaces/enforced", json={"metadata": {"labels": {"loralint.dev/mode": "off"}}},
                      headers={"Content-Type": "application/merge-patch+json"})  # fmt: skip
    _until(lambda: not _warnings(_create(hooked, config_map(BAD), "enforced", dry=True)))
    assert hooked.http.post(_path(obj, "enforced"), json=obj).status_code == 201
    hooked.http.patch("/api/v1/namespaces/enforced", json={"metadata": {"labels": {"loralint.dev/mode": "enforce"}}},
                      headers={"Content-Type": "application/merge-patch+json"})  # fmt: skip
    _until(lambda: _create(hooked, config_map(BAD), "enforced", dry=True).status_code == 422)
    obj["data"]["train.yaml"] = BAD + "# a comment\n"
    edited = hooked.http.put(path, json=obj)
    assert edited.status_code == 200
    assert _warnings(edited)
    obj["data"]["train.yaml"] = WORSE
    assert hooked.http.put(path, json=obj).status_code == 422
    assert hooked.http.delete(path).status_code == 200


def test_a_job_and_the_map_that_it_mounts(hooked):
    hooked.http.post("/api/v1/namespaces/left/configmaps", json={**config_map(BAD), "metadata": {"name": "mounted"}})
    _label(hooked, "left", "enforce")
    refused = _create(hooked, job(mounts="mounted"), "left")
    assert refused.status_code == 422
    assert "ConfigMap/mounted/train.yaml" in refused.json()["message"]
    missing = _create(hooked, job(mounts="not-there"), "left")
    assert missing.status_code == 201
    _label(hooked, "left", "off")


def test_a_job_with_more_maps_than_are_looked_up_names_the_rest(hooked):
    made = job(mounts="one")
    spec = made["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": f"v{number}", "configMap": {"name": f"map-{number}"}} for number in range(6)]
    spec["containers"][0]["volumeMounts"] = [{"name": f"v{one}", "mountPath": f"/cfg/{one}"} for one in range(6)]
    assert "ConfigMap `map-4` and 1 more: of one job the first 4 are looked up" in str(
        _warnings(_create(hooked, made, "warned"))
    )


def test_a_script_in_a_map_says_that_a_job_without_a_gpu_trains(hooked):
    script = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts"}}
    for line, status in ((LINE, 422), (("pg_dump", "all"), 201)):
        script["data"] = {"run.sh": " ".join((*line, "--use_cpu", "true"))}
        assert _apply(hooked, script, "enforced", "scripts").is_success
        made = job(mounts="scripts", command=("bash", "/cfg/run.sh"), resources={}, image="example.invalid/tools:1")
        given = _create(hooked, made, "enforced")
        assert given.status_code == status, given.text
        time.sleep(5.1)  # a service keeps what it was told for five seconds


TRAINER, ARGO = "trainer.kubeflow.org/v1alpha1", "argoproj.io/v1alpha1"


def _runtime(name, line=LINE):
    steps = [{"name": "node", "template": {"spec": {"template": _train(command=line)}}}]
    spec = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": steps}}}
    return {"apiVersion": TRAINER, "kind": "ClusterTrainingRuntime", "metadata": {"name": name}, "spec": spec}


def _train_job(runtime, **trainer):
    spec = {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": 1, **trainer}}
    return {"apiVersion": TRAINER, "kind": "TrainJob", "metadata": {}, "spec": spec}


def test_what_a_job_refers_to_is_had_with_the_rights_of_the_chart(api, tmp_path):
    from tests.webhook.server import Server

    cluster.granted(api, cluster.rendered("cert-manager"), "loralint", "service")
    assert api.http.post(f"/apis/{TRAINER}/clustertrainingruntimes", json=_runtime("torch")).is_success
    container = pod(mounts=None, command=(*LINE[:-1], "{{workflow.parameters.rate}}"))["containers"][0]
    said = {"entrypoint": "t", "templates": [{"name": "t", "container": container}]}
    lent = {"apiVersion": ARGO, "kind": "WorkflowTemplate", "metadata": {"name": "lora"}, "spec": said}
    assert api.http.post(_path(lent, "enforced"), json=lent).is_success
    server = Server(tmp_path, "--kubeconfig", str(api.kubeconfig("service")))
    try:
        _hook(api, cluster.hooks(server.wait().ca, server.port))
        refused = _create(api, _train_job("torch"), "enforced")
        assert refused.status_code == 422
        assert "LL403 ClusterTrainingRuntime/torch " in refused.json()["message"]
        assert "SmolLM2" not in refused.text
        assert _create(api, _train_job("torch", command=list(GOOD_LINE)), "enforced").status_code == 201
        overruling = _train_job("torch", args=["--learning_rate", "2e-4"])
        assert _create(api, overruling, "enforced").status_code == 201
        assert "is not there" in str(_warnings(_create(api, _train_job("gone"), "enforced")))
        for rate, status in (("-1", 422), ("2e-4", 201)):
            given = {"arguments": {"parameters": [{"name": "rate", "value": rate}]}}
            flow = {"apiVersion": ARGO, "kind": "Workflow", "metadata": {}}
            flow["spec"] = {"workflowTemplateRef": {"name": "lora"}, **given}
            assert _create(api, flow, "enforced").status_code == status
        counted = server.metrics()
        assert 'loralint_lookup_total{result="found"}' in counted
        assert "forbidden" not in counted
    finally:
        server.stop()


def _label(api, namespace, mode):
    head = {"Content-Type": "application/merge-patch+json"}
    patch = {"metadata": {"labels": {"loralint.dev/mode": mode}}}
    assert api.http.patch(f"/api/v1/namespaces/{namespace}", json=patch, headers=head).is_success
    blocked = {"enforce": 422}.get(mode, 201)
    _until(lambda: _create(api, config_map(BAD), namespace, dry=True).status_code == blocked)


def test_a_suspended_job_is_judged_anew_when_it_gets_its_gpu(hooked):
    """As Kueue admits it: the selector comes while the job waits."""
    made = _fresh(job(mounts=None, command=(*GOOD_LINE, *FLASH), suspend=True))
    path = _path(made, "enforced", made["metadata"]["name"])
    assert hooked.http.post(_path(made, "enforced"), json=made).status_code == 201
    template = {"nodeSelector": {"nvidia.com/gpu.product": "Tesla-T4"}}
    patch = {"spec": {"suspend": False, "template": {"spec": template}}}
    head = {"Content-Type": "application/merge-patch+json"}
    refused = hooked.http.patch(path, json=patch, headers=head)
    assert refused.status_code == 422
    assert "LL216" in refused.json()["message"]
    template["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    assert hooked.http.patch(path, json=patch, headers=head).status_code == 200


def test_no_call_for_what_does_not_concern_it(hooked, server):
    calls = len(_reviews(server))
    lock = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": {"leader": "me"}}}
    assert _create(hooked, lock, "enforced").status_code == 201
    assert _create(hooked, {**lock, "data": {"ca.crt": "PEM"}}, "enforced").status_code == 201
    assert _create(hooked, config_map(BAD), "kube-system").status_code == 201
    assert _create(hooked, config_map(BAD), "left").status_code == 201
    bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": pod(mounts=None, command=LINE)}
    assert _create(hooked, bare, "enforced").status_code == 201
    good = _fresh(config_map(GOOD))
    path = _path(good, "enforced", good["metadata"]["name"])
    assert hooked.http.post(_path(good, "enforced"), json=good).status_code == 201
    good["metadata"]["labels"] = {"any": "label"}
    assert hooked.http.put(path, json=good).status_code == 200
    assert hooked.http.delete(path).status_code == 200
    assert len(_reviews(server)) == calls + 1


def _reviews(server):
    return [one for one in server.logged() if one.get("event") == "review"]


def test_the_audit_log_says_which_rules_spoke(hooked):
    name = _create(hooked, config_map(BAD), "warned").json()["metadata"]["name"]
    of = [one for one in hooked.audit() if one.get("objectRef", {}).get("name") == name]
    assert of[-1]["annotations"]["warn.configmaps.loralint.dev/rules"] == "LL304"


def test_a_child_of_a_controller_is_let_through_and_one_that_only_says_so_is_not(hooked):
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "1", "controller": True}
    child = _fresh(job(mounts=None, command=LINE))
    child["metadata"]["ownerReferences"] = [owner]
    assert hooked.http.post(_path(child, "enforced"), json=child).status_code == 422
    with hooked.client("system:serviceaccount:kube-system:job-controller") as controller:
        assert controller.post(_path(child, "enforced"), json=child).status_code == 201


DOWN = 1  # a port that nobody listens on


@pytest.mark.parametrize("policy", ["Ignore", "Fail"])
def test_a_webhook_that_is_down(api, server, policy):
    configuration = cluster.hooks(server.ca, DOWN, policy=policy)
    _hook(api, configuration)
    began = time.monotonic()
    answer = _create(api, config_map(BAD), "enforced")
    assert time.monotonic() - began < 4
    assert answer.status_code == (201 if policy == "Ignore" else 500)
    if policy == "Ignore":
        opened = re.search(r"\napiserver_admission_webhook_fail_open_count\{(.*)\}", api.http.get("/metrics").text)
        assert opened
        assert re.search(r'name="[^"]*[.]loralint[.]dev"', opened[1])  # as the alert LoralintNotAsked has it
    _cluster_is_usable(api)


@pytest.mark.parametrize("policy", ["Ignore", "Fail"])
def test_a_webhook_that_hangs(api, server, policy):
    """The process is stopped: the port takes connections and nobody answers."""
    _hook(api, cluster.hooks(server.ca, server.port, policy=policy, seconds=1))
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        answer = _create(api, config_map(BAD), "enforced")
        assert 0.9 < time.monotonic() - began < 3
        assert answer.status_code == (201 if policy == "Ignore" else 500)
        _cluster_is_usable(api)
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


def _cluster_is_usable(api):
    """Whatever the webhook does: the system's own namespace, locks, other kinds, deletions and the way out."""
    answer = _create(api, config_map(BAD), "kube-system")
    assert answer.status_code == 201
    assert api.http.delete(_path(config_map(), "kube-system", answer.json()["metadata"]["name"])).status_code == 200
    own = _create(api, job(mounts=None, command=LINE), "loralint")  # the Job that makes its certificates
    assert own.status_code == 201
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {}, "spec": {"holderIdentity": "me"}}
    assert _create(api, lease, "enforced").status_code == 201
    lock = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": {"leader": "me"}}}
    assert _create(api, lock, "enforced").status_code == 201
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}},
        },
    }  # fmt: skip
    assert _create(api, deployment, "enforced").status_code == 201
    assert api.http.delete(f"{CONFIGURATION}/loralint").status_code == 200


def test_a_mended_map_is_what_is_stored(api, tmp_path):
    from tests.webhook.server import Server

    server = Server(tmp_path, "--mutate")
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    try:
        server.wait()
        hooks = cluster.hooks(server.ca, server.port)
        hook = {**hooks["webhooks"][0], "name": "fix.configmaps.loralint.dev", "reinvocationPolicy": "IfNeeded"}
        hook["clientConfig"]["url"] = f"https://127.0.0.1:{server.port}/mutate"
        hook["rules"][0]["operations"] = ["CREATE"]
        made = {**hooks, "kind": "MutatingWebhookConfiguration", "webhooks": [hook]}
        assert api.http.post(path, json=made).is_success
        # the spelling of an older release, and letters that the server writes in another way than we do
        small = "\ufeff# <s> & caf\u00e9 \U0001f600\n" + GOOD + "evaluation_strategy: steps\neval_steps: 20\n"
        _until(lambda: _warnings(_create(api, config_map(small), "warned", dry=True)))
        stored = _create(api, config_map(small), "warned").json()["data"]["train.yaml"]
        assert stored == small.replace("evaluation_strategy", "eval_strategy")
        assert not _warnings(_create(api, config_map(stored), "warned"))
        again = _create(api, config_map(stored), "warned").json()["data"]["train.yaml"]
        assert again == stored
    finally:
        api.http.delete(f"{path}/loralint")
        server.stop()


def test_one_of_two_servers_restarts_under_load_and_no_create_fails(api, tmp_path):
    """As a rolling update does it: a new server first, the old one out of the endpoints, then its end.

    Endpoints are played by the URL in the configuration: there is no kube-proxy here. Policy Fail, so that a review
    that gets lost is a create that fails.
    """
    from tests.webhook.server import Server

    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    servers = [Server(first), Server(second)]
    failed, done, stop = [], [], threading.Event()

    def load():
        with api.client("admin") as client:
            while not stop.is_set():
                answer = _create(api, config_map(GOOD), "enforced", dry=True, client=client)
                (done if answer.status_code == 201 else failed).append(answer.text)

    try:
        both = []
        for one in servers:
            one.wait()
            both.append(cluster.hooks(one.ca, one.port, policy="Fail"))
        _hook(api, both[0])
        threads = [threading.Thread(target=load) for _ in range(4)]
        for one in threads:
            one.start()
        for turn in range(1, 7):
            now = both[turn % 2]
            assert _replaced(api, now)
            time.sleep(2)  # as the sleep before a pod's end: the API server still asks the old one for a moment
            old, folder = servers[(turn + 1) % 2], (first, second)[(turn + 1) % 2]
            old.process.send_signal(signal.SIGTERM)
            assert old.process.wait(30) == 0, old.log.read_text()[-2000:]
            servers[(turn + 1) % 2] = Server(folder).wait()
            again = servers[(turn + 1) % 2]
            both[(turn + 1) % 2] = cluster.hooks(again.ca, again.port, policy="Fail")
        stop.set()
        for one in threads:
            one.join()
        assert not failed, failed[:3]
        assert len(done) > 100
    finally:
        stop.set()
        api.http.delete(f"{CONFIGURATION}/loralint")
        for one in servers:
            one.stop()


def _replaced(api, configuration):
    current = api.http.get(f"{CONFIGURATION}/loralint").json()
    configuration["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"]
    return api.http.put(f"{CONFIGURATION}/loralint", json=configuration).is_success


def test_certificates_are_made_told_and_renewed(api):
    """A new CA reaches the hooks before anything of it is served, and what is good stays."""
    from click.testing import CliRunner

    from loralint.cli import main

    assert api.http.post("/api/v1/namespaces", json={"metadata": {"name": "loralint"}}).status_code in (201, 409)
    objects = cluster.rendered("self-signed")
    made = next(one for one in objects if one["kind"] == "ValidatingWebhookConfiguration")
    cluster.granted(api, objects, "loralint-certs", "certs")
    api.http.delete(f"{CONFIGURATION}/loralint")
    assert api.http.post(CONFIGURATION, json=made).is_success
    given = ["certs", "--kubeconfig", str(api.kubeconfig("certs"))]  # with the rights of the chart, and no others
    first = CliRunner().invoke(main, given)
    assert first.exit_code == 0, first.output
    assert "a new CA; told to ValidatingWebhookConfiguration; a new certificate" in first.output
    assert "nothing to do" in CliRunner().invoke(main, given).output
    mistyped = CliRunner().invoke(main, [*given[:-1], str(api.kubeconfig("admin")), "--configuration", "lorelint"])
    assert (mistyped.exit_code, "no webhook configuration is called lorelint" in mistyped.stderr) == (2, True)
    hooks = api.http.get(f"{CONFIGURATION}/loralint").json()["webhooks"]
    ca = api.http.get("/api/v1/namespaces/loralint/secrets/loralint-ca").json()["data"]["ca.crt"]
    assert {hook["clientConfig"]["caBundle"] for hook in hooks} == {ca}
    secret = api.http.get("/api/v1/namespaces/loralint/secrets/loralint-tls").json()
    assert secret["type"] == "kubernetes.io/tls"
    assert set(secret["data"]) == {"tls.crt", "tls.key"}
    refused = CliRunner().invoke(main, [*given, "--withdraw"])
    assert (refused.exit_code, "forbidden" in refused.output) == (3, True)
    # Helm, Argo CD or kubectl apply their manifest again, which says nothing of a CA
    head = {"Content-Type": "application/apply-patch+yaml"}
    again = {"fieldManager": "helm", "force": "true"}
    assert api.http.patch(f"{CONFIGURATION}/loralint", content=json.dumps(made), params=again, headers=head).is_success
    assert "nothing to do" in CliRunner().invoke(main, given).output
    lost = api.http.get(f"{CONFIGURATION}/loralint").json()
    for hook in lost["webhooks"]:
        del hook["clientConfig"]["caBundle"]
    assert api.http.put(f"{CONFIGURATION}/loralint", json=lost).is_success
    assert CliRunner().invoke(main, given).output == "told to ValidatingWebhookConfiguration\n"
    withdrawn = CliRunner().invoke(main, [*given[:-1], str(api.kubeconfig("admin")), "--withdraw"])
    assert "ValidatingWebhookConfiguration loralint is gone" in withdrawn.output
    assert api.http.get(f"{CONFIGURATION}/loralint").status_code == 404


@pytest.mark.skipif(not HELM, reason="no helm: neither HELM=PATH nor helm on the PATH")
def test_an_upgrade_brings_deleted_hooks_back_with_a_ca(api):
    """As docs/kubernetes.md says of an emergency. No controller runs here: the test does what the Job's pod would."""
    from click.testing import CliRunner

    from loralint.cli import main

    jobs = "/apis/batch/v1/namespaces/recovered/jobs"
    api.http.delete(f"{CONFIGURATION}/loralint")
    runs = []
    chart = (str(CHART), "--set", "certs.mode=self-signed")
    for command in (("install", *chart, "--create-namespace"), ("upgrade", *chart), ("rollback", "1")):
        _helm(api, *command)
        (run,) = [one for one in api.http.get(jobs).json()["items"] if not one["metadata"].get("deletionTimestamp")]
        runs.append(run["metadata"]["name"])
        assert not [hook for hook in _hooks_of(api) if "caBundle" in hook["clientConfig"]]
        args = run["spec"]["template"]["spec"]["containers"][0]["args"]
        done = CliRunner().invoke(main, [*args, "--kubeconfig", str(api.kubeconfig("admin"))])
        assert "told to ValidatingWebhookConfiguration" in done.output
        assert all(hook["clientConfig"]["caBundle"] for hook in _hooks_of(api))
        assert api.http.delete(f"{CONFIGURATION}/loralint-recovered").is_success
    assert runs[0] == runs[2] != runs[1]  # an upgrade took the first one away, so that a rollback runs it again


def _hooks_of(api):
    return api.http.get(f"{CONFIGURATION}/loralint-recovered").json()["webhooks"]


def _helm(api, verb, *given):
    command = [HELM, verb, "loralint-recovered", *given, "--namespace", "recovered"]
    subprocess.run(
        [*command, "--kubeconfig", str(api.kubeconfig("admin"))], check=True, capture_output=True, timeout=60
    )


def test_a_scan_finds_what_slipped_through(api):
    from click.testing import CliRunner

    from loralint.cli import main

    given = ["scan-cluster", "-n", "scanned", "--kubeconfig", str(api.kubeconfig("admin"))]
    early = CliRunner().invoke(main, given)
    assert (early.exit_code, "there is no namespace `scanned`" in early.stderr) == (2, True)
    api.http.post("/api/v1/namespaces", json={"metadata": {"name": "scanned"}})
    api.http.post("/api/v1/namespaces/scanned/configmaps", json={**config_map(BAD), "metadata": {"name": "slipped"}})
    api.http.post("/api/v1/namespaces/scanned/configmaps", json={**config_map(GOOD), "metadata": {"name": "good"}})
    made = _fresh(job(mounts="slipped"))
    api.http.post(_path(made, "scanned"), json=made)
    found = CliRunner().invoke(main, [*given, "--format", "json"])
    assert found.exit_code == 1, found.output
    told = {one["kind"]: {each["rule"] for each in one["findings"]} for one in json.loads(found.stdout)["objects"]}
    assert "LL304" in told["ConfigMap"]
    assert "LL304" in told["Job"]
    refused = CliRunner().invoke(main, [*given[:-1], str(api.kubeconfig("author"))])
    assert refused.exit_code == 3
    assert "forbidden" in refused.stderr


def test_a_scan_writes_reports_with_the_rights_of_the_chart(api):
    from click.testing import CliRunner

    from loralint.cli import main
    from loralint.webhook.policy_report import GROUP, KIND, PLURAL, VERSION
    from loralint.webhook.references import REFERRED
    from loralint.webhook.resources import RESOURCES

    api.http.post("/api/v1/namespaces", json={"metadata": {"name": "reported"}})
    given = ["scan-cluster", "-n", "reported", "--format", "policyreport", "--apply", "--exit-zero"]
    without = CliRunner().invoke(main, [*given, "--kubeconfig", str(api.kubeconfig("admin"))])
    assert (without.exit_code, "the CRD policyreports.wgpolicyk8s.io is not installed" in without.stderr) == (3, True)
    reports = cluster.definition(GROUP, KIND, PLURAL, (VERSION,))
    assert api.http.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=reports).is_success
    spaced = [one for one in RESOURCES if one.is_namespaced]
    rules = [{"apiGroups": [one.group], "resources": [one.plural], "verbs": ["list"]} for one in spaced]
    rules += [{"apiGroups": [one.group], "resources": [one.plural], "verbs": ["get"]} for one in REFERRED]
    rules.append({"apiGroups": [GROUP], "resources": [PLURAL], "verbs": ["list", "create", "patch"]})
    role = {"kind": "ClusterRole", "metadata": {"name": "loralint-scan"}, "rules": rules}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "loralint-scan"}
    binding = {
        "kind": "ClusterRoleBinding", "metadata": {"name": "loralint-scan"}, "roleRef": reference,
        "subjects": [{"kind": "ServiceAccount", "name": "loralint-scan"}],
    }  # fmt: skip
    cluster.granted(api, [role, binding], "loralint-scan", "scanner")
    bad = {**config_map(BAD), "metadata": {"name": "slipped"}}
    api.http.post("/api/v1/namespaces/reported/configmaps", json=bad)
    given += ["--kubeconfig", str(api.kubeconfig("scanner"))]
    done = CliRunner().invoke(main, given)
    assert (done.exit_code, done.output) == (0, "1 reports written\n")
    path = f"/apis/{GROUP}/{VERSION}/namespaces/reported/{PLURAL}/loralint"
    assert api.http.get(path).json()["results"][0]["policy"] == "LL304"
    api.http.delete("/api/v1/namespaces/reported/configmaps/slipped")
    assert api.http.post(f"/apis/{TRAINER}/clustertrainingruntimes", json=_runtime("reported")).is_success
    uses = {**_train_job("reported"), "metadata": {"name": "uses"}}
    assert api.http.post(_path(uses, "reported"), json=uses).is_success
    assert CliRunner().invoke(main, given).exit_code == 0
    assert api.http.get(path).json()["results"][0]["resources"][0]["kind"] == "TrainJob"
    api.http.delete(_path(uses, "reported", "uses"))
    assert CliRunner().invoke(main, given).exit_code == 0
    assert api.http.get(path).json()["results"] == []


def test_a_scan_lists_in_pieces(api):
    from loralint.cli.reached import reached
    from loralint.webhook.resources import Resource
    from loralint.webhook.stored import CHUNK, listed

    api.http.post("/api/v1/namespaces", json={"metadata": {"name": "many"}})
    for number in range(CHUNK + 20):
        one = {"metadata": {"name": f"n{number}"}, "data": {"a.txt": "a"}}
        assert api.http.post("/api/v1/namespaces/many/configmaps", json=one).status_code == 201
    with reached(str(api.kubeconfig("admin"))) as client:
        assert sum(1 for _ in listed(client, Resource("", "ConfigMap"), "many")) == CHUNK + 20


@pytest.mark.parametrize("folder", ["cert-manager", "self-signed"])
def test_what_the_chart_renders_is_what_an_api_server_takes(api, folder):
    _all_taken(api, cluster.rendered(folder))


def test_what_the_chart_renders_with_all_its_options_is_taken_too(api):
    if not HELM:
        pytest.skip("no helm: neither HELM=PATH nor helm on the PATH")
    values = json.dumps(SETS["all"])
    given = [HELM, "template", "loralint", str(CHART), "--namespace", "loralint", "--values", "-"]
    text = subprocess.run(given, input=values, capture_output=True, text=True, check=True).stdout
    _all_taken(api, [one for one in yaml.safe_load_all(text) if one])


def _all_taken(api, objects):
    api.http.post("/api/v1/namespaces", json={"metadata": {"name": "loralint"}})
    paths = {
        "ClusterRole": "rbac.authorization.k8s.io/v1/clusterroles",
        "ClusterRoleBinding": "rbac.authorization.k8s.io/v1/clusterrolebindings",
        "MutatingWebhookConfiguration": CONFIGURATION.removeprefix("/apis/").replace("validating", "mutating"),
        "ValidatingWebhookConfiguration": CONFIGURATION.removeprefix("/apis/"),
        "ValidatingAdmissionPolicy": POLICIES.removeprefix("/apis/"),
        "ValidatingAdmissionPolicyBinding": BINDINGS.removeprefix("/apis/"),
        "NetworkPolicy": "networking.k8s.io/v1/namespaces/loralint/networkpolicies",
    }
    for one in objects:
        if one["apiVersion"].partition("/")[0] in ("cert-manager.io", "monitoring.coreos.com"):
            continue
        path = f"/apis/{paths[one['kind']]}" if one["kind"] in paths else _path(one, "loralint")
        answer = api.http.post(path, json=one, params={"dryRun": "All", "fieldValidation": "Strict"})
        assert answer.status_code in (201, 409), answer.text
        assert not _warnings(answer)


@pytest.fixture
def bound(api):
    """The policy of the chart, with its binding for all namespaces but the system's; no webhook."""
    api.http.delete(f"{CONFIGURATION}/loralint")
    text = (cluster.ROOT / "deploy" / "chart" / "files" / "policy.yaml").read_text("utf-8")
    policy = yaml.safe_load(text)
    assert api.http.post(POLICIES, json=policy, params={"fieldValidation": "Strict"}).is_success
    name = policy["metadata"]["name"]

    def bind(action):
        api.http.delete(f"{BINDINGS}/{name}")
        spec = {"policyName": name, "validationActions": [action]}
        answer = api.http.post(BINDINGS, json={"metadata": {"name": name}, "spec": spec})
        assert answer.is_success, answer.text
        blocked = 422 if action == "Deny" else 201
        _until(lambda: _answer(_create(api, config_map(BAD), "left", dry=True)) == (blocked, action == "Warn"))

    yield bind
    api.http.delete(f"{BINDINGS}/{name}")
    api.http.delete(f"{POLICIES}/{name}")


def _answer(answer):
    return answer.status_code, bool(_warnings(answer))


def test_the_policy_holds_its_rules_in_the_api_server_itself(api, bound):
    from loralint.authoring.policy import validations, witness

    bound("Deny")
    for one in validations([compiled(rule) for rule in all_rules()]):
        refused = _create(api, config_map(witness(one.framework, one.held)), "left")
        assert refused.status_code == 422, one
        assert one.message in refused.json()["message"] or "`loralint explain" in refused.json()["message"]
    assert _answer(_create(api, config_map(GOOD), "left")) == (201, False)
    bound("Warn")
    warned = _create(api, config_map(BAD), "left")
    assert warned.status_code == 201
    assert "LL304" in str(_warnings(warned))
    stored = warned.json()
    bound("Deny")
    stored["metadata"].pop("resourceVersion")
    stored["data"]["train.yaml"] += "# edited\n"
    path = _path(config_map(), "left", stored["metadata"]["name"])
    assert api.http.put(path, json=stored).status_code == 200
    stored["data"]["train.yaml"] = GOOD.replace("learning_rate: 0.0002", "learning_rate: 0")
    assert api.http.put(path, json=stored).status_code == 422


@pytest.mark.parametrize("value", [*NO_TEXTS, *TEXTS])
def test_which_scalars_are_no_texts(api, value):
    """As the rule on them (LL825) has it."""
    sent = yaml.safe_dump({**job(mounts=None, command=LINE), "metadata": {"name": "one"}})
    sent = sent.replace("command:", f"env: [{{name: A, value: {value}}}]\n        command:", 1)
    head = {"Content-Type": "application/yaml"}
    given = api.http.post("/apis/batch/v1/namespaces/left/jobs", content=sent, params={"dryRun": "All"}, headers=head)
    assert given.status_code == (400 if value in NO_TEXTS else 201), given.text


def test_numbers_are_no_texts_of_a_map_either(api):
    head = {"Content-Type": "application/yaml"}
    for value, status in (("2e-4", 400), ("12:30", 201)):
        sent = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: rates}}\ndata: {{LR: {value}}}\n"
        given = api.http.post(
            "/api/v1/namespaces/left/configmaps", content=sent, params={"dryRun": "All"}, headers=head
        )
        assert given.status_code == status, given.text
