"""Kustomizations as runs, on real folders; what they say was compared with what `kubectl kustomize` prints."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loralint.api import check
from loralint.cli import main

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
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      volumes:
        - {name: cfg, configMap: {name: train-config}}
        - {name: out, persistentVolumeClaim: {claimName: out}}
      containers:
        - name: train
          image: registry.example.com/train:1
          command: [axolotl, train, /config/config.yaml]
          env:
            - {name: ACCELERATE_MIXED_PRECISION, valueFrom: {configMapKeyRef: {name: train-config, key: PRECISION}}}
          volumeMounts:
            - {name: cfg, mountPath: /config}
            - {name: out, mountPath: /out}
          resources: {limits: {nvidia.com/gpu: 1}}
"""
MAKES = """\
resources: [job.yaml]
configMapGenerator:
  - name: train-config
    files: [config.yaml=configs/lora.yaml]
    literals: [PRECISION=bf16]
"""
MERGES = """\
resources: [../../base]
configMapGenerator:
  - name: train-config
    behavior: merge
    files: [config.yaml]
"""
BASE = {"base/kustomization.yaml": MAKES, "base/job.yaml": JOB, "base/configs/lora.yaml": AXOLOTL}
OVER = {"over/prod/kustomization.yaml": MERGES, "over/prod/config.yaml": AXOLOTL.replace("r: 16", "r: 8")}
PATCH = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec:\n"

OPERATOR = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master:
      restartPolicy: Never
      template:
        spec:
          volumes: [{name: cfg, configMap: {name: train-config}}]
          containers:
            - name: pytorch
              image: x
              command: [axolotl, train, /config/config.yaml]
              volumeMounts: [{name: cfg, mountPath: /config}]
