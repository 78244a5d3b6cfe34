"""What one training start reads, and which of its parts counts."""

from __future__ import annotations

import pytest

from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Unknown
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.spelling import setting
from loralint.run.starts import starts
from loralint.source.edit import apply, insert_pair
from loralint.source.read import read_bytes, read_file

SCRIPT = """\
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
args = SFTConfig(output_dir="out", learning_rate=1e-4, gradient_accumulation_steps=8, deepspeed="conf/ds.json")
trainer = SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, peft_config=LoraConfig(r=16, target_modules="all-linear"))
trainer.train()
"""
CONFIG = (
    "stage: sft\nfinetuning_type: lora\nmodel_name_or_path: Qwen/Qwen2.5-7B\nlora_rank: 16\nlearning_rate: 1.0e-4\n"
)


@pytest.fixture
def project(tmp_path):
    """A folder with these files; `runs(name)` are the starts of one of them."""

    class Folder:
        root = tmp_path
        around = Project(str(tmp_path))

        def write(self, **files):
            for name, text in files.items():
                path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

        def runs(self, name, **options):
            document = read_file(str(tmp_path / name), str(tmp_path / name))
            return starts(document, Options(**options), self.around)

    return Folder()


def test_a_flag_counts_before_the_config_that_the_line_names(project):
    project.write(train_dot_yaml=CONFIG, run_dot_sh="llamafactory-cli train train.yaml learning_rate=2e-5\n")
    (run,) = project.runs("run.sh")
    rate = run.config.get("optim.lr")
    assert rate.value == 2e-5
    assert (rate.span.file, rate.span.line, rate.span.column) == (str(project.root / "run.sh"), 1, 49)
    (hidden,) = rate.shadowed
    assert (hidden.value, hidden.span.file, hidden.span.line) == (1e-4, str(project.root / "train.yaml"), 5)
    assert run.config.get("adapter.rank").value == 16
    assert [document.file for document in run.documents] == [str(project.root / n) for n in ("run.sh", "train.yaml")]
    assert project.around.is_claimed(str(project.root / "train.yaml"))


def test_a_launched_script_brings_its_companions(project):
    project.write(
        train_dot_py=SCRIPT,
        conf__ds_dot_json='{"gradient_accumulation_steps": 4, "zero_optimization": {"stage": 2}}',
        scripts__run_dot_sh="export CUDA_VISIBLE_DEVICES=0,1\ntorchrun --nproc_per_node 2 train.py\n",
    )
    (run,) = project.runs("scripts/run.sh")
    get = run.config.get
    assert get("batch.accumulation").value == 8
    assert (get("dist.ds_accumulation").value, get("dist.zero_stage").value) == (4, 2)
    assert (get("dist.launcher").value, get("dist.launcher_processes_per_node").value) == ("torchrun", 2)
    assert get("dist.visible_devices").value == 2
    assert get("adapter.targets").value == "all-linear"
    assert run.config.reader.name == "trl"


def test_two_trainers_are_two_runs(project):
    twice = SCRIPT + SCRIPT.split("\n", 2)[2].replace("1e-4", "1e-5")
    project.write(train_dot_py=twice, conf__ds_dot_json="{}")
    assert [run.config.get("optim.lr").value for run in project.runs("train.py")] == [1e-4, 1e-5]


def test_pins_are_those_of_the_nearest_folder(project):
    project.write(
        requirements_dot_txt="trl==0.12.0\n", a__requirements_dot_txt="trl==0.21.0\npeft>=0.17\n",
        a__b__train_dot_yaml=CONFIG, train_dot_yaml=CONFIG,
    )  # fmt: skip
    assert project.runs("a/b/train.yaml")[0].config.versions.pinned == {"trl": "0.21.0"}
    assert project.runs("train.yaml")[0].config.versions.pinned == {"trl": "0.12.0"}
    assert project.runs("train.yaml", targets={"trl": "1.0"})[0].config.versions.pinned == {"trl": "1.0"}


