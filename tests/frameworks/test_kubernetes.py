from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import loralint
from loralint.frameworks.detect import detect
from loralint.frameworks.readers.kubernetes import READER
from loralint.frameworks.readers.kubernetes.command import Place
from loralint.frameworks.readers.kubernetes.faults import faults
from loralint.frameworks.readers.kubernetes.gpus import gpu_names
from loralint.frameworks.readers.kubernetes.launch import launch_of, number, switch
from loralint.frameworks.readers.kubernetes.storage import quantity
from loralint.frameworks.readers.kubernetes.training import jobs
from loralint.frameworks.readers.kubernetes.tree import At, top
from loralint.frameworks.table import Look
from loralint.model import Unknown, Value
from loralint.source.read import read_bytes

GPU = "resources: {limits: {nvidia.com/gpu: %s}}\n"
LOOK = Look(lambda field: Value(None, origin="absent", field=field), lambda _: False)


def document(text):
    return read_bytes(text.encode(), "job.yaml")


def pod(container, more=""):
    """A pod spec with one container."""
    return more + "containers:\n  - name: train\n    image: x\n" + textwrap.indent(container, "    ")


def batch(container, more="restartPolicy: Never\n", job=""):
    return (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: lora}\nspec:\n"
        + textwrap.indent(job, "  ")
        + "  template:\n    spec:\n"
        + textwrap.indent(pod(container, more), "      ")
    )


def pytorch(master, worker="", job="", workers=3):
    def role(name, container, count):
        container = container.replace("name: train", "name: pytorch")
        return f"    {name}:\n      replicas: {count}\n      restartPolicy: Never\n      template:\n        spec:\n" + (
            textwrap.indent(pod(container).replace("name: train", "name: pytorch"), "          ")
        )

    text = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: lora}\nspec:\n" + textwrap.indent(job, "  ")
    text += "  pytorchReplicaSpecs:\n" + role("Master", master, 1)
    return text + (role("Worker", worker, workers) if worker else "")


def observed(text):
    """Kind, key and line of everything observed."""
    found = faults(document(text), LOOK)
    return [(one.kind.removeprefix("job-"), one.value.key.rpartition(".")[2], one.value.span.line) for one in found]


def kinds(text):
    return [kind for kind, _, _ in observed(text)]


SHAPES = {
    "Job": batch('command: ["python", "train_lora.py"]\n' + GPU % 2, job="parallelism: 3\n"),
    "CronJob": (
        "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    spec:\n      parallelism: 3\n      template:\n"
        "        spec:\n          restartPolicy: Never\n"
        + textwrap.indent(pod("command: [torchrun, a.py]\n" + GPU % 2), " " * 10)
    ),
    "PyTorchJob": pytorch(GPU % 2, GPU % 2, workers=2),
    "TrainJob": (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec:\n  trainer:\n    numNodes: 3\n"
        "    resourcesPerNode: {limits: {nvidia.com/gpu: 2}}\n"
    ),
    "ClusterTrainingRuntime": (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nspec:\n  mlPolicy: {numNodes: 3}\n"
        "  template:\n    spec:\n      replicatedJobs:\n        - name: node\n          template:\n            spec:\n"
        "              template:\n                spec:\n" + textwrap.indent(pod(GPU % 2), " " * 18)
    ),
    "JobSet": (
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: lora}\nspec:\n  replicatedJobs:\n"
        "    - name: w\n      template:\n        spec:\n          parallelism: 3\n          template:\n"
        "            spec:\n" + textwrap.indent(pod(GPU % 2), " " * 14)
    ),
    "Volcano": (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: lora}\nspec:\n  tasks:\n    - name: w\n"
        "      replicas: 3\n      template:\n        spec:\n" + textwrap.indent(pod(GPU % 2), " " * 10)
    ),
    "MPIJob": (
        "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  slotsPerWorker: 2\n  mpiReplicaSpecs:\n"
        "    Launcher:\n"
        "      template:\n        spec:\n" + textwrap.indent(pod("command: [mpirun, python, train.py]\n"), " " * 10)
        + "    Worker:\n      replicas: 3\n      template:\n        spec:\n" + textwrap.indent(pod(GPU % 2), " " * 10)
    ),
    "HyperPodPyTorchJob": (
        "apiVersion: sagemaker.amazonaws.com/v1\nkind: HyperPodPyTorchJob\nspec:\n  replicaSpecs:\n    - name: pods\n"
        "      replicas: 3\n      template:\n        spec:\n" + textwrap.indent(pod(GPU % 2), " " * 10)
    ),
}  # fmt: skip
SHAPES["AppWrapper"] = (
    "apiVersion: workload.codeflare.dev/v1beta2\nkind: AppWrapper\nspec:\n  components:\n    - template:\n"
    + textwrap.indent(SHAPES["PyTorchJob"], " " * 8)
)
SHAPES["List"] = "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Service\n  -\n" + textwrap.indent(
    SHAPES["JobSet"], "    "
)


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_tells_its_pods_and_gpus(name, reading):
    assert detect(document(SHAPES[name])).framework == "kubernetes"
    config = reading(READER, SHAPES[name], "job.yaml")
    assert (config.get("job.nodes").value, config.get("job.gpus_per_node").value) == (3, 2)
    assert config.get("run.gpu_count").value == 6


