from __future__ import annotations

import json
import os
import sys

import pytest

GOOD = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\nlearning_rate: 0.0002\n"


def _rules(result):
    return sorted({finding["rule"] for run in json.loads(result.output)["runs"] for finding in run["findings"]})


@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("good.yaml", None, 0), ("good.yaml", "B", 0),
        ("block.yaml", None, 1), ("block.yaml", "S", 1), ("block.yaml", "B", 1),
        ("review.yaml", None, 0), ("review.yaml", "A", 1), ("review.yaml", "B", 1),
        ("small.yaml", None, 0), ("small.yaml", "A", 0), ("small.yaml", "B", 1),
        ("none.yaml", None, 0), ("none.yaml", "B", 0),
    ],
)  # fmt: skip
def test_exit_codes(invoke, name, fail_on, code):
    result = invoke("check", name, *(["--fail-on", fail_on] if fail_on else []))
    assert result.exit_code == code


@pytest.mark.parametrize("name", ["good.yaml", "block.yaml"])
def test_exit_codes_of_the_process(command, name):
    done = command("check", name)
    assert done.returncode == (1 if name == "block.yaml" else 0)
    assert done.stderr == b""
    assert done.stdout.endswith(b"no findings\n" if name == "good.yaml" else b"1 S\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "gone.yaml"], "gone.yaml: no such file or folder"),
        (["check", "good.yaml", "--gpu", "Voodoo2"], "GPU `Voodoo2` is not in the list"),
        (["check", "good.yaml", "--framework", "keras"], "unknown framework 'keras'; choose one of axolotl"),
        (["check", "good.yaml", "--target", "transformers"], "is not NAME=VERSION"),
        (["check", "good.yaml", "--target", "zebra=1"], "--target names 'zebra'"),
        (["check", "good.yaml", "--select", "LL999"], "no rule matches `LL999`"),
        (["check", "good.yaml", "--ignore", "nothing"], "no rule matches `nothing`"),
        (["check", "good.yaml", "--rows", "0"], "Invalid value for '--rows'"),
        (["check", "good.yaml", "--format", "xml"], "Invalid value for '--format'"),
        (["check", "good.yaml", "--fail-on", "C"], "Invalid value for '--fail-on'"),
        (["check", "good.yaml", "--output", "json"], "'json' is not FORMAT=FILE"),
        (["check", "good.yaml", "--output", "xml=a"], "'xml=a' is not FORMAT=FILE"),
        (["check", "good.yaml", "--output", "json=gone/a"], "gone/a: No such file or directory"),
        (["check", "good.yaml", "--baseline", "gone.json"], "gone.json: not a baseline that can be read"),
        (["check", "--no-such-option"], "No such option"),
        (["lint"], "No such command 'lint'"),
        (["show", "none.yaml"], "none.yaml: no training config found"),
        (["show", "gone.yaml"], "gone.yaml: No such file or directory"),
        (["explain", "rank-not-positve"], "no rule is called `rank-not-positve`; perhaps rank-not-positive"),
        (["explain"], "give a rule, or --symptom TEXT"),
        (["rules", "LL999"], "no rule matches `LL999`"),
        (["explain", "LL9999"], "no rule is called `LL9999`; `loralint rules` lists them"),
        (["golden", "nope"], "no golden parameter is called `nope`; without a name, all are listed"),
        (["golden", "dropuot"], "no golden parameter is called `dropuot`; perhaps adapter.dropout"),
        (["golden", "gpu", "Voodoo2"], "no GPU `Voodoo2` is known"),
    ],
)
def test_mistakes_of_the_caller_end_with_2_and_say_what_to_do(invoke, arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("text", ["selct = []\n", "gpu = [\n"])
def test_settings_that_cannot_be_used_end_with_2(invoke, folder, text):
    (folder / "loralint.toml").write_text(text, encoding="utf-8")
    result = invoke("check", "good.yaml")
    assert result.exit_code == 2
    assert "loralint.toml" in result.output
    assert invoke("check", "good.yaml", "--isolated").exit_code == 0


def test_settings_are_obeyed_and_options_win(invoke, folder):
    (folder / "loralint.toml").write_text('fail-on = "B"\nignore = ["LL304"]\n', encoding="utf-8")
    assert invoke("check", "small.yaml").exit_code == 1
    assert invoke("check", "small.yaml", "--fail-on", "S").exit_code == 0
    assert invoke("check", "block.yaml").exit_code == 0
    assert invoke("check", "block.yaml", "--isolated").exit_code == 1


@pytest.mark.parametrize("encoding", ["ascii:strict", "latin-1", "cp1252", "utf-8"])
def test_json_is_json_on_every_output(command, folder, encoding):
    (folder / "odd.yaml").write_text(GOOD + 'zébra: "é🙂"\n', encoding="utf-8")
    done = command("check", "odd.yaml", "--format", "json", PYTHONIOENCODING=encoding)
    ((finding,),) = (run["findings"] for run in json.loads(done.stdout)["runs"])
    assert (finding["key"], finding["value"]) == ("zébra", "é🙂")
    assert done.stderr == b""


@pytest.mark.parametrize("name", ["full", "concise", "json", "sarif", "gitlab", "junit", "markdown"])
def test_a_log_of_github_takes_no_command_from_a_config(invoke, folder, name):
    """By actions/runner, ActionCommand.cs: `::` at the start of a line, behind blanks, or `##[` anywhere in one."""
    text = GOOD + '"##[error]z": "##[add-mask]x"\n"::error::k": "::set-env name=A::b"\n'
    (folder / "::error file=a::b.yaml").write_text(text, encoding="utf-8")
    output = invoke("check", "::error file=a::b.yaml", "--format", name).stdout
    assert output.count("LL102") >= 2
    assert "##[" not in output
    assert not any(line.lstrip().startswith("::") for line in output.splitlines())


def test_a_score_below_the_lowest_that_passes(invoke, folder):
    (folder / "loralint.toml").write_text("min-score = 98\n", encoding="utf-8")
    result = invoke("check", "small.yaml")
    assert result.exit_code == 1
    assert result.output.endswith("not passed: 1 run scores below 98, the lowest that passes: small.yaml 97\n")
    assert invoke("check", "small.yaml", "--min-score", "97").exit_code == 0
    assert invoke("check", "small.yaml", "--isolated").exit_code == 0
    result = invoke("check", ".", "--min-score", "100", "--format", "json")
    assert json.loads(result.stdout)["version"] == 1  # what programs read stays as it is
    assert "3 runs score below 100" in result.stderr
    assert "block.yaml 49, review.yaml 85, small.yaml 97" in result.stderr


def test_a_tier_of_the_settings_is_obeyed_and_told(invoke, folder):
    (folder / "loralint.toml").write_text('[tiers]\nLL304 = "A"\n', encoding="utf-8")
    result = invoke("check", "block.yaml")
    assert result.exit_code == 0
    assert "  tier:  A by the settings, S by the rule\n" in result.output
    (run,) = json.loads(invoke("check", "block.yaml", "--format", "json").stdout)["runs"]
    assert [(one["tier"], one["overridden"]) for one in run["findings"]] == [("A", "S")]
    (log,) = json.loads(invoke("check", "block.yaml", "--format", "sarif").stdout)["runs"]
    assert [(one["level"], one["properties"]["overridden"]) for one in log["results"]] == [("warning", "S")]
    (folder / "loralint.toml").write_text('[tiers]\nLL999 = "A"\n', encoding="utf-8")
    assert "no rule matches `LL999`" in invoke("check", "block.yaml").output


def test_nothing_to_lint_ends_with_4_when_files_are_required(invoke, folder):
    (folder / "empty").mkdir()
    for path in ("none.yaml", "empty"):
        assert invoke("check", path, "--require-files").exit_code == 4
        assert invoke("check", path).exit_code == 0
        assert invoke("check", path).output == "no training config found\n"
    assert invoke("check", "good.yaml", "--require-files").exit_code == 0
    assert invoke("check", "block.yaml", "--require-files").exit_code == 1


def test_a_folder_is_walked_in_order_and_honours_gitignore(invoke, folder):
    (folder / "archive" / "deep").mkdir(parents=True)
    (folder / "archive" / "deep" / "bad.yml").write_text((folder / "block.yaml").read_text(), encoding="utf-8")

    def files():
        return [run["files"][0] for run in json.loads(invoke("check", ".", "--format", "json").output)["runs"]]

    names = ["archive/deep/bad.yml", "block.yaml", "good.yaml", "review.yaml", "small.yaml"]
    assert files() == names
    (folder / ".gitignore").write_text("archive/\nsmall.yaml\n", encoding="utf-8")
    assert files() == ["block.yaml", "good.yaml", "review.yaml"]
    assert invoke("check", "small.yaml", "--fail-on", "B").exit_code == 1
    (folder / "loralint.toml").write_text('exclude = ["block.*"]\n', encoding="utf-8")
    assert files() == ["good.yaml", "review.yaml"]
    assert invoke("check").exit_code == 0


def test_a_file_that_is_given_twice_is_linted_once(invoke):
    result = invoke("check", "good.yaml", "./good.yaml", "good.yaml", "--format", "json")
    assert [run["files"] for run in json.loads(result.output)["runs"]] == [["good.yaml"]]


def test_a_file_that_is_no_run_is_silent(invoke):
    assert json.loads(invoke("check", "none.yaml", "--format", "json").output)["runs"] == []


def test_what_was_passed_over_is_told_when_asked_for(invoke, folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "out.yaml").symlink_to("/etc/hostname")
    assert json.loads(invoke("check", "inner", "--format", "json").output)["runs"] == []
    (run,) = json.loads(invoke("check", "inner", "--show-skipped", "--format", "json").output)["runs"]
    assert (run["files"], run["framework"], run["verdict"]) == (["inner/out.yaml"], None, "pass")
    assert run["notes"][0]["message"] == "a symbolic link that leads out of the project"
    assert "inner/out.yaml: not checked: a symbolic link" in invoke("check", "inner", "--show-skipped").output
    said = json.loads(invoke("check", "none.yaml", "good.yaml", "--show-skipped", "--format", "json").output)["runs"]
    assert [(run["files"], run["framework"]) for run in said] == [(["good.yaml"], "axolotl"), (["none.yaml"], None)]
    assert said[1]["notes"][0]["message"].startswith("it starts no training that is recognised; --framework NAME ")


def test_who_names_a_link_that_leads_out_is_told(invoke, folder):
    (folder / "out.yaml").symlink_to("/etc/hostname")
    result = invoke("check", "out.yaml")
    assert "out.yaml: not checked: a symbolic link that leads out of the project" in result.output
    assert invoke("check", "out.yaml", "--require-files").exit_code == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_told(invoke, folder):
    (folder / "good.yaml").chmod(0)
    assert "good.yaml: not checked: cannot be read: permission denied" in invoke("check", "good.yaml").output


def test_standard_input(command):
    text = GOOD.replace("lora_r: 16", "lora_r: -1").encode()
    done = command("check", "-", "--format", "concise", stdin=text)
    assert (done.returncode, done.stdout.startswith(b"<stdin>:3:9: S LL304 ")) == (1, True)
    done = command("check", "-", "--stdin-filename", "a/b.yaml", "--format", "concise", stdin=text)
    assert done.stdout.startswith(b"a/b.yaml:3:9: S LL304 ")
    done = command(
        "check",
        "-",
        "--stdin-filename",
        "adapter_config.json",
        "--format",
        "json",
        stdin=b'{"peft_type": "LORA", "r": 0}',
    )
    assert json.loads(done.stdout)["runs"][0]["framework"] == "peft"


def test_formats(invoke):
    full, concise = invoke("check", "block.yaml"), invoke("check", "block.yaml", "--format", "concise")
    assert full.output.startswith("[S] ")
    assert "  3 | lora_r: 0\n    |         ^\n" in full.output
    assert concise.output.startswith("block.yaml:3:9: S LL304 ")
    assert _rules(invoke("check", "block.yaml", "--format", "json")) == ["LL304"]


def test_output_writes_several_formats_to_files(invoke, folder):
    result = invoke(
        "check", "block.yaml", "--output", "json=a.json", "--output", "concise=b.txt", "--output", "full=c.txt"
    )
    assert json.loads((folder / "a.json").read_text(encoding="utf-8"))["runs"][0]["verdict"] == "block"
    assert (folder / "b.txt").read_text(encoding="utf-8").startswith("block.yaml:3:9: S LL304 ")
    assert (folder / "c.txt").read_text(encoding="utf-8") == result.output


def test_statistics(invoke):
    assert invoke("check", "block.yaml", "small.yaml", "--statistics").output == (
        "     1  S  LL304  rank-not-positive\n     1  B  LL102  unknown-key\n"
    )


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        (["--select", "LL304"], ["LL304"]),
        (["--select", "ll3"], ["LL304"]),
        (["--select", "keys"], ["LL101", "LL102"]),
        (["--select", "LL1,LL304", "--ignore", "LL102"], ["LL101", "LL304"]),
        (["--ignore", "ALL"], []),
        (["--select", "ALL", "--ignore", "LL1, LL304"], []),
    ],
)
def test_select_and_ignore(invoke, arguments, rules):
    assert _rules(invoke("check", ".", "--format", "json", *arguments)) == rules