def test_pins_may_stand_in_files_that_others_include_but_not_outside(project):
    outside = project.root.parent / "outside.txt"
    outside.write_text("torch==2.1\n")
    project.write(
        requirements_dot_txt="-r deps/base.txt\n-c ../outside.txt\n", deps__base_dot_txt="-r more.txt\ntrl==0.21.0\n",
        deps__more_dot_txt="peft==0.17.1\n-r base.txt\n", setup_dot_py="setup(install_requires=['accelerate==1.2'])\n",
        train_dot_yaml=CONFIG,
    )  # fmt: skip
    pinned = project.runs("train.yaml")[0].config.versions.pinned
    assert pinned == {"trl": "0.21.0", "peft": "0.17.1", "accelerate": "1.2"}


@pytest.mark.parametrize("name", ["../outside.json", "/etc/hostname.json", "a\0b.json", "link.json"])
def test_no_name_leads_out_of_the_folder(project, tmp_path_factory, name):
    outside = project.root.parent / "outside.json"
    outside.write_text('{"zero_optimization": {"stage": 3}}')
    (project.root / "link.json").symlink_to(outside)
    project.write(train_dot_yaml=CONFIG + f"deepspeed: {name!r}\n" if "\0" not in name else CONFIG)
    (run,) = project.runs("train.yaml")
    assert len(run.documents) == 1
    assert run.config.get("dist.zero_stage").value != 3


def test_what_is_named_and_not_there_is_told(project):
    project.write(train_dot_yaml=CONFIG + "deepspeed: ds_z3.json\n")
    (run,) = project.runs("train.yaml")
    assert [note.message for note in run.notes] == ["what a file of the run says: `ds_z3.json` is not in the folder"]


def test_flags_that_are_filled_in_later_leave_everything_open(project):
    project.write(run_dot_sh='llamafactory-cli train --stage sft --finetuning_type lora "$@"\n')
    (run,) = project.runs("run.sh")
    assert run.config.open
    assert not run.config.get("optim.lr").known
    assert run.config.get("adapter.method").value == "lora"


def test_variables_and_files_of_the_caller_join_every_run(project):
    project.write(train_dot_yaml=CONFIG, my_dot_env="CUDA_VISIBLE_DEVICES=0,1,2\n", requirements_dot_in="trl==1.0.0\n")
    given = (str(project.root / "my.env"),)
    (run,) = project.runs("train.yaml", companions=given)
    assert run.config.get("dist.visible_devices").value == 3
    (run,) = project.runs("train.yaml", env={"CUDA_VISIBLE_DEVICES": "5"})
    assert run.config.get("dist.visible_devices").value == 1


def test_a_line_without_a_file_starts_a_run():
    document = read_bytes(b"trl sft --model_name_or_path x/y --use_peft --lora_r 8", "--launch", "shell")
    (run,) = starts(document, Options(), Project())
    assert (run.config.get("adapter.rank").value, run.config.get("adapter.method").value) == (8, "lora")


ARGUMENTS = """\
import argparse
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=8)
parser.add_argument("--lr", type=float, default=3e-4)
args = parser.parse_args()
trainer = SFTTrainer(model="x/y", args=SFTConfig(output_dir="out", learning_rate=args.lr),
                     peft_config=LoraConfig(r=args.rank, lora_alpha=32))
"""


@pytest.mark.parametrize(
    ("line", "head", "world"),
    [
        ("python train.py", "", 1),
        ("python -u train.py --rank 4", "", 1),
        ("torchrun --nproc_per_node 4 train.py", "", 4),
        ("torchrun train.py", "", None),
        ("srun python train.py", "", None),
        ("WORLD_SIZE=4 RANK=0 python train.py", "", None),
        ("python train.py", "from accelerate import notebook_launcher\n", None),
        ("python missing.py --learning_rate 1e-4 --lora_r 8", "", None),
    ],
)
def test_a_program_that_is_started_by_itself_is_one_process(project, line, head, world):
    project.write(train_dot_py=head + ARGUMENTS, run_dot_sh=f"{line}\n")
    (run,) = project.runs("run.sh")
    found = Scope(run.config, FACTS).get("dist.world").value
    assert (None if isinstance(found, Unknown) else found) == world