def test_ray_has_a_head_and_workers_and_one_entrypoint(reading):
    config = reading(
        READER,
        "apiVersion: ray.io/v1\nkind: RayJob\nspec:\n  entrypoint: python finetune.py --bf16 --output_dir /mnt/out\n"
        "  rayClusterSpec:\n    headGroupSpec:\n      template:\n        spec: {containers: [{name: head}]}\n"
        "    workerGroupSpecs:\n      - replicas: 4\n        template:\n          spec:\n"
        + textwrap.indent(pod(GPU % 1), " " * 12),
    )
    assert config.get("precision.bf16").value is True
    assert config.get("run.gpu_count").value == 4
    assert config.get("checkpoint.output_dir").value == "/mnt/out"


def test_a_step_of_a_workflow_is_a_pod(reading):
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  templates:\n    - name: main\n"
        "      dag: {tasks: []}\n"
        "    - name: train\n      nodeSelector: {nvidia.com/gpu.product: Tesla-T4}\n      container:\n"
        '        command: ["python", "train.py", "--bf16=true", "--lr={{inputs.parameters.lr}}"]\n'
        "        resources: {requests: {nvidia.com/gpu: 1}}\n"
    )
    assert reading(READER, text).get("run.gpu").value == "Tesla-T4"
    assert observed(text) == [("limit-missing", "limits", 11)]


@pytest.mark.parametrize(
    "text",
    [
        batch("command: [alembic, upgrade, head]\n").replace("lora", "migrate"),
        batch("command: [python, train.py]\n").replace("lora", "a"),  # on a CPU: anybody's
        batch("command: [python, -m, vllm.entrypoints.openai.api_server]\n" + GPU % 1).replace("lora", "a"),
        batch("command: [nvidia-smi]\n" + GPU % 1).replace("lora", "a"),
        batch("command: [python, merge_lora.py]\n" + GPU % 1),
        batch("command: [torchrun, all_reduce_bench.py]\n" + GPU % 8),
        "apiVersion: v1\nkind: Pod\nspec:\n" + textwrap.indent(pod("command: [sleep, infinity]\n" + GPU % 1), "  "),
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n"
        + textwrap.indent(pod(GPU % 1), " " * 6),
        batch("image: {{ .Values.image }}\n" + GPU % 1),
        "apiVersion: batch/v1\nkind: Job\nspec: 3\n",
        "apiVersion: kubeflow.org/v1\nkind: Notebook\nspec: {template: {}}\n",
    ],
)
def test_what_does_not_train_is_left_alone(text):
    assert detect(document(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        batch("command: [python, train_lora.py]\n"),
        batch(GPU % 1).replace("lora", "job"),  # nothing says that it does something else
        batch('command: ["bash", "-c", "trl sft --config a.yaml"]\n').replace("lora", "a"),
        "apiVersion: v1\nkind: Pod\nspec:\n" + textwrap.indent(pod("command: [python, finetune.py]\n" + GPU % 1), "  "),
        "apiVersion: v1\nkind: Service\n---\n" + batch("command: [torchrun, a.py]\n"),
    ],
)
def test_what_trains_is_a_run(text):
    assert detect(document(text)).reason in ("`kind: Job`", "`kind: Pod`")


def test_several_objects_in_a_file_are_no_fault(tmp_path):
    file = tmp_path / "job.yaml"
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {accessModes: [ReadWriteOnce]}\n---\n"
    file.write_text(claim + batch('command: ["torchrun", "train.py"]\n' + GPU % 1))
    (run,) = loralint.check(file).runs
    assert (run.framework, run.findings) == ("kubernetes", ())


def test_jobs_that_differ_leave_a_value_open(reading):
    config = reading(READER, batch(GPU % 1) + "---\n" + batch(GPU % 2))
    assert isinstance(config.get("job.gpus_per_node").value, Unknown)
    assert config.get("run.gpu_count").known is False
    assert config.get("job.kind").value == "Job"


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("cloud.google.com/gke-accelerator: nvidia-tesla-t4", "nvidia-tesla-t4"),
        ("cloud.google.com/gke-accelerator: nvidia-tesla-a100", "A100-40GB"),
        ("nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB"),
        ("karpenter.k8s.aws/instance-gpu-name: t4", "t4"),
        ("node.kubernetes.io/instance-type: g4dn.xlarge", "T4"),
        ("node.kubernetes.io/instance-type: p3.8xlarge", "V100-16GB"),
        ("node.kubernetes.io/instance-type: p3dn.24xlarge", "V100-32GB"),
        ("node.kubernetes.io/instance-type: g5.12xlarge", "A10G"),
        ("node.kubernetes.io/instance-type: g6e.xlarge", "L40S"),
        ("node.kubernetes.io/instance-type: Standard_NC4as_T4_v3", "T4"),
        ("node.kubernetes.io/instance-type: Standard_NC6s_v3", "V100-16GB"),
        ("node.kubernetes.io/instance-type: Standard_NC24ads_A100_v4", "A100-80GB"),
        ("node.kubernetes.io/instance-type: a2-highgpu-1g", "A100-40GB"),
        ("node.kubernetes.io/instance-type: g2-standard-24", "L4"),
    ],
)
def test_a_node_label_names_the_gpu(selector, name):
    root = document(f"nodeSelector: {{{selector}}}\n").root
    assert gpu_names(top(root))[1] == [name]


