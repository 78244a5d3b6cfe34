"""What somebody might try who writes a change and wants it through."""

from __future__ import annotations

import os
import shutil

import pytest

from .conftest import BAD, CONFIG, GOOD, ODD, signers


@pytest.fixture
def attacker(repository):
    repository.as_person("mallory")
    return repository


def _blocked(repository, *rules):
    result = repository.gate()
    assert result.exit_code == 1, result.output
    found = repository.rules()
    assert set(rules) <= {rule for _, rule in found}, found
    return result.output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("loralint.toml", 'ignore = ["ALL"]\n'),
        ("loralint.toml", 'select = ["LL425"]\n'),
        ("loralint.toml", 'exclude = ["configs/**"]\n'),
        ("loralint.toml", '[gate]\ninline-ignores = true\nallowed-signers = "mine"\n'),
        ("loralint.toml", '[tiers]\nLL304 = "B"\n'),
        ("loralint.toml", "this is no TOML"),
        ("configs/loralint.toml", 'ignore = ["ALL"]\n'),
        ("pyproject.toml", '[tool.loralint]\nignore = ["ALL"]\n'),
        (
            "loralint.toml",
            '[[exceptions]]\nrule = "LL304"\npath = "**"\nreason = "x"\nexpires = 2999-01-01\n',
        ),
        ("rules/LL304.yaml", "id: LL304\npreview: true\n"),
        (
            "loralint-baseline.json",
            f'{{"version": 1, "entries": [{{"file": "{CONFIG}", "rule": "LL304", "pointer": "/lora_r", "count": 9}}]}}',
        ),
    ],
)
def test_the_change_edits_its_own_policy(attacker, name, text):
    attacker.write(CONFIG, BAD)
    attacker.write(name, text)
    attacker.commit()
    _blocked(attacker, "LL304")


def test_the_change_edits_the_project_s_own_golden_entries(repository):
    about = "id: X101, name: own-dropout, parameter: adapter.dropout, recommended: 0.05, why: our sweep"
    entry = f"- {{{{{about}, range: [0, {{}}]}}}}\n"
    with repository.base():
        repository.write("loralint.toml", 'golden = ["lint/golden.yaml"]\n')
        repository.write("lint/golden.yaml", entry.format(0.1))
    repository.write(CONFIG, GOOD + "lora_dropout: 0.05\n")
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 0, result.output
    repository.write(CONFIG, GOOD + "lora_dropout: 0.3\n")
    repository.write("lint/golden.yaml", entry.format(0.9))
    repository.commit()
    assert ("A", "X101") in repository.rules()
    assert "loralint approve" in repository.gate().output


def test_a_baseline_of_the_base_does_not_cover_a_worse_value(repository):
    with repository.base():
        repository.write(CONFIG, ODD)
        assert repository.run("baseline", "configs").exit_code == 0
        repository.write("loralint.toml", 'baseline = "loralint-baseline.json"\n')
    repository.write("other.yaml", GOOD)
    repository.commit()
    assert repository.gate().exit_code == 0
    repository.write(CONFIG, ODD.replace("lora_aplha: 32", "lora_aplha: 512"))
    repository.commit()
    _blocked(repository, "LL101")


def test_the_change_adds_itself_to_the_allowed_signers(attacker):
    attacker.write(CONFIG, ODD)
    known = (attacker.folder / ".loralint/allowed_signers").read_text()
    more = signers(attacker.keys, ("x@example.org", "stranger"), ("y@example.org", "mallory2"))
    attacker.write(".loralint/allowed_signers", known + more)
    attacker.commit()
    attacker.approved("stranger", "mallory2")
    assert "0 of 2 people" in _blocked(attacker, "LL101")
    assert ".loralint/allowed_signers changes; this gate goes by the base's" in attacker.gate().output