def test_a_flag_arrives_where_the_script_hands_it_on(project):
    project.write(train_dot_py=ARGUMENTS, run_dot_sh="python train.py --rank 64\n")
    (run,) = project.runs("run.sh")
    rank, rate = run.config.get("adapter.rank"), run.config.get("optim.lr")
    assert (rank.value, rank.key, rank.origin, rank.span.file) == (64, "rank", "flag", str(project.root / "run.sh"))
    assert (rate.value, rate.origin, rate.span.line) == (3e-4, "set", 6)
    assert run.config.get("adapter.method").span.file == str(project.root / "train.py")


WHOLE = """
from dataclasses import dataclass, field
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
@dataclass
class Mine:
    names: str = field(default="q_proj,v_proj")
parser = HfArgumentParser((Mine, TrainingArguments))
mine, args = parser.parse_args_into_dataclasses()
model = AutoModelForCausalLM.from_pretrained("x/y")
model = get_peft_model(model, LoraConfig(r=8, target_modules=mine.names.split(",")))
Trainer(model=model, args=args, train_dataset=rows).train()
"""
FILE = ("parser.parse_args_into_dataclasses()", 'parser.parse_json_file("args.json")')


@pytest.mark.parametrize(
    ("script", "flags", "rate", "names"),
    [
        (WHOLE, "", 5e-5, ["q_proj", "v_proj"]),
        (WHOLE, "--learning_rate 1e-3 --names k_proj,o_proj", 1e-3, ["k_proj", "o_proj"]),
        (WHOLE, '--learning_rate 1e-3 "$@"', 1e-3, ["q_proj", "v_proj"]),
        (WHOLE, '"$@"', None, ["q_proj", "v_proj"]),
        (WHOLE, "more.json --bf16", None, ["q_proj", "v_proj"]),
        (WHOLE.replace(*FILE), "", None, None),
    ],
)
def test_a_command_line_that_is_known_as_a_whole_leaves_defaults_to_the_rest(project, script, flags, rate, names):
    project.write(train_dot_py=script, run_dot_sh=f"python train.py {flags} --output_dir out\n")
    (run,) = project.runs("run.sh")
    found = run.config.get("optim.lr"), run.config.get("adapter.targets")
    assert [None if isinstance(one.value, Unknown) else one.value for one in found] == [rate, names]


HANDED_ON = """
import argparse
from peft import LoraConfig
from transformers import TrainingArguments
from trl import SFTTrainer
parser = argparse.ArgumentParser()
parser.add_argument("--deepspeed")
args = parser.parse_args()
trainer = SFTTrainer(model="x/y", args=TrainingArguments(output_dir="out", deepspeed=args.deepspeed),
                     peft_config=LoraConfig(r=8))
"""


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ("[one.strip() for one in mine.names.split(',')]", ["k_proj", "o_proj", ""]),
        ("[one.strip() for one in mine.names.split(',') if one.strip()]", ["k_proj", "o_proj"]),
        ("[one for one in mine.names.split(', ') if one]", ["k_proj", "o_proj,"]),
        ("[one.lower() for one in mine.names.split(',')]", None),
        ("[one.strip('_') for one in mine.names.split(',')]", None),
        ("[other.strip() for one in mine.names.split(',')]", None),
    ],
)
def test_a_text_of_the_command_line_is_split_as_the_script_does_it(project, parts, names):
    script = WHOLE.replace('mine.names.split(",")', parts)
    project.write(train_dot_py=script, run_dot_sh="python train.py --names 'k_proj, o_proj,' --output_dir out\n")
    (run,) = project.runs("run.sh")
    found = run.config.get("adapter.targets")
    assert (None if isinstance(found.value, Unknown) else found.value) == names


