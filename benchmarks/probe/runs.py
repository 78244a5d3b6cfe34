"""Recorded real runs that a probe is held against: SmolLM2-135M under PEFT's arithmetic, 60 steps of 2x32 tokens."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from loralint.probe.arm import Arm
from loralint.probe.schedule import Schedule

RUNS = Path(__file__).parents[3] / "shared" / "reference" / "probe" / "runs"
_ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_TARGETS = {"all": _ALL, "attn": _ALL[:4], "qv": ("q_proj", "v_proj"), "down": ("down_proj",)}
_STEPS = 60
_SPIKE = 1.0  # nats above the frozen base on the same batch
_WORSE = 0.1  # nats above the base on the evaluation rows, at the end
_LEARNT = 0.02  # nats below it


class Real(NamedTuple):
    """One run and what became of it: learnt, stalled or unstable."""

    name: str
    arm: Arm
    label: str
    schedule: Schedule
    steps: int


def real_runs(name: str) -> list[Real]:
    """The runs of a file beside the checkout; none where it is not there."""
    path = RUNS / f"{name}.jsonl"
    if not path.is_file():
        return []
    return [
        Real(run["id"], _arm(run["cfg"]), label(run), _schedule(run["cfg"]), _STEPS)
        for run in map(json.loads, path.read_text("utf-8").splitlines())
    ]


def label(run: dict[str, Any]) -> str:
    """unstable: blown up, once a nat above the base, or worse than it at the end; learnt: better than it."""
    after = run.get("ev", math.inf) - run["base_ev"]
    if run.get("dead") or max(run["d"]) > _SPIKE or after > _WORSE:
        return "unstable"
    return "learnt" if after < -_LEARNT else "stalled"


def _schedule(config: dict[str, Any]) -> Schedule:
    return Schedule("linear" if config["sched"] == "lin" else "constant_with_warmup", config["warm"] / _STEPS)


def _arm(config: dict[str, Any]) -> Arm:
    return Arm(
        rank=config["r"],
        alpha=config["alpha"],
        targets=_TARGETS[config["tgt"]],
        lr=config["lr"],
        optimizer=config["opt"],
        rslora=config["rs"],
        lr_ratio=config["plus"],
        clip=config["clip"] or math.inf,
        stored="bf16" if config["prec"] == "bf16" else "fp32",
        seed=config["seed"],
    )
