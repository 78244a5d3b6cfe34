"""Kubernetes manifests as runs, on real files."""

from __future__ import annotations

import base64
import json
import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.api import check
from loralint.render import render
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.edit import apply
from loralint.source.read import read_bytes

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
MOUNTED = "volumeMounts: [{name: cfg, mountPath: /config}]\n"
VOLUME = "volumes: [{name: cfg, configMap: {name: train-config}}]\n"


def config_map(name="train-config", **texts):
    data = "".join(f"  {key}: |\n{textwrap.indent(text, '    ')}" for key, text in texts.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{data}"


def job(container, pod="", name="train", kind="Job"):
    inner = f"containers:\n  - name: {name}\n    image: x\n" + textwrap.indent(textwrap.dedent(container), "    ")
    return (
        f"apiVersion: batch/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  backoffLimit: 1\n  template:\n"
        "    spec:\n      restartPolicy: Never\n" + textwrap.indent(pod + inner, "      ")
    )


@pytest.fixture
def runs(tmp_path):
    """runs(text, **files) -> the runs of job.yaml beside these files."""

    def check_all(text, files=(), **options):
        for name, content in dict(files).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        (tmp_path / "job.yaml").write_text(text)
        return check(tmp_path / "job.yaml", show_settings=True, **options).runs

    return check_all


def values(run):
    return {one.parameter: one.value for one in run.settings}


def place(text, needle, after=""):
    """Line and column, from 1, of a piece of text."""
    at = text.index(needle, text.index(after))
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def test_a_config_in_a_map_is_the_run_of_the_job_that_mounts_it(runs, tmp_path):
    config = AXOLOTL.replace("0.0002", "2")
    text = (
        config_map(**{"config.yaml": config})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    assert (run.framework, run.files) == ("axolotl", (str(tmp_path / "job.yaml"),))
    rate = values(run)["optim.lr"]
    assert (rate.value, rate.origin, rate.span.line, rate.span.column) == (
        2,
        "set",
        *place(text, "2\n", "learning_rate:"),
    )
    (finding,) = [one for one in run.findings if one.rule == "LL405"]
    assert (finding.span.line, finding.span.column) == place(text, "2\n", "learning_rate:")


def test_a_fix_goes_into_the_block_of_the_map(runs):
    config = AXOLOTL.replace("lora_target_linear: true", "lora_target_moduls: [q_proj]")
    text = (
        config_map(**{"config.yaml": config})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    (finding,) = [one for one in run.findings if one.key == "lora_target_moduls"]
    assert apply(text, finding.fix.edits) == text.replace("target_moduls", "target_modules")


@pytest.mark.parametrize(
    "quoted",
    [
        json.dumps(AXOLOTL + "lora_target_moduls: [q_proj]\n"),
        "'" + (AXOLOTL + "lora_target_moduls: [q_proj]").replace("\n", "\n\n") + "'",
    ],
)  # fmt: skip
def test_a_text_in_quotes_has_its_places_and_no_fix(runs, quoted):
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: train-config}\ndata:\n  config.yaml: "
        + quoted.replace("\n\n", "\n\n    ")
        + "\n---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    (finding,) = [one for one in run.findings if one.key == "lora_target_moduls"]
    assert (finding.span.line, finding.span.column) == place(text, "lora_target_moduls")
    assert finding.fix is None


@pytest.mark.parametrize(
    ("mount", "volume", "path"),
    [
        ("{name: cfg, mountPath: /a/b.yaml, subPath: config.yaml}", "configMap: {name: train-config}", "/a/b.yaml"),
        ("{name: cfg, mountPath: /a}", "configMap: {name: train-config, items: [{key: config.yaml, path: x/y.yml}]}",
         "/a/x/y.yml"),
        ("{name: cfg, mountPath: /a/}",
         "projected: {sources: [{secret: {name: s}}, {configMap: {name: train-config}}]}",
         "/a/./config.yaml"),
    ],
)  # fmt: skip
def test_the_ways_to_mount_a_key(runs, mount, volume, path):
    text = (
        config_map(**{"config.yaml": AXOLOTL})
        + "---\n"
        + job(f"command: [axolotl, train, {path}]\nvolumeMounts: [{mount}]\n", f"volumes: [{{name: cfg, {volume}}}]\n")
    )
    (run,) = runs(text)
    assert values(run)["adapter.rank"].value == 16


@pytest.mark.parametrize(
    ("pod", "path", "said"),
    [
        ("", "/config/a.yaml", "what `/config/a.yaml` says: the volume `cfg` is described elsewhere"),
        (VOLUME, "/config/a.yaml",
         "it lies in the ConfigMap `train-config`, which is not at hand (--configmap train-config=FILE)"),
        ("volumes: [{name: cfg, persistentVolumeClaim: {claimName: c}}]\n", "/config/a.yaml",
         "it lies in a volume (persistentVolumeClaim)"),
        ("volumes: [{name: cfg, secret: {secretName: c}}]\n", "/config/a.yaml", "it lies in a Secret"),
        ("", "/opt/a.yaml", "what `/opt/a.yaml` says: it lies in the image"),
        ("", "a.yaml", "what `a.yaml` says: the image decides where the command starts"),
    ],
)  # fmt: skip
def test_what_nobody_can_look_into_is_said(runs, pod, path, said):
    (run,) = runs(job(f"command: [axolotl, train, {path}]\n{MOUNTED}", pod))
    assert any(said in note.message for note in run.notes if note.kind == "not-checked")
    assert not values(run)["optim.lr"].known  # it is no default of axolotl


def test_a_map_without_the_key_and_one_with_bytes(runs):
    container = f"command: [axolotl, train, /config/b.yaml]\n{MOUNTED}"
    text = config_map(**{"a.yaml": "x: 1\n"})
    (run,) = runs(text + "---\n" + job(container, VOLUME))
    assert "the ConfigMap `train-config` has no `b.yaml`" in run.notes[0].message
    for bad, said in (("/////w==", "as bytes that are no text"), ("eDogM", "as `binaryData` that is no base64")):
        bytes_ = text.replace("\ndata:", f"\nbinaryData: {{b.yaml: {bad}}}\ndata:")
        (run,) = runs(bytes_ + "---\n" + job(container, VOLUME))
        assert f"it lies in the ConfigMap `train-config` {said}" in run.notes[0].message


@pytest.mark.parametrize("line", ["{value}", "|\n    {lines}"])
def test_a_config_in_binary_data_is_read(runs, line):
    secret = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
    config = AXOLOTL.replace("0.0002", "2") + f"hf_token: {secret}\n"
    value = base64.b64encode(config.encode()).decode()
    line = line.format(value=value, lines="\n    ".join(textwrap.wrap(value, 76)))
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: train-config}\nbinaryData:\n  config.yaml: "
    text = f"{head}{line}\n---\n" + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    (run,) = runs(text)
    (finding,) = [one for one in run.findings if one.rule == "LL405"]
    start = len(head)
    assert (finding.key, finding.span.start, finding.fix) == ("learning_rate", start, None)
    assert text[finding.span.start : finding.span.end].strip() == line
    assert any(note.message.startswith("`config.yaml` stands in base64") for note in run.notes)
    (alone,) = runs(text.partition("---")[0])
    assert (alone.framework, [one.rule for one in alone.findings if one.rule == "LL405"]) == ("axolotl", ["LL405"])


def test_bytes_are_no_variables_and_scripts_in_them_are_followed(runs):
    script = base64.b64encode(f"#!/bin/bash\n{SFT} --lora_alpha $ALPHA\n".encode()).decode()
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: train-config}\n"
    text = f"{head}binaryData: {{run.sh: {script}, ALPHA: MjQ=}}\n"
    container = f"command: [bash, /config/run.sh]\nenvFrom: [{{configMapRef: {{name: train-config}}}}]\n{MOUNTED}"
    (run,) = runs(f"{text}---\n" + job(container, VOLUME))
    found = values(run)
    assert (run.framework, found["adapter.rank"].value) == ("trl", 8)
    assert not found["adapter.alpha"].known