def test_a_file_that_a_script_is_handed_by_a_flag_joins(project):
    project.write(train_dot_py=HANDED_ON, ds_dot_json='{"zero_optimization": {"stage": 3}}')
    project.write(
        run_dot_sh="python train.py --deepspeed ds.json\n", gone_dot_sh="python train.py --deepspeed g.json\n"
    )
    (run,) = project.runs("run.sh")
    stage, file = run.config.get("dist.zero_stage"), run.config.get("dist.deepspeed")
    assert (stage.value, stage.origin, stage.span.file) == (3, "companion", str(project.root / "ds.json"))
    assert (file.value, file.shadowed) == ("ds.json", ())
    (run,) = project.runs("gone.sh")
    assert [note.message for note in run.notes] == ["what a file of the run says: `g.json` is not in the folder"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("python train.py --rank 64", []),
        ("python train.py --ran 64 -h", []),
        ("python train.py --rnak 64", [("unknown", "--rnak", "--rank")]),
        ("python train.py --learning_rate 1", [("unknown", "--learning_rate", "")]),
        ("accelerate launch train.py --num_processes 2", [("misplaced", "", "")]),
        ("deepspeed train.py --rank 64", [("misplaced", "", "")]),
        ("deepspeed --no_local_rank train.py --rank 64", []),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py --rank 64", [("misplaced", "", "")]),
        ("python -m torch.distributed.launch --nproc_per_node 2 --use_env train.py --rank 64", []),
        ("torchrun --nproc_per_node 2 train.py --rank 64", []),
    ],
)
def test_a_parser_that_is_seen_whole_refuses_other_flags(project, line, told):
    project.write(train_dot_py=ARGUMENTS, run_dot_sh=line + "\n")
    (run,) = project.runs("run.sh")
    found = run.observations
    assert [(one.kind, one.data.get("name", ""), one.replacement) for one in found] == told
    assert {one.effect for one in found} <= {"crash"}
    assert run.config.get("optim.lr").value == 3e-4


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("--bf16", []),
        ("--bf16 --rank 8", []),
        ("--rank 8 --bf16 true", ["bf16"]),
        ("--no-packing false", ["no_packing"]),
        ("--bf16 $MORE", []),
        ("--rank true", []),
    ],
)
def test_a_switch_of_argparse_takes_no_value(project, flags, told):
    switches = 'parser.add_argument("--bf16", action="store_true")\n'
    switches += 'parser.add_argument("--packing", action=argparse.BooleanOptionalAction)\n'
    script = ARGUMENTS.replace("args = parser", switches + "args = parser", 1)
    project.write(train_dot_py=script, run_dot_sh=f"python train.py {flags}\n")
    (run,) = project.runs("run.sh")
    assert [one.value.key for one in run.observations if one.kind == "rejected"] == told
    words = 'parser.add_argument("rest", nargs="*")\n'
    other = f"python other.py {flags}\n"
    project.write(other_dot_py=script.replace("args = parser", words + "args = parser", 1), other_dot_sh=other)
    (run,) = project.runs("other.sh")
    assert [one.value.key for one in run.observations if one.kind == "rejected"] == []


FILLED = """
from trl import ModelConfig, ScriptArguments, SFTConfig, SFTTrainer, TrlParser, get_peft_config
a, b, c = TrlParser((ScriptArguments, SFTConfig, ModelConfig)).parse_args_and_config()
SFTTrainer(model=c.model_name_or_path, args=b, peft_config=get_peft_config(c)).train()
"""


@pytest.mark.parametrize(
    ("words", "targets"),
    [("q_proj,k_proj", "q_proj,k_proj"), ("q_proj k_proj", ["q_proj", "k_proj"]), ("all-linear", "all-linear")],
)
def test_flags_of_trls_own_classes_mean_what_trl_makes_of_them(project, words, targets):
    line = f"python train.py --model_name_or_path x/y --use_peft --lora_r 8 --lora_target_modules {words}\n"
    project.write(train_dot_py=FILLED, run_dot_sh=line)
    (run,) = project.runs("run.sh")
    assert run.config.get("adapter.targets").value == targets
    own = FILLED.replace("ModelConfig", "OursConfig").replace("trl import OursConfig,", "trl import")
    text = f"from dataclasses import dataclass\n@dataclass\nclass OursConfig:\n    lora_target_modules: str = ''\n{own}"
    project.write(own_dot_py=text, own_dot_sh=line.replace("train.py", "own.py"))
    (run,) = project.runs("own.sh")
    assert run.config.get("adapter.targets").value != "q_proj,k_proj"


