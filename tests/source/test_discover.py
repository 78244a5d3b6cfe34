from __future__ import annotations

import os
import time

import pytest

from loralint.source.discover import OUTSIDE, discover, within
from loralint.source.read import read_file
from loralint.source.walk import SUFFIXES


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    for name in (
        *("b.yaml", "a.yml", "conf/x.json", "conf/deep/y.toml", "conf/notes.txt", "conf/Z.YAML"),
        *(
            ".git/config.yaml",
            "node_modules/p.json",
            "venv/pyvenv.cfg",
            "venv/v.yaml",
            "env2/pyvenv.cfg",
            "env2/v.yaml",
        ),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a: 1\n")
    return root


def shown(paths, root, **options):
    return [(one.shown, one.skipped) for one in discover(paths, root=str(root), **options)]


def test_folders_are_walked_in_order(project):
    assert set(SUFFIXES) > {".yaml", ".yml", ".json", ".toml", ".py", ".ipynb", ".sh", "makefile"}
    expected = ["a.yml", "b.yaml", "conf/Z.YAML", "conf/deep/y.toml", "conf/x.json"]
    assert shown(["."], project) == [(name, "") for name in expected]
    assert shown(["conf"], project) == [(name, "") for name in expected[2:]]
    for one in discover(["."], root=str(project)):
        assert os.path.samefile(one.path, project / one.shown)


def test_the_working_folder_is_the_root(project, monkeypatch):
    monkeypatch.chdir(project / "conf")
    assert [one.shown for one in discover(["deep"])] == ["deep/y.toml"]


def test_named_files_are_always_taken_and_only_once(project):
    (project / ".gitignore").write_text("conf/\n")
    given = ["conf/notes.txt", "conf/x.json", str(project / "b.yaml"), "."]
    assert [name for name, _ in shown(given, project)] == [
        "conf/notes.txt",
        "conf/x.json",
        str(project / "b.yaml"),
        "a.yml",
    ]


def test_a_missing_path_is_reported(project):
    [one] = discover(["none.yaml"], root=str(project))
    assert (one.shown, one.skipped, one.missing) == ("none.yaml", "no such file or folder", True)


def test_nested_gitignores(project):
    (project / ".gitignore").write_text("*.json\n/b.yaml\n!conf/deep/\n[\n!\n")
    (project / "conf/.gitignore").write_text("!x.json\ndeep/*.toml\n")
    assert shown(["."], project) == [("a.yml", ""), ("conf/Z.YAML", ""), ("conf/x.json", "")]
    assert shown(["conf/deep"], project) == []


def test_exclude_wins_over_gitignore(project):
    (project / "conf/.gitignore").write_text("!x.json\n")
    assert shown(["conf"], project, exclude=["*.json", "deep/"]) == [("conf/Z.YAML", "")]
    assert shown(["conf/x.json"], project, exclude=["*.json"]) == [("conf/x.json", "")]


def test_links_stay_inside(project, tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("token: x\n")
    (tmp_path / "elsewhere").mkdir()
    (project / "conf/out.yaml").symlink_to(secret)
    (project / "conf/far").symlink_to(tmp_path / "elsewhere")
    (project / "conf/in.yaml").symlink_to(project / "b.yaml")
    (project / "conf/same").symlink_to("deep")
    (project / "conf/broken.yaml").symlink_to("nowhere")
    assert shown(["conf"], project) == [
        ("conf/Z.YAML", ""),
        ("conf/broken.yaml", ""),
        ("conf/deep/y.toml", ""),
        ("conf/far", OUTSIDE),
        ("conf/in.yaml", ""),
        ("conf/out.yaml", OUTSIDE),
        ("conf/x.json", ""),
    ]
    assert shown(["conf/out.yaml", "conf/far"], project) == [("conf/out.yaml", OUTSIDE), ("conf/far", OUTSIDE)]
    assert read_file(str(project / "conf/broken.yaml"), "x").problems[0].kind == "unreadable"


def test_a_path_given_as_outside_is_its_own_root(project, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/o.yaml").write_text("")
    assert shown(["../other", "../other/o.yaml"], project) == [("../other/o.yaml", "")]


def test_circles_of_links_end(project):
    (project / "conf/deep/up").symlink_to(project)
    (project / "conf/deep/self").symlink_to(".")
    names = [name for name, _ in shown(["."], project)]
    assert names == ["a.yml", "b.yaml", "conf/Z.YAML", "conf/deep/y.toml", "conf/x.json"]


def test_a_wide_web_of_links_is_walked_once(tmp_path):
    for number in range(12):
        (tmp_path / f"d{number}").mkdir()
        for other in range(12):
            (tmp_path / f"d{number}/l{other}").symlink_to(tmp_path / f"d{other}")
    (tmp_path / "d0/a.yaml").write_text("")
    started = time.process_time()
    assert [one.shown for one in discover(["."], root=str(tmp_path))] == ["d0/a.yaml"]
    assert time.process_time() - started < 2


def test_a_deep_tree_ends(tmp_path):
    folder = tmp_path
    for _ in range(130):
        folder = folder / "d"
        folder.mkdir()
    (folder / "a.yaml").write_text("")
    [one] = discover(["."], root=str(tmp_path))
    assert one.skipped == "nested more than 100 folders deep"


def test_a_link_to_a_folder_beside_is_followed(project):
    (project / "conf/deep/up").symlink_to("../../other")
    (project / "other").mkdir()
    (project / "other/o.yaml").write_text("")
    assert shown(["conf/deep"], project) == [("conf/deep/up/o.yaml", ""), ("conf/deep/y.toml", "")]


def test_hostile_patterns_do_not_hang(tmp_path):
    (tmp_path / ".gitignore").write_text(("*a" * 60 + "b\n") * 100 + "**/a/" * 40 + "b\nskipped.yaml\n")
    for name in ("a" * 240 + ".yaml", "skipped.yaml"):
        (tmp_path / name).write_text("")
    started = time.process_time()
    assert [one.shown for one in discover(["."], root=str(tmp_path))] == ["a" * 240 + ".yaml"]
    assert time.process_time() - started < 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_a_folder_that_cannot_be_listed(project):
    (project / "conf").chmod(0)
    try:
        assert ("conf", "cannot be listed: permission denied") in shown(["."], project)
    finally:
        (project / "conf").chmod(0o755)


def test_within(tmp_path):
    (tmp_path / "ab").mkdir()
    (tmp_path / "a").mkdir()
    assert within(str(tmp_path / "a"), str(tmp_path / "a"))
    assert within(str(tmp_path / "a/x"), str(tmp_path / "a"))
    assert not within(str(tmp_path / "ab"), str(tmp_path / "a"))
    assert not within(str(tmp_path / "a/../ab"), str(tmp_path / "a"))
    assert within("/etc", "/")
