"""The chart: what it renders for several clusters, what it refuses, and that the Kustomize bases say the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "chart"
KUSTOMIZE = ROOT / "deploy" / "kustomize"
HELM = os.environ.get("HELM") or shutil.which("helm")
needs_helm = pytest.mark.skipif(not HELM, reason="no helm: neither HELM=PATH nor helm on the PATH")

SETS = {
    "default": {},
    "self-signed": {"certs": {"mode": "self-signed"}},
    "existing": {"certs": {"mode": "existingSecret", "existingSecret": "mine", "caBundle": "Q0E="}},
    "all": {
        "mutation": {"enabled": True}, "policy": {"enabled": True}, "certs": {"mode": "self-signed"},
        "scan": {"enabled": True, "report": "policyreport"}, "pods": True, "hostNetwork": True, "port": 10250,
        "monitoring": {"podMonitor": True, "alerts": True, "dashboard": True, "labels": {"release": "prometheus"}},
        "priorityClassName": "system-cluster-critical", "trustedControllers": ["me"], "podLabels": {"team": "ml"},
        "webhookAnnotations": {"admissions.enforcer/disabled": "true"}, "image": {"pullSecrets": [{"name": "pull"}]},
        "settings": 'gpu = "T4" # {{ not a template }}\n[tiers]\nLL214 = "S"\n',
        "workloads": {"extraRules": [{"apiGroups": ["x.io"], "apiVersions": ["v1"], "resources": ["trainings"]}]},
    },
    "one-replica": {"replicas": 1, "lookups": False, "networkPolicy": {"enabled": False}, "defaultMode": "off"},
    "enforce": {"defaultMode": "enforce", "workloads": {"failurePolicy": "Fail"}},
}  # fmt: skip


def _helm(*given, values=None, check=True):
    given = [HELM, *given, "--values", "-"]
    return subprocess.run(
        given, input=json.dumps(values or {}), capture_output=True, text=True, check=check, timeout=60
    )


def _rendered(values, *more):
    return _helm("template", "loralint", str(CHART), "--namespace", "loralint", *more, values=values).stdout


def _objects(text):
    return [one for one in yaml.safe_load_all(text) if one]


def _of(objects, kind):
    return [one for one in objects if one["kind"] == kind]


@pytest.fixture(params=SETS)
def objects(request):
    return _objects(_rendered(SETS[request.param]))


@needs_helm
@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_lint(values):
    assert "0 chart(s) failed" in _helm("lint", "--strict", str(CHART), values=values).stdout


@needs_helm
@pytest.mark.parametrize("mode", ["cert-manager", "self-signed"])
def test_the_kustomize_base_is_the_rendered_chart(mode):
    base = (KUSTOMIZE / mode / "loralint.yaml").read_text("utf-8")
    made = _rendered({"certs": {"mode": mode}}, "--no-hooks")
    # Helm 4.2 ends every object with an empty line, others do not.
    assert [one for one in base.split("\n") if one] == [one for one in made.split("\n") if one]


@needs_helm
def test_no_object_comes_twice(objects):
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(names) == len(set(names))


@needs_helm
def test_objects_are_valid(objects):
    """Against the schemas of Kubernetes; a real API server is asked elsewhere."""
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate (108 MB) is not installed")
    for one in objects:
        if one["apiVersion"].partition("/")[0] not in ("cert-manager.io", "monitoring.coreos.com"):
            validate.validate(one, "1.34", strict=True)


@needs_helm
def test_hooks_ask_as_little_as_they_may(objects):
    for configuration in [
        *_of(objects, "ValidatingWebhookConfiguration"),
        *_of(objects, "MutatingWebhookConfiguration"),
    ]:
        for hook in configuration["webhooks"]:
            assert hook["timeoutSeconds"] <= 3
            assert hook["sideEffects"] == "None"
            assert {one for rule in hook["rules"] for one in rule["operations"]} <= {"CREATE", "UPDATE"}
            assert all(rule["scope"] == "Namespaced" for rule in hook["rules"])
            assert not [one for rule in hook["rules"] for one in rule["resources"] if "/" in one or one == "*"]
            names = next(
                one
                for one in hook["namespaceSelector"]["matchExpressions"]
                if one["key"] == "kubernetes.io/metadata.name"
            )
            assert {"kube-system", "loralint"} <= set(names["values"])
            assert names["operator"] == "NotIn"
            assert hook["clientConfig"].get("caBundle") != ""


@needs_helm
@pytest.mark.parametrize("default", ["off", "warn", "enforce"])
@pytest.mark.parametrize("label", [None, "off", "warn", "enforce", "enforec"])
def test_every_namespace_meets_the_hook_of_its_mode_and_no_other(default, label):
    hooks = _of(_objects(_rendered({"defaultMode": default})), "ValidatingWebhookConfiguration")[0]["webhooks"]
    met = {hook["name"] for hook in hooks if _selects(hook["namespaceSelector"], label)}
    mode = label if label in ("off", "warn", "enforce") else default
    assert met == (set() if mode == "off" else {f"{mode}.configmaps.loralint.dev", f"{mode}.workloads.loralint.dev"})


def _selects(selector, label):
    rule = next(one for one in selector["matchExpressions"] if one["key"] == "loralint.dev/mode")
    return (label in rule["values"]) == (rule["operator"] == "In")


@needs_helm
def test_hooks_and_the_scan_know_the_kinds_that_the_service_knows():
    from loralint.webhook.resources import WORKLOADS

    objects = _objects(_rendered({"scan": {"enabled": True}}))
    hooks = _of(objects, "ValidatingWebhookConfiguration")[0]["webhooks"]
    hooked = {
        (group, plural, version)
        for hook in hooks if "workloads" in hook["name"] for rule in hook["rules"]
        for group in rule["apiGroups"] for plural in rule["resources"] for version in rule["apiVersions"]
    }  # fmt: skip
    known = {(one.group, one.plural, version) for one in WORKLOADS if one.is_namespaced for version in one.versions}
    assert hooked == known
    scans = next(one for one in _of(objects, "ClusterRole") if one["metadata"]["name"].endswith("scan"))
    listed = {(group, plural) for group, plural, verb in _rights(scans["rules"]) if verb == "list"}
    assert listed == {(group, plural) for group, plural, _ in known} | {("", "configmaps")}


@needs_helm
def test_clusters_that_need_more_get_it():
    objects = _objects(_rendered(SETS["all"]))
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        assert _of(objects, kind)[0]["metadata"]["annotations"]["admissions.enforcer/disabled"] == "true"
    pod = _of(objects, "Deployment")[0]["spec"]["template"]["spec"]
    assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    assert {"name": "https", "containerPort": 10250} in pod["containers"][0]["ports"]
    assert _of(objects, "Service")[0]["spec"]["ports"][0]["targetPort"] == "https"
    openshift = _objects(_rendered({}, "--api-versions", "security.openshift.io/v1"))
    assert "runAsUser" not in str(_of(openshift, "Deployment"))


@needs_helm
@pytest.mark.parametrize("release", ["r" * 53, "loralint-" + "r" * 44])
def test_names_of_a_release_with_a_long_name_are_short_enough(release):
    objects = _objects(_helm("template", release, str(CHART), values=SETS["all"]).stdout)
    for kind, longest in (("CronJob", 52), ("Job", 63), ("Service", 63), ("Deployment", 63)):
        assert all(len(one["metadata"]["name"]) <= longest for one in _of(objects, kind))


def test_nothing_is_made_or_asked_while_it_is_rendered():
    """Argo CD renders anew at every sync, without a cluster to ask."""
    texts = [path.read_text("utf-8") for path in (CHART / "templates").rglob("*") if path.is_file()]
    made = re.compile(r"[\s(](genCA|genSigned\w*|genSelf\w*|genPrivate\w*|lookup|rand\w+|uuidv4|now)[\s)]")
    assert not [text for text in texts if made.search(text)]


@needs_helm
def test_pods_run_without_privileges_and_with_bounds(objects):
    for pod in _pods(objects):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in container["resources"]["limits"]
            assert "cpu" not in container["resources"]["limits"]
            assert not container["image"].endswith(":latest")


def _pods(objects):
    for one in objects:
        spec = one.get("spec", {})
        if one["kind"] == "Pod":
            yield spec
        elif one["kind"] == "CronJob":
            yield spec["jobTemplate"]["spec"]["template"]["spec"]
        elif one["kind"] in ("Deployment", "Job"):
            yield spec["template"]["spec"]


def _rights(rules):
    return {
        (group, plural, verb)
        for rule in rules for group in rule["apiGroups"] for plural in rule["resources"] for verb in rule["verbs"]
    }  # fmt: skip


@needs_helm
def test_settings_reach_the_service_and_the_scan():
    objects = _objects(_rendered(SETS["all"]))
    (held,) = [one for one in _of(objects, "ConfigMap") if one["metadata"]["name"] == "loralint-settings"]
    assert held["data"] == {"loralint.toml": SETS["all"]["settings"]}
    readers = [pod for pod in _pods(objects) if "--settings=/etc/loralint/settings/loralint.toml" in str(pod)]
    assert [pod["containers"][0]["name"] for pod in readers] == ["webhook", "scan"]
    for pod in readers:
        assert {"name": "settings", "configMap": {"name": "loralint-settings"}} in pod["volumes"]
        mounted = {"name": "settings", "mountPath": "/etc/loralint/settings", "readOnly": True}
        assert mounted in pod["containers"][0]["volumeMounts"]
    several = [_objects(_rendered({"settings": one})) for one in ("", "#", "##")]
    assert len({str(_of(one, "Deployment")[0]["spec"]["template"]) for one in several}) == 3


@needs_helm
def test_the_service_that_reads_reviews_may_get_what_jobs_name_and_nothing_else(objects):
    from loralint.webhook.references import REFERRED

    roles = {one["metadata"]["name"]: one["rules"] for one in [*_of(objects, "ClusterRole"), *_of(objects, "Role")]}
    given = _rights(roles.get("loralint", []))
    named = {(one.group, one.plural, "get") for one in REFERRED}
    assert given in (set(), named | {("", "configmaps", "get")})
    if "loralint-scan" in roles:
        assert named <= _rights(roles["loralint-scan"])
    for rules in roles.values():
        assert not [one for rule in rules for one in (*rule["verbs"], *rule["resources"]) if one == "*"]


@needs_helm
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"workloads": {"failurePolicy": "Fail"}, "replicas": 1}, "raise replicas"),
        ({"defaultMode": "loud"}, "defaultMode"),
        ({"certs": {"mode": "existingSecret"}}, "certs.existingSecret"),
        ({"policy": {"actions": ["Warn", "Deny"]}}, "write [Warn] or [Deny]"),
        ({"certs": {"schedule": "often"}}, 'certs.schedule: "often" is no schedule of cron'),
        ({"scan": {"schedule": "1 2 3 4"}}, "scan.schedule"),
        ({"settings": "loralint.toml"}, "--set-file settings=FILE"),
        ({"workers": 65}, "workers"),
        ({"lookups": None}, "missing property 'lookups'"),
        ({"certs": {"leafDays": None}}, "missing property 'leafDays'"),
        ({"certs": {"leafDays": 11}}, "/certs/leafDays"),
        ({"podDisruptionBudget": {"minAvailable": 3}}, "every drain of a node hangs"),
        ({"podDisruptionBudget": {"minAvailable": "100%"}}, "every drain of a node hangs"),
        ({"podDisruptionBudget": {"minAvailable": "67%"}}, "every drain of a node hangs"),
        ({"podDisruptionBudget": {"minAvailable": "most"}}, "minAvailable"),
        ({"timeoutSeconds": 30}, "timeoutSeconds"),
        ({"port": 8080}, "port and metricsPort"),
        ({"imgae": {"tag": "1"}}, "imgae"),
    ],
)
def test_what_would_harm_a_cluster_is_refused(values, said):
    refused = _helm("template", "loralint", str(CHART), values=values, check=False)
    assert refused.returncode != 0
    assert said in refused.stderr


@needs_helm
@pytest.mark.parametrize(
    "values",
    [
        {"podDisruptionBudget": {"minAvailable": "66%"}, "certs": {"schedule": "@daily"}, "settings": "# later\n"},
        {"podDisruptionBudget": {"minAvailable": 1}, "replicas": 1, "scan": {"schedule": "@every 6h"}, "workers": 64},
        {"podDisruptionBudget": {"minAvailable": 9, "enabled": False}, "settings": "[tiers]\nLL214 = 'S'"},
        {
            "workloads": {"extraRules": None}, "monitoring": {"labels": None, "alerts": True}, "resources": None,
            "podLabels": None, "settings": None, "affinity": None, "image": {"tag": None}, "certs": {"issuerRef": None},
        },
    ],
)  # fmt: skip
def test_what_harms_nobody_is_taken(values):
    text = _rendered(values)
    assert _of(_objects(text), "Deployment")
    assert "<nil>" not in text


def test_only_what_may_be_left_empty_may_be_unset():
    """`null` in a file of values takes a default away."""
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    held = {name: schema["properties"][name] for name in values if "properties" in schema["properties"][name]}
    for needed, given in [(schema, values), *((one, values[name]) for name, one in held.items())]:
        assert set(needed.get("required", ())) == {name for name, value in given.items() if value not in ("", {}, [])}


@needs_helm
def test_memory_grows_with_the_workers_unless_it_is_given():
    def memory(values):
        container = _of(_objects(_rendered(values)), "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]
        return container["resources"]["requests"]["memory"], container["resources"]["limits"]["memory"]

    assert memory({}) == ("256Mi", "768Mi")
    assert memory({"workers": 16}) == ("704Mi", "1664Mi")
    assert memory({"workers": 16, "resources": {"limits": {"memory": "3Gi"}}}) == ("704Mi", "3Gi")


@needs_helm
def test_other_hooks_take_another_job_of_certificates():
    """Argo CD and `helm template` know no number of the release; the API server's tests upgrade one."""

    def job(**more):
        (one,) = _of(_objects(_rendered({"certs": {"mode": "self-signed"}, **more}, "--no-hooks")), "Job")
        return one["metadata"]["name"]

    assert job() == job(replicas=4)
    several = [{}, {"mutation": {"enabled": True}}, {"configMaps": {"enabled": False}}, {"defaultMode": "enforce"}]
    assert len({job(**one) for one in several}) == 4


