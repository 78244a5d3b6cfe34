"""The handler over reviews of every kind: modes, what is new, who is trusted, and what is never done."""

from __future__ import annotations

import base64
import json

import pytest

from tests.webhook.reviews import BAD, GOOD, UID, WORSE, body, config_map, flags, job, pod, review

CONTROLLER = "system:serviceaccount:kube-system:job-controller"


def _refused(response):
    assert response["uid"] == UID
    assert response["allowed"] is False
    assert response["status"]["code"] == 422
    assert response["status"]["reason"] == "Invalid"
    return response["status"]["message"]


def test_a_config_that_trains_is_let_through_without_a_word(ask):
    response = ask(body(config_map(GOOD)))
    assert response["allowed"] is True
    assert "warnings" not in response


def test_enforced_a_broken_config_is_refused_with_what_happens_and_what_to_write(ask):
    message = _refused(ask(body(config_map(BAD))))
    first, second, *_ = message.splitlines()
    assert first == "loralint: ConfigMap train is refused: 1 finding: 1 will stop or spoil the training"
    assert second.startswith("LL304 train.yaml:3 training stops when the adapter is built")
    assert "write lora_r: 16" in message


@pytest.mark.parametrize(("mode", "verdict"), [("enforce", "deny"), ("warn", "warn")])
def test_what_is_refused_or_warned_of_is_in_the_log(ask, capsys, mode, verdict):
    ask(body(config_map(BAD)), mode=mode)
    line = json.loads(capsys.readouterr().out)
    assert (line["level"], line["verdict"], line["rules"]) == ("info", verdict, "LL304")


def test_warned_the_same_config_is_let_through(ask):
    response = ask(body(config_map(BAD)), mode="warn")
    assert response["allowed"] is True
    assert response["warnings"][0] == "loralint: ConfigMap/train: 1 finding: 1 will stop or spoil the training"
    assert response["warnings"][1].startswith("LL304 ConfigMap/train: train.yaml:3 ")


def test_off_says_nothing(ask):
    response = ask(body(config_map(BAD)), mode="off")
    assert response["allowed"] is True
    assert "warnings" not in response


def test_a_path_without_a_mode_has_that_of_the_service(ask):
    assert ask(body(config_map(BAD)), mode="")["allowed"] is True
    assert ask(body(config_map(BAD)), mode="")["warnings"]


@pytest.mark.parametrize(
    "more",
    [
        "".join(f"k{n}: {{a: [1, 2, {{b: c}}]}}\n" for n in range(9_000)),
        "deep: " + "{a: " * 120 + "1" + "}" * 120 + "\n",
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)),
    ],
    ids=["dense", "deep", "aliases"],
)
def test_what_only_our_limits_stop_at_is_not_checked_and_never_refused(ask, more):
    answer = ask(body(config_map(GOOD + more)))
    assert answer["allowed"] is True
    assert "LL002" in answer["warnings"][1]
    assert "this run was not checked" in answer["warnings"][1]
    mounted = ask(body(job()), maps={("team", "train"): {"data": {"train.yaml": GOOD + more}}})
    assert mounted["allowed"] is True
    assert "this run was not checked" in json.dumps(mounted["warnings"])


def test_a_byte_order_mark_moves_no_place(ask):
    assert "lora_r 0 leaves" in _refused(ask(body(config_map("\ufeff" + BAD))))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_config_in_binary_data_is_read(ask, encoding):
    raw = base64.b64encode(BAD.encode(encoding)).decode()
    message = _refused(ask(body(config_map(GOOD, data={}, binaryData={"train.yaml": raw}))))
    assert "LL304 train.yaml:3 " in message


def test_bytes_that_are_no_text_are_none_of_ours(ask):
    response = ask(body(config_map(GOOD, binaryData={"model.bin": base64.b64encode(bytes(range(256))).decode()})))
    assert response["allowed"] is True


def test_an_old_fault_may_stay_and_a_new_one_may_not(ask):
    old = config_map(BAD)
    same = ask(body(config_map(BAD + "# a word\n"), old=old))
    assert same["allowed"] is True
    assert same["warnings"][0].endswith("(nothing new, so it is let through)")
    message = _refused(ask(body(config_map(WORSE), old=old)))
    assert "LL405" in message
    assert "LL304" not in message


