"""Reviews as a real API server sends them, made from an object."""

from __future__ import annotations

import json

GOOD = """base_model: HuggingFaceTB/SmolLM2-135M
adapter: lora
lora_r: 16
lora_alpha: 32
lora_target_linear: true
learning_rate: 0.0002
micro_batch_size: 1
gradient_accumulation_steps: 8
num_epochs: 1
bf16: true
sequence_len: 1024
val_set_size: 0
output_dir: ./out
datasets:
  - path: mhenrichsen/alpaca_2k_test
    type: alpaca
"""
BAD = GOOD.replace("lora_r: 16", "lora_r: 0")  # LL304, S
WORSE = BAD.replace("learning_rate: 0.0002", "learning_rate: 2")  # and LL405, S
UID = "0b7c1a52-7d5f-4a8e-9a53-3d1fd2a3f001"


def config_map(text=BAD, *, name="train", key="train.yaml", **more):
    return {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "team"},
        "data": {key: text}, **more,
    }  # fmt: skip


def pod(*, mounts="train", command=("axolotl", "train", "/cfg/train.yaml"), selector=None, **container):
    made = {
        "containers": [
            {
                "name": "t", "image": "example.invalid/axolotl:1", "command": list(command),
                "resources": {"limits": {"nvidia.com/gpu": 1}},
                "volumeMounts": [{"name": "cfg", "mountPath": "/cfg"}] if mounts else [], **container,
            }
        ],
        "restartPolicy": "Never",
        "volumes": [{"name": "cfg", "configMap": {"name": mounts}}] if mounts else [],
    }  # fmt: skip
    return {**made, "nodeSelector": selector} if selector else made


def job(spec=None, *, name="train", suspend=None, **given):
    made = {"backoffLimit": 0, "template": {"spec": pod(**given)}}
    if suspend is not None:
        made["suspend"] = suspend
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "team"}, "spec": spec or made
    }  # fmt: skip


def flags(*given):
    """A job that says all on its command line."""
    line = ["trl", "sft", "--model_name_or_path", "HuggingFaceTB/SmolLM2-135M", "--dataset_name", "trl-lib/Capybara"]
    return job(mounts=None, command=[*line, "--use_peft", *given])


def referring(kind, **spec):
    """A TrainJob or a Workflow that takes its training from another object."""
    version = "trainer.kubeflow.org/v1alpha1" if kind == "TrainJob" else "argoproj.io/v1alpha1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "t", "namespace": "team"}, "spec": spec}


def lending(kind, secret):
    """A runtime or a template that trains badly, with a secret among its flags."""
    line = flags("--lora_r", "0", "--optim", secret, "--learning_rate", secret)["spec"]["template"]["spec"]
    if "Workflow" in kind:
        return {"spec": {"entrypoint": "t", "templates": [{"name": "t", "container": line["containers"][0]}]}}
    step = {"name": "node", "template": {"spec": {"template": {"spec": line}}}}
    return {"spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [step]}}}}


def review(obj, *, old=None, operation=None, user="alice", uid=UID, dry_run=False):
    group, _, version = obj["apiVersion"].rpartition("/")
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": uid,
            "kind": {"group": group, "version": version, "kind": obj["kind"]},
            "resource": {"group": group, "version": version, "resource": obj["kind"].lower() + "s"},
            "name": obj["metadata"].get("name", ""),
            "namespace": obj["metadata"].get("namespace", ""),
            "operation": operation or ("UPDATE" if old else "CREATE"),
            "userInfo": {"username": user, "groups": ["system:authenticated"], "extra": {"token": ["hunter2"]}},
            "object": None if operation == "DELETE" else obj,
            "oldObject": obj if operation == "DELETE" else old,
            "dryRun": dry_run,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    }


def body(obj, **given):
    return json.dumps(review(obj, **given), separators=(",", ":")).encode()
