"""The audit trail: what a record says, how branches merge, and what shows when somebody tampers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil

import pytest

from loralint.engine.audit import audit, in_order
from loralint.engine.mend import Change
from loralint.engine.trail import FOLDER, Trail, heads, read_trail, root_of
from loralint.source.rewrite import RefusedError

TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"


def change(file, **given):
    parts = {"line": 3, "cell": None, "before": "r: 0", "after": "r: 16", "key": "r", **given}
    return Change(file, "LL304", "rank-not-positive", "S", **parts)


def add(root, name="a.yaml", *, time="2026-01-15T10:00:00+00:00", count=1, old=b"old", new=b"new", **given):
    trail = Trail(str(root), "Ann <ann@example.org>", time)
    return trail.add([change(str(root / name), **given)] * count, old, new)


def faults(root, base=()):
    return audit(str(root), *read_trail(str(root)), base).faults


def test_a_record_says_who_changed_what_and_is_named_by_its_hash(tmp_path):
    (tmp_path / "conf").mkdir()
    (path,) = add(tmp_path, "conf/a.yaml").paths
    data = (tmp_path / path).read_bytes()
    assert os.path.basename(path) == hashlib.sha256(data).hexdigest() + ".json"
    body = json.loads(data)
    assert body.pop("tool").startswith("loralint ")
    assert body == {
        "version": 1, "time": "2026-01-15T10:00:00+00:00", "user": "Ann <ann@example.org>", "file": "conf/a.yaml",
        "line": 3, "cell": None, "rule": "LL304", "name": "rank-not-positive", "tier": "S", "key": "r",
        "before": "r: 0", "after": "r: 16", "parents": [],
        "sha256": {"before": hashlib.sha256(b"old").hexdigest(), "after": hashlib.sha256(b"new").hexdigest()},
    }  # fmt: skip


def test_each_record_names_the_one_before(tmp_path):
    add(tmp_path, count=2)
    add(tmp_path, time="2026-01-16T10:00:00+00:00")
    records, broken = read_trail(str(tmp_path))
    first, second, third = in_order(records)
    assert (first.parents, second.parents, third.parents) == ((), (first.name,), (second.name,))
    assert heads(records.values()) == [third.name]
    assert broken == []


def test_branches_merge_by_adding_files(tmp_path):
    add(tmp_path)
    shutil.copytree(tmp_path, tmp_path.parent / "branch")
    add(tmp_path, time="2026-01-16T10:00:00+00:00")
    add(tmp_path.parent / "branch", time="2026-01-17T10:00:00+00:00")
    shutil.copytree(tmp_path.parent / "branch" / FOLDER, tmp_path / FOLDER, dirs_exist_ok=True)
    assert len(heads(read_trail(str(tmp_path))[0].values())) == 2
    add(tmp_path, time="2026-01-18T10:00:00+00:00")
    records, _ = read_trail(str(tmp_path))
    last = in_order(records)[-1]
    assert len(records) == 4
    assert len(last.parents) == 2
    assert faults(tmp_path) == ()


def test_a_record_that_was_taken_out_is_missed(tmp_path):
    first, second = add(tmp_path, count=2).paths
    base = [os.path.basename(one)[:-5] for one in (first, second)]
    os.unlink(first)
    assert len(faults(tmp_path)) == 1
    assert "comes after it" in faults(tmp_path)[0]
    shutil.rmtree(tmp_path / FOLDER)
    assert faults(tmp_path) == ()
    assert [one.endswith("the base holds it") for one in faults(tmp_path, base)] == [True, True]


def test_the_last_record_is_missed_only_against_a_base(tmp_path):
    first, second = add(tmp_path, count=2).paths
    base = [os.path.basename(one)[:-5] for one in (first, second)]
    os.unlink(second)
    assert faults(tmp_path) == ()
    assert len(faults(tmp_path, base)) == 1


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (lambda path: path.write_text(path.read_text().replace("Ann", "Bob")), "changed after it was written"),
        (lambda path: path.rename(path.with_name("0" * 64 + ".json")), "changed after it was written"),
        (lambda path: path.write_bytes(b""), "changed after it was written"),
        (lambda path: path.write_bytes(b"x" * 200_000), "changed after it was written"),
    ],
)
def test_a_record_that_was_changed_is_told(tmp_path, how, why):
    (path,) = add(tmp_path).paths
    how(tmp_path / path)
    assert any(why in one for one in faults(tmp_path))


@pytest.mark.parametrize("body", [b"[]", b"{}", b"nonsense", b'{"version": 2}', b"[" * 5000])
def test_what_is_no_record_is_told_whatever_its_name(tmp_path, body):
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / f"{hashlib.sha256(body).hexdigest()}.json").write_bytes(body)
    assert "no record of this version" in faults(tmp_path)[0]


def test_what_became_of_the_files(tmp_path):
    add(tmp_path)
    told = lambda: audit(str(tmp_path), *read_trail(str(tmp_path))).notes  # noqa: E731
    assert [one.partition(": ")[2] for one in told()] == ["it is not there any more"]
    (tmp_path / "a.yaml").write_bytes(b"new")
    assert told() == ()
    (tmp_path / "a.yaml").write_bytes(b"old")
    assert "interrupted or taken back" in told()[0]
    (tmp_path / "a.yaml").write_bytes(b"newer")
    assert "edited since" in told()[0]


def test_of_files_elsewhere_nothing_is_read(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "b.yaml").write_bytes(b"old")
    add(tmp_path / "root", "../b.yaml")
    assert audit(str(tmp_path / "root"), *read_trail(str(tmp_path / "root"))) == ((), ())


def test_no_secret_and_no_control_character_gets_in(tmp_path):
    (path,) = add(tmp_path, before=f"token: {TOKEN}\nr: 0", after="r: 16\x1b[31m", key=TOKEN).paths
    body = json.loads((tmp_path / path).read_text())
    assert (body["before"], body["after"], body["key"]) == ("token: ***\nr: 0", "r: 16\\x1b[31m", "***")


def test_where_no_record_can_be_written_none_is_left(tmp_path):
    (tmp_path / ".loralint").write_text("in the way")
    with pytest.raises(RefusedError, match="its audit record cannot be written"):
        add(tmp_path)


def test_taken_back_records_leave_the_trail_as_it_was(tmp_path):
    add(tmp_path)
    before = sorted(os.listdir(tmp_path / FOLDER))
    trail = Trail(str(tmp_path), "Ann", "2026-01-16T10:00:00+00:00")
    trail.take_back(trail.add([change(str(tmp_path / "a.yaml"))] * 2, b"old", b"new"))
    assert sorted(os.listdir(tmp_path / FOLDER)) == before
    trail.add([change(str(tmp_path / "a.yaml"))], b"old", b"new")
    assert faults(tmp_path) == ()


def test_the_trail_lies_at_the_top_of_the_checkout(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert root_of(str(tmp_path / "a" / "b"), str(tmp_path / "a")) == str(tmp_path / "a")
    (tmp_path / ".git").mkdir()
    assert root_of(str(tmp_path / "a" / "b"), str(tmp_path / "a")) == str(tmp_path)