def test_a_branch_from_before_a_key_was_withdrawn(attacker):
    attacker.write(CONFIG, ODD)
    attacker.commit()
    attacker.approved("ann", "bob")
    assert attacker.gate().exit_code == 0
    attacker.git("checkout", "-q", "main")
    left = [(f"{name}@example.org", name) for name in ("ann", "mallory")]
    attacker.write(".loralint/allowed_signers", signers(attacker.keys, *left))
    attacker.commit("bob has left")
    attacker.git("checkout", "-q", "change")
    assert "1 of 2 people" in _blocked(attacker, "LL101")


@pytest.mark.parametrize("comment", ["ignore[LL304, LL101] fine", "ignore-file[LL304, LL101] fine"])
@pytest.mark.parametrize("text", [BAD, ODD])
def test_the_change_adds_an_ignore(attacker, comment, text):
    where = {BAD: "lora_r: 0", ODD: "lora_aplha: 32"}[text]
    attacker.write(CONFIG, text.replace(where, f"{where}  # loralint: {comment}"))
    attacker.commit()
    _blocked(attacker, {BAD: "LL304", ODD: "LL101"}[text])


def test_settings_may_let_comments_lift_tier_a_but_not_s(repository):
    with repository.base():
        repository.write("loralint.toml", "[gate]\ninline-ignores = true\n")
    repository.write(CONFIG, ODD.replace("lora_aplha: 32", "lora_aplha: 32  # loralint: ignore[LL101] on purpose"))
    repository.commit()
    assert repository.gate().exit_code == 0
    assert repository.gate("--no-inline-ignores").exit_code == 1
    repository.write(CONFIG, BAD.replace("lora_r: 0", "lora_r: 0  # loralint: ignore[LL304] on purpose"))
    repository.commit()
    _blocked(repository, "LL304")


def test_tiers_and_the_lowest_score_are_the_base_s(repository):
    with repository.base():
        repository.write("loralint.toml", 'min-score = 98\n[tiers]\nLL304 = "B"\nLL101 = "S"\n')
    repository.write("loralint.toml", "")
    repository.write(CONFIG, ODD)
    repository.commit()
    assert repository.rules() == [("S", "LL101")]
    repository.write(CONFIG, BAD)
    repository.commit()
    assert repository.rules() == [("B", "LL304")]
    said = repository.gate()
    assert said.exit_code == 1
    assert f"not passed: 1 run scores below 98, the lowest that passes: {CONFIG} 97\n" in said.output
    with repository.base():
        repository.write("loralint.toml", 'min-score = 97\n[tiers]\nLL304 = "B"\n')
    repository.write(CONFIG, BAD)
    repository.commit()
    assert repository.gate().exit_code == 0


def test_a_rename_does_not_make_old_findings_new_nor_hide_new_ones(repository):
    with repository.base():
        repository.write(CONFIG, ODD)
    repository.git("mv", CONFIG, "configs/renamed.yaml")
    repository.commit()
    assert repository.gate().exit_code == 0
    repository.write("configs/renamed.yaml", ODD.replace("lora_r: 16", "lora_r: 0"))
    repository.commit()
    assert ("S", "LL304") in repository.rules()
    assert ("A", "LL101") not in repository.rules()


@pytest.mark.parametrize("name", ["configs/train.yaml.j2", "configs/train.j2", "notes/readme.md", "t", "venv/t.yaml"])
@pytest.mark.parametrize("text", [GOOD, BAD, BAD.replace("lora_r: 0", "lora_r: 0 # " + "x" * 1000)])
def test_a_config_is_renamed_out_of_sight(attacker, name, text):
    attacker.write(name, text)
    (attacker.folder / CONFIG).unlink()
    attacker.commit()
    _blocked(attacker, "LG001")


def test_a_config_becomes_a_template_under_another_name(attacker):
    attacker.write("configs/train.yaml.j2", "{% raw %}\n" + "".join(f"# {n}\n" for n in range(99)) + BAD)
    (attacker.folder / CONFIG).unlink()
    attacker.commit()
    _blocked(attacker, "LG001")


