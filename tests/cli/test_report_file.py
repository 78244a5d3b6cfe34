"""The HTML report as a user asks for it, and the one that a probe leaves."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.fixture
def html():
    pytest.importorskip("jinja2")


@pytest.mark.usefixtures("html")
def test_it_is_written_beside_what_is_printed(invoke, folder):
    result = invoke("check", "block.yaml", "--output", "html=out.html", "--format", "concise")
    assert result.exit_code == 1
    assert result.stdout.startswith("block.yaml:3:")
    written = (folder / "out.html").read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>\n")
    assert written.endswith("</html>\n")
    assert "Effective settings" in written
    assert "Against the golden list" in written


@pytest.mark.usefixtures("html")
def test_it_is_printed_too(invoke):
    result = invoke("check", "good.yaml", "--format", "html", "--gpu", "T4")
    assert result.exit_code == 0
    assert "Memory of one GPU" in result.stdout


@pytest.mark.parametrize("arguments", [["--format", "html"], ["--output", "html=out.html"]])
def test_without_jinja2_it_says_what_to_install(invoke, folder, monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "jinja2", None)  # as where it is not installed
    result = invoke("check", "good.yaml", *arguments)
    assert result.exit_code == 2
    assert "an HTML report needs jinja2: pip install '.[report]' in a checkout" in result.output
    assert not (folder / "out.html").exists()


def test_no_report_speaks_of_a_probe(invoke):
    result = invoke("check", "good.yaml", "--no-report")
    assert result.exit_code == 2
    assert "--no-report needs --probe" in result.output


@pytest.fixture
def probed(invoke):
    for name in ("torch", "safetensors", "jinja2"):
        pytest.importorskip(name)

    def run(*arguments: str):
        return invoke("check", "good.yaml", "--isolated", "--probe", "--probe-steps", "4", *arguments)

    return run


@pytest.mark.torch
def test_a_probe_leaves_a_report_and_says_where(probed, folder):
    result = probed("--format", "json")
    written = folder / "loralint-report.html"
    assert f"report: {written}\n" in result.stderr
    assert "Micro-training" in written.read_text(encoding="utf-8")
    written.write_text(written.read_text(encoding="utf-8").replace("Micro-training", "older"), encoding="utf-8")
    probed()
    assert "Micro-training" in written.read_text(encoding="utf-8")  # a report of ours is replaced


@pytest.mark.torch
def test_a_probe_leaves_none_that_is_not_wanted(probed, folder):
    assert "report:" not in probed("--no-report").stderr
    probed("--output", "html=named.html")
    assert [one.name for one in folder.glob("*.html")] == ["named.html"]


@pytest.mark.torch
def test_a_probe_replaces_no_file_of_somebody_else(probed, folder):
    file = folder / "loralint-report.html"
    file.write_text("mine", encoding="utf-8")
    result = probed()
    assert file.read_text(encoding="utf-8") == "mine"
    assert "no HTML report: loralint-report.html is another file; --output html=FILE names a place" in result.stderr
    file.unlink()
    file.symlink_to(folder / "elsewhere.html")
    probed()
    assert not (folder / "elsewhere.html").exists()


@pytest.mark.torch
def test_a_pipe_in_the_place_of_a_report_is_never_opened(probed, folder):
    os.mkfifo(folder / "loralint-report.html")
    assert "loralint-report.html is another file" in probed().stderr


def test_half_a_page_is_not_left_where_the_disk_is_full(folder, capsys):
    resource = pytest.importorskip("resource")
    from loralint.cli.report_file import DEFAULT, _write

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        _write("x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "no HTML report: loralint-report.html: " in capsys.readouterr().err
    assert not (folder / DEFAULT).exists()


def test_a_closed_standard_output_is_no_fault_of_ours(folder):
    line = f"exec {sys.executable} -m loralint check good.yaml --isolated >&- 2>&-"
    assert subprocess.run(["sh", "-c", line], cwd=folder, check=False, timeout=100).returncode == 0
