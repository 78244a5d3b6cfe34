"""Every kind of training job as its users write it: a config in a ConfigMap, flags in the command."""

from __future__ import annotations

import json
import textwrap

import pytest
import yaml

from loralint.api import check

AXOLOTL = """\
base_model: meta-llama/Llama-3.2-1B
adapter: lora
lora_r: 16
lora_alpha: 32
lora_target_linear: true
learning_rate: 0.0002
datasets:
  - path: a/b
    type: alpaca
num_epochs: 1
micro_batch_size: 2
output_dir: /out
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lora}\ndata:\n  a.yaml: |\n" + textwrap.indent(AXOLOTL, "    ")
FLAGS = "trl sft --model_name_or_path m/m --dataset_name d --use_peft --lora_r 16 --output_dir /out"
CONFIG = "axolotl train /config/a.yaml"


def container(command, name="train", gpus=1, more=""):
    words = json.dumps(command) if isinstance(command, list) else f"[bash, -c, {json.dumps(command)}]"
    lines = f"name: {name}\nimage: registry.example.com/train:1\n"
    lines += f"command: {words}\n" if command else ""
    lines += "volumeMounts: [{name: config, mountPath: /config}, {name: out, mountPath: /out}]\n"
    lines += f"resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}\n" if gpus else ""
    return lines + textwrap.dedent(more)


def pod(*containers, more="", policy="restartPolicy: Never\n"):
    listed = "".join("  -\n" + textwrap.indent(one, "    ") for one in containers)
    volumes = "volumes:\n  - {name: config, configMap: {name: lora}}\n"
    volumes += "  - {name: out, persistentVolumeClaim: {claimName: out}}\n"
    return f"{policy}{volumes}{textwrap.dedent(more)}containers:\n{listed}"


def under(path, text):
    """A text below keys joined by dots; `[]` makes the item of a list of a key."""
    for key in reversed(path.split(".")):
        name = key.removesuffix("[]")
        inner = textwrap.indent(text, "  ")
        text = f"{name}:\n" + (f"  -\n{textwrap.indent(inner, '  ')}" if key.endswith("[]") else inner)
    return text


def whole(version, kind, spec, labels=""):
    meta = f"metadata: {{name: lora{labels}}}\n"
    return f"apiVersion: {version}\nkind: {kind}\n{meta}spec:\n" + textwrap.indent(spec, "  ")


def roles(name, **pods):
    specs = "".join(
        f"{role}:\n  replicas: 1\n  restartPolicy: Never\n" + textwrap.indent(under("template.spec", one), "  ")
        for role, one in pods.items()
    )
    return f"runPolicy: {{cleanPodPolicy: None, backoffLimit: 2}}\n{name}:\n" + textwrap.indent(specs, "  ")


def ray(entrypoint):
    head = under("headGroupSpec.template.spec", pod(container("", "ray-head", 0), policy=""))
    workers = under("workerGroupSpecs[].template.spec", pod(container("", "ray-worker"), policy=""))
    workers = workers.replace("-\n", "-\n    groupName: gpu\n    replicas: 1\n", 1)
    env = "runtimeEnvYAML: |\n  pip: [axolotl]\n  env_vars: {RANK_OF_LORA: '16'}\n"
    return f"entrypoint: {json.dumps(entrypoint)}\n{env}rayClusterSpec:\n" + textwrap.indent(head + workers, "  ")


def runtime(command):
    node = under("replicatedJobs[].template.spec.template.spec", pod(container(command, "node")))
    node = node.replace("-\n", "-\n    name: node\n", 1)
    spec = "mlPolicy: {numNodes: 1, torch: {numProcPerNode: auto}}\n" + under("template.spec", node)
    named = whole("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", spec).replace(
        "name: lora", "name: torch", 1
    )
    return named + "---\n"


def job(command):
    return "backoffLimit: 1\n" + under("template.spec", pod(container(command)))


KINDS = {
    "Job": lambda one: whole("batch/v1", "Job", job(one)),
    "Job of Kueue": lambda one: whole("batch/v1", "Job", "suspend: true\n" + job(one),
                                      ", labels: {kueue.x-k8s.io/queue-name: team}"),
    "CronJob": lambda one: whole("batch/v1", "CronJob", "schedule: 0 3 * * *\n" + under("jobTemplate.spec", job(one))),
    "JobSet": lambda one: whole("jobset.x-k8s.io/v1alpha2", "JobSet", "network: {enableDNSHostnames: true}\n" + under(
        "replicatedJobs[].template.spec", "parallelism: 2\ncompletions: 2\n" + job(one)).replace(
            "-\n", "-\n    name: workers\n", 1)),
    "PyTorchJob": lambda one: whole("kubeflow.org/v1", "PyTorchJob", roles(
        "pytorchReplicaSpecs", Master=pod(container(one, "pytorch"), policy=""),
        Worker=pod(container(one, "pytorch"), policy=""))),
    "MPIJob": lambda one: whole("kubeflow.org/v2beta1", "MPIJob", "slotsPerWorker: 1\n" + roles(
        "mpiReplicaSpecs", Launcher=pod(container(one, "mpi", 0), policy=""),
        Worker=pod(container("", "mpi"), policy=""))),
    "Volcano": lambda one: whole("batch.volcano.sh/v1alpha1", "Job", "minAvailable: 1\nschedulerName: volcano\n"
                                 "plugins: {pytorch: ['--master=master', '--worker=worker', '--port=23456']}\n"
                                 + under("tasks[].template.spec", pod(container(one))).replace(
                                     "-\n", "-\n    replicas: 1\n    name: master\n", 1)),
    "RayJob": lambda one: whole("ray.io/v1", "RayJob", ray(one)),
    "TrainJob with a command": lambda one: runtime("") + whole(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}\n" + under(
            "trainer", f"numNodes: 1\nimage: x\ncommand: [bash, -c, {json.dumps(one)}]\n")),
    "TrainJob with the runtime's": lambda one: runtime(one) + whole(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}\ntrainer: {numNodes: 1}\n"),
    "TrainJob without a trainer": lambda one: runtime(one) + whole(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}\n"),
    "LeaderWorkerSet": lambda one: whole("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "replicas: 1\n" + under(
        "leaderWorkerTemplate", "size: 1\n" + under("workerTemplate.spec", pod(container(one), policy="")))),
    "AppWrapper": lambda one: whole("workload.codeflare.dev/v1beta2", "AppWrapper", under(
        "components[].template", whole("batch/v1", "Job", job(one)))),
    "Workflow": lambda one: whole("argoproj.io/v1alpha1", "Workflow", "entrypoint: train\n" + under(
        "templates[]", "name: train\n" + under("container", container(one))) + pod(container(one)).partition(
            "containers")[0].partition("\n")[2]),
    "Deployment": lambda one: whole("apps/v1", "Deployment", under("template.spec", pod(container(one), policy=""))),
    "Pod": lambda one: whole("v1", "Pod", pod(container(one))),
}  # fmt: skip


@pytest.fixture
def runs(tmp_path):
    """runs(text) -> the runs of a file."""

    def check_all(text):
        (tmp_path / "job.yaml").write_text(text)
        return check(tmp_path / "job.yaml", show_settings=True).runs

    return check_all


def values(run):
    return {one.parameter: one.value for one in run.settings}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "framework"), [(CONFIG, "axolotl"), (FLAGS, "trl")])
def test_every_kind(runs, kind, command, framework):
    text = f"{MAP}---\n{KINDS[kind](command)}"
    found = [run for run in runs(text) if run.framework == framework]
    assert len(found) == 1
    rank = values(found[0])["adapter.rank"]
    assert (rank.value, rank.origin) == (16, "set" if framework == "axolotl" else "flag")
    # a claim that outlives the pods is mounted, but a TrainJob says nothing of what its runtime mounts
    assert [one.rule for one in found[0].findings if one.rule in ("LL823", "LL830", "LL831")] == []


def test_the_flags_of_torchtunes_trainjob(runs):
    spec = """\
