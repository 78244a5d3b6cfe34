"""Hostile files through the real command: a finding or an error at its place, no traceback, quick and small."""

from __future__ import annotations

import json
import os

import pytest

from loralint.render import FORMATS

HEAD = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\n"
)
PEFT = '{"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"], '


def _bomb(levels: int = 9) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def _deep(depth: int) -> str:
    return "\n".join(" " * n + f"k{n}:" for n in range(depth)) + "\n"


# name of the file, its content, line of the finding
BROKEN = {
    "NUL": ("c.yaml", HEAD + "x: a\x00b\n", 8),
    "control characters": ("c.yaml", HEAD + "x: \x07\x1b[2J\x08\n", 8),
    "invalid UTF-8": ("c.yaml", HEAD.encode() + b"x: \xff\xfe\xc3\x28\n", 8),
    "half a surrogate": ("c.yaml", HEAD.encode() + b"x: \xed\xa0\x80\n", 8),
    "cyclic anchor": ("c.yaml", HEAD + "x: &x\n  y: *x\n", 9),
    "open string": ("adapter_config.json", PEFT + '"x": "' + "a" * 1_000_000, 1),
    "many documents": ("c.yaml", HEAD + "---\na: 1\n" * 5_000, None),
    "unknown alias": ("c.yaml", HEAD + "x: *nobody\n", 8),
    "tabs": ("c.yaml", HEAD + "x:\n\t\t\ty: 1\n", 9),
    "bottomless quotes": ("c.yaml", HEAD + "x: '" + "''" * 500_000 + "\n", 8),
}  # fmt: skip
# likewise, of what our limits stop at: a loader may well read it
BEYOND = {
    "alias bomb": ("c.yaml", HEAD + _bomb(), None),
    "100,000 brackets": ("c.yaml", HEAD + "x: " + "[" * 100_000 + "\n", 8),
    "100,000 braces": ("c.yaml", HEAD + "x: " + "{a: " * 100_000 + "\n", 8),
    "deep mapping": ("c.yaml", HEAD + "x:\n" + _deep(500), None),
    "deep JSON": ("adapter_config.json", PEFT + '"x": ' + "[" * 100_000, 1),
    "deep objects": ("adapter_config.json", PEFT + '"x": ' + '{"a":' * 100_000, 1),
    "many tags": ("c.yaml", "".join(f"%TAG !{n}! tag:x,2000:{n}\n" for n in range(5_000)) + "---\n" + HEAD, None),
    "60,000 keys": ("c.yaml", HEAD + "".join(f"k{n}: {n}\n" for n in range(60_000)), None),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_a_finding_at_its_place(hostile, name, text, line):
    (hostile.folder / name).write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    done = hostile("check", name, "--format", "json")
    assert (done.code, done.err) == (1, "")
    found = [one for one in done.findings() if one[0] in ("LL001", "LL003")]
    assert found, done.out[:2000]
    assert found[0][1] == "S"
    assert line in (None, found[0][2])


@pytest.mark.parametrize(("name", "text", "line"), BEYOND.values(), ids=BEYOND)
def test_a_file_beyond_our_limits_is_told_as_not_checked_and_as_no_crash(hostile, name, text, line):
    (hostile.folder / name).write_text(text, encoding="utf-8")
    done = hostile("check", name, "--format", "json")
    assert (done.code, done.err) == (0, "")
    ((rule, tier, at, _),) = done.findings()
    assert (rule, tier) == ("LL002", "A")
    assert line in (None, at)


def test_a_run_behind_what_nobody_reads_does_not_pass_in_silence(hostile):
    text = "".join(f"%TAG !{n}! tag:x,2000:{n}\n" for n in range(20_000)) + "---\n" + HEAD
    (hostile.folder / "c.yaml").write_text(text, encoding="utf-8")
    assert hostile("check", "c.yaml", "--format", "json").notes() == ["more than 100 %TAG directives"]


LONG = {
    "50 MB line": HEAD + "x: " + "a" * 50_000_000 + "\n",
    "50 MB of one key": "a" * 50_000_000,
    "50 MB of lines": "a: 1\n" * 10_000_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_file_that_is_too_large_is_told(hostile, text):
    (hostile.folder / "c.yaml").write_text(text, encoding="utf-8")
    done = hostile("check", "c.yaml", "--format", "json")
    told = [*done.notes(), *(rule for rule, *_ in done.findings())]
    assert any("larger than" in one or one == "LL002" for one in told)
    full = hostile("check", "c.yaml")
    assert len(full.out) < 5_000


LEGAL = {
    "huge integers": HEAD + "lora_r: 1" + "0" * 5_000 + "\nseed: -1" + "0" * 400 + "\n",
    "huge hexadecimal": HEAD + "seed: 0x" + "f" * 100_000 + "\n",
    "sexagesimal": HEAD + "seed: 1" + ":59" * 20_000 + "\n",
    "huge exponents": HEAD + "weight_decay: 1e999999999\nmax_grad_norm: 1.0e-99999999\n",
    "infinities": HEAD + "save_steps: .inf\neval_steps: -.inf\nwarmup_steps: .nan\nnum_epochs: .inf\nmax_steps: .nan\n",
    "a long list": HEAD + "lora_target_modules:\n" + "".join(f"  - module_{n}\n" for n in range(20_000)),
    "a long text": HEAD + "lora_target_modules: " + "q_proj," * 100_000 + "\n",
    "a long key": HEAD + "k" * 900 + ": 1\n",
    "3,000 unknown keys": HEAD + "".join(f"learning_rate_{n}: 1\n" for n in range(3_000)),
    "10,000 equal keys": HEAD + "lora_r: 8\n" * 10_000,
    "merge keys": "x: &x\n  lora_r: 8\n" + "".join(f"y{n}: &y{n}\n  <<: *x\n  z: {n}\n" for n in range(2_000)) + HEAD,
    "a date that is none": HEAD + "wandb_name: 2024-99-99\nseed: 9999-12-31T99:99:99Z\n",
    "odd tags": HEAD + "seed: !!python/object/apply:os.system ['echo x']\nx: !<tag:yaml.org,2002:int> text\n",
    "bidirectional text": HEAD + 'wandb_name: "\\u202eabc\\u2066"\nx\\u200by: 1\n',
    "templates": HEAD.replace("16", "${oc.env:X}") + "x: {{ y }}\n",
    "a directive flood": HEAD + "".join(f"# loralint: ignore[LL{n:03}] x\n" for n in range(5_000)),
    "one comment of codes": HEAD + "# loralint: ignore[" + ",".join(f"LL{n}" for n in range(20_000)) + "]\n",
}  # fmt: skip


@pytest.mark.parametrize("text", LEGAL.values(), ids=LEGAL)
@pytest.mark.parametrize("format_", ["full", "json"])
def test_what_is_legal_but_hostile_costs_little(hostile, text, format_):
    (hostile.folder / "c.yaml").write_text(text, encoding="utf-8")
    done = hostile("check", "c.yaml", "--format", format_, "--gpu", "T4")
    assert done.err == ""
    assert all(char.isprintable() or char == "\n" for char in done.out)
    hostile("show", "c.yaml", "--all")


PATTERNS = [
    "(a+)+$", "(a|a)*b", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?:(?:a*)*)*b", "a" * 50_000, "(" * 5_000,
    "[" * 5_000, "(" * 500 + "a" + ")" * 500,
    "(?P<x>" * 500, "\\", "(?i)(q|k|v)_proj", ".*" * 2_000 + "x", "(x+x+)+y", "a{1,30000}{1,30000}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
@pytest.mark.parametrize("base", ["a" * 5_000 + "!", "Qwen/Qwen3-235B-A22B"], ids=["nobody's", "of many experts"])
def test_a_pattern_of_the_config_never_runs_away(hostile, pattern, base):
    import json

    config = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": pattern, "exclude_modules": pattern,
              "layers_pattern": pattern, "rank_pattern": {pattern: 4}, "alpha_pattern": {f"x|{pattern}": 4},
              "base_model_name_or_path": base}  # fmt: skip
    (hostile.folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert hostile("check", "adapter_config.json", "--format", "json").err == ""


@pytest.mark.parametrize(
    "word", ["a" * 200_000, "q_proj," * 30_000, "(" * 100_000, ".*" * 100_000, "-" * 200_000, "\u202e" * 100_000]
)
def test_no_pattern_of_ours_runs_away(word):
    """Every regular expression of the rules, over texts that make a careless one backtrack."""
    import re
    import time

    from loralint.knowledge.data import part
    from loralint.knowledge.rules import all_rules

    def patterns(node):
        if isinstance(node, (list, tuple)):
            if len(node) == 3 and node[0] == "matches":
                yield node[2]
            for one in node:
                yield from patterns(one)
        elif isinstance(node, dict):
            if isinstance(node.get("matches"), str):
                yield node["matches"]
            for one in node.values():
                yield from patterns(one)

    texts = {one for rule in all_rules() for one in patterns([rule.when, rule.tiers, rule.args])} | set(
        patterns(part("golden"))
    )
    assert texts
    for pattern in texts:
        for text in (word, word + "\n!", word[: len(word) // 2] + " x " + word[len(word) // 2 :]):
            start = time.process_time()
            re.search(pattern, text, re.IGNORECASE)
            assert time.process_time() - start < 0.3, pattern


TORCHTUNE = """model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_attn_modules: [q_proj]}
optimizer: {_component_: torch.optim.AdamW, lr: 1.0e-4}
max_steps_per_epoch: 10
batch_size: 1
"""
PREFERENCES = """model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: dpo
finetuning_type: lora
lora_rank: 8
lora_target: all
cutoff_len: 2048
per_device_train_batch_size: 1
learning_rate: 5.0e-06
bf16: true
"""
MISSHAPEN = {
    "epochs without an end": TORCHTUNE + "epochs: .inf\n",
    "epochs that are no number": TORCHTUNE + "epochs: .nan\n",
    "a loss in braces": PREFERENCES + "pref_loss: {}\n",
}


@pytest.mark.parametrize("name", MISSHAPEN)
def test_values_of_another_shape_end_no_check(hostile, name):
    (hostile.folder / "c.yaml").write_text(MISSHAPEN[name], encoding="utf-8")
    assert hostile("check", "c.yaml", "--gpu", "A100-80GB").code in (0, 1)


def test_two_words_where_one_belongs_end_no_check(hostile):
    line = "deepspeed src/train.py --stage pt x --finetuning_type lora --lora_target no_such --output_dir o --dataset d"
    text = f"{line} --do_train --model_name_or_path Qwen/Qwen2.5-7B-Instruct --template qwen --learning_rate 5e-5\n"
    (hostile.folder / "run.sh").write_text(text, encoding="utf-8")
    assert hostile("check", "run.sh").code in (0, 1)


# Programs


def test_of_thousands_of_trainers_the_first_are_judged_and_the_rest_told(hostile):
    one = "t=Trainer(args=TrainingArguments(output_dir='x', learning_rate=-1))\nLoraConfig(r=1)\n"
    head = "from peft import LoraConfig\nfrom transformers import TrainingArguments, Trainer\n"
    (hostile.folder / "t.py").write_text(head + one * 1_500, encoding="utf-8")
    done = hostile("check", "t.py", "--format", "json")
    assert done.notes().count("1450 more trainers of the program, of which the first 50 are read") == 50
    assert {line for _, _, line, _ in done.findings()} == {3 + 2 * n for n in range(50)}
    assert "\nnot checked in 50 runs: 1450 more trainers of the program, " in hostile("check", "t.py").out


def test_texts_that_nearly_change_a_parser_cost_little(hostile):
    head = (
        "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
        "p = HfArgumentParser(TrainingArguments)\na, = p.parse_args_into_dataclasses()\nTrainer(args=a).train()\n"
    )
    text = f"'''{'class A(' * 12_000}'''\n'''{'class A(' * 8_000}'''\n'''{'parse_dict(' * 5_000}'''\n"
    (hostile.folder / "t.py").write_text(head + text.replace("class", "\nclass"), encoding="utf-8")
    assert hostile("check", "t.py").code in (0, 1)


def test_texts_that_nearly_import_or_change_rows_cost_little(hostile):
    head = "from transformers import Trainer, TrainingArguments\nTrainer(args=TrainingArguments('x')).train()\n"
    text = f"'''{'from peft import (' * 10_000} load_dataset {' ' * 90_000}\n{'a.ma[' * 10_000}'''\n"
    (hostile.folder / "t.py").write_text(head + text, encoding="utf-8")
    assert hostile("check", "t.py").code in (0, 1)


def test_names_that_nearly_want_a_gradient_cost_little(hostile):
    head = "from transformers import Trainer, TrainingArguments\nTrainer(args=TrainingArguments('x')).train()\n"
    text = f"'''{'loss' * 25_000}\n{'lossrequires_grad' * 6_000}'''\n"
    (hostile.folder / "t.py").write_text(head + text, encoding="utf-8")
    assert hostile("check", "t.py").code in (0, 1)


def test_a_shell_script_of_variables_without_an_end_costs_little(hostile):
    text = "A=1 \\\n" * 9_000 + "true\naccelerate launch train.py --learning_rate 1e-4\n"
    (hostile.folder / "run.sh").write_text("#!/bin/bash\n" + text, encoding="utf-8")
    assert hostile("check", "run.sh").code in (0, 1)


def test_a_program_that_nearly_catches_costs_little(hostile):
    head = "from transformers import Trainer, TrainingArguments\n"
    head += "Trainer(args=TrainingArguments('x', evaluation_strategy='steps')).train()\nx = dict(eval_strategy='no')\n"
    text = f"{head}'''{'except ' * 14_000}\nexcept{' ' * 90_000}'''\n"
    (hostile.folder / "t.py").write_text(text, encoding="utf-8")
    assert hostile("check", "t.py").code in (0, 1)


def test_expressions_too_deep_for_python_to_write_out_are_passed_over(hostile):
    text = """
from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, get_scheduler
import torch
model = get_peft_model(AutoModelForCausalLM.from_pretrained("a/b"), LoraConfig(r=8, task_type="CAUSAL_LM"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
accelerator = Accelerator(gradient_accumulation_steps=4)
model, optimizer = accelerator.prepare(model, optimizer)
schedule = get_scheduler("linear", optimizer, num_warmup_steps=0, num_training_steps=TOTAL)
for batch in data:
    with accelerator.accumulate(model, DEEP):
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
"""
    (hostile.folder / "deep.py").write_text(text.replace("DEEP", "+".join("x" * 900)).replace("TOTAL", "8"))
    assert hostile("check", "deep.py").code in (0, 1)
    chain = "".join(f"{a} = {'+'.join(b * 120)}\n" for a, b in zip("cba", "dcb", strict=True))
    long = "d = len(data)\n" + chain + text.replace("DEEP", "1").replace("TOTAL", "+".join("a" * 120))
    (hostile.folder / "long.py").write_text(long)
    assert hostile("check", "long.py").code in (0, 1)


def test_a_manifest_whose_command_nearly_pipes_costs_little(hostile):
    line = "python train.py --lr 1e-4 " + "python " * 9_000
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "x", "command": ["sh", "-c", line]}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}}
    (hostile.folder / "job.yaml").write_text(json.dumps(job), encoding="utf-8")
    assert hostile("check", "job.yaml").code in (0, 1)


def test_thousands_of_variables_for_a_command_of_the_shell_cost_little(hostile):
    lines = [f"A{n}=1 export B\n" for n in range(1_900)] + [f"A{n}=2\n" for n in range(1_900)] + ["#" * 17_000, "\n"]
    text = f"#!/bin/bash\n{''.join(lines)}swift sft --model Qwen/Qwen2.5-0.5B --dataset a/b --tuner_type lora\n"
    (hostile.folder / "run.sh").write_text(text, encoding="utf-8")
    assert json.loads(hostile("check", "run.sh", "--format", "json").out)["runs"]


def test_a_model_wrapped_thousands_of_times_costs_little(hostile):
    head = "from peft import LoraConfig, get_peft_model\nfrom transformers import AutoModelForCausalLM, Trainer\n"
    text = (
        head + "m = AutoModelForCausalLM.from_pretrained('a/b')\n" + "m = get_peft_model(m, LoraConfig(r=8))\n" * 3_000
    )
    (hostile.folder / "t.py").write_text(text + "t = Trainer(m)\nt.train()\n", encoding="utf-8")
    done = hostile("check", "t.py", "--format", "json")
    assert "of what the program does to its models only the first 1000 steps are followed" in done.notes()


def test_thousands_of_trainers_of_its_own_that_build_on_each_other_cost_little(hostile):
    own = "class C{}({}):\n    def compute_loss(self, model, inputs):\n        return 1\n"
    classes = "".join(own.format(n, f"C{n - 1}" if n else "Trainer") for n in range(1_000))
    text = f"from transformers import Trainer, TrainingArguments\n{classes}t = Trainer(args=TrainingArguments('x'))\n"
    made = "".join(f"C{n}()\n" for n in range(1_000))
    (hostile.folder / "t.py").write_text(f"{text}t.train()\n{made}", encoding="utf-8")
    done = hostile("check", "t.py", "--format", "json")
    assert ("LL168", "A", 3, 9) in done.findings()


def test_a_call_of_thousands_of_keywords_costs_little(hostile):
    keywords = ", ".join(f"learning_rate_{n}=1" for n in range(10_000))
    text = "from peft import LoraConfig\nfrom transformers import TrainingArguments\n"
    (hostile.folder / "t.py").write_text(f"{text}TrainingArguments({keywords})\nLoraConfig(r=8)\n", encoding="utf-8")
    done = hostile("check", "t.py", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.findings()
    assert len([note for note in done.notes() if "more than 100 findings" in note]) == 1


# Not files, not readable, not here


def test_a_pipe_is_not_waited_for(hostile):
    os.mkfifo(hostile.folder / "c.yaml")
    done = hostile("check", "c.yaml", "--format", "json")
    assert [note for note in done.notes() if "a pipe" in note]
    assert hostile("check", ".").code == 0


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "/dev/full"])
def test_a_device_is_not_read(hostile, target):
    assert hostile("check", target, "--format", "json").code in (0, 2)
    (hostile.folder / "c.yaml").symlink_to(target)
    assert hostile("check", ".", "--format", "json").code == 0


def test_a_loop_of_links_ends(hostile):
    (hostile.folder / "a").mkdir()
    (hostile.folder / "a" / "b").symlink_to("../a")
    (hostile.folder / "a" / "c.yaml").write_text(HEAD, encoding="utf-8")
    (hostile.folder / "x.yaml").symlink_to("y.yaml")
    (hostile.folder / "y.yaml").symlink_to("x.yaml")
    done = hostile("check", ".", "--format", "json", "--show-skipped")
    assert '"a/c.yaml"' in done.out
    for name in ("x.yaml", "a/b/b/b/b"):
        hostile("check", name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_and_folder_are_told(hostile):
    (hostile.folder / "c.yaml").write_text(HEAD, encoding="utf-8")
    (hostile.folder / "c.yaml").chmod(0)
    (hostile.folder / "closed").mkdir(mode=0)
    done = hostile("check", ".", "--format", "json", "--show-skipped")
    assert len([note for note in done.notes() if "permission denied" in note]) == 2


def test_names_that_a_terminal_would_obey(hostile):
    for name in ("\x1b[2J.yaml", "a\nb.yaml", "::error::x.yaml", "\u202ex.yaml", "-rf.yaml", os.fsdecode(b"\xff.yaml")):
        (hostile.folder / name).write_text(HEAD.replace("lora_r: 16", "lora_r: 0"), encoding="utf-8")
    for format_ in FORMATS:
        done = hostile("check", ".", "--format", format_)
        assert all(char.isprintable() or char == "\n" for char in done.out)


def test_a_gitignore_made_to_backtrack(hostile):
    (hostile.folder / ".gitignore").write_text(
        "\n".join(["**/" * 30 + "x", "*" * 200, "a*" * 100 + "b", "[" * 500]), encoding="utf-8"
    )
    (hostile.folder / ("a" * 200 + ".yaml")).write_text(HEAD, encoding="utf-8")
    assert hostile("check", ".").code == 0


def test_a_deep_tree(hostile):
    folder = hostile.folder
    for _ in range(300):
        folder = folder / "d"
    os.makedirs(folder)
    (folder / "c.yaml").write_text(HEAD, encoding="utf-8")
    assert hostile("check", ".", "--format", "json", "--show-skipped").notes()
    assert '"axolotl"' in hostile("check", os.path.relpath(folder / "c.yaml", hostile.folder), "--format", "json").out


# Settings


@pytest.mark.parametrize(
    "text",
    [
        'plugins = ["evil.py"]', 'import = "os"', 'rules = ["https://example.org/x.yaml"]', 'extend = "../../x.toml"',
        '[tool]\npython = "x"', 'select = ["__import__(\'os\').system(\'touch owned\')"]', "gpu = " + "[" * 100_000,
        'baseline = "/dev/zero"', 'baseline = "../../../../etc/passwd"', "a" * 2_000_000,
        'exclude = ["' + "**/" * 5_000 + '"]',
        '[per-file-ignores]\n"' + "*" * 5_000 + '" = ["LL1"]',
    ],
    ids=range(12),
)  # fmt: skip
def test_settings_execute_and_fetch_nothing(hostile, text):
    (hostile.folder / "loralint.toml").write_text(text + "\n", encoding="utf-8")
    (hostile.folder / "evil.py").write_text("open('owned', 'w')\n", encoding="utf-8")
    (hostile.folder / "c.yaml").write_text(HEAD + "zebra_stripes: 7\n", encoding="utf-8")
    done = hostile("check", ".")
    assert done.code in (0, 2)
    assert not (hostile.folder / "owned").exists()
    if done.code == 2:
        assert (
            "loralint.toml" in done.err
            or "baseline" in done.err
            or "no rule matches" in done.err
            or "passwd" in done.err
        )
        assert "root:" not in done.err


def test_nothing_of_a_linted_tree_is_imported(hostile):
    for name in ("yaml.py", "click.py", "loralint.py", "json.py", "sitecustomize.py", "usercustomize.py"):
        (hostile.folder / name).write_text("open('owned', 'w')\n", encoding="utf-8")
    (hostile.folder / "c.yaml").write_text(HEAD, encoding="utf-8")
    import subprocess
    import sys
    from pathlib import Path

    code = "from loralint.__main__ import run; run()"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "c.yaml"], capture_output=True, check=False, cwd=hostile.folder, env=env
    )
    assert done.returncode == 0
    assert not (hostile.folder / "owned").exists()


def test_standard_input_without_end(hostile):
    done = hostile("check", "-", "--format", "json", stdin="/dev/zero")
    assert "larger than" in done.out or done.findings()
