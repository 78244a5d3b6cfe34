"""Parameters of Argo's workflows, on real files."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.api import check
from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_bytes

SFT = "trl sft --model_name_or_path m/m --dataset_name d --use_peft --lora_r 8"
STEP = """\
    - name: train
      inputs: {parameters: [{name: lr, default: '0.001'}, {name: rank}]}
      container:
        image: x
        command: [bash, -c]
        args:
          - |
            echo {{workflow.name}}
            trl sft --model_name_or_path m/m --dataset_name d --use_peft --output_dir /out/{{pod.name}} \
              --learning_rate {{inputs.parameters.lr}} --lora_r {{ inputs.parameters.rank }}
"""


def flow(templates, arguments="[{name: rank, value: 16}]", entry="main", kind="Workflow", name="w", more=""):
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  entrypoint: {entry}\n"
        f"  arguments: {{parameters: {arguments}}}\n{more}  templates:\n{templates}"
    )


@pytest.fixture
def runs(tmp_path):
    """runs(text) -> the runs of a file."""

    def check_all(text):
        (tmp_path / "flow.yaml").write_text(text)
        return check(tmp_path / "flow.yaml", show_settings=True).runs

    return check_all


def values(run):
    return {one.parameter: one.value for one in run.settings}


def rates(several):
    return [(values(one)["optim.lr"].value, values(one)["adapter.rank"].value) for one in several]


def test_the_entry_point_gets_the_arguments_of_the_workflow(runs):
    text = flow(STEP, entry="train")
    (run,) = runs(text)
    rank = values(run)["adapter.rank"]
    at = text.index("16}")
    assert rates([run]) == [(0.001, 16)]
    assert (rank.origin, rank.span.line, rank.span.column) == (
        "flag",
        text.count("\n", 0, at) + 1,
        at - text.rfind("\n", 0, at),
    )


STEPS = "    - name: main\n      steps:\n        - - {name: a, template: train, arguments: {parameters: [%s]}%s}\n"
TASKS = "    - name: main\n      dag: {tasks: [{name: a, template: train, arguments: {parameters: [%s]}%s}]}\n"


@pytest.mark.parametrize("caller", [STEPS, TASKS])
@pytest.mark.parametrize(
    ("given", "items", "found"),
    [
        ("{name: rank, value: 4}", "", [(0.001, 4)]),
        ("{name: rank, value: '{{workflow.parameters.rank}}'}, {name: lr, value: 0.01}", "", [(0.01, 16)]),
        ("{name: rank, value: '{{item}}'}", ", withItems: [4, 8]", [(0.001, 4), (0.001, 8)]),
        ("{name: rank, value: '{{item.r}}'}, {name: lr, value: '{{item.lr}}'}",
         ", withItems: [{r: 4, lr: 0.01}, {r: 8, lr: 0.02}]", [(0.01, 4), (0.02, 8)]),
    ],
)  # fmt: skip
def test_a_call_brings_its_arguments(runs, caller, given, items, found):
    assert rates(runs(flow(caller % (given, items) + STEP))) == found


@pytest.mark.parametrize(
    ("given", "items"),
    [
        ("{name: rank, value: '{{item}}'}", ", withParam: '{{steps.list.outputs.result}}'"),
        ("{name: rank, value: '{{tasks.best.outputs.parameters.rank}}'}", ""),
        ("", ""),
    ],
)
def test_what_no_one_in_the_file_says_is_a_template(runs, given, items):
    (run,) = runs(flow(STEPS % (given, items) + STEP))
    rank = values(run)["adapter.rank"].value
    assert rank.reason.startswith("template: nothing in the file says what `{{")
    assert values(run)["optim.lr"].value == 0.001
    assert any(note.message.startswith("template:") or "template:" in note.message for note in run.notes)


def test_callers_of_callers_and_templates_that_call_themselves(runs):
    call = "        - - {name: a, template: %s, arguments: {parameters: [{name: %s, value: '%s'}]}}\n"
    middle = "    - name: middle\n      inputs: {parameters: [{name: r}]}\n      steps:\n"
    middle += call % ("train", "rank", "{{inputs.parameters.r}}") + call % ("middle", "r", "3")
    top = (STEPS % ("{name: r, value: 5}", "")).replace("template: train", "template: middle")
    assert rates(runs(flow(top + middle + STEP))) == [(0.001, 5)]


def test_a_workflow_of_the_file_gives_the_arguments_of_a_template(runs):
    text = flow(STEP, entry="train", kind="WorkflowTemplate", name="lora")
    text += (
        "---\napiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: a-}\nspec:\n"
        "  workflowTemplateRef: {name: lora}\n  arguments: {parameters: [{name: rank, value: '32'}]}\n"
    )
    assert rates(runs(text)) == [(0.001, 32)]
    scheduled = flow(STEP, entry="train").replace("spec:\n", "spec:\n  schedule: '0 1 * * *'\n  workflowSpec:\n")
    head, _, body = scheduled.partition("workflowSpec:\n")
    indented = "".join(f"  {line}\n" for line in body.splitlines())
    assert rates(runs(head.replace("kind: Workflow", "kind: CronWorkflow") + "workflowSpec:\n" + indented)) == [
        (0.001, 16)
    ]


FAR = STEPS.replace("template: train", "templateRef: {name: lora, template: train}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """folder(files, path) -> the runs of a path among these files."""
    monkeypatch.chdir(tmp_path)

    def check_all(files, path="."):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(content)
        return check(path, show_settings=True).runs

    return check_all


@pytest.mark.parametrize(
    ("template", "path"), [("a.yaml", "."), ("z.yaml", "."), ("a.yaml", "a.yaml"), ("a.yaml", "w.yaml")]
)
def test_templates_of_another_file_are_called_with_its_arguments(folder, template, path):
    step = STEP.replace("{{ inputs.parameters.rank }}", "{{workflow.parameters.r}}")
    held = flow(step, kind="WorkflowTemplate", name="lora", arguments="[{name: r, value: 2}]")
    caller = flow(FAR % ("{name: lr, value: 0.01}", ""), arguments="[{name: r, value: 64}]")
    (run,) = folder({template: held, "w.yaml": caller}, path)
    rate, rank = values(run)["optim.lr"], values(run)["adapter.rank"]
    assert ((rate.value, rate.span.file), (rank.value, rank.span.file)) == ((0.01, "w.yaml"), (64, "w.yaml"))
    at = caller.index("64}")
    assert (rank.span.line, rank.span.column) == (caller.count("\n", 0, at) + 1, at - caller.rfind("\n", 0, at))
    assert run.files == (template, "w.yaml")


def test_callers_of_one_file_and_of_others_are_told_apart(folder):
    held = flow(STEP, kind="WorkflowTemplate", name="lora")
    near = held + "---\n" + flow(FAR % ("{name: rank, value: 4}", ""))
    far = flow(FAR % ("{name: rank, value: 8}", ""))
    other = flow(FAR.replace("name: lora", "name: other") % ("{name: rank, value: 9}", ""))
    assert rates(folder({"a.yaml": near, "b.yaml": far, "c.yaml": other}, "a.yaml")) == [(0.001, 4), (0.001, 8)]


def test_a_template_that_no_file_holds_is_not_checked(folder):
    caller = flow(FAR % ("", ""), name="lora-run")
    (run,) = folder({"w.yaml": caller})
    said = "what the templates of `lora` run: no manifest of the folder holds it"
    assert said in [one.message for one in run.notes if one.kind == "not-checked"]


def test_files_that_call_one_another_end(folder):
    one = flow(FAR.replace("name: lora", "name: b") % ("", "") + STEP, kind="WorkflowTemplate", name="a")
    two = flow(FAR.replace("name: lora", "name: a") % ("", "") + STEP, kind="WorkflowTemplate", name="b")
    assert len(folder({"one.yaml": one, "two.yaml": two})) == 2


def test_a_workflow_elsewhere_runs_a_whole_template(folder):
    held = flow(STEP, entry="train", kind="WorkflowTemplate", name="lora")
    caller = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: a-}\nspec:\n"
    caller += "  workflowTemplateRef: {name: lora}\n  arguments: {parameters: [{name: rank, value: '32'}]}\n"
    assert rates(folder({"held.yaml": held, "w.yaml": caller})) == [(0.001, 32)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("argo submit -n ml flow.yaml -p rank=4 --watch", [4]),
        ("argo submit ./flow.yaml --parameter 'rank=4'", [4]),
        ("argo submit flow.yaml --parameter=rank=4", [4]),
        ("R=4\nargo submit flow.yaml -p rank=$R", [4]),
        ("for r in 4 8; do argo submit flow.yaml -p rank=$r; done", [4, 8]),
        ("argo submit flow.yaml -p rank=4\nargo submit flow.yaml -p rank=8", [4, 8]),
        ("argo submit other.yaml -p rank=4\nargo list flow.yaml", [16]),
        ("argo submit flow.yaml", [16]),
    ],
)
def test_a_script_submits_with_parameters(folder, line, found):
    several = folder({"flow.yaml": flow(STEP, entry="train"), "go.sh": f"#!/bin/sh\n{line}\n"}, "flow.yaml")
    assert [values(run)["adapter.rank"].value for run in several] == found
    if found == [4] and "R=" not in line:
        assert {(values(run)["adapter.rank"].span.file, values(run)["adapter.rank"].span.line) for run in several} == {
            ("go.sh", 2)
        }


@pytest.mark.parametrize(
    ("line", "parameters", "found", "place"),
    [
        ("argo submit flow.yaml -f args/lora.yaml", "rank: 4\nother: x\n", 4, ("args/lora.yaml", 1)),
        ("argo submit --parameter-file=args/lora.yaml flow.yaml", 'rank: "4"\n', 4, ("args/lora.yaml", 1)),
        ("cd args && argo submit ../flow.yaml -f lora.yaml", '{"rank": 4}', 4, ("args/lora.yaml", 1)),
        ("argo submit flow.yaml -p other=1 -f args/lora.yaml", "rank: 4\n", 4, ("go.sh", 1)),
        ("argo submit flow.yaml -p rank=8 -f args/lora.yaml", "other: 1\n", 8, ("go.sh", 1)),
        ("argo submit flow.yaml -p rank=8 -f args/lora.yaml", "rank: 4\n", None, ("go.sh", 1)),
        ("argo submit flow.yaml -f args/lora.yaml", "rank: [4]\n", None, ("args/lora.yaml", 1)),
        ("argo submit flow.yaml -f args/lora.yaml", "other: 4\n", 16, ("flow.yaml", None)),
        ("argo submit flow.yaml -f $1", "rank: 4\n", None, ("go.sh", 1)),
        ("argo submit flow.yaml -f https://x/y.yaml", "rank: 4\n", None, ("go.sh", 1)),
    ],
)
def test_a_script_submits_with_a_file_of_parameters(folder, line, parameters, found, place):
    taken = flow(STEP, entry="train", arguments="[{name: rank, value: 16}]")
    (run,) = folder({"flow.yaml": taken, "go.sh": f"{line}\n", "args/lora.yaml": parameters}, "flow.yaml")
    rank = values(run)["adapter.rank"]
    assert (None if isinstance(rank.value, Unknown) else rank.value) == found
    assert (rank.span.file, rank.span.line if place[1] else None) == place


def test_what_a_script_leaves_open_is_unknown(folder):
    files = {"flow.yaml": flow(STEP, entry="train"), "go.sh": "argo submit flow.yaml -p rank=$1\n"}
    (run,) = folder(files, "flow.yaml")
    assert "is filled in before the manifest is applied" in values(run)["adapter.rank"].value.reason


def test_a_script_outside_the_root_says_nothing(folder, tmp_path, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "go.sh"
    outside.write_text(f"argo submit {tmp_path}/flow.yaml -p rank=4\n")
    (tmp_path / "go.sh").symlink_to(outside)
    assert rates(folder({"flow.yaml": flow(STEP, entry="train")}, "flow.yaml")) == [(0.001, 16)]


def test_a_script_submits_from_a_template(folder):
    held = flow(STEP, entry="train", kind="WorkflowTemplate", name="lora")
    files = {"held.yaml": held, "go.sh": "argo submit --from workflowtemplate/lora -p rank=4\n"}
    assert rates(folder(files)) == [(0.001, 4)]


def test_parameters_reach_variables_and_manifests_inside(runs):
    env = STEP.replace("{{ inputs.parameters.rank }}", "$RANK_OF_LORA").replace(
        "        image: x\n",
        "        image: x\n        env: [{name: RANK_OF_LORA, value: '{{inputs.parameters.rank}}'}]\n",
    )
    assert rates(runs(flow(env, entry="train"))) == [(0.001, 16)]


@pytest.mark.parametrize("template", ["{{inputs.parameters.rank}}", "'{{ inputs.parameters.rank }}'"])
def test_a_manifest_inside_is_read_after_argo_has_filled_it_in(runs, template):
    inner = f"""\
    - name: train
      inputs: {{parameters: [{{name: rank}}]}}
      resource:
        action: create
        manifest: |
          apiVersion: kubeflow.org/v1
          kind: PyTorchJob
          metadata:
            name: {{{{workflow.name}}}}
          spec:
            pytorchReplicaSpecs:
              Master:
                replicas: {{{{workflow.parameters.rank}}}}
                template:
                  spec:
                    containers:
                      - name: pytorch
                        image: {{{{=sprig.lower('X')}}}}
                        command: {SFT.split()[:-1]}
                        args:
                          - {template}