CODE = config_map("code", **{"train.py": "import peft\n"})
GPU = "resources: {limits: {nvidia.com/gpu: 1}}\n"


def told(run, *rules):
    return [(one.rule, one.tier, one.key.rpartition(".")[2]) for one in run.findings if one.rule in rules]


@pytest.mark.parametrize(
    ("mount", "volume", "path", "found"),
    [
        ("", "name: code", "/code/run.py", [("LL831", "S", "py")]),
        ("", "name: code, optional: true", "/code/run.py", [("LL831", "S", "py")]),
        ("/run.py, subPath: run.py", "name: code", "/code/run.py", [("LL831", "S", "py")]),
        ("", "name: code, items: [{key: run.py, path: run.py}]", "/code/run.py",
         [("LL830", "S", "key"), ("LL831", "S", "py")]),
        ("", "name: code, optional: true, items: [{key: run.py, path: train.py}]", "/code/train.py",
         [("LL831", "S", "py")]),
        ("", "name: code, items: [{key: '${KEY}', path: train.py}]", "/opt/train.py", []),
        ("", "name: code", "/code/train.py", []),
        ("", "name: other", "/code/run.py", []),
    ],
)  # fmt: skip
def test_keys_that_a_map_lacks(runs, mount, volume, path, found):
    container = f"command: [python, {path}]\nvolumeMounts: [{{name: v, mountPath: /code{mount}}}]\n{GPU}"
    text = CODE + "---\n" + job(container, f"volumes: [{{name: v, configMap: {{{volume}}}}}]\n")
    (run,) = runs(text)
    assert told(run, "LL830", "LL831") == found
    if "subPath" in mount:
        (finding,) = [one for one in run.findings if one.rule == "LL831"]
        assert finding.message.startswith("training stops at start: it finds an empty folder at `/code/run.py`")
        assert (finding.span.line, finding.span.column) == place(text, "/code/run.py]")


def test_a_source_beside_the_map_may_bring_the_file(runs):
    for source in ("secret: {name: s}", "configMap: {name: other}"):
        volume = f"volumes: [{{name: v, projected: {{sources: [{{configMap: {{name: code}}}}, {{{source}}}]}}}}]\n"
        container = f"command: [python, /code/run.py]\nvolumeMounts: [{{name: v, mountPath: /code}}]\n{GPU}"
        (run,) = runs(CODE + "---\n" + job(container, volume))
        assert told(run, "LL830", "LL831") == []


def test_a_volume_that_no_container_mounts_holds_nobody_up(runs):
    volume = "volumes: [{name: v, configMap: {name: code, items: [{key: no.py, path: x}]}}]\n"
    (run,) = runs(CODE + "---\n" + job(f"command: [python, /opt/t.py]\n{GPU}", volume))
    assert told(run, "LL830") == []


def test_variables_come_from_data_only(runs):
    text = CODE.replace("\ndata:", "\nbinaryData: {MODE: bG9yYQ==}\ndata:")
    for more, found in (("", [("LL830", "S", "key")]), (", optional: true", [])):
        env = f"env: [{{name: MODE, valueFrom: {{configMapKeyRef: {{name: code, key: MODE{more}}}}}}}]\n"
        (run,) = runs(text + "---\n" + job(f"command: [python, /opt/t.py]\n{env}{GPU}"))
        assert told(run, "LL830") == found


def test_a_map_of_another_file_may_not_be_the_one_that_is_meant(runs):
    container = f"command: [bash, /code/run.sh]\nvolumeMounts: [{{name: v, mountPath: /code}}]\n{GPU}"
    text = job(container, "volumes: [{name: v, configMap: {name: code, items: [{key: run.py, path: a}]}}]\n")
    (run,) = runs(text, {"code.yaml": CODE})
    assert told(run, "LL830", "LL831") == [("LL830", "A", "key"), ("LL831", "A", "sh")]