runtimeRef: {name: torchtune-llama3.2-1b, kind: ClusterTrainingRuntime}
trainer:
  image: ghcr.io/kubeflow/trainer/torchtune-trainer
  command: [tune, run, lora_finetune_distributed, --config, llama3_2/1B_lora]
  args: [model.lora_rank=4, 'model.lora_attn_modules=[q_proj,v_proj]', optimizer.lr=0.0003]
"""
    (run,) = runs(whole("trainer.kubeflow.org/v1alpha1", "TrainJob", spec))
    found = values(run)
    assert (run.framework, found["adapter.rank"].value, found["optim.lr"].value) == ("torchtune", 4, 0.0003)


def test_a_trainer_lays_its_settings_over_those_of_the_runtime(runs):
    over = "runtimeRef: {name: torch}\ntrainer:\n  env: [{name: RANK_OF_LORA, value: '8'}]\n"
    over += "  resourcesPerNode: {limits: {nvidia.com/gpu: 4}}\n"
    command = FLAGS.replace("--lora_r 16", "--lora_r $RANK_OF_LORA --lora_alpha $ALPHA")
    env = "    env: [{name: ALPHA, value: '24'}, {name: RANK_OF_LORA, value: '64'}]\n"
    below = runtime(command)
    at = below.index("image: registry")
    below = below[:at] + env.strip() + "\n" + " " * (at - below.rfind("\n", 0, at) - 1) + below[at:]
    (run,) = runs(below + whole("trainer.kubeflow.org/v1alpha1", "TrainJob", over))
    found = values(run)
    assert (found["adapter.rank"].value, found["adapter.alpha"].value) == (8, 24)
    assert found["job.gpus_per_node"].value == 4


SELECT, A100 = "nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"
OVER = f"""\
nodeSelector: {{{SELECT}: {A100}}}
volumes: [{{name: more, configMap: {{name: cfg}}}}]
containers:
  - {{name: node, volumeMounts: [{{name: more, mountPath: /more}}], env: [{{name: ALPHA, value: '48'}}]}}