"""
    text = flow(inner, entry="train")
    (run,) = runs(text)
    rank = values(run)["adapter.rank"]
    assert (run.framework, rank.value) == ("trl", 16)
    assert rank.span.start == text.index("16}")


SCRIPT = """\
    - name: train
      inputs: {parameters: [{name: rank}]}
      script:
        image: x
        command: [%s]
        source: |
%s"""
PYTHON = """\
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
price = "$5 ${x}"
args = SFTConfig(output_dir="/out", learning_rate=0.001)
SFTTrainer("m/m", args=args, peft_config=LoraConfig(r={{inputs.parameters.rank}}, task_type="CAUSAL_LM")).train()
"""


@pytest.mark.parametrize(
    ("command", "source"),
    [
        ("python3", PYTHON),
        ("/usr/bin/python", PYTHON),
        ("bash", SFT.replace("8", "{{inputs.parameters.rank}}") + " --learning_rate 0.001\n"),
    ],
)
def test_scripts_of_templates_are_read(runs, command, source):
    body = "".join(f"          {line}\n" for line in source.splitlines())
    (run,) = runs(flow(SCRIPT % (command, body), entry="train"))
    assert (run.framework, rates([run])) == ("trl", [(0.001, 16)])


def test_a_graph_of_many_callers_is_read_within_the_budget(runs):
    layer = "".join(
        f"    - {{name: t{n}, dag: {{tasks: [{', '.join(f'{{name: c{m}, template: t{m}}}' for m in range(60))}]}}}}\n"
        for n in range(60)
    )
    started = time.process_time()
    assert runs(flow(layer + STEP + STEP.replace("name: train", "name: t3"), entry="t0"))
    assert time.process_time() - started < 10


_LEAVES = st.one_of(
    st.none(),
    st.integers(0, 9),
    st.text(max_size=8),
    st.sampled_from(
        [*SFT.split(), "{{item}}", "{{item.a}}", "{{inputs.parameters.a}}", "{{workflow.parameters.a}}", "t", "{{"]
    ),
)
_NAMES = """name value default parameters arguments inputs template templates steps dag tasks withItems entrypoint
container script source command args resource manifest workflowTemplateRef workflowSpec item a"""
_TREES = st.recursive(
    _LEAVES,
    lambda one: st.one_of(st.lists(one, max_size=3), st.dictionaries(st.sampled_from(_NAMES.split()), one, max_size=5)),
    max_leaves=25,
)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(["Workflow", "WorkflowTemplate", "CronWorkflow"]), _TREES, st.lists(_TREES, max_size=3))
def test_no_workflow_breaks_a_run(kind, spec, templates):
    spec = {**spec, "templates": templates} if isinstance(spec, dict) else spec
    whole = {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": {"name": "lora"}, "spec": spec}
    document = read_bytes(json.dumps(whole).encode(), "flow.json")
    assert isinstance(starts(document, Options(), Project()), list)