@pytest.mark.parametrize(
    "selector",
    [
        "node.kubernetes.io/instance-type: m5.large", "kubernetes.io/arch: amd64", "nvidia.com/gpu.product: $GPU",
        "cloud.google.com/gke-accelerator: ''",
    ],
)  # fmt: skip
def test_an_unknown_label_names_none(selector):
    assert gpu_names(top(document(f"nodeSelector: {{{selector}}}\n").root)) is None


def affinity(*terms):
    return (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
        + ", ".join(
            f"{{matchExpressions: [{{key: nvidia.com/gpu.product, operator: In, values: [{term}]}}]}}" for term in terms
        )
        + "]}}}\n"
    )


def test_a_required_affinity_names_the_gpu(reading):
    config = reading(READER, batch(GPU % 1, "restartPolicy: Never\n" + affinity("Tesla-T4")))
    assert config.get("run.gpu").value == "Tesla-T4"
    several = reading(READER, batch(GPU % 1, "restartPolicy: Never\n" + affinity("Tesla-T4, NVIDIA-L4")))
    assert isinstance(several.get("run.gpu").value, Unknown)
    alternatives = reading(READER, batch(GPU % 1, "restartPolicy: Never\n" + affinity("Tesla-T4", "NVIDIA-L4")))
    assert alternatives.get("run.gpu").origin == "absent"


def test_a_slice_is_not_the_card(reading):
    selector = "restartPolicy: Never\nnodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}\n"
    config = reading(READER, batch("resources: {limits: {nvidia.com/mig-1g.10gb: 1}}\n", selector))
    assert config.get("run.gpu").value == "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"
    google = "cloud.google.com/gke-accelerator: nvidia-h100-80gb, cloud.google.com/gke-gpu-partition-size: 1g.10gb"
    assert gpu_names(top(document(f"nodeSelector: {{{google}}}\n").root)) is None


def launch(container):
    found = document(container)
    return launch_of(top(found.root), Place(found))


@pytest.mark.parametrize(
    ("container", "program", "script", "flags"),
    [
        ('command: ["python", "-u", "train.py", "--bf16", "True"]', "python", "train.py", {"bf16": "True"}),
        ('command: ["/usr/bin/python3.11", "train.py"]\nargs: ["--lr=2e-4", "--fp16"]', "python", "train.py",
         {"lr": "2e-4", "fp16": ""}),
        ('command: ["torchrun", "--nproc-per-node", "2", "t.py", "--a-b", "-1"]', "torchrun", "t.py", {"a_b": "-1"}),
        ('command: ["python", "-m", "torch.distributed.run", "--nnodes=2", "t.py"]', "torchrun", "t.py", {}),
        ('command: ["accelerate", "launch", "-m", "axolotl.cli.train", "c"]', "accelerate", "axolotl.cli.train", {}),
        ('command: ["bash", "-c", "cd /w && exec trl sft \\"$@\\"", "--"]\nargs: ["--bf16"]', "trl", "", {"bf16": ""}),
        ("command: [sh, -ec]\nargs:\n  - |\n    pip install x\n    HF_HOME=/h torchrun \\\n      t.py --bf16  # now\n",
         "torchrun", "t.py", {"bf16": ""}),
        ('args: ["finetune.py", "--base_model", "m"]', "", "finetune.py", {"base_model": "m"}),
        ("command: [bash, -c, 'python prepare.py && torchrun t.py']", "torchrun", "t.py", {}),
    ],
)  # fmt: skip
def test_the_launch_of_a_container(container, program, script, flags):
    found = launch(container)
    assert (found.program, found.script, {name: flag.text for name, flag in found.flags.items()}) == (
        program,
        script,
        flags,
    )


@pytest.mark.parametrize(
    "container",
    [
        "command: [bash, -c, 'python a.py; python b.py']", "command: [bash, -c, 'cat <<E | python -\nE']",
        "command: [bash, run.sh]", "command: [bash, -c]", "command: [python, -c, 'import x']", "image: x",
        "command: [accelerate, config]",
        "command: [python, -m, pip, install]",
        "command: 3", "command: []", "args: [[a]]",
    ],
)  # fmt: skip
def test_no_launch_is_seen(container):
    assert launch(container) is None


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=6))
def test_no_command_breaks_the_reading(words):
    import json

    whole = read_bytes(json.dumps({"command": words}).encode(), "job.json")
    found = launch_of(top(whole.root), Place(whole))
    assert found is None or all(isinstance(flag.text, str) for flag in found.flags.values())


