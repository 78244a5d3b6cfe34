"""Files replaced in one step: bytes, mode, links, and all that keeps one from being replaced."""

from __future__ import annotations

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.engine.mend import Mended
from loralint.engine.save import save
from loralint.source import rewrite
from loralint.source.read import read_bytes, read_file
from loralint.source.rewrite import RefusedError, encoded, original, replace


def test_new_bytes_take_the_place_and_the_mode_stays(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\n")
    file.chmod(0o640)
    replace(original(str(file)), b"a: 2\n")
    assert file.read_bytes() == b"a: 2\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.yaml"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_stays(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a")
    os.chown(file, 12345, 23456)
    file.chmod(0o664)
    replace(original(str(file)), b"b")
    assert (file.stat().st_uid, file.stat().st_gid, file.stat().st_mode & 0o777) == (12345, 23456, 0o664)


def test_what_others_write_meanwhile_stays(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\n")
    old = original(str(file))
    file.write_bytes(b"a: 3\n")
    with pytest.raises(RefusedError, match="has changed since it was read"):
        replace(old, b"a: 2\n")
    assert file.read_bytes() == b"a: 3\n"
    assert os.listdir(tmp_path) == ["a.yaml"]


def test_a_link_inside_stays_a_link_and_its_target_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"a")
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    replace(original("link.yaml"), b"b")
    assert (tmp_path / "a.yaml").read_bytes() == b"b"
    assert os.readlink(tmp_path / "link.yaml") == "a.yaml"


def _out(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    (tmp_path / "secret.yaml").write_bytes(b"a")
    os.symlink("../secret.yaml", "x.yaml")


def _folder_out(tmp_path, monkeypatch):
    _out(tmp_path, monkeypatch)
    os.symlink("..", "up")
    os.unlink("x.yaml")
    os.symlink("up/secret.yaml", "x.yaml")


def _linked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_bytes(b"a")
    os.link("x.yaml", "y.yaml")


def _read_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_bytes(b"a")
    (tmp_path / "x.yaml").chmod(0o444)


def _pipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("x.yaml")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_out, "symbolic link that leads out"),
        (_folder_out, "symbolic link that leads out"),
        (_linked, "2 hard links"),
        (_read_only, "read-only"),
        (_pipe, "a pipe, not a regular file"),
        (lambda tmp_path, monkeypatch: monkeypatch.chdir(tmp_path), "no such file"),
    ],
)
def test_refused(make, why, tmp_path, monkeypatch):
    make(tmp_path, monkeypatch)
    with pytest.raises(RefusedError, match=why):
        original("x.yaml")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a")
    old = original(str(file))

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rewrite.os, "fsync", full)
    with pytest.raises(RefusedError, match="no space left"):
        replace(old, b"b")
    assert file.read_bytes() == b"a"
    assert os.listdir(tmp_path) == ["a.yaml"]


ENCODINGS = st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])


@given(st.text(st.characters(exclude_categories=["Cs"])), ENCODINGS, st.booleans())
def test_a_text_goes_back_into_the_bytes_it_came_from(text, encoding, mark):
    data = ("\ufeff" if mark or encoding != "utf-8" else "").encode(encoding) + text.encode(encoding)
    document = read_bytes(data, "a.txt", "text")
    if not document.problems:
        assert encoded(document.text, data) == data
        assert encoded(document.text + "é", data) == data + "é".encode(encoding)


def test_a_character_that_the_encoding_lacks_is_an_error():
    with pytest.raises(ValueError, match="surrogates"):
        encoded("a\ud800", b"a")


def test_a_file_that_is_no_utf_8_is_never_written(tmp_path):
    file = tmp_path / "train.ps1"
    data = "# 训练\npython train.py\n".encode("gbk")
    file.write_bytes(data)
    read = read_file(str(file), "train.ps1").text
    saved = save(Mended({str(file): read}, {str(file): read.replace("train", "b")}, (), (), 0), None)
    assert saved.refused == {str(file): "it is not valid UTF-8"}
    assert file.read_bytes() == data