def test_words_that_trls_own_classes_refuse_are_told_of_a_script_too(project):
    fields = "from dataclasses import dataclass\n@dataclass\nclass Ours:\n    my_words: str = ''\n"
    project.write(train_dot_py=fields + FILLED.replace("(ScriptArguments,", "(Ours,"))
    line = "python train.py --my_words x --model_name_or_path x/y --use_peft --optim"
    project.write(bad_dot_sh=f"{line} adamw_8bits\n", good_dot_sh=f"{line} adamw_8bit\n")
    (bad,), (good,) = project.runs("bad.sh"), project.runs("good.sh")
    assert [(one.kind, one.value.key, one.replacement) for one in bad.observations] == [
        ("rejected", "optim", "adamw_8bit")
    ]
    assert good.observations == ()


def test_settings_of_a_command_line_are_shown_and_added_as_such(project):
    line = "llamafactory-cli train train.yaml learning_rate=2e-5\n"
    project.write(train_dot_yaml=CONFIG, run_dot_sh=line)
    (run,) = project.runs("run.sh")
    flags = run.config.layers[0].document
    assert (flags.format, setting(run.config, "optim.lr=1")) == ("settings", "learning_rate=1")
    edit = insert_pair(flags, flags.root.pairs[0], "seed", "1")
    assert apply(line, [edit]) == "llamafactory-cli train train.yaml learning_rate=2e-5 seed=1\n"


def test_a_secret_in_a_variable_is_told_once_and_as_the_manifest_has_it(project):
    token = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
    project.write(
        job_dot_yaml="apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
        "      containers:\n        - name: a\n          command: [trl, sft, --use_peft, --lora_r, '8']\n"
        f"          env:\n            - name: HF_TOKEN\n              value: {token}\n"
    )
    (run,) = project.runs("job.yaml")
    (told,) = (one for one in run.observations if one.kind == "secret")
    assert (told.value.span.line, "secretKeyRef" in told.data["advice"]) == (12, True)


def test_the_start_of_a_flag_stands_for_it(project):
    project.write(train_dot_py=ARGUMENTS, run_dot_sh="python train.py --ran 64\n")
    (run,) = project.runs("run.sh")
    assert run.config.get("adapter.rank").value == 64


def test_a_default_is_only_assumed_where_nobody_sees_the_launch(project):
    project.write(train_dot_py=ARGUMENTS, open_dot_sh='python train.py --rank 64 "$@"\n')
    (run,) = project.runs("train.py")
    assert (run.config.get("adapter.rank").value, run.config.get("adapter.rank").origin) == (8, "inherited")
    (run,) = project.runs("open.sh")
    assert (run.config.get("optim.lr").value, run.config.get("optim.lr").origin) == (3e-4, "inherited")


def test_the_only_launcher_file_beside_the_only_script_is_assumed_to_be_meant(project):
    zero3 = "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n"
    project.write(a__train_dot_py=ARGUMENTS, a__launch_dot_yaml=zero3, a__other_dot_yaml="x: 1\n")
    (run,) = project.runs("a/train.py")
    stage = run.config.get("dist.zero_stage")
    assert (stage.value, stage.origin) == (3, "inherited")
    assert project.around.is_claimed(str(project.root / "a" / "launch.yaml"))
    assert not project.around.is_claimed(str(project.root / "a" / "other.yaml"))
    project.write(b__train_dot_py=ARGUMENTS, b__launch_dot_yaml=zero3, b__eval_dot_py="")
    assert not project.runs("b/train.py")[0].config.get("dist.zero_stage").known