def test_flags_as_values():
    found = launch('command: ["torchrun", "t.py", "--a", "8", "--b", "x", "--c", "--d", "false", "--e", "$N"]')
    assert [number(found.flags[name]) for name in "abc"] == [8, None, None]
    assert [switch(found.flags[name]) for name in "cdb"] == [True, False, None]
    assert [found.flags[name].open for name in "ae"] == [False, True]


def test_flags_are_settings_with_their_place(reading):
    script = "command: [bash, -c]\nargs:\n  - |\n    torchrun t.py \\\n      --bf16 True --tf32 false\n"
    config = reading(READER, batch(script + GPU % 1))
    bf16, tf32 = config.get("precision.bf16"), config.get("precision.tf32")
    assert (bf16.value, bf16.origin, bf16.key, bf16.text) == (True, "flag", "--bf16", "--bf16 True")
    assert (bf16.span.line, bf16.span.column, tf32.value, tf32.span.column) == (15, 17, False, 29)


@pytest.mark.parametrize(
    ("container", "field", "value"),
    [
        ('command: ["accelerate", "launch", "--mixed_precision=bf16", "t.py"]\n', "bf16", True),
        ('command: ["accelerate", "launch", "--mixed_precision=bf16", "t.py", "--fp16"]\n', "bf16", None),
        ('command: ["python", "t.py", "--mixed_precision", "fp16"]\n', "fp16", True),
        ('command: ["python", "t.py", "--mixed_precision", "no"]\n', "fp16", None),
        ('command: ["python", "t.py"]\nenv: [{name: ACCELERATE_MIXED_PRECISION, value: bf16}]\n', "bf16", True),
        (
            'command: ["python", "t.py", "--fp16"]\nenv: [{name: ACCELERATE_MIXED_PRECISION, value: bf16}]\n',
            "bf16",
            None,
        ),
    ],
)
def test_mixed_precision(container, field, value, reading):
    assert reading(READER, batch(container + GPU % 1)).get(f"precision.{field}").value is value


def test_what_the_shell_fills_in_is_unknown(reading):
    config = reading(
        READER, batch('command: ["bash", "-c", "python t.py --bf16 $BF16 --output_dir ${OUT}"]\n' + GPU % 1)
    )
    assert isinstance(config.get("precision.bf16").value, Unknown)
    assert isinstance(config.get("checkpoint.output_dir").value, Unknown)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (batch('command: ["torchrun", "--nproc_per_node=4", "t.py"]\n' + GPU % 1), ["more-processes"]),
        (batch('command: ["torchrun", "--nproc_per_node=gpu", "t.py"]\n' + GPU % 1), []),
        (batch('command: ["torchrun", "--nproc_per_node=$N", "t.py"]\n' + GPU % 1), []),
        (batch('command: ["torchrun", "t.py"]\n' + GPU % 1), []),
        (batch('command: ["torchrun", "t.py"]\nenvFrom: [{configMapRef: {name: e}}]\n' + GPU % 1), []),
        (batch('command: ["deepspeed", "--num_gpus=2", "t.py"]\n' + GPU % 1), ["more-processes"]),
        (batch('command: ["accelerate", "launch", "--num_processes=4", "--num_machines=2", "t.py"]\n' + GPU % 1,
               job="parallelism: 2\n"), ["more-processes"]),
        (batch('command: ["python", "launch.py"]\n' + GPU % 1), []),
        (pytorch('command: ["torchrun", "t.py"]\n' + GPU % 1, job="nprocPerNode: '2'\n"), ["more-processes"]),
        (pytorch('command: ["python", "t.py"]\n' + GPU % 1), []),
        (pytorch('command: ["torchrun", "--nnodes=3", "t.py"]\n' + GPU % 1), ["machines"]),
        (pytorch('command: ["torchrun", "--nnodes=3", "t.py"]\n' + GPU % 1, job="elasticPolicy: {maxReplicas: 3}\n"),
         []),
        (SHAPES["MPIJob"].replace("slotsPerWorker: 2", "slotsPerWorker: 4"), ["more-processes", "small-shared-memory"]),
        (SHAPES["TrainJob"], []),
        (batch("env: [{name: WORLD_SIZE, value: '4'}]\n" + GPU % 1), []),  # nobody sees what reads it
        (batch("command: [torchrun, t.py]\nenv: [{name: WORLD_SIZE, value: '4'}]\n" + GPU % 1), []),
        (batch("command: [python, t.py]\nenv: [{name: WORLD_SIZE, value: '4'}]\n" + GPU % 1), ["world-too-large"]),
    ],
)  # fmt: skip
def test_processes_against_gpus(text, found):
    assert kinds(text) == found


def test_one_process_for_several_gpus():
    text = pytorch('command: ["python", "t.py"]\n' + GPU % 1, 'command: ["python", "t.py"]\n' + GPU % 2)
    assert observed(text)[0] == ("fewer-processes", "command", 24)