def test_inline_ignores_can_be_disregarded(invoke, folder):
    text = (folder / "review.yaml").read_text().replace("lora_aplha: 16", "lora_aplha: 16  # loralint: ignore[LL101] x")
    (folder / "review.yaml").write_text(text, encoding="utf-8")
    assert invoke("check", "review.yaml", "--fail-on", "A").exit_code == 0
    assert invoke("check", "review.yaml", "--fail-on", "A", "--no-inline-ignores").exit_code == 1


def test_options_about_the_run_reach_the_rules(invoke, folder):
    (folder / "t4.yaml").write_text(GOOD + "bf16: true\n", encoding="utf-8")
    assert "LL214" not in _rules(invoke("check", "t4.yaml", "--format", "json"))
    assert "LL214" in _rules(invoke("check", "t4.yaml", "--format", "json", "--gpu", "T4"))
    (folder / "loralint.toml").write_text('gpu = "T4"\n', encoding="utf-8")
    assert "LL214" in _rules(invoke("check", "t4.yaml", "--format", "json"))
    assert "LL214" not in _rules(invoke("check", "t4.yaml", "--format", "json", "--gpu", "A100"))


def test_color_only_at_a_terminal_or_on_demand(command):
    assert b"\x1b[" not in command("check", "block.yaml").stdout
    assert b"\x1b[" in command("check", "block.yaml", FORCE_COLOR="1").stdout
    assert b"\x1b[" not in command("check", "block.yaml", FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("format_", ["full", "concise"])
def test_an_output_that_knows_few_characters_gets_everything(command, folder, encoding, format_):
    (folder / "漢é.yaml").write_text(GOOD + "zebra_漢é: 1\n", encoding="utf-8")
    done = command("check", "漢é.yaml", "--format", format_, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "zebra_漢é".encode(encoding if encoding == "latin-1" else "utf-8", "backslashreplace") in done.stdout


def test_a_reader_that_goes_away_is_no_error(folder):
    import subprocess

    many = folder / "many"
    many.mkdir()
    for number in range(200):
        (many / f"{number}.yaml").write_text((folder / "block.yaml").read_text(), encoding="utf-8")
    code = f"{sys.executable} -m loralint check many --format json | head -c 10"
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run(
        ["/bin/sh", "-c", code], capture_output=True, check=False, timeout=60, cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert (len(done.stdout), done.stderr) == (10, b"")


def test_an_empty_path_is_no_name_for_this_folder(invoke):
    result = invoke("check", "")
    assert result.exit_code == 2
    assert "PATH is empty" in result.output


def test_a_launch_line_without_a_path_is_all_that_is_checked(invoke):
    done = invoke("check", "--launch", "trl sft --model_name_or_path a/b --use_peft --lora_r 0", "--format", "json")
    assert [run["files"] for run in json.loads(done.stdout)["runs"]] == [["--launch"]]