@pytest.mark.parametrize(("precision", "told"), [("bf16", []), ("fp16", ["mixed_precision"])])
def test_a_launcher_that_says_what_the_trainer_takes_anyway_is_no_news(project, precision, told):
    project.write(
        recipe_dot_yaml="model_name_or_path: m\nuse_peft: true\nlora_r: 16\nlearning_rate: 1.0e-4\noutput_dir: o\n",
        acc_dot_yaml=f"distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: {precision}\n",
        run_dot_sh="accelerate launch --config_file acc.yaml -m trl.scripts.sft --config recipe.yaml\n",
    )
    (run,) = project.runs("run.sh")
    assert [one.value.key for one in run.observations if one.kind == "overruled"] == told


@pytest.mark.parametrize(
    ("name", "head", "count"),
    [
        ("test_sft.py", "def test_that_it_runs():\n    ...\n", 0),
        ("sft_test.py", "class Suite:\n    def test_it(self): ...\n", 0),
        ("test_sft.py", "", 1),
        ("contest.py", "def test_it(): ...\n", 1),
    ],
)
def test_unit_tests_are_no_runs(project, name, head, count):
    (project.root / name).write_text(head + SCRIPT)
    assert len(project.runs(name)) == count


def test_companions_that_a_script_writes_itself_join(project):
    project.write(
        work__train_dot_py=SCRIPT.replace("conf/ds.json", "ds.json"),
        run_dot_sh="cd work\ncat > ds.json <<'EOF'\n{\n  \"gradient_accumulation_steps\": 4\n}\nEOF\n"
        "cat > acc.yaml <<EOF\ncompute_environment: LOCAL_MACHINE\nnum_processes: 2\nEOF\n"
        "accelerate launch --config_file acc.yaml train.py\n",
    )
    (run,) = project.runs("run.sh")
    steps, processes = run.config.get("dist.ds_accumulation"), run.config.get("dist.launcher_processes")
    places = [(one.value, one.span.file, one.span.line, one.span.column) for one in (steps, processes)]
    script = str(project.root / "run.sh")
    assert places == [(4, script, 4, 34), (2, script, 9, 16)]
    assert run.notes == ()


@pytest.mark.parametrize(
    ("line", "task"),
    [
        ("trl reward --config train.yaml", "rm"),
        ("python -m trl.scripts.dpo --config train.yaml", "dpo"),
        ("accelerate launch examples/scripts/reward_modeling.py --config train.yaml", "rm"),
        ("trl sft --config train.yaml", "sft"),
    ],
)
def test_a_command_of_trl_says_what_its_config_trains(project, line, task):
    text = "model_name_or_path: Qwen/Qwen2.5-0.5B\ndataset_name: org/rows\nuse_peft: true\nlora_r: 16\noutput_dir: o\n"
    project.write(train_dot_yaml=text, run_dot_sh=f"{line}\n")
    (run,) = project.runs("run.sh")
    assert run.config.get("train.task").value == task
    assert not [one for one in run.observations if one.kind == "unknown"]


INLINE = """from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
args = SFTConfig(output_dir='out', learning_rate=0.7)
SFTTrainer(model='x/y', args=args, peft_config=LoraConfig(r=8)).train()
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"set -e\npython - <<'EOF'\n{INLINE}EOF\n", 5),
        (f"python3 <<EOF\n{INLINE}EOF\n", 4),
        (f'python -u -c "{INLINE}"\n', 3),
        (f"python - <<EOF\n{INLINE.replace('0.7', '$LR')}EOF\n", None),
        (f"python - <<EOF\n{INLINE.replace('SFTTrainer(', 'SFTTrainer((')}EOF\n", None),
        (f"cat <<EOF\n{INLINE}EOF\n", None),
        (f"python train.py <<EOF\n{INLINE}EOF\n", None),
    ],
)
def test_a_program_that_stands_in_a_shell_script_is_read(project, text, line):
    project.write(run_dot_sh=text)
    found = [run.config.get("optim.lr") for run in project.runs("run.sh") if run.config.get("optim.lr").value == 0.7]
    assert [one.span.line for one in found] == ([line] if line else [])
    assert not any(one.kind == "syntax" for run in project.runs("run.sh") for one in run.observations)