SHARED = "restartPolicy: Never\nvolumes:\n  - {name: shm, emptyDir: {medium: Memory%s}}\n"
MOUNT = (
    'command: ["torchrun", "--nproc_per_node=4", "t.py"]\nvolumeMounts: [{name: shm, mountPath: /dev/shm}]\n' + GPU % 4
)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (SHARED % "", []),
        (SHARED % ", sizeLimit: 16Gi", []),
        (SHARED % ", sizeLimit: 64Mi", ["small-shared-memory"]),
        ("restartPolicy: Never\nvolumes:\n  - {name: shm, hostPath: {path: /dev/shm}}\n", []),
        ("restartPolicy: Never\nhostIPC: true\n", []),
    ],
)
def test_shared_memory(more, found):
    container = MOUNT if "volumes" in more else MOUNT.replace("volumeMounts: [{name: shm, mountPath: /dev/shm}]\n", "")
    assert kinds(batch(container, more)) == found


@pytest.mark.parametrize(
    ("text", "size"),
    [("16Gi", 16), ("512Mi", 0.5), ("1G", 10**9 / 2**30), ("x", None), ("", None), ("9" * 20 + "Gi", None)],
)
def test_a_quantity_in_gib(text, size):
    assert quantity(text) == size


VOLUMES = "restartPolicy: Never\nvolumes:\n  - {name: a, %s}\n"
OUT = 'command: ["python", "t.py", "--output_dir", "/out/x"]\nvolumeMounts: [{name: a, mountPath: %s}]\n' + GPU.replace(
    "%s", "1"
)


@pytest.mark.parametrize(
    ("volume", "path", "found"),
    [
        ("persistentVolumeClaim: {claimName: c}", "/out", []),
        ("persistentVolumeClaim: {claimName: c}", "/data", ["lost-output"]),
        ("persistentVolumeClaim: {claimName: c}", "/", []),
        ("nfs: {server: s, path: /}", "/out/x/", []),
        ("emptyDir: {}", "/out", ["lost-output"]),
        ("ephemeral: {}", "/out", ["lost-output"]),
    ],
)
def test_where_checkpoints_go(volume, path, found):
    assert kinds(batch(OUT % path, VOLUMES % volume)) == found


@pytest.mark.parametrize(
    "container",
    [
        'command: ["python", "t.py", "--output_dir", "out"]\n',
        'command: ["python", "t.py", "--output_dir", "s3://b/x"]\n',
        'command: ["python", "t.py", "--output_dir", "$(OUT)"]\nenvFrom: [{configMapRef: {name: c}}]\n',
        'command: ["python", "t.py", "--output_dir", "/out", "--push_to_hub"]\n',
        'command: ["bash", "-c", "python t.py --output_dir /out && aws s3 cp /out s3://b --recursive"]\n',
        'command: ["python", "t.py", "--output_dir", "/out"]\nlifecycle: {preStop: {}}\n',
        'command: ["python", "t.py", "--output_dir", "/out"]\nenv: [{name: WANDB_LOG_MODEL, value: "true"}]\n',
    ],
)
def test_checkpoints_that_may_be_kept(container):
    assert kinds(batch(container + GPU % 1)) == []


def test_a_relative_folder_below_the_working_directory():
    assert kinds(batch('workingDir: /w\ncommand: ["python", "t.py", "--output_dir", "out"]\n' + GPU % 1)) == [
        "lost-output"
    ]


CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c%s}\nspec: {accessModes: [%s]}\n---\n"
USER = 'command: ["python", "t.py"]\n' + GPU % 1
TOGETHER = (
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
    " [{topologyKey: kubernetes.io/hostname}]}}\n"
)
MOUNTED = "restartPolicy: Never\nvolumes: [{name: a, persistentVolumeClaim: {claimName: c}}]\n"


@pytest.mark.parametrize(
    ("claim", "more", "job", "found"),
    [
        (("", "ReadWriteOnce"), "", "parallelism: 2\n", [("claim-of-one-node", "accessModes", 4)]),
        (("", "ReadWriteOncePod"), "", "parallelism: 2\n", [("claim-of-one-node", "accessModes", 4)]),
        (("", "ReadWriteOnce, ReadWriteMany"), "", "parallelism: 2\n", []),
        (("", "ReadWriteOnce"), "", "", []),
        (("", "ReadWriteOnce"), "", "parallelism: $N\n", []),
        ((", namespace: other", "ReadWriteOnce"), "", "parallelism: 2\n", [("claim-of-one-node", "accessModes", 4)]),
        (("", "ReadWriteOnce"), "nodeName: n1\n", "parallelism: 2\n", []),
        (("", "ReadWriteOnce"), "nodeSelector: {kubernetes.io/hostname: n1}\n", "parallelism: 2\n", []),
        (("", "ReadWriteOnce"), TOGETHER, "parallelism: 2\n", []),
    ],
)  # fmt: skip
def test_claims_of_one_node(claim, more, job, found):
    assert observed(CLAIM % claim + batch(USER, MOUNTED + more, job)) == found


def test_a_claim_of_another_namespace_is_another_claim():
    job = batch(USER, MOUNTED, "parallelism: 2\n").replace("{name: lora}", "{name: lora, namespace: here}")
    assert kinds(CLAIM % (", namespace: there", "ReadWriteOnce") + job) == []