def test_a_config_may_be_deleted_and_others_come(repository):
    (repository.folder / CONFIG).unlink()
    repository.write("configs/other.yaml", GOOD.replace("lora_r: 16", "lora_r: 8") + "seed: 1\n")
    repository.write("readme.md", "# Nothing\n")
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "text",
    [
        BAD + "#" * (2 * 1024 * 1024),
        BAD + "lora: [\n",
        "learning_rate: 0.1\n",
        "",
        "\xff" + BAD,
        BAD.encode() + b"\xff\xfe",
        BAD.replace("base_model", "{{ x }}base_model"),
        "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n" for n in range(9000)) + BAD,
        BAD + "deep: " + "[" * 101 + "]" * 101,
        BAD + "".join(f"k{n}: 1\n" for n in range(30_000)),
    ],
    ids=["padded", "unparsable", "unrecognised", "empty", "odd", "no UTF-8", "template", "bomb", "deep", "dense"],
)
def test_a_config_is_made_unreadable(attacker, text):
    attacker.write(CONFIG, text)
    attacker.commit()
    result = attacker.gate()
    assert result.exit_code == 1, result.output
    assert {tier for tier, _ in attacker.rules()} >= {"S"}


def test_a_config_that_was_beyond_our_limits_before_is_nothing_lost(repository):
    repository.write("configs/deep.yaml", GOOD + "deep: " + "[" * 101 + "]" * 101 + "\n")
    base = repository.commit()
    repository.write("configs/deep.yaml", GOOD + "deep: " + "[" * 102 + "]" * 102 + "\n")
    repository.commit()
    assert ("S", "LG001") not in repository.rules(base=base)


def test_a_config_moves_under_gitignore(attacker):
    attacker.write(".gitignore", "configs/\nhidden/\n")
    attacker.write(CONFIG, BAD)
    attacker.write("hidden/new.yaml", BAD)
    attacker.commit()
    assert attacker.rules().count(("S", "LL304")) == 2


def test_a_folder_pretends_to_be_a_virtual_environment(attacker):
    attacker.write("configs/pyvenv.cfg", "home = /usr/bin\n")
    attacker.write(CONFIG, BAD)
    attacker.commit()
    _blocked(attacker, "LL304")


@pytest.mark.parametrize(
    "names",
    [
        [("ann@example.org,ann@home.example", "ann"), ("mallory@example.org", "mallory")],
        [("ann@example.org", "ann"), ("ann@home.example", "ann"), ("mallory@example.org", "mallory")],
    ],
)
def test_one_person_with_two_addresses(repository, names):
    with repository.base():
        repository.write(".loralint/allowed_signers", signers(repository.keys, *names))
    repository.propose(ODD)
    repository.approve("ann")
    repository.as_person("ann", "ann@home.example")
    repository.approve("ann")
    repository.commit()
    assert "1 of 2 people" in _blocked(repository, "LL101")


def test_one_person_with_two_keys(repository):
    names = [("eve@example.org", "eve"), ("eve@example.org,e@home.example", "bob"), ("mallory@example.org", "mallory")]
    with repository.base():
        repository.write(".loralint/allowed_signers", signers(repository.keys, *names))
    repository.propose(ODD)
    repository.approved("eve", "bob")
    assert "1 of 2 people" in _blocked(repository, "LL101")


def test_patterns_and_authorities_are_no_people(repository):
    lines = signers(repository.keys, ("*@example.org", "eve"), ("bob@example.org cert-authority", "bob"))
    with repository.base():
        repository.write(".loralint/allowed_signers", lines + signers(repository.keys, ("m@example.org", "mallory")))
    repository.propose(ODD)
    repository.approved("eve", "bob")
    assert "0 of 2 people" in _blocked(repository, "LL101")


@pytest.mark.parametrize("signs", [True, False])
def test_a_forged_author(attacker, signs):
    attacker.as_person("bob", key="mallory", signs=signs)
    attacker.write(CONFIG, ODD)
    attacker.commit()
    attacker.approved("mallory", "ann")
    said = _blocked(attacker, "LL101")
    assert ("1 of 2 people" if signs else "2 of 3 people") in said


def test_a_key_that_is_for_commits_only(repository):
    lines = signers(repository.keys, ("ann@example.org", "ann"), ('bob@example.org namespaces="git"', "bob"))
    with repository.base():
        repository.write(".loralint/allowed_signers", lines + signers(repository.keys, ("m@example.org", "mallory")))
    repository.propose(ODD)
    repository.approved("ann", "bob")
    assert "1 of 2 people" in _blocked(repository, "LL101")


