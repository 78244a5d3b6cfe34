"""GETs of mounted maps: names that cannot lead elsewhere, one call for many, a server that answers as it likes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http.server import ThreadingHTTPServer

import pytest

from tests.webhook.answers import Answering
from tests.webhook.reviews import BAD, GOOD, body, job


def _maps(get, *several):
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.references import config_map

    async def run():
        lookup = Lookup(get)
        return [await lookup.objects(namespace, tuple(map(config_map, names))) for namespace, names in several]

    return asyncio.run(run())


def test_a_map_is_asked_for_once_in_a_while():
    asked = []

    async def get(namespace, wanted):
        asked.append((namespace, wanted.name))
        return {"data": {"a.yaml": "x"}}

    first, second = _maps(get, ("team", ("one", "two")), ("team", ("one",)))
    assert [one.name for one in first.maps] == ["one", "two"]
    assert second.maps[0].data == {"a.yaml": "x"}
    assert asked == [("team", "one"), ("team", "two")]
    assert first.results == ("found", "found")


def test_what_is_kept_is_asked_for_again_where_it_has_to_be_fresh():
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.references import config_map

    texts = iter(["old", "new"])

    async def get(namespace, wanted):
        return {"data": {"a.yaml": next(texts)}}

    async def run():
        lookup, several = Lookup(get), (config_map("one"),)
        return [await lookup.objects("team", several, fresh=fresh) for fresh in (False, False, True, False)]

    found = asyncio.run(run())
    assert [one.maps[0].data["a.yaml"] for one in found] == ["old", "old", "new", "new"]
    assert [one.kept for one in found] == [False, True, False, True]


@pytest.mark.parametrize("name", ["../../secrets/token", "a/b", "A", "", "x" * 300, "a?b", "-a", "a\n"])
def test_a_name_that_is_none_is_never_asked_for(name):
    async def get(namespace, name):
        raise AssertionError(name)

    assert _maps(get, ("team", (name,)))[0].results == ()
    assert _maps(get, (name, ("one",)))[0].results == ()


def test_no_more_than_four_maps_of_one_job():
    async def get(_, name):
        return 404

    several, four = _maps(get, ("team", tuple("abcdef")), ("team", tuple("abcd")))
    assert len(several.unseen) == 4
    assert ([one.name for one in several.beyond], four.beyond) == (["e", "f"], ())


@pytest.mark.parametrize(
    ("names", "said"), [("abcd", ""), ("abcde", "ConfigMap `e`: of one"), ("abcdef", "ConfigMap `e` and 1 more: of")]
)
def test_maps_that_are_not_looked_up_are_told(judging_job, names, said):
    from loralint.webhook.admission import Admission, Policy
    from loralint.webhook.log import Log
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.metrics import Metrics
    from tests.webhook.inline import Inline

    async def get(namespace, wanted):
        return {"data": {"train.yaml": GOOD}}

    given = job(mounts="a", envFrom=[{"configMapRef": {"name": name}} for name in names])

    async def run():
        admission = Admission(Policy(), Inline(judging_job), Lookup(get), metrics=Metrics(), log=Log())
        return await admission.validate(body(given), "enforce", 3.0)

    told = [one for one in asyncio.run(run())["response"].get("warnings", []) if "are looked up" in one]
    assert len(told) == bool(said)
    assert all(f"not checked: {said}" in one and one.endswith("job the first 4 are looked up") for one in told)


def test_a_slow_server_costs_the_time_that_it_may_cost():
    async def get(_, name):
        await asyncio.sleep(60)

    began = time.monotonic()
    assert _maps(get, ("team", ("one", "two")))[0].results == ("timeout", "timeout")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("status", "result"), [(403, "forbidden"), (401, "forbidden"), (500, "error"), (404, "missing")]
)
def test_what_becomes_of_a_refusal(status, result):
    async def get(_, name):
        return status

    assert _maps(get, ("team", ("one",)))[0].results == (result,)


def test_a_fault_of_the_network_is_none_of_the_review():
    async def get(_, name):
        raise OSError(name)

    assert _maps(get, ("team", ("one",)))[0].results == ("error",)


class _Api(Answering):
    """Answers a GET of one map as an API server does."""

    def said(self):
        self.server.asked.append(self.path)
        found = self.path == "/api/v1/namespaces/team/configmaps/train"
        said = (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "train"}, "data": {"train.yaml": BAD}}
            if found
            else {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404,
                  "message": "not there"}
        )  # fmt: skip
        return 200 if found else 404, said


@pytest.fixture
def api(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            }
        )
    )  # fmt: skip
    server.kubeconfig = kubeconfig
    yield server
    server.shutdown()
    server.server_close()


def test_a_real_client_asks_by_single_gets(api):
    from loralint.webhook.asking import client, getter
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.references import Wanted, config_map

    whole = Wanted("trainer.kubeflow.org", "v1alpha1", "ClusterTrainingRuntime", "torch")
    spaced = Wanted("argoproj.io", "v1alpha1", "WorkflowTemplate", "lora")

    async def run():
        asked = client(str(api.kubeconfig))
        found = await Lookup(getter(asked)).objects("team", (config_map("train"), config_map("gone"), whole, spaced))
        await asked.close()
        return found

    found = asyncio.run(run())
    assert found.results == ("found", "missing", "missing", "missing")
    assert found.unseen[1:] == ((whole, "missing"), (spaced, "missing"))
    assert found.maps[0].data["train.yaml"] == BAD
    assert sorted(api.asked) == [
        "/api/v1/namespaces/team/configmaps/gone",
        "/api/v1/namespaces/team/configmaps/train",
        "/apis/argoproj.io/v1alpha1/namespaces/team/workflowtemplates/lora",
        "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes/torch",
    ]


def test_without_a_cluster_it_says_so(tmp_path):
    from loralint.webhook.asking import client

    with pytest.raises(ValueError, match="no way to the API server"):
        client()


def test_the_maps_of_a_job():
    from loralint.webhook.objects import wanted_maps

    found = job(
        mounts="cfg",
        envFrom=[{"configMapRef": {"name": "variables"}}],
        env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "one", "key": "a"}}}],
    )
    found["spec"]["template"]["spec"]["volumes"].append(
        {"name": "p", "projected": {"sources": [{"configMap": {"name": "projected"}}]}}
    )
    assert set(wanted_maps(found)) == {"cfg", "variables", "one", "projected"}


def test_a_job_is_not_refused_for_a_map_that_was_mended_since(judging_job):
    from loralint.webhook.admission import Admission, Policy
    from loralint.webhook.log import Log
    from loralint.webhook.lookup import Lookup
    from loralint.webhook.metrics import Metrics
    from tests.webhook.inline import Inline

    held = {"data": {"train.yaml": BAD}}

    async def get(namespace, wanted):
        return held

    async def run():
        admission = Admission(Policy(), Inline(judging_job), Lookup(get), metrics=Metrics(), log=Log())

        async def allowed():
            answer = await admission.validate(body(job()), "enforce", 3.0)
            return answer["response"]["allowed"]

        before = await allowed()
        held["data"] = {"train.yaml": GOOD}
        return before, await allowed(), await allowed()

    assert asyncio.run(run()) == (False, True, True)


SCRIPT = "trl sft --model_name_or_path m --dataset_name d --use_peft --learning_rate %s --use_cpu true\n"


def _plain(mounts, line=("bash", "/cfg/run.sh")):
    return job(mounts=mounts, command=line, resources={}, image="example.invalid/tools:1")


@pytest.mark.parametrize(("rate", "verdict"), [("-1", False), ("2e-4", True)])
def test_a_job_of_which_only_the_script_in_its_map_says_that_it_trains(ask, rate, verdict):
    maps = {("team", "scripts"): {"data": {"run.sh": SCRIPT % rate}}}
    assert ask(body(_plain("scripts")), maps=maps)["allowed"] is verdict


def test_of_other_jobs_without_a_gpu_nothing_is_said(ask):
    assert "warnings" not in ask(body(_plain("gone")), maps={})
    maps = {("team", "scripts"): {"data": {"run.sh": "pg_dump all\n"}}}
    assert "warnings" not in ask(body(_plain("scripts")), maps=maps)


def test_maps_that_scripts_are_run_from():
    from loralint.webhook.scripts import run_from

    assert run_from(_plain("cfg")) == ("cfg",)
    assert run_from(_plain("cfg", ("bash", "run.sh"))) == ()
    inside = _plain("cfg", ("bash", "run.sh"))
    inside["spec"]["template"]["spec"]["containers"][0]["workingDir"] = "/cfg"
    assert run_from(inside) == ("cfg",)
    assert run_from({"spec": {"containers": [{"command": "x", "volumeMounts": {}}, None], "volumes": 3}}) == ()