def test_maps_of_one_name_lack_a_key_only_together(runs):
    volume = "volumes: [{name: v, configMap: {name: code, items: [{key: run.py, path: run.py}]}}]\n"
    container = f"command: [python, /code/run.py]\nvolumeMounts: [{{name: v, mountPath: /code}}]\n{GPU}"
    text = CODE + "---\n" + job(container, volume)
    (run,) = runs(text + "---\n" + CODE.replace("train.py", "run.py"))
    assert told(run, "LL830", "LL831") == []


def test_pods_that_share_an_anchor_are_told_once(runs):
    pod = job("", "volumes: [{name: v, configMap: {name: code, items: [{key: run.py, path: a}]}}]\n").partition(
        "spec:"
    )[2]
    pod = textwrap.dedent(pod.partition("    spec:\n")[2])
    pod = pod.replace(
        "image: x\n", "image: x\n    command: [torchrun, t.py]\n    volumeMounts: [{name: v, mountPath: /c}]\n"
    )
    text = (
        CODE
        + "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: t}\nspec:\n  tasks:\n"
        + "    - name: a\n      template:\n        spec: &pod\n"
        + textwrap.indent(pod, "          ")
        + "    - name: b\n      template: {spec: *pod}\n"
    )
    (run,) = runs(text)
    assert told(run, "LL830") == [("LL830", "S", "key")]


