"""A real model under PEFT and a real optimizer: what a verdict is held against."""

from __future__ import annotations

import ast
import importlib.util
import math
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from draws import TEXTS, Draw
from prose import documents
from torch import Tensor, nn
from torch.nn import functional

from loralint.probe.arm import Arm
from loralint.probe.base import Base, embedded
from loralint.probe.loss import token_loss
from loralint.probe.schedule import factor

_LENGTH, _HELD, _ROWS = 32, 16, 1216
_HOPELESS, _LASTING = 2.0, 4  # nats above the base for so many steps: one nat alone makes a run unstable
_AT_ONCE = 64  # rows of the frozen base


class Real:
    """A model loaded once in fp32 and once in bf16, its vocabulary cut to the tokens of the texts.

    path: of a folder; "embedded" for the probe's own model on its held-out text, with alpha times its gain as the probe
    has it: no other model and no other text, but 60 steps and more of a real schedule.
    """

    def __init__(self, path: str) -> None:
        self.known: dict[tuple[Any, ...], float] = {}
        self.gain = 1.0
        if path == "embedded":
            self._embed()
        else:
            self._load(path)

    def _embed(self) -> None:
        base = embedded()
        self.rows, self.gain = dict.fromkeys(TEXTS, base.rows), base.gain
        self.models = {dtype: llama_of(base).to(dtype) for dtype in (torch.float32, torch.bfloat16)}

    def _load(self, path: str) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        names = [one.name for one in Path(path).glob("*.gguf")]
        gguf = {"gguf_file": names[0]} if names else {}
        tokenizer = AutoTokenizer.from_pretrained(path, **gguf)
        whole = {name: _rows(tokenizer, name) for name in TEXTS}
        tokens, numbers = torch.unique(torch.stack(list(whole.values())), return_inverse=True)
        self.rows = dict(zip(TEXTS, numbers, strict=True))
        self.models = {}
        for dtype in (torch.float32, torch.bfloat16):
            model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, **gguf)
            self.models[dtype] = _cut(model, tokens).to(dtype)

    def run(self, draw: Draw) -> dict[str, Any]:
        """Train; d: loss less the frozen base's on the same rows, ev and base_ev: on held-out rows with and without."""
        arm, steps = draw.plan.arm, int(draw.plan.steps or 0)
        torch.manual_seed(arm.seed)
        order = torch.randperm(len(self.rows[draw.text]), generator=torch.Generator().manual_seed(arm.seed))
        held, mine = order[:_HELD], order[_HELD:]
        model = self._adapted(arm, draw.precision)
        groups, optimizer = _optimizer(arm, model)
        used = [mine[at % len(mine)] for at in range(steps * draw.batch)]
        self._ask(model, draw, {int(row) for row in [*used, *held]})
        seen: dict[str, Any] = {"d": [], "base_ev": self._base(draw, held)}
        for step in range(steps):
            at = mine[torch.arange(step * draw.batch, (step + 1) * draw.batch) % len(mine)]
            rate = arm.lr * factor(draw.plan.schedule, (step + 0.5) / steps)
            for group, times in zip(optimizer.param_groups, (1.0, arm.lr_ratio), strict=True):
                group["lr"] = rate * times
            rows = self.rows[draw.text][at]
            loss = token_loss(model(input_ids=rows).logits, rows)
            loss.sum().backward()
            if math.isfinite(arm.clip):
                torch.nn.utils.clip_grad_norm_(groups, arm.clip)
            optimizer.step()
            optimizer.zero_grad()
            seen["d"].append(round(loss.item() - self._base(draw, at), 4))
            if not math.isfinite(loss.item()) or _hopeless(seen["d"]):
                seen["dead"] = "nonfinite" if not math.isfinite(loss.item()) else "blowup"
                break
        else:
            seen["ev"] = _losses(model, self.rows[draw.text][held]).mean().item()
        model.unload()
        return seen

    def _adapted(self, arm: Arm, precision: str) -> Any:
        from peft import LoraConfig, get_peft_model

        config = LoraConfig(
            r=arm.rank,
            lora_alpha=arm.alpha * self.gain,
            target_modules=list(arm.targets),
            lora_dropout=arm.dropout,
            use_rslora=arm.rslora,
            use_dora=arm.dora,
        )
        base = self.models[torch.float32 if precision == "fp32" else torch.bfloat16]
        return get_peft_model(base, config, autocast_adapter_dtype=precision != "bf16").train()

    def _ask(self, model: Any, draw: Draw, rows: set[int]) -> None:
        """The frozen base's loss of rows; each is asked once for each format."""
        key = draw.precision == "fp32", draw.text
        missing = [row for row in sorted(rows) if (*key, row) not in self.known]
        with model.disable_adapter():
            for at in range(0, len(missing), _AT_ONCE):
                some = missing[at : at + _AT_ONCE]
                found = _losses(model, self.rows[draw.text][some]).tolist()
                self.known.update(zip(((*key, row) for row in some), found, strict=True))

    def _base(self, draw: Draw, at: Tensor) -> float:
        return sum(self.known[draw.precision == "fp32", draw.text, row] for row in at.tolist()) / len(at)


