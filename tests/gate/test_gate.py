from __future__ import annotations

import json
import os

import pytest

from .conftest import BAD, CONFIG, GOOD, ODD


def test_a_change_without_new_findings_passes(repository):
    repository.write("configs/second.yaml", GOOD)
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 0
    assert result.output.endswith("gate: passed: 0 new S, 0 new A without approval\n")


def test_what_stands_at_the_base_is_not_the_changes_fault(repository):
    with repository.base():
        repository.write(CONFIG, BAD)
    repository.write(CONFIG, "# a comment\n" + BAD)
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 0
    assert "1 older at the base" in result.output
    repository.write("configs/second.yaml", BAD)
    repository.commit()
    assert repository.rules() == [("S", "LL304")]


def test_what_the_base_has_mended_since_is_not_the_changes_fault(repository):
    with repository.base():
        repository.write(CONFIG, BAD)
    repository.write("configs/second.yaml", GOOD)
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write(CONFIG, GOOD)
    repository.commit("mend")
    repository.git("checkout", "-q", "change")
    assert repository.gate().exit_code == 0


def test_companions_are_judged_with_their_run(repository):
    """The config stays as it is, and the file that it names changes."""
    both = GOOD + "deepspeed: ds.json\n"
    with repository.base():
        repository.write("configs/train.yaml", both)
        repository.write("configs/ds.json", '{"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}')
    repository.write("configs/ds.json", '{"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}}')
    repository.commit()
    assert repository.gate().exit_code == 1
    assert any(name == "LL510" or tier in "SA" for tier, name in repository.rules())


def test_the_owner_of_the_file_and_of_the_line_are_named(repository):
    with repository.base():
        repository.write(".github/CODEOWNERS", "* @all\n/configs/ @training # who trains\n")
        repository.write("CODEOWNERS", "* @nobody\n")
    repository.as_person("mallory")
    repository.write(CONFIG, BAD)
    repository.commit()
    said = repository.gate().output
    assert "the file belongs to @training; the line is by mallory" in said


def test_a_config_that_is_read_as_another_framework_s_is_told(repository):
    other = "stage: sft\nfinetuning_type: lora\nlora_rank: 8\ndataset: x\ntemplate: y\n"
    repository.write(CONFIG, f"model_name_or_path: a/b\n{other}")
    repository.commit()
    assert f"note: {CONFIG} is read as llamafactory now and was read as axolotl at the base" in repository.gate().output


@pytest.mark.parametrize("word", ["LG001", "lg001", "no-longer-judged"])
def test_the_gate_s_own_findings_are_explained(repository, word):
    result = repository.run("explain", word)
    assert result.exit_code == 0
    assert result.output.startswith(
        "LG001 no-longer-judged, tier S, of `loralint gate`\n\nA config that the base judges"
    )


def test_the_working_tree_is_not_judged(repository):
    repository.write(CONFIG, BAD)
    assert repository.gate().exit_code == 0


def test_a_shallow_clone_is_told_how_to_fetch(repository, tmp_path, monkeypatch):
    repository.git("checkout", "-q", "main")
    repository.write("a.txt", "a")
    repository.commit()
    repository.git("checkout", "-q", "change")
    repository.write("b.txt", "b")
    repository.commit()
    url = f"file://{repository.folder}"
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--depth=1", "--no-single-branch", "--branch=change", url, str(clone))
    monkeypatch.chdir(clone)
    result = repository.gate(base="origin/main")
    assert result.exit_code == 2
    assert "git fetch --unshallow origin" in result.output
    assert "fetch-depth: 0" in result.output


def test_a_partial_clone_is_told_how_to_fetch(repository, tmp_path, monkeypatch):
    repository.write(CONFIG, GOOD + "seed: 1\n")
    repository.commit()
    repository.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{repository.folder}"
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--filter=blob:none", "--branch=change", url, str(clone))
    monkeypatch.chdir(clone)
    result = repository.gate(base="origin/main")
    assert result.exit_code == 2
    assert "git fetch --refetch --no-filter origin" in result.output
    repository.git("-C", str(clone), "fetch", "-q", "--refetch", "--no-filter", "origin")
    assert repository.gate(base="origin/main").exit_code == 0


def test_outside_of_a_checkout(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    result = repository.gate()
    assert result.exit_code == 2
    assert "the gate needs a git checkout" in result.output


def test_unsigned_commits_of_configs_where_the_settings_want_signed_ones(repository):
    with repository.base():
        repository.write("loralint.toml", "[gate]\nrequire-signed = true\n")
    repository.as_person("ann", signs=False)
    repository.write("readme.md", "text")
    repository.commit()
    assert repository.gate().exit_code == 0
    repository.write(CONFIG, GOOD + "seed: 1\n")
    repository.commit()
    assert repository.rules() == [("S", "LG003")]
    repository.git("reset", "-q", "--hard", "HEAD^")
    repository.as_person("ann")
    repository.write(CONFIG, GOOD + "seed: 1\n")
    repository.commit()
    assert repository.gate().exit_code == 0


def test_outputs_in_other_formats(repository, tmp_path):
    repository.write(CONFIG, ODD.replace("lora_r: 16", "lora_r: 0"))
    repository.commit()
    sarif, page = tmp_path / "a.sarif", tmp_path / "a.md"
    result = repository.gate("--format", "json", "--output", f"sarif={sarif}", "--output", f"markdown={page}")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["runs"][0]["verdict"] == "block"
    assert result.stderr == "gate: not passed: 1 new S, 1 new A without approval\n"
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert {one["ruleId"] for one in results} == {"LL304", "LL101"}
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
    assert uris == {CONFIG}
    assert "LL304" in page.read_text()


def test_from_a_folder_of_the_checkout(repository, tmp_path, monkeypatch):
    repository.write(CONFIG, BAD)
    repository.commit()
    monkeypatch.chdir(repository.folder / "configs")
    result = repository.gate("--format", "github", "--output", "sarif=here.sarif")
    assert result.exit_code == 1
    assert f"file={CONFIG}" in result.stdout
    run = json.loads((repository.folder / "configs/here.sarif").read_text())["runs"][0]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == CONFIG


def test_nothing_is_left_in_the_checkout_or_the_temporary_folder(repository, tmp_path, monkeypatch):
    import tempfile

    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = sorted(os.listdir(repository.folder))
    repository.gate()
    assert sorted(os.listdir(repository.folder)) == before
    assert not list(folder.iterdir())


@pytest.mark.parametrize("name", ["Configs é ü.yaml", "a\"b'c.yaml", "-x.yaml", "a\nb.yaml", ":(top)x.yaml"])
def test_names_that_git_quotes(repository, name):
    repository.write(name, BAD)
    repository.commit()
    assert repository.rules() == [("S", "LL304")]


def test_faults_of_the_base_s_own_files_name_them(repository):
    with repository.base():
        repository.write("loralint.toml", 'golden = ["lint/golden.yaml"]\n')
        repository.write("lint/golden.yaml", "- id: X101\n")
    result = repository.gate()
    assert result.exit_code == 2
    assert "Error: --base main: lint/golden.yaml:1: " in result.output


def test_people_without_a_signers_file(repository):
    with repository.base():
        repository.git("rm", "-q", ".loralint/allowed_signers")
    repository.write(CONFIG, ODD)
    repository.commit()
    repository.approved("ann", "bob")
    assert "0 of 3 people" in repository.gate().output