@needs_helm
def test_probes_go_where_no_crowd_of_reviews_is():
    (container,) = _of(_objects(_rendered({})), "Deployment")[0]["spec"]["template"]["spec"]["containers"]
    asked = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")}
    assert asked["startup"] == asked["readiness"] == {"path": "/readyz", "port": "metrics"}
    assert asked["liveness"] == {"path": "/healthz", "port": "metrics"}


@needs_helm
@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_every_argument_is_one_that_the_command_takes(values):
    from click.testing import CliRunner

    from loralint.cli import main

    for pod in _pods(_objects(_rendered(values))):
        for container in pod["containers"]:
            if args := container.get("args"):
                helped = CliRunner().invoke(main, [args[0], "--help"]).output
                assert not [one for one in args[1:] if one.startswith("-") and one.partition("=")[0] not in helped]


@needs_helm
def test_notes_say_how_to_get_out():
    def notes(mode):
        given = ("--dry-run=client", "--namespace", "ml")
        return _helm("install", "loralint", str(CHART), *given, values={"certs": {"mode": mode}}, check=False).stdout

    again = "kubectl -n ml create job --from=cronjob/loralint-certs again"
    for mode in ("cert-manager", "self-signed"):
        assert "kubectl delete validatingwebhookconfiguration loralint" in notes(mode)
        assert (again in notes(mode)) == (mode == "self-signed")