def test_a_fault_that_moves_is_not_new(ask):
    assert ask(body(config_map("# two\n# lines\n" + BAD), old=config_map(BAD)))["allowed"] is True


def test_nothing_is_said_when_only_what_the_server_keeps_changes(ask):
    old, new = config_map(BAD), config_map(BAD)
    new["metadata"] |= {"resourceVersion": "9", "managedFields": [{"manager": "kubectl"}]}
    response = ask(body(new, old=old))
    assert response["allowed"] is True
    assert "warnings" not in response


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_other_operations_are_let_through(ask, operation):
    assert ask(body(config_map(BAD), operation=operation))["allowed"] is True


def test_what_is_being_deleted_is_let_through(ask):
    gone = config_map(WORSE)
    gone["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z"
    assert ask(body(gone, old=config_map(GOOD)))["allowed"] is True


def test_kinds_that_train_nothing_are_let_through_unread(ask):
    other = {**config_map(BAD), "kind": "Secret"}
    assert ask(body(other))["allowed"] is True
    volcano = {**flags("--lora_r", "0"), "apiVersion": "other.example/v1"}
    assert ask(body(volcano))["allowed"] is True


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "kube-node-lease"])
def test_a_cluster_is_never_kept_from_running_itself(ask, namespace):
    obj = config_map(BAD)
    obj["metadata"]["namespace"] = namespace
    response = ask(body(obj))
    assert response["allowed"] is True
    assert "warnings" not in response


def test_a_status_is_none_of_ours(ask):
    made = review(flags("--lora_r", "0"), old=flags())
    made["request"]["subResource"] = "status"
    assert ask(json.dumps(made).encode())["allowed"] is True


def _pod_template(spec):
    return {"template": {"spec": spec}}


BROKEN = pod(
    mounts=None,
    command=[
        "trl", "sft", "--model_name_or_path", "HuggingFaceTB/SmolLM2-135M", "--dataset_name", "trl-lib/Capybara",
        "--use_peft", "--lora_r", "0",
    ],
)  # fmt: skip
KINDS = {
    ("batch/v1", "Job"): _pod_template(BROKEN),
    ("batch/v1", "CronJob"): {"schedule": "0 0 * * *", "jobTemplate": {"spec": _pod_template(BROKEN)}},
    ("kubeflow.org/v1", "PyTorchJob"): {"pytorchReplicaSpecs": {"Master": {"replicas": 1, **_pod_template(BROKEN)}}},
    ("kubeflow.org/v2beta1", "MPIJob"): {"mpiReplicaSpecs": {"Launcher": {"replicas": 1, **_pod_template(BROKEN)}}},
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): {
        "runtimeRef": {"name": "torch-distributed"},
        "trainer": {"image": "example.invalid/trl:1", "command": BROKEN["containers"][0]["command"], "numNodes": 1},
    },
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): {
        "template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": _pod_template(BROKEN)}}]}}
    },
    ("ray.io/v1", "RayJob"): {
        "entrypoint": " ".join(BROKEN["containers"][0]["command"]),
        "rayClusterSpec": {"headGroupSpec": _pod_template({"containers": [{"name": "h", "image": "ray:1"}]})},
    },
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): {
        "replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": _pod_template(BROKEN)}}]
    },
    ("batch.volcano.sh/v1alpha1", "Job"): {"tasks": [{"name": "w", "replicas": 1, **_pod_template(BROKEN)}]},
    ("argoproj.io/v1alpha1", "Workflow"): {
        "entrypoint": "t", "templates": [{"name": "t", "container": BROKEN["containers"][0]}]
    },
    ("argoproj.io/v1alpha1", "CronWorkflow"): {
        "schedule": "0 0 * * *",
        "workflowSpec": {"entrypoint": "t", "templates": [{"name": "t", "container": BROKEN["containers"][0]}]},
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids="/".join)
def test_every_kind_of_job_is_judged(ask, kind):
    obj = {
        "apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "t", "namespace": "team"}, "spec": KINDS[kind]
    }  # fmt: skip
    assert "LL304" in _refused(ask(body(obj)))


def test_pods_are_judged_where_that_was_asked_for(ask):
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "t", "namespace": "team"}, "spec": BROKEN}
    assert ask(body(obj))["allowed"] is True
    assert "LL304" in _refused(ask(body(obj), pods=True))