def llama_of(base: Base) -> Any:
    """The embedded model as one of Transformers."""
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = base.model.sizes
    config = LlamaConfig(
        hidden_size=sizes.width,
        intermediate_size=sizes.inner,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.kv_heads,
        head_dim=sizes.head,
        vocab_size=sizes.vocab,
        rms_norm_eps=sizes.eps,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config)
    model.load_state_dict(base.model.state_dict(), strict=False)
    return model


@torch.no_grad()
def _losses(model: Any, rows: Tensor) -> Tensor:
    """[rows]: of each the mean over its tokens, without dropout."""
    model.eval()
    logits = model(input_ids=rows).logits[:, :-1].float()
    model.train()
    each = functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none")
    return each.view(len(rows), -1).mean(1)


def _hopeless(seen: list[float]) -> bool:
    return len(seen) > _LASTING and min(seen[-_LASTING:]) > _HOPELESS


class Lion(torch.optim.Optimizer):
    """As published (arXiv:2302.06675, algorithm 2)."""

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for one in group["params"]:
                kept = self.state[one].setdefault("kept", torch.zeros_like(one))
                update = torch.sign(0.9 * kept + 0.1 * one.grad) + group["weight_decay"] * one
                one.sub_(group["lr"] * update)
                kept.mul_(0.99).add_(one.grad, alpha=0.01)


def _optimizer(arm: Arm, model: Any) -> tuple[list[Any], Any]:
    """Its parameters and the optimizer, B in the second group as with PEFT's LoRA+."""
    named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
    fast = [one for name, one in named if "lora_B" in name or one.ndim == 1]
    slow = [one for name, one in named if not ("lora_B" in name or one.ndim == 1)]
    groups: list[dict[str, Any]] = [{"params": slow}, {"params": fast}]
    made: Any
    if arm.optimizer == "adamw":
        made = torch.optim.AdamW(groups, lr=arm.lr, weight_decay=arm.weight_decay)
    elif arm.optimizer == "sgd":
        made = torch.optim.SGD(groups, lr=arm.lr, momentum=arm.momentum, weight_decay=arm.weight_decay)
    elif arm.optimizer == "lion":
        made = Lion(groups, {"lr": arm.lr, "weight_decay": arm.weight_decay})
    else:
        from transformers.optimization import Adafactor

        made = Adafactor(groups, lr=arm.lr, scale_parameter=False, relative_step=False, weight_decay=arm.weight_decay)
    return [one for _, one in named], made


def _cut(model: Any, tokens: Tensor) -> Any:
    """The same model with a vocabulary of these tokens only; nothing but two matrices changes."""
    for get in (model.get_input_embeddings, model.get_output_embeddings):
        layer = get()
        if layer.weight.shape[0] != len(tokens):
            layer.weight = nn.Parameter(layer.weight[tokens].detach().clone())
    model.get_input_embeddings().padding_idx = None
    model.get_input_embeddings().num_embeddings = model.config.get_text_config().vocab_size = len(tokens)
    if model.config.get_text_config().tie_word_embeddings:
        model.get_output_embeddings().weight = model.get_input_embeddings().weight
    return model


def _rows(tokenizer: Any, name: str) -> Tensor:
    """[_ROWS, _LENGTH] token ids of a text, after BOS where the model has one that it wants."""
    begin = [tokenizer.bos_token_id] if tokenizer("a")["input_ids"][0] == tokenizer.bos_token_id else []
    length = _LENGTH - len(begin)
    ids: list[int] = []
    for one in _text(name):
        ids += tokenizer(one[:20_000], add_special_tokens=False)["input_ids"]
        if len(ids) >= length * _ROWS:
            break
    return torch.tensor([[*begin, *ids[at : at + length]] for at in range(0, length * _ROWS, length)])


def _text(name: str) -> Iterator[str]:
    """prose: documentation of Python's standard library that the embedded model never saw; code: its source; torch:
    docstrings of PyTorch.
    """
    if name == "prose":
        yield from documents()[1]
    elif name == "code":
        yield from (one.read_text("utf-8") for one in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[::3])
    else:
        root = Path(importlib.util.find_spec("torch").origin or "").parent  # type: ignore[union-attr]
        for one in sorted(root.glob("nn/**/*.py")):
            tree = ast.parse(one.read_text("utf-8"))
            nodes = (ast.ClassDef, ast.FunctionDef)
            found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, nodes)]
            yield "\n\n".join(text for text in found if len(text) > 100)