@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ("{name: HF_TOKEN, value: hf_abc}", ["credential"]),
        ("{name: AWS_SECRET_ACCESS_KEY, value: abcdef}", ["credential"]),
        ("{name: HF_TOKEN, value: $(OTHER)}", []),
        ('{name: HF_TOKEN, value: "${HF_TOKEN}"}', []),
        ("{name: HF_TOKEN, value: <your token>}", []),
        ("{name: HF_TOKEN, value: ''}", []),
        ("{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}", []),
        ("{name: WANDB_PROJECT, value: lora}", []),
        ("{name: PAD_TOKEN, value: eos}", []),
        ("{name: HF_TOKEN, value: hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH}", []),  # LL120's
        ("{name: CUDA_VISIBLE_DEVICES, value: '0,1'}", ["devices-beyond"]),
        ("{name: CUDA_VISIBLE_DEVICES, value: 'GPU-1'}", []),
        ("{name: CUDA_LAUNCH_BLOCKING, value: '1'}", ["launch-blocking"]),
        ("{name: EPOCHS, value: 3}", ["no-text"]),
        ("{name: EPOCHS, value: yes}", ["no-text"]),
        ("{name: EPOCHS, value: $N}", []),
        ("{name: EPOCHS, value: }", []),
    ],
)
def test_variables(variable, found):
    assert kinds(batch(f"command: [python, t.py]\nenv: [{variable}]\n" + GPU % 1)) == found


# Of each kind some, as kubectl 1.36.3 sends them and kube-apiserver 1.36.2 takes them; tests/webhook asks a real one.
NO_TEXTS = (
    "2e-4", "1e5", "5E-05", "-2e-4", "+1", ".5", "-.5", "1.", "1_000", "012", "08", "0o17", "0O7", "0b11", "0B1",
    "0x1F", "-0x1F", "99999999999999999999", ".inf", "-.INF", ".NaN", "y", "N", "yes", "Off", "TRUE",
)  # fmt: skip
TEXTS = (
    "12:30", "12:30:45", "190:20:30.15", "1:2.5", "2024-01-01", "1e400", "1e", "0x", "0o8", "0b2", "_1", "yEs", "=",
    "~", "4.51.3", "'2e-4'", '"y"', "!!str 3",
)  # fmt: skip


@pytest.mark.parametrize("value", [*NO_TEXTS, *TEXTS])
def test_texts_are_what_the_api_server_takes_for_texts(value):
    found = kinds(batch(f"command: [python, t.py]\nenv: [{{name: A, value: {value}}}]\n" + GPU % 1))
    assert found == (["no-text"] if value in NO_TEXTS else [])


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("rates", "{LR: 2e-4, EPOCHS: 3}", ["no-text", "no-text"]),
        ("rates", "{LR: '2e-4', RUN: 12:30}", []),
        ("others", "{LR: 2e-4}", []),
    ],
)
def test_values_of_the_maps_that_a_job_uses_are_texts(name, data, found):
    held = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n---\n"
    uses = "command: [python, t.py]\nenvFrom: [{configMapRef: {name: rates}}]\n"
    assert [one for one in kinds(held + batch(uses + GPU % 1)) if one == "no-text"] == found


def test_in_json_a_text_is_a_text(tmp_path):
    file = tmp_path / "job.json"
    env = "env: [{name: A, value: '2e-4'}, {name: B, value: 3}]\n"
    file.write_text(json.dumps(yaml.safe_load(batch("command: [python, t.py]\n" + env + GPU % 1))))
    found = [one.key for one in loralint.check(file).runs[0].findings if one.rule == "LL825"]
    assert found == ["spec.template.spec.containers[0].env[1].value"]


def test_a_secret_of_a_variable_goes_by_the_name_of_the_variable(tmp_path):
    file, token = tmp_path / "job.yaml", "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    file.write_text(batch(f"env:\n  - name: HF_TOKEN\n    value: {token}\n" + GPU % 1))
    (run,) = loralint.check(file).runs
    ((rule, key, help_),) = [(one.rule, one.key, one.help) for one in run.findings]
    assert (rule, key) == ("LL120", "HF_TOKEN")
    assert "valueFrom.secretKeyRef" in help_
    assert token not in repr(run)


def test_the_value_of_a_credential_is_never_shown(tmp_path):
    from loralint.render import render

    file = tmp_path / "job.yaml"
    env = "env:\n  - value: kept0secret\n    name: DB_PASSWORD\n  - name: API_TOKEN\n    value: also0kept\n"
    file.write_text(batch(env + GPU % 1))
    report = loralint.check(file)
    assert [one.key for one in report.runs[0].findings] == ["DB_PASSWORD", "API_TOKEN"]
    for form in ("full", "json", "concise"):
        text = render(form, report, color=False)
        assert "0" + "secret" not in text
        assert "also0kept" not in text


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ("{limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}", []),
        ("{requests: {nvidia.com/gpu: '1'}}", ["limit-missing"]),
        ("{requests: {nvidia.com/mig-1g.5gb: 1}}", ["limit-missing"]),
        ("{requests: {vpc.amazonaws.com/efa: 1}}", ["limit-missing"]),
        ("{requests: {nvidia.com/gpu: 0}}", []),
        ("{requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}}", []),
        ("{limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}", ["request-differs", "small-shared-memory"]),
        ("{limits: {nvidia.com/gpu: '2'}, requests: {nvidia.com/gpu: $N}}", ["small-shared-memory"]),
        ("{limits: {nvidia.com/gpu: 0.5}}", ["part-of-gpu"]),
        ("{limits: {nvidia.com/gpu: 500m}}", ["part-of-gpu"]),
        ("{limits: {nvidia.com/gpu: $N}}", []),
    ],
)
def test_amounts(resources, found):
    assert kinds(batch(f"resources: {resources}\n")) == found