def test_a_companion_that_the_map_lacks(runs):
    text = (
        config_map(**{"config.yaml": AXOLOTL + "deepspeed: /config/ds.json\n"})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    (finding,) = [one for one in run.findings if one.rule == "LL831"]
    assert (finding.tier, finding.span.line) == ("S", place(text, VOLUME.strip())[0])


def test_companions_are_mounted_too(runs):
    zero = '{\n  "zero_optimization": {"stage": 2},\n  "train_micro_batch_size_per_gpu": 8\n}\n'
    text = (
        config_map(**{"config.yaml": AXOLOTL + "deepspeed: /config/ds.json\n", "ds.json": zero})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    (finding,) = [one for one in run.findings if one.rule == "LL510"]
    assert (finding.span.line, finding.span.column) == place(text, "8\n", "train_micro")


def test_a_map_of_another_manifest_joins_and_is_no_run_of_its_own(tmp_path):
    (tmp_path / "a-map.yaml").write_text(config_map(**{"config.yaml": AXOLOTL}))
    (tmp_path / "job.yaml").write_text(job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME))
    (run,) = check(tmp_path, show_settings=True).runs
    assert [file.rsplit("/", 1)[-1] for file in run.files] == ["job.yaml", "a-map.yaml"]
    rank = values(run)["adapter.rank"]
    assert (rank.value, rank.span.file, rank.span.line) == (16, str(tmp_path / "a-map.yaml"), 8)


def test_a_map_that_nobody_mounts_is_a_run(runs):
    text = config_map(**{"config.yaml": AXOLOTL, "notes.txt": "hello\n"})
    (run,) = runs(text)
    assert (run.framework, values(run)["adapter.rank"].span.line) == ("axolotl", 8)


def test_a_map_of_companions_is_no_run(runs):
    zero = '{"zero_optimization": {"stage": 2}}\n'
    assert runs(config_map(**{"ds.json": zero})) == ()


def test_an_image_reads_the_only_config_that_is_mounted(runs):
    zero = '{"zero_optimization": {"stage": 2}}\n'
    both = config_map(**{"config.yaml": AXOLOTL + "deepspeed: /config/ds.json\n", "ds.json": zero})
    text = job(f"args: [--now]\nresources: {{limits: {{nvidia.com/gpu: 1}}}}\n{MOUNTED}", VOLUME)
    (run,) = runs(both + "---\n" + text)
    found = values(run)
    assert (run.framework, found["adapter.rank"].value, found["dist.zero_stage"].value) == ("axolotl", 16, 2)
    second = config_map(**{"a.yaml": AXOLOTL, "b.yaml": AXOLOTL})  # nobody can tell which of two
    assert sorted(run.framework for run in runs(second + "---\n" + text)) == ["axolotl", "axolotl", "kubernetes"]


def test_maps_made_imperatively(runs, tmp_path):
    text = job(f"command: [axolotl, train, /config/my.yaml]\n{MOUNTED}", VOLUME)
    files = {"elsewhere/my.yaml": AXOLOTL}
    for path in ("elsewhere/my.yaml", "elsewhere"):
        (run,) = runs(text, files, configmaps={"train-config": str(tmp_path / path)})
        assert values(run)["adapter.rank"].span.file == str(tmp_path / "elsewhere/my.yaml")


def test_a_map_of_one_file_leads_there_by_any_key(runs, tmp_path):
    text = job(
        f"command: [bash, -xc, /config/script.sh]\n{MOUNTED}resources: {{limits: {{nvidia.com/gpu: 1}}}}\n", VOLUME
    )
    (run,) = runs(text)
    assert "`/config/script.sh`: it lies in the ConfigMap `train-config`, which is not at hand" in run.notes[0].message
    (run,) = runs(text, {"training.sh": f"{SFT}\n"}, configmaps={"train-config": str(tmp_path / "training.sh")})
    rank = values(run)["adapter.rank"]
    assert (rank.value, rank.span.file, rank.span.line) == (8, str(tmp_path / "training.sh"), 1)


def test_a_variable_of_the_job_is_told_where_a_script_elsewhere_asks_for_it(runs, tmp_path):
    gpu = "resources: {limits: {nvidia.com/gpu: 1}}\n"
    text = job(f'command: [/config/run.sh]\nenv: [{{name: LR, value: "5"}}]\n{MOUNTED}{gpu}', VOLUME)
    files = {"maps/run.sh": f"#!/bin/bash\n{SFT} --learning_rate $LR\n"}
    (run,) = runs(text, files, configmaps={"train-config": str(tmp_path / "maps")})
    (found,) = [one for one in run.findings if one.rule == "LL405"]
    assert (found.span.file, found.span.line) == (str(tmp_path / "maps/run.sh"), 2)
    assert files["maps/run.sh"][found.span.start : found.span.end] == "$LR"
    assert "--learning_rate 5 moves" in found.message


def test_a_config_that_is_copied_before_it_is_read(runs):
    for line in ("cp /config/c.yaml /tmp/d.yaml", "cd /config && cp -f c.yaml /tmp/d.yaml", "cp /config/d.yaml /tmp/"):
        text = (
            config_map(**{"c.yaml": AXOLOTL, "d.yaml": AXOLOTL})
            + "---\n"
            + job(f"command: [bash, -c, '{line} && axolotl train /tmp/d.yaml']\n{MOUNTED}", VOLUME)
        )
        (run, *_) = runs(text)
        assert values(run)["adapter.rank"].value == 16
    (run,) = runs(job("command: [bash, -c, 'cp /a.yaml /b.yaml; cp /b.yaml /a.yaml; axolotl train /a.yaml']\n"))
    assert any("it lies in the image" in note.message for note in run.notes)


@pytest.mark.parametrize(
    ("container", "said"),
    [
        ("", "what a container runs: its image decides, as the manifest has no command"),
        ("command: [python, train.py]\n", "what `train.py` says: the image decides where the command starts"),
        ("command: [/opt/go.sh, lora]\n", "what a container runs: `/opt/go.sh lora` starts no trainer that is known"),
    ],
)
def test_what_a_container_runs_may_stay_unseen(runs, container, said):
    (run,) = runs(job(container + "resources: {limits: {nvidia.com/gpu: 1}}\n"))
    assert (run.framework, said) == ("kubernetes", run.notes[0].message)


def test_a_file_of_the_repository_stands_for_that_of_the_image(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/x.yaml").write_text(AXOLOTL)
    (tmp_path / "k8s").mkdir()
    file = tmp_path / "k8s/job.yaml"
    file.write_text(job("command: [axolotl, train, /workspace/configs/x.yaml]\n"))
    (run,) = [one for one in check(tmp_path, show_settings=True).runs if str(file) in one.files]
    assert values(run)["adapter.rank"].span.file.endswith("configs/x.yaml")
    assert any("`/workspace/configs/x.yaml` of the image is taken for" in note.message for note in run.notes)
    file.write_text(job("command: [axolotl, train, /x.yaml]\n"))  # a name alone is no proof
    (run,) = [one for one in check(file).runs if str(file) in one.files]
    assert any("it lies in the image" in note.message for note in run.notes)


SFT = "trl sft --model_name_or_path m/m --dataset_name d --use_peft --lora_r 8 --output_dir /out"


def test_a_shell_script_in_a_block_has_its_places(runs):
    text = job(
        "command: [/bin/bash, -c]\nargs:\n  - |\n    pip install trl==0.20.0\n"
        f"    {SFT} \\\n      --learning_rate $RATE\n"
        "env:\n  - {name: RATE, value: '3'}\n"
    )
    (run,) = runs(text)
    found = values(run)
    assert run.framework == "trl"
    rank, rate = found["adapter.rank"], found["optim.lr"]
    assert (rank.value, rank.origin, rank.span.line, rank.span.column) == (8, "flag", *place(text, "8", "--lora_r"))
    assert (rate.value, rate.span.line, rate.span.column) == (3, *place(text, "3'"))


FILLED_IN = """\
command: [trl]
args: [sft, --model_name_or_path, m/m, --dataset_name=d, --use_peft, --lora_r=$(R), --bf16]
env: [{name: N, value: '8'}, {name: R, value: $(N)}]
"""


@pytest.mark.parametrize(
    "container",
    [
        f"command: [bash, -c, 'exec trl sft \"$@\"', --]\nargs: {json.dumps(SFT.split()[2:])}\n",
        f"command: {json.dumps(SFT.split())}\n",
        FILLED_IN,
        f'command:\n  - sh\n  - -c\n  - "{SFT.replace(" --lora_r", " " + chr(92) + chr(10) + "      --lora_r")}"\n',
        f"command: [sh, -c, 'env A=1 bash -c \"{SFT}\"']\n",
    ],
)
def test_the_words_of_a_command(runs, container):
    (run,) = runs(job(container))
    rank = values(run)["adapter.rank"]
    assert (run.framework, rank.value, rank.origin) == ("trl", 8, "flag")


def test_no_edit_is_made_in_a_list_of_words(runs):
    text = job(f"command: {json.dumps([*SFT.split(), '--max_seq_length', '512'])}\n")
    (run,) = runs(text)
    assert [one.fix for one in run.findings if one.key == "max_seq_length"] == [None]


def test_edits_in_a_block_of_shell(runs):
    text = job(
        f"command: [bash, -c]\nargs:\n  - |\n    {SFT} \\\n      --max_seq_length 512 --fp16 --bf16 \\\n"
        "      --load_best_model_at_end --eval_strategy steps --eval_steps 20 --save_steps 50\n"
    )
    (run,) = runs(text)
    fixes = {one.rule: one.fix for one in run.findings}
    assert apply(text, fixes["LL431"].edits) == text.replace("--save_steps 50", "--save_steps 60")
    assert apply(text, fixes["LL103"].edits) == text.replace("--max_seq_length", "--max_length")
    assert fixes["LL211"] is None  # not every program takes `--fp16 false`


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ("valueFrom: {secretKeyRef: {name: s, key: k}}", "`$R` is not known: it comes from a Secret"),
        ("valueFrom: {fieldRef: {fieldPath: metadata.name}}", "Kubernetes fills it in when the pod starts"),
        (
            "valueFrom: {configMapKeyRef: {name: none, key: k}}",
            "it comes from the ConfigMap `none`, which is not at hand",
        ),
    ],
)
def test_variables_from_elsewhere_are_unknown(runs, env, why):
    (run,) = runs(job(f"command: [sh, -c, '{SFT} --lora_alpha $R']\nenv: [{{name: R, {env}}}]\n"))
    assert why in values(run)["adapter.alpha"].value.reason