def _approved(repository):
    """The change with ODD in it and two people's approval."""
    repository.propose(ODD)
    repository.approved("ann", "bob")
    assert repository.gate().exit_code == 0
    return repository.folder / ".loralint/approvals"


def test_an_approval_is_copied_to_another_value(repository):
    folder = _approved(repository)
    record = next(folder.glob("*.json"))
    record.write_text(record.read_text().replace('"value": "32"', '"value": "64"'))
    repository.write(CONFIG, ODD.replace("lora_aplha: 32", "lora_aplha: 64"))
    repository.commit()
    said = _blocked(repository, "LL101")
    assert "it was changed after it was written: its name is not its SHA-256" in said


def test_a_copied_approval_under_its_right_name_has_no_signatures(repository):
    from loralint.engine.approval import sha256

    folder = _approved(repository)
    record = next(folder.glob("*.json"))
    data = record.read_bytes().replace(b'"value": "32"', b'"value": "64"')
    (folder / f"{sha256(data)}.json").write_bytes(data)
    for one in folder.glob("*.sig"):
        shutil.copy(one, folder / one.name.replace(record.stem, sha256(data)))
    repository.write(CONFIG, ODD.replace("lora_aplha: 32", "lora_aplha: 64"))
    repository.commit()
    assert "0 of 2 people" in _blocked(repository, "LL101")


def test_an_approval_is_for_one_file(repository):
    _approved(repository)
    repository.write("configs/other.yaml", ODD)
    repository.commit()
    assert repository.rules() == [("A", "LL101")]


@pytest.mark.parametrize("removed", [False, True])
def test_an_old_approval_is_replayed(repository, removed):
    folder = _approved(repository)
    old = {one.name: one.read_bytes() for one in folder.iterdir()}
    repository.write(CONFIG, GOOD)
    if removed:
        shutil.rmtree(folder)
    repository.commit("take it back")
    repository.git("branch", "-f", "main")
    for name, data in old.items():
        repository.write(f".loralint/approvals/{name}", data)
    repository.write(CONFIG, ODD)
    repository.commit()
    said = _blocked(repository, "LL101")
    assert ("in the history of the base already" if removed else "nobody has approved it") in said


@pytest.mark.parametrize("form", ["full", "concise", "github", "markdown", "sarif", "junit", "gitlab", "json"])
def test_a_value_that_speaks_to_the_terminal_or_the_forge(attacker, form):
    hostile = "x\n::error file=a::b\n[click](http://evil.example) <img src=x> @team \x1b[2J"
    attacker.write(CONFIG, ODD.replace("32", '"' + hostile.replace("\n", "\\n").replace("\x1b", "\\e") + '"'))
    attacker.commit()
    result = attacker.gate("--format", form)
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    ours = result.output.splitlines() if form != "github" else []
    assert not any(line.lstrip().startswith("::") for line in ours)
    if form == "markdown":
        from markdown_it import MarkdownIt

        page = MarkdownIt("commonmark").render(result.stdout)
        assert "<a " not in page
        assert "<img" not in page


def test_names_of_authors_and_owners_are_quoted_too(repository):
    repository.as_person("\x1b[2J::error::x", key="ann")
    repository.write(CONFIG, BAD)
    repository.commit()
    result = repository.gate()
    assert result.exit_code == 1
    assert "\x1b" not in result.output


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside.yaml", "other.yaml", "gone.yaml", "."])
def test_a_config_becomes_a_link(attacker, tmp_path, target):
    (tmp_path / "outside.yaml").write_text(GOOD)
    attacker.write("configs/other.yaml", GOOD.replace("16", "8"))
    (attacker.folder / CONFIG).unlink()
    os.symlink(target, attacker.folder / CONFIG)
    attacker.commit()
    _blocked(attacker, "LG001")