@pytest.mark.parametrize(
    ("policy", "job", "found"),
    [
        ("OnFailure", "", [("endless-restarts", "backoffLimit", 8)]),
        ("Always", "", [("endless-restarts", "backoffLimit", 8)]),
        ("Never", "", []),
        ("OnFailure", "runPolicy: {backoffLimit: 0}\n", []),
        ("OnFailure", "runPolicy: {activeDeadlineSeconds: 60}\n", []),
        ("ExitCode", "runPolicy: {backoffLimit: 3}\n", [("exit-code", "restartPolicy", 9)]),
        ("ExitCode", "runPolicy: {backoffLimit: 3, activeDeadlineSeconds: 60}\n", []),
    ],
)
def test_restarts(policy, job, found):
    assert observed(pytorch(GPU % 1, job=job).replace("restartPolicy: Never", f"restartPolicy: {policy}")) == found


def test_the_default_of_a_pytorch_job_restarts_too():
    assert kinds(pytorch(GPU % 1).replace("      restartPolicy: Never\n", "")) == ["endless-restarts"]
    assert kinds(SHAPES["MPIJob"]) == ["small-shared-memory"]


def test_the_policy_of_a_template_is_overwritten():
    text = pytorch(GPU % 1).replace("        spec:\n", "        spec:\n          restartPolicy: OnFailure\n")
    assert observed(text) == [("policy-in-template", "restartPolicy", 11)]


@pytest.mark.parametrize(
    ("policy", "found"), [("Never", []), ("OnFailure", []), ("Always", ["restarts-always"]), ("$P", [])]
)
def test_a_job_may_not_restart_always(policy, found):
    assert kinds(batch(GPU % 1, f"restartPolicy: {policy}\n")) == found


def test_every_role_needs_the_operators_container():
    text = pytorch(GPU % 1, GPU % 1).replace("name: pytorch", "name: train")
    assert observed(text) == [("container-name", "name", 12), ("container-name", "name", 21)]
    assert kinds(text.replace("kind: PyTorchJob", "kind: PaddleJob").replace("name: train", "name: paddle")) == []
    sidecar = pytorch(GPU % 1).replace("containers:\n", "containers:\n            - {name: log}\n")
    assert kinds(sidecar) == []


@pytest.mark.parametrize(
    ("more", "container", "found"),
    [
        ("", "", ["no-gpu-asked"]),
        ("runtimeClassName: nvidia\n", "", []),
        ("resourceClaims: [{name: gpu}]\n", "", []),
        ("", "securityContext: {privileged: true}\n", []),
        ("", "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n", []),
        ("", GPU % 1, []),
    ],
)
def test_a_gpu_node_without_a_gpu(more, container, found):
    selector = "restartPolicy: Never\nnodeSelector: {nvidia.com/gpu.product: Tesla-T4}\n" + more
    assert kinds(batch(container + "command: [python, train.py]\n", selector)) == found


@pytest.mark.parametrize(
    ("job", "index", "found"),
    [
        ("", "$JOB_COMPLETION_INDEX", ["index-missing"]),
        ("completionMode: NonIndexed\n", "${JOB_COMPLETION_INDEX}", ["index-missing"]),
        ("completionMode: Indexed\n", "$JOB_COMPLETION_INDEX", []),
        ("", "${JOB_COMPLETION_INDEX:-0}", []),
    ],
)
def test_the_completion_index(job, index, found):
    assert kinds(batch(f"command: [bash, -c, 'torchrun --node_rank {index} t.py']\n" + GPU % 1, job=job)) == found


def test_istio_is_told_only_of_a_namespace_that_injects():
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: {istio-injection: enabled}}\n---\n"
    job = pytorch(GPU % 1).replace("{name: lora}", "{name: lora, namespace: n}")
    assert observed(space + job) == [("sidecar", "io/inject", 13)]
    assert kinds(job) == []
    assert kinds(space.replace("enabled", "disabled") + job) == []
    assert kinds(space + pytorch(GPU % 1)) == []


def test_pods_that_share_an_anchor_are_told_once():
    text = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: lora}\nspec:\n  tasks:\n    - name: a\n"
        "      template:\n        spec: &pod\n"
        + textwrap.indent(pod("resources: {requests: {nvidia.com/gpu: 1}}\n"), " " * 10)
        + "    - name: b\n      template:\n        spec: *pod\n"
    )
    assert kinds(text) == ["limit-missing"]


def test_texts_of_labels_and_selectors():
    text = batch(GPU % 1, "restartPolicy: Never\nnodeSelector: {gpu: true}\n")
    assert observed(text) == [("no-text", "gpu", 8)]