"""
PATCH = {"name": "node", "template": {"spec": {"template": {"spec": yaml.safe_load(OVER)}}}}
PATCHES = [{"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [PATCH]}}}}]


@pytest.mark.parametrize(
    "given",
    [
        "podSpecOverrides:\n  - targetJobs: [{name: node}]\n" + textwrap.indent(OVER, "    "),
        "podTemplateOverrides:\n  - targetJobs: [{name: node}]\n    spec:\n" + textwrap.indent(OVER, "      "),
        f"runtimePatches: {json.dumps(PATCHES)}\n",
    ],
    ids=["2.0", "2.1", "2.2"],
)
def test_what_a_train_job_lays_over_the_pods_of_its_runtime_counts(tmp_path, runs, given):
    below = runtime("trl sft --config /more/trl.yaml --lora_alpha $ALPHA --attn_implementation flash_attention_2")
    at = below.index("containers:")
    lead = at - below.rindex("\n", 0, at) - 1
    below = below[:at] + f"nodeSelector: {{{SELECT}: Tesla-T4}}\n" + " " * lead + below[at:]
    text = "model_name_or_path: m\nuse_peft: true\nlora_r: 24\nlearning_rate: 2e-4\nbf16: true\ndataset_name: d\n"
    held = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: cfg}}\ndata: {json.dumps({'trl.yaml': text})}\n---\n"
    job = whole("trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}\n" + given)
    (run,) = runs(held + below + job)
    found = values(run)
    assert (found["adapter.rank"].value, found["adapter.alpha"].value) == (24, 48)
    assert found["run.gpu"].value == A100
    assert not [one.rule for one in run.findings if one.rule in ("LL214", "LL216")]
    other = job.replace("name: node", "name: other").replace('"name": "node"', '"name": "other"')
    assert values(runs(held + below + other)[0])["run.gpu"].value == "Tesla-T4"
    (tmp_path / "runtime.yaml").write_text(held + below)
    (apart,) = runs(job)
    assert "run.gpu" not in values(apart)
    (left,) = runs(other)
    assert values(left)["run.gpu"].value == "Tesla-T4"


def test_mpirun_and_deepspeed_before_a_script(runs):
    for before in (
        "mpirun -np 4 --allow-run-as-root -x NCCL_DEBUG=INFO -bind-to none",
        "mpirun -np 2 -H a:1,b:1 torchrun",
    ):
        words = (
            f"{before} {'python ' if 'torchrun' not in before else ''}-m trl.scripts.sft {FLAGS.partition('sft ')[2]}"
        )
        (run,) = runs(KINDS["MPIJob"](words.split()))
        assert (run.framework, values(run)["adapter.rank"].value) == ("trl", 16)


SHELL = """\
set -euo pipefail
exec > >(tee -a /out/train.log) 2>&1
nvidia-smi | head -5 || true
cat <<'EOF' > /tmp/accelerate.yaml
distributed_type: MULTI_GPU
num_processes: 2
EOF
export RATE=0.001
if [ -z "${RANK_OF_LORA:-}" ]; then exit 1; fi
accelerate launch --config_file /tmp/accelerate.yaml -m trl.scripts.sft --model_name_or_path m/m --dataset_name d \\
  --use_peft --lora_r "$RANK_OF_LORA" --learning_rate "$RATE" --output_dir "/out/${POD_NAME}" 2>&1 | tee /out/log.txt
"""
ENV = """\
env:
  - {name: BASE, value: "1"}
  - {name: RANK_OF_LORA, value: "$(BASE)6"}
  - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}
  - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
envFrom:
  - {secretRef: {name: more}}
"""


def test_a_pod_with_helpers_around_its_training(runs):
    helpers = """\
    initContainers:
      - {name: fetch, image: x, command: [sh, -c, "hf download m/m --local-dir /models/m"]}
      - name: sync
        image: x
        restartPolicy: Always
        command: [sh, -c, "while true; do gsutil -m rsync -r /out gs://b; sleep 60; done"]
    """
    beside = "name: logs\nimage: fluent\ncommand: [fluent-bit, -c, /etc/f.conf]\n"
    one = pod(container(SHELL, gpus=2, more=ENV), beside, more=helpers)
    (run,) = runs(whole("batch/v1", "Job", under("template.spec", one)))
    found = values(run)
    assert (run.framework, found["adapter.rank"].value, found["optim.lr"].value) == ("trl", 16, 0.001)
    assert not found["checkpoint.output_dir"].known
    assert "Kubernetes fills it in when the pod starts" in found["checkpoint.output_dir"].value.reason
    assert [one.rule for one in run.findings if one.rule in ("LL811", "LL812")] == []