def test_the_chart_is_of_this_release():
    from loralint.version import __version__

    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["appVersion"] == chart["version"] == __version__


def test_every_value_has_a_schema_and_a_line_that_says_what_it_is():
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    assert set(schema["properties"]) - {"global"} == set(values)
    for name, value in values.items():
        if isinstance(value, dict) and "properties" in schema["properties"][name]:
            assert set(schema["properties"][name]["properties"]) == set(value)
    told = (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
    assert not [name for name in values if f"`{name}" not in told]


def test_alerts_and_dashboard_ask_for_metrics_that_exist():
    source = (ROOT / "loralint" / "webhook" / "metrics.py").read_text("utf-8")
    for file in ("alerts.yaml", "dashboard.json"):
        asked = set(re.findall(r"\bloralint_\w+", (CHART / "files" / file).read_text("utf-8")))
        stems = {re.sub(r"_(total|bucket)$", "", name) for name in asked}
        assert stems
        assert not [name for name in stems if name not in source and name.removeprefix("loralint_") not in source]
    assert yaml.safe_load((CHART / "files" / "alerts.yaml").read_text("utf-8"))["groups"][0]["rules"]


def test_what_the_image_installs_is_pinned():
    lines = (ROOT / "deploy" / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["webhook"]]
    assert {re.match(r"[\w-]+", one)[0] for one in wanted} | {"hatchling"} <= pinned