def test_bf16_on_a_card_without_it_is_found_across_selector_and_flag(tmp_path):
    file = tmp_path / "job.yaml"
    selector = "restartPolicy: Never\nnodeSelector: {node.kubernetes.io/instance-type: p3.2xlarge}\n"
    file.write_text(batch('command: ["python", "train.py", "--bf16", "True"]\n' + GPU % 1, selector))
    ((run),) = loralint.check(file).runs
    ((rule, tier, key, line, fix),) = [(one.rule, one.tier, one.key, one.span.line, one.fix) for one in run.findings]
    assert (rule, tier, key, line, fix) == ("LL214", "A", "--bf16", 12, None)
    assert "write --bf16 false and --fp16 true" in run.findings[0].help
    assert [one.rule for one in loralint.check(file, gpu="A100").runs[0].findings] == []


_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["Never", "2", "$X"])
)
_WORDS = """apiVersion kind metadata spec template containers command args env name value resources limits requests
trainer nvidia.com/gpu volumes volumeMounts emptyDir replicas parallelism restartPolicy pytorchReplicaSpecs Worker tasks
nodeSelector affinity runPolicy replicatedJobs templates container jobTemplate items mountPath"""
_NAMES = st.sampled_from(_WORDS.split())
_HEADS = (
    "batch/v1 Job", "kubeflow.org/v1 PyTorchJob", "batch.volcano.sh/v1alpha1 Job", "argoproj.io/v1 Workflow",
    "trainer.kubeflow.org/v1 TrainJob", "ray.io/v1 RayJob", "jobset.x-k8s.io/v1 JobSet", "v1 List",
)  # fmt: skip
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=6)),
    max_leaves=25,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(_HEADS), _TREES)
def test_no_manifest_breaks_the_reading(head, spec):
    import json

    version, kind = head.split()
    text = json.dumps({"apiVersion": version, "kind": kind, "spec": spec, "items": spec})
    found = read_bytes(text.encode(), "job.json")
    assert isinstance(faults(found, LOOK), list)
    assert isinstance(READER.combine(found, {}), dict)


def test_names_hold_dots_and_slashes():
    (job,) = jobs(document(batch(GPU % 1)))
    ((_, container),) = job.containers()
    assert isinstance(container, At)
    assert (container.key, container.pointer) == (
        "spec.template.spec.containers[0]",
        "/spec/template/spec/containers/0",
    )


def test_an_ordinary_config_does_not_load_the_reader():
    code = (
        "import sys\n"
        "from loralint.frameworks.detect import detect\n"
        "from loralint.source.read import read_bytes\n"
        "detect(read_bytes(b'apiVersion: v1\\nkind: ConfigMap\\n', 'c.yaml'))\n"
        "print([name for name in sys.modules if 'kubernetes' in name])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_pytorch_job_has_one_master_and_workers():
    text = pytorch(GPU % 1)
    assert observed(text.replace("replicas: 1", "replicas: 2")) == [("masters", "replicas", 7)]
    assert observed(text.replace("Master:", "Chief:")) == [("role", "Chief", 6)]
    assert kinds(text.replace("replicas: 1", "replicas: $N").replace("Master:", "master:")) == []


def test_variables_of_the_launch_belong_to_the_operator():
    env = "env:\n  - {name: WORLD_SIZE, value: '4'}\n  - {name: NCCL_DEBUG, value: INFO}\n"
    assert observed(pytorch(env + GPU % 1)) == [("overwritten", "WORLD_SIZE", 15)]
    assert kinds(pytorch(env + GPU % 1).replace("Master:", "Worker:")) == []  # only a master brings the variables
    trainer = "  trainer:\n    env:\n      - {name: PET_NNODES, value: '2'}\n"
    assert observed(SHAPES["TrainJob"].replace("  trainer:\n", trainer)) == [("reserved", "PET_NNODES", 6)]


def test_the_launcher_of_mpi_has_no_devices():
    text = SHAPES["MPIJob"].replace("slotsPerWorker: 2", "slotsPerWorker: 1")
    text = text.replace("command: [mpirun", "resources: {limits: {nvidia.com/gpu: 1}}\n              command: [mpirun")
    text = text.replace("nvidia.com/gpu: 2", "nvidia.com/gpu: 1")
    assert observed(text) == [("launcher-gpus", "com/gpu", 12)]
    assert kinds(text.replace("slotsPerWorker: 1\n", "slotsPerWorker: 1\n  runLauncherAsWorker: true\n")) == []


def test_a_variable_may_name_the_folder():
    env = "env: [{name: OUTPUT_DIR, value: %s}]\n"
    assert observed(batch(env % "/out" + GPU % 1)) == [("lost-output", "OUTPUT_DIR", 11)]
    assert kinds(batch(env % "$(BASE)/out" + GPU % 1)) == []
    mounted = env % "/out" + "volumeMounts: [{name: a, mountPath: /out}]\n" + GPU % 1
    assert kinds(batch(mounted, VOLUMES % "nfs: {server: s, path: /}")) == []