"""
KUBECTL = shutil.which("kubectl")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """runs(files, path) -> the runs of a path among these files."""
    monkeypatch.chdir(tmp_path)

    def check_all(files, path=".", **options):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        return check(path, show_settings=True, **options).runs

    return check_all


def value(run, field):
    return {one.parameter: one.value for one in run.settings}[field]


def unchecked(run):
    return [note.message for note in run.notes if note.kind == "not-checked" and "ustomize" in note.message]


@pytest.mark.parametrize("path", [".", "base", "base/job.yaml", "base/kustomization.yaml"])
def test_a_map_that_is_made_of_a_file_is_that_of_the_job(runs, path):
    (run,) = runs(BASE, path)
    rank = value(run, "adapter.rank")
    assert (run.framework, rank.value, rank.span.file, rank.span.line) == ("axolotl", 16, "base/configs/lora.yaml", 3)
    assert run.files == ("base/job.yaml", "base/configs/lora.yaml")


def test_an_overlay_is_a_run_of_its_own_where_it_changes_the_map(runs):
    several = runs({**BASE, **OVER})
    assert sorted(value(run, "adapter.rank").value for run in several) == [8, 16]
    (run,) = runs({**BASE, **OVER}, "over/prod")
    rank = value(run, "adapter.rank")
    assert (rank.value, rank.span.file) == (8, "over/prod/config.yaml")


def test_an_overlay_that_changes_nothing_of_the_training_is_none(runs):
    (run,) = runs({**BASE, "over/dev/kustomization.yaml": "resources: [../../base]\nnamespace: dev\n"})
    assert value(run, "adapter.rank").value == 16


def test_replace_takes_all_keys_away(runs):
    (run,) = runs({**BASE, **OVER, "over/prod/kustomization.yaml": MERGES.replace("merge", "replace")}, "over/prod")
    assert [(one.rule, one.tier, one.key) for one in run.findings if one.rule == "LL830"] == [
        ("LL830", "A", "spec.template.spec.containers[0].env[0].valueFrom.configMapKeyRef.key")
    ]


def test_a_merge_over_a_map_that_nobody_sees_lacks_nothing_for_certain(runs):
    files = {**BASE, **OVER, "base/kustomization.yaml": "resources: [job.yaml, https://example.com/map.yaml]\n"}
    (run,) = runs(files, "over/prod")
    assert value(run, "adapter.rank").value == 8
    assert not [one for one in run.findings if one.rule in ("LL830", "LL831")]
    assert any("`https://example.com/map.yaml`" in note.message for note in run.notes)


def test_components_and_plain_maps_join(runs):
    files = {
        "kustomization.yaml": "resources: [map.yaml, jobs/job.yaml]\ncomponents: [parts/seed]\n",
        "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: train-config}\ndata: {PRECISION: bf16}\n",
        "jobs/job.yaml": JOB,
        "parts/seed/kustomization.yaml": MERGES.replace("resources: [../../base]", "kind: Component"),
        "parts/seed/config.yaml": AXOLOTL,
    }
    (run, *others) = runs(files, "kustomization.yaml")
    assert others == []
    assert (value(run, "adapter.rank").value, run.files) == (16, ("jobs/job.yaml", "parts/seed/config.yaml"))


@pytest.mark.parametrize(
    ("lines", "content", "text"),
    [
        ("envs: [run.env]", "# now\n  LR=0.003\nEMPTY\n", "0.003"),
        ("env: run.env", "LR=0.003\n", "0.003"),
        ("literals: ['LR=0.003']", "", "0.003"),
        ("""literals: ["LR='0.003'"]""", "", "0.003"),
        ("literals:\n      - LR=0.003", "", "0.003"),
    ],
)
def test_variables_of_generated_maps(runs, lines, content, text):
    launch = "command: [sh, -c, 'trl sft --model_name_or_path m/m --dataset_name d --use_peft --learning_rate $LR']"
    job = JOB.replace("command: [axolotl, train, /config/config.yaml]", launch).replace("key: PRECISION", "key: LR")
    job = job.replace("ACCELERATE_MIXED_PRECISION", "LR")
    made = f"resources: [job.yaml]\nconfigMapGenerator:\n  - name: train-config\n    {lines}\n"
    (run,) = runs({"kustomization.yaml": made, "job.yaml": job, "run.env": content}, "kustomization.yaml")
    assert value(run, "optim.lr").value == float(text)


@pytest.mark.parametrize(
    "more",
    [
        "patches:\n  - target: {kind: Job, labelSelector: a=b}\n    path: patch.yaml\n",
        "patches:\n  - target: {kind: Job, name: tra.+}\n    path: patch.yaml\n",
        "patches: [{path: missing.yaml}]\n",
        "patches:\n  - target: {kind: Job}\n    patch: '[{op: move, from: /spec/a, path: /spec/b}]'\n",
        "patches:\n  - target: {kind: Job}\n    patch: '[{op: replace, path: /spec/none/b, value: 1}]'\n",
        "transformers: [t.yaml]\n",
    ],
)  # fmt: skip
def test_what_only_building_tells_is_not_checked(runs, more):
    patch = PATCH + "  template: {spec: {containers: [{name: train, args: [--learning_rate, '3']}]}}\n"
    run, *others = runs({**BASE, "base/kustomization.yaml": MAKES + more, "base/patch.yaml": patch})
    assert (run.files, run.findings) == (("base/job.yaml",), ())
    assert [run.files for run in others] == [("base/configs/lora.yaml",)]
    (said,) = unchecked(run)
    assert said.startswith("Kustomize ")
    assert said.endswith("changes the Job `train`: check what `kustomize build base` prints")


def test_a_job_is_judged_as_a_patch_leaves_it(runs):
    over = "resources: [../../base]\npatches: [{path: patch.yaml}]\n"
    patch = f"{PATCH}  template:\n    spec:\n      containers: [{{name: train, args: [--learning-rate, '3']}}]\n"
    several = runs({**BASE, "over/prod/kustomization.yaml": over, "over/prod/patch.yaml": patch})
    rates = [value(run, "optim.lr") for run in several]
    assert [(one.value, one.span.file, one.span.line) for one in rates] == [
        (0.0002, "base/configs/lora.yaml", 6), (3, "over/prod/patch.yaml", 7),
    ]  # fmt: skip
    assert several[1].files == ("base/job.yaml", "base/configs/lora.yaml", "over/prod/patch.yaml")
    found = [(one.span.file, one.span.line) for one in several[1].findings if one.rule == "LL405"]
    assert found == [("over/prod/patch.yaml", 7)]
    assert [unchecked(run) for run in several] == [[], []]


POD = "  template: {spec: %s}\n"
TRAIN = "{containers: [{name: train, %s}]}"
TYPED = PATCH + POD % "{nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}}"
ADDED = "{containers: [{name: sidecar, image: s}, {name: train, resources: {limits: {nvidia.com/gpu: 8}}}]}"
EMPTIED = "{containers: [{name: train, env: [{name: ACCELERATE_MIXED_PRECISION, $patch: delete}]}]}"


CONTAINER = "/spec/template/spec/containers/0"
LIMIT = f"{CONTAINER}/resources/limits/nvidia.com~1gpu"
RANKS = "base_model: m\\nadapter: lora\\nlora_r: 4\\nlearning_rate: 0.1\\ndatasets: [{path: a}]\\n"


def over(patch, target=""):
    """One patch in the list of a kustomization."""
    return f"[{{{target and f'target: {target}, '}patch: {json.dumps(patch)}}}]"


@pytest.mark.parametrize(
    ("patches", "field", "wanted"),
    [
        (over(TYPED), "run.gpu", "nvidia-tesla-t4"),
        (over(PATCH + POD % ADDED), "job.gpus_per_node", 8),
        (over(PATCH + POD % EMPTIED), "precision.bf16", "auto"),
        (over(PATCH + "  backoffLimit: 4"), "job.backoff_limit", 4),
        (over(f"- {{op: replace, path: {LIMIT}, value: 4}}", "{kind: Job}"), "job.gpus_per_node", 4),
        (over(f"- {{op: remove, path: {LIMIT}}}", "{name: train}"), "job.kind", "Job"),
        (
            over(f"- {{op: add, path: {CONTAINER}/command/-, value: --lora-r=4}}", "{kind: Job, name: .*}"),
            "adapter.rank", 4,
        ),
        (
            over(f'- {{op: add, path: /data/config.yaml, value: "{RANKS}"}}', "{kind: ConfigMap}"),
            "adapter.rank", 4,
        ),
        (
            over("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: train-config}\ndata: {PRECISION: fp16}"),
            "precision.fp16", True,
        ),
    ],
)  # fmt: skip
def test_patches_do_what_kustomize_does(runs, tmp_path, patches, field, wanted):
    files = {**BASE, "over/kustomization.yaml": f"resources: [../base]\npatches: {patches}\n"}
    (run,) = runs(files, "over")
    assert (value(run, field).value, unchecked(run)) == (wanted, [])
    if KUBECTL:
        made = subprocess.run([KUBECTL, "kustomize", "over"], cwd=tmp_path, capture_output=True, text=True, check=True)
        (tmp_path / "built").mkdir()
        (built,) = runs({"built/all.yaml": made.stdout}, "built/all.yaml")
        said, told = ({one.parameter: one.value.value for one in each.settings} for each in (run, built))
        assert said == told


def test_base_and_overlay_are_patched_in_turn(runs):
    files = {
        **BASE,
        "base/kustomization.yaml": MAKES + f"patches: [{{patch: {json.dumps(PATCH + '  backoffLimit: 4')}}}]\n",
        "over/kustomization.yaml": "resources: [../base]\npatchesStrategicMerge: [patch.yaml]\n",
        "over/patch.yaml": PATCH + "  backoffLimit: 5\n",
    }
    several = runs(files)
    assert [value(run, "job.backoff_limit").value for run in several] == [4, 5]
    (run,) = runs(files, "over")
    found = value(run, "job.backoff_limit")
    assert (found.value, found.span.file, found.span.line) == (5, "over/patch.yaml", 5)


def test_lists_of_an_operators_job_are_replaced(runs):
    over = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: train}\nspec: {pytorchReplicaSpecs: "
    over += "{Master: {template: {spec: {containers: [{name: pytorch, args: [x]}]}}}}}\n"
    files = {
        **BASE, "base/job.yaml": OPERATOR,
        "over/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n", "over/p.yaml": over,
    }  # fmt: skip
    (run,) = runs(files, "over")
    assert (run.framework, run.files) == ("kubernetes", ("base/job.yaml", "over/p.yaml"))
    assert any("what a container runs: `x`" in note.message for note in run.notes)


def test_a_map_that_is_patched_out_of_sight_is_not_checked(runs):
    more = "patches:\n  - target: {kind: ConfigMap, labelSelector: a=b}\n    path: p.yaml\n"
    patch = "kind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n"
    run, _ = runs({**BASE, "base/kustomization.yaml": MAKES + more, "base/p.yaml": patch}, "base")
    said = "what the ConfigMap `train-config` holds: Kustomize patch `p.yaml` changes it"
    assert (said in [note.message for note in run.notes], value(run, "adapter.rank").known) == (True, False)


def test_no_fix_is_made_where_a_patch_lies_over_a_job(runs, tmp_path):
    files = {
        **BASE,
        "base/job.yaml": JOB.replace("/config/config.yaml]", "/config/config.yaml, --lora_alpha=-4]"),
        "base/kustomization.yaml": MAKES + f"patches: [{{patch: {json.dumps(PATCH + '  backoffLimit: 4')}}}]\n",
    }
    (run,) = runs(files, "base")
    (found,) = [one for one in run.findings if one.rule == "LL207"]
    assert (found.fix, found.span.file, found.span.line) == (None, "base/job.yaml", 14)
    CliRunner().invoke(main, ["check", "base", "--fix"])
    assert (tmp_path / "base/job.yaml").read_text() == files["base/job.yaml"]


@pytest.mark.parametrize(
    "patch",
    [
        PATCH + "  suspend: true\n",
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train, labels: {a: b}}\n",
        PATCH.replace("name: train", "name: other") + "  template: {spec: {containers: [{name: c, args: [a]}]}}\n",
        PATCH.replace("kind: Job", "kind: Deployment") + "  replicas: 3\n",
    ],
)
def test_a_patch_of_something_else_lets_the_run_be_checked(runs, patch):
    (run,) = runs(
        {**BASE, "base/kustomization.yaml": MAKES + "patches: [{path: patch.yaml}]\n", "base/patch.yaml": patch}
    )
    assert (value(run, "adapter.rank").value, unchecked(run)) == (16, [])


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", ["LL832"]),
        ("generatorOptions: {disableNameSuffixHash: true}\n", []),
        ("    options: {disableNameSuffixHash: true}\n", []),
        ("generatorOptions: {disableNameSuffixHash: true}\nnamePrefix: prod-\n", ["LL832"]),
        ("configurations: [names.yaml]\n", []),
    ],
)
def test_names_that_kustomize_does_not_follow(runs, more, found):
    files = {**BASE, "base/job.yaml": OPERATOR, "base/kustomization.yaml": MAKES + more}
    (run,) = runs(files)
    assert [one.rule for one in run.findings if one.rule == "LL832"] == found
    assert value(run, "adapter.rank").value == 16  # whoever mends the name trains with this


def test_a_kustomization_leads_nowhere_outside_and_ends(runs, tmp_path):
    (tmp_path.parent / "secret.yaml").write_text(AXOLOTL)
    files = {
        "a/kustomization.yaml": "resources: [../a, ../b, job.yaml]\n" + MAKES.replace("resources: [job.yaml]\n", ""),
        "a/job.yaml": JOB,
        "b/kustomization.yaml": "resources: [../a, ../../secret.yaml]\n",
    }
    files["a/kustomization.yaml"] = files["a/kustomization.yaml"].replace("configs/lora.yaml", "../../secret.yaml")
    (run,) = runs(files, "a")
    assert run.files == ("a/job.yaml",)
    assert not value(run, "adapter.rank").known


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]\n",
        "resources: {a: b}\n",
        "resources: [1, {}, null]\npatches: [x]\n",
        "configMapGenerator: [{}, 3, {name: [a], files: 3, literals: [[], a]}]\n",
    ],
)
def test_broken_kustomizations_break_nothing(runs, text):
    (run,) = runs({**BASE, "base/kustomization.yaml": text}, "base/job.yaml")
    assert run.files == ("base/job.yaml",)


def test_a_template_among_the_resources_is_not_passed_over(runs):
    files = {
        "kustomization.yaml": "resources: [job.yaml]\n",
        "job.yaml": JOB.replace("name: train}", "name: x}\n{{- if a }}"),
    }
    (run,) = runs(files)
    assert [note.message.partition(":")[0] for note in run.notes] == ["template"]


_LEAVES = st.one_of(
    st.none(),
    st.integers(0, 9),
    st.text(max_size=8),
    st.sampled_from(["job.yaml", "a=b.env", "../x", "merge", "train-config", "LR=1", "=", "config.yaml=run.env", "."]),
    st.sampled_from(["Job", "ConfigMap", "train", "add", "replace", "/spec/template", "/data/a", "delete", PATCH]),
)
_INNER = "name behavior files literals envs env options path patch target kind op spec metadata value $patch template"
_TREES = st.recursive(
    _LEAVES,
    lambda one: st.one_of(
        st.lists(one, max_size=3),
        st.dictionaries(
            st.sampled_from(_INNER.split()),
            one,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
_KEYS = "resources components bases configMapGenerator patches patchesStrategicMerge patchesJson6902 generatorOptions"


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*_KEYS.split(), "namePrefix", "vars"]), _TREES, max_size=5))
def test_no_kustomization_breaks_a_run(runs, tree):
    files = {"kustomization.yaml": json.dumps(tree), "job.yaml": JOB, "run.env": "A=1\n=2\n", "b.env": ""}
    assert isinstance(runs(files), tuple)


OLD = "axolotlai/axolotl:0.9.2"
RENAMED = AXOLOTL + "flash_attention: true\n"  # another name since axolotl 0.17


def imaged(image, images, over=None, patch=""):
    files = {
        "base/kustomization.yaml": MAKES + (f"images: {images}\n" if images else ""),
        "base/job.yaml": JOB.replace("registry.example.com/train:1", image),
        "base/configs/lora.yaml": RENAMED,
    }
    if over is None:
        return files
    patches = f"patches: [{{patch: '{patch}'}}]\n" if patch else ""
    return {**files, "over/kustomization.yaml": f"resources: [../base]\n{patches}images: {over}\n"}


def renames(several):
    return [[one.message for one in run.findings if one.rule == "LL103"] for run in several]


@pytest.mark.parametrize(
    ("image", "images", "told"),
    [
        (OLD, "[]", None),
        ("axolotlai/axolotl:main-latest", "[{name: axolotlai/axolotl, newTag: 0.9.2}]", None),
        ("train", "[{name: train, newName: axolotlai/axolotl, newTag: 0.9.2}]", None),
        (OLD, "[{name: axolotlai/axolotl, newTag: 0.19.0}]", False),
        (OLD, "[{name: axolotlai/axolotl, newName: registry.example.com/axolotl}]", True),
        (OLD, "[{name: axolotl, newTag: 0.19.0}]", None),
    ],
)
def test_the_release_is_that_of_the_image_that_kustomize_puts_there(runs, image, images, told):
    (found,) = renames(runs(imaged(image, images), "base"))
    assert ["nobody pinned" in one for one in found] == ([] if told is None else [told])


def test_an_overlay_that_moves_an_image_to_another_release_is_a_run_of_its_own(runs):
    several = runs(imaged(OLD, "", "[{name: axolotlai/axolotl, newTag: 0.19.0}]"))
    assert [len(one) for one in renames(several)] == [0, 1]
    assert len(runs(imaged("train:1", "", "[{name: train, newTag: '2'}]"))) == 1


def test_what_a_patch_between_two_kustomizations_says_of_an_image_is_not_guessed(runs):
    patch = json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": {"template": {
        "spec": {"containers": [{"name": "train", "image": OLD}]}}}})  # fmt: skip
    base = "[{name: axolotlai/axolotl, newTag: 0.9.2}]"
    *_, over = renames(runs(imaged(OLD, base, "[]", patch)))
    assert ["nobody pinned" in one for one in over] == [True]


@pytest.mark.parametrize("image", [OLD, "a/b", "reg.io:5000/a/b:1@sha256:" + "b" * 64, "a/b:x-1"])
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"newTag": "2"}, "{name}:2"),
        ({"newName": "c/d"}, "c/d{rest}"),
        ({"newName": "c/d", "digest": "sha256:" + "c" * 64}, "c/d@sha256:" + "c" * 64),
        ({"newTag": "2", "digest": "sha256:" + "c" * 64}, "{name}:2@sha256:" + "c" * 64),
    ],
)
def test_an_image_gets_another_name_as_kustomize_gives_it(tmp_path, image, entry, expected):
    from loralint.frameworks.readers.kubernetes.kustomize import Image, renamed_image

    at = image.index(":", image.rindex("/")) if ":" in image[image.rindex("/") :] else len(image)
    name, rest = image[:at], image[at:]
    made = Image(name, *(entry.get(key, "") for key in ("newName", "newTag", "digest", "tagSuffix")))
    found = renamed_image(image, (Image("other", "x", "", "", ""), made))
    assert found == expected.format(name=name, rest=rest)
    if KUBECTL:
        (tmp_path / "job.yaml").write_text(JOB.replace("registry.example.com/train:1", image))
        whole = json.dumps({"resources": ["job.yaml"], "images": [{"name": name, **entry}]})
        (tmp_path / "kustomization.yaml").write_text(whole)
        built = subprocess.run([KUBECTL, "kustomize", str(tmp_path)], capture_output=True, text=True, check=True)
        assert f"image: {found}\n" in built.stdout
