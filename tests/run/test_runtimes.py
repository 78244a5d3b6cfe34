"""TrainJobs over a runtime: of the same file, and of a manifest beside theirs."""

from __future__ import annotations

import pytest

import loralint

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data:
  train.yaml: |
    base_model: meta-llama/Llama-3.2-1B
    adapter: lora
    lora_r: 16
    lora_alpha: 32
    lora_target_linear: true
    learning_rate: 2
    bf16: true
    datasets: [{path: a/b, type: alpaca}]
---
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: small}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          spec:
            template:
              spec:
                nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}
                volumes: [{name: c, configMap: {name: cfg}}]
                containers:
                - name: node
                  image: x
                  command: [axolotl, train, /cfg/train.yaml]
                  resources: {limits: {nvidia.com/gpu: 2}}
                  volumeMounts: [{name: c, mountPath: /cfg}]
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: mine}
spec:
  runtimeRef: {name: small}
  trainer:
    numNodes: 3
"""
COMMAND = "    command: [axolotl, train, /cfg/train.yaml, --learning-rate, '3']\n"


def _run(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    (run,) = loralint.check(folder / "job.yaml", show_settings=True).runs
    return run, {row.parameter: row.value for row in run.settings}


@pytest.mark.parametrize("apart", [False, True])
def test_the_gpus_of_a_runtime_are_those_of_its_jobs(tmp_path, apart):
    files = {"job": JOB, "runtime": MAP + RUNTIME} if apart else {"job": f"{MAP}{RUNTIME}---\n{JOB}"}
    run, values = _run(tmp_path, **files)
    assert (values["run.gpu"].value, values["job.nodes"].value, values["run.gpu_count"].value) == (
        "nvidia-tesla-t4", 3, 6,
    )  # fmt: skip
    assert {one.rule for one in run.findings} >= {"LL405", "LL214"}
    assert "LL003" not in {one.rule for one in run.findings}
    assert str(tmp_path / "job.yaml") in run.files


def test_a_command_of_the_jobs_own_sees_what_the_runtime_mounts(tmp_path):
    text = JOB + COMMAND
    _, values = _run(tmp_path, job=text, runtime=MAP + RUNTIME)
    rate, rank = values["optim.lr"], values["adapter.rank"]
    assert (rate.value, rate.span.file, rate.span.line) == (3, str(tmp_path / "job.yaml"), text.count("\n"))
    assert (rank.value, rank.span.file, rank.span.line) == (16, str(tmp_path / "runtime.yaml"), 8)


def test_another_runtime_is_none_of_its(tmp_path):
    _, values = _run(tmp_path, job=JOB, runtime=MAP + RUNTIME.replace("small", "other"))
    assert values["run.gpu"].origin == "absent"


@pytest.mark.parametrize(
    ("policy", "asked", "told"),
    [
        ("{mpi: {numProcPerNode: 1}}", "resourcesPerNode: {limits: {nvidia.com/gpu: 4}}", ["LL812"]),
        ("{mpi: {numProcPerNode: 8}}", "resourcesPerNode: {limits: {nvidia.com/gpu: 4}}", ["LL811"]),
        ("{mpi: {numProcPerNode: 4}}", "resourcesPerNode: {limits: {nvidia.com/gpu: 4}}", []),
        ("{mpi: {numProcPerNode: 1}}", "numProcPerNode: 4\n    resourcesPerNode: {limits: {nvidia.com/gpu: 4}}", []),
        ("{torch: {numProcPerNode: 1}}", "resourcesPerNode: {limits: {nvidia.com/gpu: 4}}", []),
    ],
)
def test_processes_of_a_runtime_against_gpus_of_its_job(tmp_path, policy, asked, told):
    job = JOB + f"    command: [mpirun, python, /code/train_lora.py]\n    {asked}\n"
    (tmp_path / "runtime.yaml").write_text(RUNTIME.replace("{numNodes: 1}", policy), encoding="utf-8")
    (tmp_path / "job.yaml").write_text(job, encoding="utf-8")
    found = [one for run in loralint.check(tmp_path / "job.yaml").runs for one in run.findings]
    assert [one.rule for one in found if one.rule in ("LL811", "LL812")] == told


TRL = "python, -m, trl.scripts.sft, --model_name_or_path, m/m, --dataset_name, d, --use_peft, --lora_r, '16'"
LEARNS = RUNTIME.replace("axolotl, train, /cfg/train.yaml", f"{TRL}, --learning_rate, '2e-4'")


@pytest.mark.parametrize(
    ("runtime", "trainer", "rate", "line", "told"),
    [
        (LEARNS, "args: [--learning_rate, '1e-4']", 1e-4, 30, []),
        (LEARNS, "args: [--learning-rate=1e-4]", 1e-4, 30, []),
        (LEARNS, "args: [--learning_rate, '1e-4', --learning_rate, '3e-4']", 3e-4, 30, ["LL106"]),
        (LEARNS, f"command: [{TRL}]\n    args: [--learning_rate, '1e-4']", 1e-4, 31, []),
        # the arguments of the runtime come behind the job's command, and win
        (
            RUNTIME.replace("[axolotl, train, /cfg/train.yaml]", "[sleep]\n                  args: [--lora_r, '4']"),
            f"command: [{TRL}, --learning_rate, '1e-4']", 1e-4, 31, ["LL106"],
        ),
    ],
)  # fmt: skip
def test_arguments_of_a_job_overrule_those_of_its_runtime(tmp_path, runtime, trainer, rate, line, told):
    run, values = _run(tmp_path, job=f"{runtime}---\n{JOB}    {trainer}\n")
    assert (values["optim.lr"].value, values["optim.lr"].span.line) == (rate, line)
    assert [one.rule for one in run.findings if one.rule == "LL106"] == told