def test_variables_from_maps(runs):
    text = config_map(ALPHA="24").replace("|\n    24", "'24'\n")
    refs = (
        "envFrom: [{configMapRef: {name: train-config}, prefix: MY_}]\n",
        "env: [{name: MY_ALPHA, valueFrom: {configMapKeyRef: {name: train-config, key: ALPHA}}}]\n",
    )
    for source in refs:
        (run,) = runs(f"{text}---\n" + job(f"command: [sh, -c, '{SFT} --lora_alpha $MY_ALPHA']\n{source}"))
        assert values(run)["adapter.alpha"].value == 24


def test_a_dollar_that_no_shell_sees_is_unknown(runs):
    (run,) = runs(job(f"command: {json.dumps([*SFT.split(), '--lora_alpha', '$A'])}\nenv: [{{name: A, value: '8'}}]\n"))
    assert "filled in before the manifest is applied, or not at all" in values(run)["adapter.alpha"].value.reason


def test_a_script_of_a_map_is_followed(runs):
    script = f"#!/bin/bash\nset -e\n{SFT} --learning_rate $1 \\\n  --lora_alpha $ALPHA\n"
    text = (
        config_map(**{"run.sh": script})
        + "---\n"
        + job(f"command: [bash, /config/run.sh, '0.001']\nenv: [{{name: ALPHA, value: '24'}}]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    found = values(run)
    assert (found["adapter.alpha"].value, found["optim.lr"].value) == (24, 0.001)
    assert (found["adapter.rank"].span.line, found["adapter.rank"].span.column) == place(text, "8", "--lora_r")


SCRIPT = """\
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

args = SFTConfig(output_dir="/out", learning_rate=3.0)
SFTTrainer("m/m", args=args, peft_config=LoraConfig(r=8, task_type="CAUSAL_LM")).train()
"""


def test_a_program_of_a_map_is_read(runs):
    text = config_map(**{"train.py": SCRIPT}) + "---\n" + job(f"command: [python, /config/train.py]\n{MOUNTED}", VOLUME)
    (run,) = runs(text)
    rate = values(run)["optim.lr"]
    assert (run.framework, rate.value, rate.span.line, rate.span.column) == ("trl", 3.0, *place(text, "3.0"))


@pytest.mark.parametrize("command", ["[python3, -c]", "[torchrun, --no-python, python3, -c]"])
def test_a_program_that_stands_in_the_command_is_read(runs, command):
    text = job(
        f"resources: {{limits: {{nvidia.com/gpu: 1}}}}\ncommand: {command}\nargs:\n  - |\n"
        + textwrap.indent(SCRIPT, "    ")
    )
    (run,) = runs(text)
    rate = values(run)["optim.lr"]
    assert (run.framework, rate.value, rate.span.line, rate.span.column) == ("trl", 3.0, *place(text, "3.0"))


SDK = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: sft}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    command:
      - bash
      - -c
      - |
        program_path=$(mktemp -d)
        read -r -d '' SCRIPT << EOM
        %s
        EOM
        printf "%%s" "$SCRIPT" > "%s"
        torchrun "%s"
"""


@pytest.mark.parametrize("name", ["train.py", "$program_path/ephemeral_script.py"])
def test_a_program_that_kubeflows_sdk_puts_into_a_command(runs, name):
    text = SDK % (textwrap.indent(SCRIPT, "        ").strip(), name, name)
    (run,) = runs(text)
    rate = values(run)["optim.lr"]
    assert (run.framework, rate.value, rate.span.line, rate.span.column) == ("trl", 3.0, *place(text, "3.0"))


def test_a_config_that_the_command_writes(runs):
    text = job(
        "command: [bash, -c]\nargs:\n  - |\n    cat > /tmp/c.yaml <<'EOF'\n"
        + textwrap.indent(AXOLOTL, "    ")
        + "    EOF\n    axolotl train /tmp/c.yaml\n"
    )
    (run,) = runs(text)
    rank = values(run)["adapter.rank"]
    assert (rank.value, rank.span.line, rank.span.column) == (16, *place(text, "16"))


def test_every_job_is_a_run_with_the_gpus_it_gets(runs):
    def one(name, gpu, count):
        return job(
            f"command: {json.dumps(SFT.split())}\nresources: {{limits: {{nvidia.com/gpu: {count}}}}}\n",
            f"nodeSelector: {{cloud.google.com/gke-accelerator: {gpu}}}\n",
            name,
        )

    first, second = runs(one("a", "nvidia-l4", 1) + "---\n" + one("b", "nvidia-tesla-t4", 4))
    assert [(values(run)["run.gpu"].value, values(run)["run.gpu_count"].value) for run in (first, second)] == [
        ("nvidia-l4", 1),
        ("nvidia-tesla-t4", 4),
    ]
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        "  -\n" + textwrap.indent(one(name, "nvidia-l4", 1), "    ") for name in "ab"
    )
    assert [run.framework for run in runs(text)] == ["trl", "trl"]


def replicas(master, worker):
    return (
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: t}\nspec:\n  pytorchReplicaSpecs:\n"
        + "".join(
            f"    {role}:\n      replicas: 1\n      restartPolicy: OnFailure\n      template:\n        spec:\n"
            "          containers:\n            - name: pytorch\n              image: x\n"
            f"              command: {json.dumps(command.split())}\n"
            for role, command in (("Master", master), ("Worker", worker))
        )
    )


def test_pods_that_run_the_same_are_one_run(runs):
    (run,) = runs(replicas(f"torchrun --node_rank 0 -m {SFT.replace('trl sft', 'trl.scripts.sft')}",
                           f"torchrun --node_rank 1 -m {SFT.replace('trl sft', 'trl.scripts.sft')}"))  # fmt: skip
    assert values(run)["job.nodes"].value == 2
    several = runs(replicas(SFT, SFT.replace("8", "16")))
    assert [values(run)["adapter.rank"].value for run in several] == [8, 16]
    assert [[one.rule for one in run.findings if one.rule == "LL804"] for run in several] == [["LL804"], []]


def test_rays_entrypoint_with_its_environment(runs):
    text = (
        "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: t}\nspec:\n"
        f"  entrypoint: {SFT} --lora_alpha $ALPHA\n"
        "  runtimeEnvYAML: |\n    pip:\n      - transformers==4.46.1\n    env_vars:\n      ALPHA: '24'\n"
        "  rayClusterSpec:\n    headGroupSpec:\n      template:\n        spec:\n          containers:\n"
        "            - {name: head, image: x, resources: {limits: {nvidia.com/gpu: 1}}}\n"
    )
    (run,) = runs(text)
    alpha = values(run)["adapter.alpha"]
    assert (run.framework, alpha.value, alpha.span.line, alpha.span.column) == ("trl", 24, *place(text, "24'"))
    (assembled,) = starts(read_bytes(text.encode(), "job.yaml"), Options(), Project())
    assert assembled.config.versions.of("transformers") == "4.46.1"


def test_a_manifest_in_a_workflow(runs):
    inner = job(f"command: {json.dumps(SFT.split())}\n")
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  templates:\n    - name: a\n"
        "      resource:\n        action: create\n        manifest: |\n" + textwrap.indent(inner, "          ")
    )
    (run,) = runs(text)
    rank = values(run)["adapter.rank"]
    assert (run.framework, rank.value, rank.span.line, rank.span.column) == ("trl", 8, *place(text, '"8"'))


def test_kaito_reads_its_config_from_the_map_that_the_workspace_names(runs):
    config = (
        "training_config:\n  ModelConfig: {torch_dtype: bfloat16}\n  QuantizationConfig: {load_in_4bit: true}\n"
        "  LoraConfig: {r: 8, lora_alpha: 16, target_modules: [o_projj]}\n"
        "  TrainingArguments: {output_dir: /mnt/results, learning_rate: 3}\n"
    )
    space = (
        "apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata: {name: w}\n"
        "resource: {instanceType: Standard_NC24ads_A100_v4}\n"
        "tuning: {preset: {name: phi-3-mini-128k-instruct}, method: qlora, config: train-config, input: {urls: [u]}}\n"
    )
    text = config_map(**{"training_config.yaml": config}) + "---\n" + space
    (run,) = runs(text)
    found = values(run)
    assert (run.framework, found["adapter.rank"].value, found["quant.bits"].value) == ("transformers", 8, 4)
    assert (found["run.gpu"].value, found["optim.lr"].span.column) == ("A100-80GB", place(text, "3}\n")[1])
    assert found["model.base"].value == "phi-3-mini-128k-instruct"  # whose layers are known by the name of the preset
    assert "LL330" in {one.rule for one in run.findings}
    (run,) = runs(space.replace(" config: train-config,", ""))
    assert run.notes[0].message == "what KAITO's own `qlora-params-template` says: it comes with the operator"
    (run,) = runs(space)
    assert "--configmap train-config=FILE" in run.notes[0].message


FMS = {
    "model_name_or_path": "m/m", "training_data_path": "/d", "peft_method": "lora", "r": 8, "output_dir": "/o",
    "learning_rate": 1e-4, "num_train_epochs": 1, "response_template": "R",
}  # fmt: skip


def test_an_image_is_told_its_config_by_a_variable(runs):
    encoded = base64.b64encode(json.dumps(FMS).encode()).decode()
    text = job(f"env: [{{name: SFT_TRAINER_CONFIG_JSON_ENV_VAR, value: {encoded}}}]\n"
               "resources: {limits: {nvidia.com/gpu: 1}}\n")  # fmt: skip
    (run,) = runs(text)
    rank = values(run)["adapter.rank"]
    assert (run.framework, rank.value, rank.span.line) == ("fms-hf-tuning", 8, place(text, encoded)[0])
    text = (
        config_map(**{"c.json": json.dumps(FMS) + "\n"})
        + "---\n"
        + job(
            "env: [{name: SFT_TRAINER_CONFIG_JSON_PATH, value: /config/c.json}]\n"
            f"resources: {{limits: {{nvidia.com/gpu: 1}}}}\n{MOUNTED}",
            VOLUME,
        )
    )
    (run,) = runs(text)
    assert values(run)["adapter.rank"].span.column == place(text, '8, "out')[1]


def test_rules_on_the_manifest_hold_beside_those_of_the_trainer(runs):
    text = job(
        f"command: [torchrun, --nproc_per_node=4, -m, {', '.join(SFT.replace('trl sft', 'trl.scripts.sft').split())}]\n"
        "resources: {limits: {nvidia.com/gpu: 2}}\n",
        "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}\n",
    ).replace("--output_dir", "--bf16, --output_dir")
    (run,) = runs(text)
    assert {("LL811", "S"), ("LL214", "A")} <= {(one.rule, one.tier) for one in run.findings}
    (bf16,) = [one for one in run.findings if one.rule == "LL214"]
    assert (bf16.span.line, bf16.span.column) == place(text, "--bf16")


@pytest.mark.parametrize(
    ("more", "flag", "found"),
    [
        ("", "", ["LL811"]),
        ("num_machines: 2\n", "", []),
        ("", "--num_processes, '2', ", []),
        ("num_machines: 4\n", "", ["LL812"]),
    ],
)
def test_the_processes_of_accelerates_file_are_held_against_the_gpus(runs, more, flag, found):
    file = f"distributed_type: MULTI_GPU\nnum_processes: 4\n{more}"
    words = f"accelerate, launch, {flag}--config_file, /config/a.yaml, -m, {', '.join(SFT.split()[2:])}"
    text = (
        config_map(**{"a.yaml": file})
        + "---\n"
        + job(
            f"command: [{words.replace('-m, ', '-m, trl.scripts.sft, ')}]\n{MOUNTED}"
            "resources: {limits: {nvidia.com/gpu: 2}}\n",
            VOLUME,
        )
    )
    (run,) = runs(text)
    told = [one for one in run.findings if one.rule in ("LL811", "LL812")]
    assert [one.rule for one in told] == found
    assert all((one.span.line, one.span.column) == place(text, "4\n", "num_processes") for one in told)


@pytest.mark.parametrize(
    ("config", "pod", "lost"),
    [
        ("", VOLUME, [("LL823", "A")]),
        ("", VOLUME.replace("]\n", ", {name: out, persistentVolumeClaim: {claimName: c}}]\n"), []),
        ("hub_model_id: a/b\n", VOLUME, []),
        ("push_to_hub: false\n", VOLUME, [("LL823", "A")]),
    ],
)
def test_the_output_of_a_config_is_held_against_the_mounts(runs, config, pod, lost):
    mounts = MOUNTED.replace("]\n", ", {name: out, mountPath: /out}]\n") if "claimName" in pod else MOUNTED
    text = (
        config_map(**{"config.yaml": AXOLOTL + config})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{mounts}", pod)
    )
    (run,) = runs(text)
    found = [one for one in run.findings if one.rule == "LL823"]
    assert [(one.rule, one.tier) for one in found] == lost
    assert all((one.span.line, one.span.column) == place(text, "/out") for one in found)


@pytest.mark.parametrize(
    ("mount", "more", "found"),
    [
        (", readOnly: true", "", [("LL833", "S", "output_dir")]),
        ("", "securityContext: {readOnlyRootFilesystem: true}\n", []),
        ("/x", "securityContext: {readOnlyRootFilesystem: true}\n", [("LL833", "S", "output_dir")]),
        (", readOnly: false", "", []),
    ],
)
def test_an_output_where_nothing_can_be_written(runs, mount, more, found):
    mounts = MOUNTED.replace("]\n", f", {{name: out, mountPath: /out{mount}}}]\n")
    text = (
        config_map(**{"config.yaml": AXOLOTL + "hub_model_id: a/b\n"})
        + "---\n"
        + job(
            f"command: [axolotl, train, /config/config.yaml]\n{more}{mounts}",
            VOLUME.replace("]\n", ", {name: out, persistentVolumeClaim: {claimName: c}}]\n"),
        )
    )
    (run,) = runs(text)
    assert told(run, "LL833") == found


def test_a_version_that_the_command_installs(runs, tmp_path):
    text = job(f"command: [bash, -c, 'pip install trl==0.12.0 && {SFT}']\n")
    (assembled,) = starts(read_bytes(text.encode(), "job.yaml"), Options(), Project())
    assert assembled.config.versions.of("trl") == "0.12.0"


def test_an_ignore_comment_in_a_map_counts(runs):
    config = AXOLOTL + "flash_attention: true  # loralint: ignore[LL103] as before\n"
    text = (
        config_map(**{"config.yaml": config})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    lifted = {one.rule: one.suppressed for one in run.findings}
    assert lifted["LL103"] == {"by": "inline", "reason": "as before"}


def test_a_broken_config_in_a_map_is_told_at_its_place(runs):
    text = (
        config_map(**{"config.yaml": AXOLOTL + "plugins: [a\n"})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    (run,) = runs(text)
    lines = {one.span.line for one in run.findings if one.tier == "S"}
    assert lines <= set(range(place(text, "plugins")[0], place(text, "---")[0] + 1))
    assert lines


def test_a_manifest_in_json(runs, tmp_path):
    import yaml

    text = (
        config_map(**{"config.yaml": AXOLOTL.replace("0.0002", "2")})
        + "---\n"
        + job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME)
    )
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(yaml.safe_load_all(text))}, indent=1)
    file = tmp_path / "all.json"
    file.write_text(whole)
    (run,) = check(file).runs
    (finding,) = [one for one in run.findings if one.rule == "LL405"]
    assert (finding.span.line, finding.span.column) == place(whole, "2\\n", "learning_rate: ")


@pytest.mark.parametrize(
    "text",
    [
        job("command: [torchrun, train_lora.py]\n").replace("image: x", "image: {{ .Values.image }}"),
        "{{- if .Values.on }}\n" + job("command: [torchrun, train_lora.py]\n") + "{{- end }}\n",
        job("resources: {limits: {nvidia.com/gpu: 1}}\n").replace("          image: x\n", ""),
    ],
)
def test_templates_and_patches_are_said_to_be_unchecked(runs, text):
    (run,) = runs(text)
    assert (run.framework, run.findings) == (None, ())
    assert [note.message.partition(":")[0] for note in run.notes] == ["template"]


def test_other_templates_are_left_alone(runs):
    assert runs("apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Values.name }}}\n") == ()


def test_secrets_in_variables_are_never_shown(tmp_path):
    secret = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
    file = tmp_path / "job.yaml"
    file.write_text(
        job(f"command: [sh, -c, '{SFT} --hub_token $HF_TOKEN']\nenv: [{{name: HF_TOKEN, value: {secret}}}]\n")
    )
    report = check(file, show_settings=True)
    assert report.runs[0].framework == "trl"
    assert report.runs[0].findings
    for name in ("full", "json"):
        assert secret not in render(name, report, color=False)


MANY = job("command: [torchrun, train_lora.py]\n") + "".join(
    f"        - {{name: c{n}, image: x, command: [torchrun, t.py]}}\n" for n in range(3000)
)
DOUBLED = job("command: [trl, sft, --lora_r, $(V59)]\nenv:\n  - {name: V0, value: xx}\n") + "".join(
    f"            - {{name: V{n}, value: $(V{n - 1})$(V{n - 1})}}\n" for n in range(1, 60)
)
CALLS = (
    config_map(**{"run.sh": "bash /config/run.sh\n" * 200 + "torchrun train_lora.py\n"})
    + "---\n"
    + job(f"command: [bash, /config/run.sh]\n{MOUNTED}", VOLUME)
)
LONG = config_map(**{"config.yaml": "base_model: " + "QUJD" * 300_000 + "\nadapter: lora\nlora_r: 8\n"})
LINES = job("command: [bash, -c]\nargs:\n  - |\n" + "    :\n" * 5_000 + f"    {SFT}\n")


@pytest.mark.parametrize("text", [MANY, DOUBLED, CALLS, LONG, LINES], ids=["many", "doubled", "calls", "long", "lines"])
def test_hostile_manifests_are_read_within_the_budgets(tmp_path, text):
    file = tmp_path / "job.yaml"
    file.write_text(text)
    started = time.process_time()
    (run, *_) = check(file).runs
    assert time.process_time() - started < 10
    assert run.files == (str(file),)


_NAMES = """apiVersion kind metadata name spec template containers command args env value valueFrom configMapKeyRef
volumes configMap items key path volumeMounts mountPath subPath data a.yaml run.sh tuning config trainer envFrom
configMapRef entrypoint runtimeEnvYAML templates resource manifest projected sources jobTemplate tasks image"""
_KEYS = st.sampled_from(_NAMES.split())
_LEAVES = st.one_of(
    st.none(),
    st.integers(0, 9),
    st.text(max_size=12),
    st.sampled_from([*SFT.split(), "bash", "-c", SFT, "/config/a.yaml", "$(A)", "${B}", "axolotl", "train", AXOLOTL]),
)
_TREES = st.recursive(
    _LEAVES, lambda one: st.one_of(st.lists(one, max_size=4), st.dictionaries(_KEYS, one, max_size=6)), max_leaves=30
)
_KINDS = ("batch/v1 Job", "kubeflow.org/v1 PyTorchJob", "ray.io/v1 RayJob", "trainer.kubeflow.org/v1 TrainJob",
          "argoproj.io/v1 Workflow", "kaito.sh/v1 Workspace", "apps/v1 Deployment")  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_KINDS), _TREES, _TREES, st.lists(_LEAVES, max_size=5))
def test_no_manifest_breaks_a_run(kind, spec, texts, words):
    version, name = kind.split()
    pod = {"spec": {"containers": [{"image": "x", "command": words, "volumeMounts": spec}], "volumes": texts}}
    whole = [
        {"apiVersion": version, "kind": name, "metadata": {"name": "lora"}, "spec": spec, "tuning": texts},
        {"apiVersion": version, "kind": name, "metadata": spec, "spec": {"template": pod, "entrypoint": words}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg"}, "data": texts},
    ]
    document = read_bytes(json.dumps({"apiVersion": "v1", "kind": "List", "items": whole}).encode(), "job.json")
    assert isinstance(starts(document, Options(), Project()), list)


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("axolotlai/axolotl:0.9.2", None),
        ("docker.io/axolotlai/axolotl-cloud:0.9.2-py3.11-cu124-2.6.0", None),
        ("axolotlai/axolotl:0.19.0@sha256:" + "a" * 64, "still takes the old switch"),
        ("axolotlai/axolotl:main-latest", "judged by axolotl 0.19.0, which nobody pinned"),
        ("axolotlai/axolotl:main-20260315-py3.11-cu128-2.9.1", "judged by axolotl 0.19.0, which nobody pinned"),
        ("ghcr.io/somebody/axolotl:0.9.2", "judged by axolotl 0.19.0, which nobody pinned"),
        ("somebody/axolotl:0.9.2", "judged by axolotl 0.19.0, which nobody pinned"),
    ],
)
def test_the_tag_of_an_official_image_is_the_release_that_it_holds(runs, image, told):
    """`flash_attention` was renamed in axolotl 0.17; without a tag the newest release judges, and is named."""
    text = job(f"command: [axolotl, train, /config/config.yaml]\n{MOUNTED}", VOLUME).replace(
        "image: x", f"image: {image}"
    )
    (run,) = runs(config_map(**{"config.yaml": AXOLOTL + "flash_attention: true\n"}) + "---\n" + text)
    found = [one.message for one in run.findings if one.rule == "LL103"]
    assert len(found) == (told is not None)
    assert all(told in one for one in found)
    assert not (image.startswith("axolotlai/axolotl:0.19") and "nobody pinned" in found[0])


SCRIPTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts}
data:
  run.sh: |
    pip install trl
    trl sft --model_name_or_path m/m --dataset_name d --use_peft --lora_r 16
  load.sh: |
    pip install datasets
    python -c 'import datasets; datasets.load_dataset("sft")'
"""
QUIET = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      volumes: [{name: s, configMap: {name: scripts}}]
      containers: [{name: c, image: x, command: [bash, /s/%s], volumeMounts: [{name: s, mountPath: /s}]}]
"""


@pytest.mark.parametrize(("script", "ranks"), [("run.sh", [16]), ("load.sh", [])])
@pytest.mark.parametrize("made", ["one file", "two files", "kustomization"])
def test_a_job_without_gpus_trains_if_the_script_of_a_map_does(tmp_path, script, ranks, made):
    job = QUIET % script
    files = {"job.yaml": f"{SCRIPTS}---\n{job}"} if made == "one file" else {"job.yaml": job, "map.yaml": SCRIPTS}
    if made == "kustomization":
        files |= {"kustomization.yaml": "resources: [job.yaml, map.yaml]\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    runs = check(tmp_path, show_settings=True).runs
    found = [one for run in runs for one in run.settings if one.parameter == "adapter.rank"]
    assert [one.value.value for one in found] == ranks