def _child(user_kind="CronJob"):
    child = flags("--lora_r", "0")
    child["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": user_kind, "name": "p", "uid": "u", "controller": True}
    ]
    return child


def test_a_child_is_trusted_only_when_its_controller_made_it(ask):
    cron = "system:serviceaccount:kube-system:cronjob-controller"
    assert ask(body(_child(), user=cron))["allowed"] is True
    assert ask(body(_child(), user=cron))["warnings"]
    _refused(ask(body(_child(), user="mallory")))
    _refused(ask(body(_child("Deployment"), user=cron)))
    own = "system:serviceaccount:jobset-system:jobset-controller-manager"
    _refused(ask(body(_child("CronJob"), user=own)))
    assert ask(body(_child("CronJob"), user=own), controllers=frozenset({own}))["allowed"] is True


def test_a_suspended_job_that_is_sent_elsewhere_is_judged_as_new(ask):
    old = flags("--lora_r", "0")
    old["spec"]["suspend"] = True
    new = json.loads(json.dumps(old))
    new["spec"]["suspend"] = False
    assert ask(body(new, old=old))["allowed"] is True
    new["spec"]["template"]["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    assert "LL304" in _refused(ask(body(new, old=old)))


def test_a_job_that_runs_keeps_what_it_has_when_its_labels_change(ask):
    old, new = flags("--lora_r", "0"), flags("--lora_r", "0")
    new["metadata"]["labels"] = {"team": "a"}
    assert ask(body(new, old=old))["allowed"] is True


SECRET = "hunter2-of-the-other-team"


def test_a_mounted_map_is_judged_and_its_values_are_not_told(ask):
    text = WORSE + f"wandb_project: {SECRET}\n{SECRET}: 1\n"
    answer = ask(body(job()), maps={("team", "train"): {"data": {"train.yaml": text}}})
    message = _refused(answer)
    assert "LL304 ConfigMap/train/train.yaml:3 " in message
    assert "(see `lora_r`)" in message
    assert "LL405 ConfigMap/train/train.yaml:6 " in message
    assert SECRET not in json.dumps(answer)
    assert "learning_rate 2" not in message


def test_a_key_that_only_the_command_names_is_judged(ask):
    maps = {("team", "train"): {"data": {"config": BAD}}}
    for line in (("axolotl", "train", "/cfg/config"), ("trl", "sft", "--use_peft", "--config", "/cfg/config")):
        message = _refused(ask(body(job(command=line)), maps=maps))
        assert "LL304 ConfigMap/train/config:3 " in message


def test_a_script_in_a_map_is_followed(ask):
    script = "#!/bin/bash\naxolotl train /cfg/train.yaml\n"
    maps = {("team", "train"): {"data": {"run.sh": script, "train.yaml": BAD}}}
    assert "LL304" in _refused(ask(body(job(command=("bash", "/cfg/run.sh"))), maps=maps))


def test_the_card_that_the_job_asks_for_is_the_one_of_the_config(ask):
    maps = {("team", "train"): {"data": {"train.yaml": GOOD}}}
    on_t4 = job(selector={"nvidia.com/gpu.product": "Tesla-T4"})
    assert ask(body(on_t4), maps=maps)["warnings"][1].startswith("LL214 Job/train: ConfigMap/train/train.yaml:10 ")
    on_a100 = job(selector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"})
    assert "warnings" not in ask(body(on_a100), maps=maps)


def test_what_kueue_adds_to_a_suspended_job_is_judged(ask):
    maps = {("team", "train"): {"data": {"train.yaml": GOOD}}}
    waiting = job(suspend=True)
    assert "warnings" not in ask(body(waiting), maps=maps)
    admitted = job(suspend=False, selector={"nvidia.com/gpu.product": "Tesla-T4"})
    kueue = "system:serviceaccount:kueue-system:kueue-controller-manager"
    assert "LL214" in ask(body(admitted, old=waiting, user=kueue), maps=maps)["warnings"][1]


def test_a_map_in_another_namespace_is_never_asked_for(ask):
    assert ask(body(job()), maps={("other", "train"): {"data": {"train.yaml": BAD}}})["allowed"] is True


def test_a_map_that_is_not_there_yet_is_a_warning(ask):
    response = ask(body(job()), maps={})
    assert response["allowed"] is True
    assert response["warnings"] == [
        "loralint: Job/train: not checked: ConfigMap `train` is not there yet; it is checked when it is created"
    ]


WHY = {403: "this service may not read it", 401: "this service may not read it", 500: "it could not be read"}


@pytest.mark.parametrize("status", WHY)
def test_a_map_that_cannot_be_had_stops_nothing_and_its_author_is_told(ask, status):
    response = ask(body(job()), maps={("team", "train"): status})
    assert response["allowed"] is True
    assert response["warnings"] == [f"loralint: Job/train: not checked: ConfigMap `train`: {WHY[status]}"]


def _away(volume, **more):
    made = job()
    spec = made["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "cfg", **volume}]
    spec |= more
    return made


@pytest.mark.parametrize(
    ("volume", "where"),
    [({"secret": {"secretName": "s"}}, "a Secret"), ({"emptyDir": {}}, "an emptyDir, which starts empty")],
)
def test_a_job_whose_config_is_not_at_hand_is_said_to_be_unchecked(ask, volume, where):
    response = ask(body(_away(volume)), maps={})
    assert response["warnings"] == [
        f"loralint: Job/train: not checked: what `/cfg/train.yaml` says: it lies in {where}"
    ]


def test_a_file_that_only_a_looked_up_script_names_is_not_named(ask):
    made = _away({"configMap": {"name": "train"}})
    made["spec"]["template"]["spec"]["containers"][0]["command"] = ["bash", "/cfg/run.sh"]
    response = ask(body(made), maps={("team", "train"): {"data": {"run.sh": f"axolotl train /cfg/{SECRET}.yaml\n"}}})
    assert SECRET not in json.dumps(response)


def test_of_several_keys_the_findings_of_one_stand_together(ask):
    later = "# one\n# two\n" + WORSE
    lines = _refused(ask(body(config_map(data={"b.yaml": WORSE, "a.yaml": later})))).splitlines()
    places = [line.split()[1] for line in lines if line.startswith("LL")]
    assert places == ["a.yaml:5", "a.yaml:8", "b.yaml:3", "b.yaml:6"]


def test_two_objects_of_one_text_have_no_equal_warnings(ask):
    one, other = (ask(body(config_map(name=name)), mode="warn")["warnings"] for name in ("one", "other"))
    assert not set(one) & set(other)


TRAINER, ARGO = "trainer.kubeflow.org/v1alpha1", "argoproj.io/v1alpha1"


def _object(version, kind, spec, name="t"):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "team"}, "spec": spec}


def _runtime(spec):
    step = {"name": "node", "template": {"spec": _pod_template(spec)}}
    return {"spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [step]}}}}


def _train_job(**trainer):
    return _object(TRAINER, "TrainJob", {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 1, **trainer}})


def _template(rank="{{workflow.parameters.rank}}", **spec):
    said = [*BROKEN["containers"][0]["command"][:-1], rank, "--learning_rate", "2e-4", "--run_name", SECRET]
    given = {"arguments": {"parameters": [{"name": "rank", "value": "16"}]}}
    container = {**BROKEN["containers"][0], "command": said}
    return {"spec": {"entrypoint": "t", "templates": [{"name": "t", "container": container}], **given, **spec}}


def _of_template(kind="Workflow", **spec):
    said = {"workflowTemplateRef": {"name": "lora"}, **spec}
    return _object(ARGO, kind, {"schedule": "0 3 * * *", "workflowSpec": said} if kind == "CronWorkflow" else said)


def _with_rank(value, **spec):
    return {"arguments": {"parameters": [{"name": "rank", "value": value}]}, **spec}


def test_what_a_train_job_leaves_to_its_runtime_is_judged_and_not_told(ask):
    spec = pod(mounts=None, command=[*BROKEN["containers"][0]["command"], "--run_name", SECRET])
    answer = ask(body(_train_job()), maps={("team", "torch"): _runtime(spec)})
    message = _refused(answer)
    assert "LL304 ClusterTrainingRuntime/torch training stops when the adapter is built" in message
    assert "(see `lora_r`)" in message
    assert SECRET not in json.dumps(answer)


def test_what_a_train_job_says_itself_counts_over_its_runtime_and_is_told(ask):
    good, bad = flags("--lora_r", "8"), flags("--lora_r", "0")
    runtimes = [_runtime(one["spec"]["template"]["spec"]) for one in (bad, good)]
    own = [one["spec"]["template"]["spec"]["containers"][0]["command"] for one in (good, bad)]
    mended = ask(body(_train_job(command=own[0])), maps={("team", "torch"): runtimes[0]})
    assert not [one for one in mended.get("warnings", ()) if "LL304" in one]
    message = _refused(ask(body(_train_job(command=own[1])), maps={("team", "torch"): runtimes[1]}))
    assert 'LL304 training stops when the adapter is built, or has none to train: --lora_r "0" leaves' in message


def test_a_map_that_a_runtime_mounts_is_one_of_the_jobs_namespace(ask):
    maps = {("team", "torch"): _runtime(pod()), ("team", "train"): {"data": {"train.yaml": WORSE}}}
    message = _refused(ask(body(_train_job()), maps=maps))
    assert "LL304 ConfigMap/train/train.yaml:3 " in message
    assert "learning_rate 2" not in message


@pytest.mark.parametrize(("card", "refused"), [("Tesla-T4", True), ("NVIDIA-A100-SXM4-80GB", False)])
def test_a_suspended_train_job_is_judged_anew_where_kueue_sends_it(ask, card, refused):
    given = flags("--attn_implementation", "flash_attention_2", "--bf16", "true", "--learning_rate", "2e-4")
    maps = {("team", "torch"): _runtime(given["spec"]["template"]["spec"])}
    old, new = _train_job(), _train_job()
    old["spec"]["suspend"] = True
    placed = {"template": {"spec": {"template": {"spec": {"nodeSelector": {"nvidia.com/gpu.product": card}}}}}}
    said = {"template": {"spec": {"replicatedJobs": [{"name": "node", **placed}]}}}
    new["spec"]["runtimePatches"] = [{"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": said}]
    assert ask(body(old), maps=maps)["allowed"] is True
    assert ask(body(new, old=old), maps=maps)["allowed"] is not refused


@pytest.mark.parametrize("kind", ["Workflow", "CronWorkflow"])
def test_a_workflow_is_judged_with_the_template_that_it_names(ask, kind):
    maps = {("team", "lora"): _template()}
    answer = ask(body(_of_template(kind, **_with_rank("0"))), maps=maps)
    assert "LL304 training stops when the adapter is built" in _refused(answer)
    assert SECRET not in json.dumps(answer)
    assert "warnings" not in ask(body(_of_template(kind, **_with_rank("8"))), maps=maps)
    broken = ask(body(_of_template(kind)), maps={("team", "lora"): _template("0")})
    assert "LL304 WorkflowTemplate/lora " in _refused(broken)


@pytest.mark.parametrize(
    ("said", "refused"),
    [({}, False), ({"entrypoint": "steps"}, True), ({"entrypoint": "graph"}, True), ({"onExit": "bad"}, True),
     ({"entrypoint": "odd"}, True), ({"entrypoint": "gone"}, True)],
)  # fmt: skip
def test_what_a_workflow_does_not_run_of_a_template_is_no_fault_of_it(ask, said, refused):
    bad = {"name": "bad", "container": BROKEN["containers"][0]}
    good = {"name": "t", "container": {"name": "t", "image": "busybox", "command": ["true"]}}
    steps = {"name": "steps", "steps": [[{"name": "a", "template": "graph"}]]}
    graph = {
        "name": "graph",
        "dag": {"tasks": [{"name": "a", "template": "t", "hooks": {"exit": {"template": "bad"}}}]},
    }
    odd = {"name": "odd", "steps": [[{"name": "a", "template": "{{workflow.parameters.which}}"}]]}
    spec = {"entrypoint": "t", "templates": [bad, good, steps, graph, odd]}
    answer = ask(body(_of_template(**said)), maps={("team", "lora"): {"spec": spec}})
    assert answer["allowed"] is not refused


def test_what_is_referred_to_is_asked_for_by_its_own_kind(ask):
    asked = []

    class Recording(dict):
        def get(self, key, default):
            asked.append(key)
            return default

    whole = _of_template(workflowTemplateRef={"name": "lora", "clusterScope": True})
    for one in (whole, _of_template(), _train_job()):
        said = ask(body(one), maps=Recording())["warnings"]
        what = f"{one['kind']}/t"
        assert said == [f"loralint: {what}: not checked: {_missing(one)} is not there, so what it brings is not known"]
    for reference in ({"kind": "Secret", "name": "x"}, {"apiGroup": "x.io", "name": "x"}, {"name": "../x"}, {}, "x"):
        ask(body(_object(TRAINER, "TrainJob", {"runtimeRef": reference})), maps=Recording())
    assert asked == [("team", "lora"), ("team", "lora"), ("team", "torch")]


def _missing(obj):
    if obj["kind"] == "TrainJob":
        return "ClusterTrainingRuntime `torch`"
    whole = obj["spec"]["workflowTemplateRef"].get("clusterScope")
    return "ClusterWorkflowTemplate `lora`" if whole else "WorkflowTemplate `lora`"


@pytest.mark.parametrize("status", [403, 500])
def test_a_runtime_that_cannot_be_had_stops_nothing(ask, status):
    response = ask(body(_train_job()), maps={("team", "torch"): status})
    assert response["allowed"] is True
    assert response["warnings"] == [f"loralint: TrainJob/t: not checked: ClusterTrainingRuntime `torch`: {WHY[status]}"]


def test_an_old_fault_of_a_runtime_may_stay(ask):
    maps = {("team", "torch"): _runtime(BROKEN)}
    new = {**_train_job(), "metadata": {"name": "t", "namespace": "team", "labels": {"a": "b"}}}
    answer = ask(body(new, old=_train_job()), maps=maps)
    assert answer["allowed"] is True
    assert answer["warnings"][0].endswith("(nothing new, so it is let through)")


def test_the_flags_of_a_job_count_over_the_map_that_it_mounts(ask):
    """A map is judged alone when it comes, and again with the flags of the job that comes later."""
    said = "model_name_or_path: HuggingFaceTB/SmolLM2-135M\ndataset_name: trl-lib/Capybara\nuse_peft: true\n"
    maps = {("team", "train"): {"data": {"train.yaml": f"{said}learning_rate: 2e-4\nlora_r: 16\n"}}}
    line = ("trl", "sft", "--config", "/cfg/train.yaml")
    assert ask(body(job(command=line)), maps=maps)["allowed"] is True
    assert "LL304" in _refused(ask(body(job(command=(*line, "--lora_r", "0"))), maps=maps))
    bad = {("team", "train"): {"data": {"train.yaml": f"{said}learning_rate: 2e-4\nlora_r: 0\n"}}}
    assert "LL304" in _refused(ask(body(job(command=line)), maps=bad))
    assert ask(body(job(command=(*line, "--lora_r", "16"))), maps=bad)["allowed"] is True


@pytest.mark.parametrize("raw", [BAD.encode("utf-16-le"), b"# \xe9\n" + BAD.encode(), b"\xff\xfe\x00"])
def test_a_key_that_is_no_text_of_ours_is_said_to_be_unchecked(ask, raw):
    held = {"train.yaml": base64.b64encode(raw).decode(), "model.bin": base64.b64encode(raw).decode()}
    response = ask(body(config_map(GOOD, binaryData=held, data={})))
    assert response["allowed"] is True
    assert response["warnings"] == [
        "loralint: ConfigMap/train: not checked: `train.yaml` is text neither in UTF-8 nor in UTF-16"
    ]


def test_an_object_with_more_text_than_is_checked_is_said_to_be_unchecked(ask):
    metrics = _metrics()
    response = ask(
        body(config_map("#" * 200_000, data={f"{n}.yaml": "#" * 200_000 for n in range(3)})), metrics=metrics
    )
    assert response["allowed"] is True
    assert response["warnings"][0].startswith("loralint: ConfigMap/train: not checked: the object has more text")
    assert 'loralint_skipped_total{reason="too-large"} 1.0' in metrics.text().decode()


def test_one_key_that_is_too_large_leaves_the_others_checked(ask):
    response = ask(body(config_map(BAD, data={"train.yaml": BAD, "rows.json": "1" * 300_000})))
    assert "LL304" in _refused(response)
    assert "`rows.json` is larger" in response["warnings"][-1]


def _metrics():
    from loralint.webhook.metrics import Metrics

    return Metrics()


class Broken:
    """A judge with a fault that nobody foresaw."""

    async def judge(self, task, _):
        raise RuntimeError(task.text)


def test_a_fault_of_ours_lets_everything_through_and_is_counted(ask):
    metrics = _metrics()
    response = ask(body(config_map(BAD)), judge=Broken(), metrics=metrics)
    assert response["allowed"] is True
    assert response["warnings"][0].startswith("loralint: ConfigMap/train: not checked: an internal error of loralint")
    assert "loralint_internal_errors_total 1.0" in metrics.text().decode()


def test_audit_annotations_name_rules_and_no_values(ask):
    audit = ask(body(config_map(BAD)))["auditAnnotations"]
    assert audit["rules"] == "LL304"
    assert set(audit) == {"rules", "version", "mode", "milliseconds"}


def test_a_line_of_the_log_holds_names_and_codes_only(ask, capsys):
    text = BAD + f"hub_token: hf_{'a' * 34}\n"
    ask(body(config_map(text)))
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "deny"
    assert "LL304" in said["rules"]
    assert "hf_" not in json.dumps(said)
    assert "hunter2" not in json.dumps(said)  # of userInfo.extra


def test_dry_runs_are_judged_alike_and_counted_apart(ask):
    metrics = _metrics()
    _refused(ask(body(config_map(BAD), dry_run=True), metrics=metrics))
    assert 'dry_run="true"' in metrics.text().decode()


@pytest.mark.parametrize("sample", ["", "raw"])
def test_recorded_reviews_are_answered(ask, shared, sample):
    folder = shared / "reference" / "k8s" / "samples" / sample
    recorded = sorted(folder.glob("*.json"))
    assert recorded
    for path in recorded:
        sent = path.read_bytes()
        response = ask(sent, mode="enforce", maps={})
        assert response["uid"] == json.loads(sent)["request"]["uid"]
        assert response["allowed"] is True


def test_an_object_is_named_by_its_request(ask):
    made = review(flags("--lora_r", "0"))
    del made["request"]["object"]["metadata"]["name"]
    made["request"]["name"] = ""
    made["request"]["object"]["metadata"]["generateName"] = "train-"
    assert _refused(ask(json.dumps(made).encode())).startswith("loralint: Job train- is refused")


def test_the_same_config_under_another_name_is_judged_once():
    from loralint.webhook.cache import digest
    from loralint.webhook.judging import Task
    from loralint.webhook.objects import manifest

    one, other = config_map(BAD), config_map(BAD, name="other")
    other["metadata"] |= {"uid": "1", "labels": {"a": "b"}, "creationTimestamp": "2026-11-30T12:00:00Z"}
    assert digest(Task(manifest(one))) == digest(Task(manifest(other)))
    assert digest(Task(manifest(one))) != digest(Task(manifest(config_map(BAD, key="b.yaml"))))


@pytest.mark.parametrize(
    "held",
    [
        {"binaryData": {"train.yaml": base64.b64encode(BAD.encode("utf-16-le")).decode()}},
        {"binaryData": {"train.yaml": base64.b64encode(b"# \xe9\n" + BAD.encode()).decode()}},
        {"data": {"train.yaml": GOOD + "#" + "x" * 300_000}},
    ],
)
def test_a_key_that_cannot_be_read_is_not_missing(ask, held):
    assert "LL831" in json.dumps(ask(body(job()), maps={("team", "train"): {"data": {}}}))
    assert "LL83" not in json.dumps(ask(body(job()), maps={("team", "train"): held}))


def test_an_empty_map_is_another_verdict_than_no_map():
    from loralint.webhook.cache import digest
    from loralint.webhook.judging import Task
    from loralint.webhook.objects import MapFiles

    several = [(), (MapFiles("a", {}),), (MapFiles("a", {}, whole=False),), (MapFiles("a", {"k": "True 0"}),)]
    several.append((MapFiles("a", {}), MapFiles("k", {})))
    assert len({digest(Task("{}", "", one)) for one in several}) == len(several)


def test_what_is_lent_makes_another_verdict():
    from loralint.webhook.cache import digest
    from loralint.webhook.judging import Task
    from loralint.webhook.objects import Lent

    several = [(), (Lent("A/a", "{}"),), (Lent("A/b", "{}"),), (Lent("A/a", "[]"),)]
    assert len({digest(Task("{}", "", (), one)) for one in several}) == len(several)
