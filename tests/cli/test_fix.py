"""`check --fix`, `--unsafe-fixes`, `--diff`, `audit` and `inspect --fix`, as a user runs them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from .conftest import GOOD

BAD = GOOD + "lora_dropout: -0.1\nlr_schedular: cosine\n"
SAFE = BAD.replace("-0.1", "0")
ALL = SAFE.replace("schedular", "scheduler")


@pytest.fixture
def bad(folder):
    for file in folder.glob("*.yaml"):
        file.unlink()
    (folder / "a.yaml").write_text(BAD)
    return folder


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *arguments],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def repository(bad):
    shutil.rmtree(bad / ".git")
    git(bad, "init", "-q")
    git(bad, "add", "-A")
    git(bad, "commit", "-qm", "first")
    return bad


def test_safe_fixes_are_made_and_what_is_left_is_judged(command, bad):
    done = command("check", "--fix", "--format", "concise", "a.yaml")
    assert (bad / "a.yaml").read_text() == SAFE
    assert done.returncode == 0
    assert [line.split()[2] for line in done.stdout.decode().splitlines()] == ["LL101"]
    assert done.stderr.decode().splitlines() == [
        "fixed a.yaml:8 LL353 dropout-negative: lora_dropout: -0.1 -> lora_dropout: 0",
        "1 fix made; 1 more fix with --unsafe-fixes",
    ]
    again = command("check", "--fix", "a.yaml")
    assert again.stderr.decode().splitlines() == ["0 fixes made; 1 more fix with --unsafe-fixes"]


def test_unsafe_fixes_on_demand(command, bad):
    done = command("check", "--fix", "--unsafe-fixes", "--fail-on", "B", "a.yaml")
    assert (bad / "a.yaml").read_text() == ALL
    assert done.returncode == 0


def test_what_cannot_be_fixed_still_fails(command, bad):
    (bad / "a.yaml").write_text(BAD.replace("lora_r: 16", "lora_r: 0"))
    assert command("check", "--fix", "a.yaml").returncode == 1


def test_diff_writes_nothing_and_fits_patch(command, bad, tmp_path):
    done = command("check", "--diff", "--unsafe-fixes", "a.yaml")
    assert done.returncode == 1
    assert (bad / "a.yaml").read_text() == BAD
    assert not (bad / ".loralint").exists()
    (bad / "fixes.diff").write_bytes(done.stdout)
    git(bad, "init", "-q")
    git(bad, "apply", "-p0", "fixes.diff")
    assert (bad / "a.yaml").read_text() == ALL
    clean = command("check", "--diff", "a.yaml")
    assert (clean.returncode, clean.stdout) == (0, b"")


@pytest.mark.parametrize("text", [BAD.removesuffix("\n"), BAD.replace("\n", "\r\n"), BAD.replace(": lora", ":\tlora")])
def test_a_diff_fits_whatever_the_layout(command, bad, text):
    (bad / "a.yaml").write_bytes(text.encode())
    done = command("check", "--diff", "--unsafe-fixes", "a.yaml")
    (bad / "fixes.diff").write_bytes(done.stdout)
    git(bad, "init", "-q")
    git(bad, "apply", "-p0", "fixes.diff")
    wanted = text.replace("-0.1", "0").replace("schedular", "scheduler")
    assert (bad / "a.yaml").read_bytes().decode() == wanted


def test_standard_input_comes_out_fixed(command, bad):
    done = command("check", "--fix", "--format", "json", "-", stdin=b"\xef\xbb\xbf" + BAD.encode())
    assert done.stdout == b"\xef\xbb\xbf" + SAFE.encode()
    assert b'"LL101"' in done.stderr
    assert not (bad / ".loralint").exists()
    named = command("check", "--fix", "--stdin-filename", "a.yaml", "-", stdin=BAD.encode())
    assert named.stdout == SAFE.encode()
    assert (bad / "a.yaml").read_text() == BAD
    assert command("check", "--diff", "-", stdin=BAD.encode()).returncode == 1
    assert command("check", "--fix", "-", stdin=b"\xff\xfe nonsense").stdout == b"\xff\xfe nonsense"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--unsafe-fixes", "a.yaml"),
        ("--no-audit", "a.yaml"),
        ("--fix", "--diff", "a.yaml"),
        ("--diff", "--output", "json=x", "a.yaml"),
        ("--fix", "-", "a.yaml"),
    ],
)
def test_options_that_would_do_nothing_are_refused(command, bad, arguments):
    assert command("check", *arguments).returncode == 2
    assert (bad / "a.yaml").read_text() == BAD


def test_what_cannot_be_written_is_told_and_left(command, bad):
    (bad / "a.yaml").chmod(0o444)
    done = command("check", "--fix", "a.yaml")
    assert "not fixed a.yaml:8 LL353 dropout-negative: it is read-only" in done.stderr.decode()
    assert (bad / "a.yaml").read_text() == BAD
    assert not (bad / ".loralint").exists()


def test_no_secret_in_a_diff_or_a_record(command, bad):
    token = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    (bad / "a.yaml").write_text(f"hub_token: {token}\nlora_dropout: -0.1 # {token}\n" + GOOD)
    assert token not in command("check", "--diff", "a.yaml").stdout.decode()
    done = command("check", "--fix", "a.yaml")
    assert token not in (done.stdout + done.stderr).decode()
    records = list((bad / ".loralint" / "audit").iterdir())
    assert len(records) == 1
    assert token not in records[0].read_text()
    assert token in (bad / "a.yaml").read_text()


def test_the_audit_trail_from_the_fix_to_the_gate(command, repository):
    assert command("check", "--fix", "a.yaml", GIT_AUTHOR_NAME="Ann", GIT_AUTHOR_EMAIL="ann@x.org").returncode == 0
    (record,) = (repository / ".loralint" / "audit").iterdir()
    assert json.loads(record.read_text())["user"] == "Ann <ann@x.org>"
    shown = command("audit", "show").stdout.decode().splitlines()
    assert shown[0].endswith("  Ann <ann@x.org>  a.yaml:8  LL353 dropout-negative")
    assert shown[1:] == ["  - lora_dropout: -0.1", "  + lora_dropout: 0"]
    assert command("audit", "show", "b.yaml").stdout == b""
    verified = command("audit", "verify", "--base", "HEAD")
    assert (verified.returncode, verified.stdout) == (0, b"1 record in .loralint/audit: whole\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "fixed")
    record.unlink()
    gone = command("audit", "verify", "--base", "HEAD")
    assert gone.returncode == 1
    assert b"it is missing; the base holds it" in gone.stdout
    assert command("audit", "verify", "--base", "HEAD~1").returncode == 0
    alone = command("audit", "verify")
    assert (alone.returncode, alone.stdout.split(b": ")[0]) == (0, b"no records in .loralint/audit")
    assert b"whole" not in alone.stdout
    assert command("audit", "verify", "--base", "nowhere").returncode == 2
    assert command("audit", "verify", "--base", "--output=x").returncode == 2


def test_a_trail_is_found_from_below_and_is_not_linted(command, repository):
    (repository / "sub").mkdir()
    (repository / "a.yaml").rename(repository / "sub" / "a.yaml")
    command("check", "--fix", "sub")
    assert (repository / ".loralint" / "audit").is_dir()
    done = command("check", "--show-skipped", "--format", "json", ".")
    assert [run["files"] for run in json.loads(done.stdout)["runs"]] == [["sub/a.yaml"]]


def test_no_audit_keeps_no_records(command, bad):
    command("check", "--fix", "--no-audit", "a.yaml")
    assert (bad / "a.yaml").read_text() == SAFE
    assert not (bad / ".loralint").exists()


def test_a_folder_with_its_companions(command, bad):
    (bad / "run.sh").write_text(
        "llamafactory-cli train --stage sft --finetuning_type lora --lora_dropout -0.1 "
        "--model_name_or_path Qwen/Qwen2.5-7B --dataset x\n"
    )
    command("check", "--fix", ".")
    assert "--lora_dropout 0 " in (bad / "run.sh").read_text()
    assert (bad / "a.yaml").read_text() == SAFE


def test_inspect_fixes_with_the_same_engine(command, bad):
    before = command("inspect", ".")
    assert b"+lora_dropout: 0" in before.stdout
    assert (bad / "a.yaml").read_text() == BAD
    after = command("inspect", "--fix", ".")
    assert (bad / "a.yaml").read_text() == SAFE
    assert b"\nSafe fixes: none\n" in after.stdout
    assert b"1 fix made" in after.stderr
    assert (bad / ".loralint" / "audit").is_dir()


def test_rules_that_are_not_selected_are_not_fixed_and_still_judge_a_fix(command, bad):
    assert command("check", "--fix", "--select", "LL207", "a.yaml").stderr == b"0 fixes made\n"
    assert (bad / "a.yaml").read_text() == BAD
    text = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\nfinetuning_type: lora\nlora_rank: 0\nbf16: true\n"
    (bad / "b.yaml").write_text(text)
    done = command("check", "--fix", "--unsafe-fixes", "--select", "LL304", "b.yaml")
    assert done.stderr.decode().splitlines() == [
        "not fixed b.yaml:4 LL304 rank-not-positive: it would bring a finding of tier A: LL402 at optim.lr",
        "0 fixes made",
    ]
    assert (bad / "b.yaml").read_text() == text


@pytest.mark.parametrize("link", [".loralint", ".loralint/audit"])
@pytest.mark.parametrize("there", [True, False], ids=["folder", "dangling"])
def test_no_record_goes_through_a_link_and_so_nothing_is_fixed(command, bad, tmp_path_factory, link, there):
    outside = tmp_path_factory.mktemp("outside") / "target"
    if there:
        outside.mkdir()
    (bad / link).parent.mkdir(exist_ok=True)
    (bad / link).symlink_to(outside)
    done = command("check", "--fix", "a.yaml")
    assert done.returncode == 1
    why = "its audit record cannot be written: .loralint/audit is a link that leads elsewhere"
    assert f"not written a.yaml: {why}" in done.stderr.decode()
    assert (bad / "a.yaml").read_text() == BAD
    assert outside.exists() is there
    assert not there or list(outside.iterdir()) == []
