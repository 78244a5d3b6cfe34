"""`--gpu auto`: what this machine has, by a driver's tool that answers as NVIDIA's does."""

from __future__ import annotations

import stat
import sys

import pytest

from loralint.cli.card import Unseen, here
from loralint.knowledge.hardware import parse_gpus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tool here is a shell script")


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """tool(cards, listed, status) puts an nvidia-smi on the path that answers so."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(cards: str, listed: str = "", status: int = 0) -> None:
        script = (
            f'#!/bin/sh\nif [ "$1" = "-L" ]; then\ncat <<"END"\n{listed}\nEND\nelse\ncat <<"END"\n{cards}\nEND\nfi\n'
        )
        file = tmp_path / "nvidia-smi"
        file.write_text(f"{script}exit {status}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    return put


@pytest.mark.parametrize(
    ("cards", "found"),
    [
        ("Tesla T4, 15360", "T4x1"),
        ("NVIDIA A100-SXM4-80GB, 81920\nNVIDIA A100-SXM4-80GB, 81920", "A100-80GBx2"),
        ("NVIDIA GeForce RTX 3060, 12288", "RTX 3060-12GBx1"),
        ("NVIDIA H100 80GB HBM3, 81559", "H100-80GBx1"),
        ("NVIDIA H200, 143771", "H200x1"),
    ],
)
def test_names_and_numbers(tool, cards, found):
    tool(cards)
    assert here() == found
    assert parse_gpus(found) != (None, None)
    assert parse_gpus(found)[0].memory_gib is not None


def test_the_slices_of_a_card_are_what_a_run_gets(tool):
    listed = (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 1g.5gb      Device  0: (UUID: MIG-1)\n"
        "  MIG 1g.5gb      Device  1: (UUID: MIG-2)"
    )
    tool("NVIDIA A100-SXM4-40GB, 40960", listed)
    assert here() == "A100-40GB-MIG-1g.5gbx2"
    card, count = parse_gpus(here())
    assert (card.memory_gib, count) == (5, 2)


def test_only_visible_ones_count(tool, monkeypatch):
    tool("\n".join(["NVIDIA L4, 23034"] * 4))
    for listed, found in (("0,2", "L4x2"), ("GPU-1f", "L4x1"), ("3, 9", "L4x1")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
        assert here() == found
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(Unseen, match="no card that this shell may use"):
        here()


def test_why_not(tool, tmp_path, monkeypatch):
    tool("NVIDIA L4, 23034\nTesla T4, 15360")
    with pytest.raises(Unseen, match=r"several kinds of cards \(L4, T4\)"):
        here()
    tool("NVIDIA Future 9000, 99999")
    with pytest.raises(Unseen, match="`NVIDIA Future 9000` is not in the list"):
        here()
    tool("", status=9)
    with pytest.raises(Unseen, match="does not answer"):
        here()
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(Unseen, match="no nvidia-smi on this machine"):
        here()


def test_the_option_takes_the_answer(tool, invoke, folder):
    (folder / "run.yaml").write_text(
        "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
        "micro_batch_size: 1\nlearning_rate: 0.0002\nbf16: true\noptimizer: adamw_torch\n"
    )
    tool("Tesla T4, 15360")
    assert "T4 has no bf16" in invoke("check", "run.yaml", "--gpu", "auto").output
    tool("", status=9)
    answer = invoke("check", "run.yaml", "--gpu", "auto")
    assert answer.exit_code == 2
    assert "name the card, as in --gpu T4" in answer.output
