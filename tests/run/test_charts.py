"""Helm: what it renders is checked; its templates and their values are said to be unchecked."""

from __future__ import annotations

import textwrap

import pytest

from loralint.api import check

CONFIG = """\
base_model: meta-llama/Llama-3.2-1B
adapter: lora
lora_r: 16
lora_alpha: 32
lora_target_linear: true
learning_rate: 2
datasets: [{path: a/b, type: alpaca}]
num_epochs: 1
micro_batch_size: 2
output_dir: /out
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      volumes: [{name: c, configMap: {name: config}}]
      containers:
        - name: t
          image: x
          command: [axolotl, train, /config/c.yaml]
          volumeMounts: [{name: c, mountPath: /config}]
"""
RENDERED = f"""\
---
# Source: lora/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata: {{name: config}}
data:
  c.yaml: |
{textwrap.indent(CONFIG, "    ")}---
# Source: lora/templates/job.yaml
{JOB}"""
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  c.yaml: |
    {{- .Values.lora | toYaml | nindent 4 }}
"""


@pytest.fixture
def runs(tmp_path):
    """runs(files) -> the runs of a folder with these files."""

    def check_all(files, **options):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        return check(tmp_path, **options).runs

    return check_all


def test_what_helm_renders_is_checked(runs):
    (run,) = runs({"rendered.yaml": RENDERED})
    (finding,) = [one for one in run.findings if one.tier == "S"]
    assert (finding.rule, finding.span.line) == ("LL405", RENDERED[: RENDERED.index("learning_rate")].count("\n") + 1)


@pytest.mark.parametrize(
    "name", ["values.yaml", "values-prod.yaml", "lora.values.yml", "ci/lora-values.yaml", "overrides/lora.yaml"]
)
def test_values_of_a_chart_are_no_run(runs, name):
    files = {f"lora/{name}": CONFIG, "lora/templates/configmap.yaml": MAP}
    several = runs({"lora/Chart.yaml": "apiVersion: v2\nname: lora\nversion: 0.1.0\n", **files})
    assert [run.findings for run in several] == [(), ()]
    assert {
        "template: values of the Helm chart `lora`; check what `helm template` prints with them",
        "template: render it (`helm template`, `envsubst`) and check what comes out",
    } <= {note.message for run in several for note in run.notes}


def test_values_outside_a_chart_and_configs_in_one_are_runs(runs):
    files = {"values.yaml": CONFIG, "lora/Chart.yaml": "name: lora\n", "lora/files/config.yaml": CONFIG}
    assert [run.framework for run in runs(files)] == ["axolotl", "axolotl"]


def test_a_framework_that_is_named_counts(runs):
    run, *_ = runs({"Chart.yaml": "name: lora\n", "values.yaml": CONFIG}, framework="axolotl")
    assert run.framework == "axolotl"