def test_a_folder_becomes_a_link_out_of_the_checkout(attacker, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/train.yaml").write_text(BAD)
    shutil.rmtree(attacker.folder / "configs")
    os.symlink("../outside", attacker.folder / "configs")
    attacker.commit()
    assert "outside/train.yaml" not in attacker.gate().output


def test_a_config_becomes_a_submodule(attacker):
    other = attacker.folder / CONFIG
    other.unlink()
    attacker.git("init", "-q", str(other))
    commit = attacker.git("-C", str(other), "commit-tree", attacker.git("-C", str(other), "write-tree"), "-m", "x")
    shutil.rmtree(other)
    attacker.git("rm", "-q", "--cached", CONFIG)
    attacker.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{CONFIG}")
    attacker.write(".gitmodules", f'[submodule "x"]\n\tpath = {CONFIG}\n\turl = ext::sh -c "touch ../hit"\n')
    attacker.git("add", ".gitmodules")
    attacker.git(*attacker.signing, "commit", "-q", "-S", "-m", "x")
    _blocked(attacker, "LG001")
    assert not (attacker.folder.parent / "hit").exists()


@pytest.mark.parametrize(
    "reference",
    ["--output=/tmp/x", "-x", "", "main..change", "main...change", "^main", "main:configs", "HEAD@{1}", "a b", "m\nain",
     "gone", "../main", "origin/gone"],
)  # fmt: skip
def test_a_base_that_is_no_name_of_a_commit(repository, reference):
    result = repository.gate(base=reference)
    assert result.exit_code == 2
    assert "not the name of one commit" in result.output or "git fetch origin" in result.output or "-x" in reference


@pytest.mark.parametrize(
    "attributes",
    [
        "* export-ignore\n",
        "configs/** export-ignore filter=hide diff=hide merge=hide\n",
        "*.yaml export-subst working-tree-encoding=UTF-16 text eol=crlf\n",
        "*.yaml binary -diff\n",
    ],
)
def test_attributes_hide_nothing_and_run_nothing(attacker, attributes):
    hit = attacker.folder.parent / "hit"
    for key in ("filter.hide.smudge", "filter.hide.clean", "diff.hide.textconv", "diff.hide.command"):
        attacker.git("config", key, f"touch {hit}; cat")
    attacker.write(CONFIG, BAD)
    if "UTF-16" not in attributes:
        attacker.write(".gitattributes", attributes)
        attacker.commit()
        hit.unlink(missing_ok=True)  # the commit itself ran it
    else:
        attacker.commit()
        attacker.write(".gitattributes", attributes)
        attacker.git("add", ".gitattributes")
        attacker.git(*attacker.signing, "commit", "-q", "-S", "-m", "attributes")
    _blocked(attacker, "LL304")
    assert not hit.exists()


def test_hooks_and_monitors_of_the_checkout_do_not_run(attacker):
    attacker.write(CONFIG, BAD)
    attacker.commit()
    hit = attacker.folder.parent / "hit"
    for name in ("post-checkout", "pre-commit", "reference-transaction"):
        hook = attacker.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {hit}\n")
        hook.chmod(0o755)
    attacker.git("config", "core.fsmonitor", f"touch {hit}; false")
    attacker.git("config", "diff.external", f"touch {hit}; false")
    hit.unlink(missing_ok=True)
    _blocked(attacker, "LL304")
    assert not hit.exists()


def test_a_replacement_of_an_object_is_disregarded(attacker):
    attacker.write(CONFIG, BAD)
    attacker.commit()
    attacker.git("replace", attacker.git("rev-parse", f"HEAD:{CONFIG}"), attacker.git("rev-parse", f"main:{CONFIG}"))
    _blocked(attacker, "LL304")


def test_a_worse_value_elsewhere_under_an_old_finding(repository):
    """The finding's own value stays, and what the rule says of it does not."""
    hot = GOOD.replace("0.0002", "0.003")
    with repository.base():
        repository.write(CONFIG, hot)
    repository.write(CONFIG, hot.replace("lora_alpha: 16", "lora_alpha: 512"))
    repository.commit()
    assert any(tier in "SA" for tier, _ in repository.rules())
