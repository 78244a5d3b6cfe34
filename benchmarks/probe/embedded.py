"""Train the model that `--probe` brings along: `python benchmarks/probe/embedded.py --work FOLDER`.

Seeded and resumable (a checkpoint in FOLDER every 100 steps); about ten minutes of one CPU core. Writes the weights,
held-out token ids and a data card to `loralint/_data/`. The same Python, torch and processor give the same weights.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from pathlib import Path

import torch
from prose import documents
from safetensors.torch import save_file
from torch import Tensor

from loralint.probe.arm import Arm
from loralint.probe.llama import Llama, Sizes
from loralint.probe.loss import token_loss
from loralint.probe.modules import LINEAR
from loralint.probe.stack import Stack

OUT = Path(__file__).parents[2] / "loralint" / "_data"
SIZES = Sizes(vocab=2048, width=192, layers=8, heads=6, kv_heads=2, head=32, inner=512)
SEED, ROWS, LENGTH, PEAK, WARM = 1, 16, 64, 4e-3, 60
HELD_OUT = 9216  # token ids that go into the package, 288 rows of 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2000)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    text = tokens(given.work)
    model, spent = trained(text["train"], text["held"], given.work, given.steps)
    package(model, text, given.steps, spent)


def tokens(work: Path) -> dict[str, Tensor]:
    """Token ids of the two parts, by a BPE of 2,048 pieces that is learnt from the first."""
    path = work / "text.pt"
    if path.exists():
        return torch.load(path)
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    train, held = documents()
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        train,
        trainers.BpeTrainer(
            vocab_size=SIZES.vocab, special_tokens=["<s>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    found = {
        name: torch.tensor([token for one in part for token in (0, *bpe.encode(one).ids)])
        for name, part in (("train", train), ("held", held))
    }
    torch.save(found, path)
    print({name: len(ids) for name, ids in found.items()}, "characters", sum(map(len, train)), flush=True)
    return found


def trained(train: Tensor, held: Tensor, work: Path, steps: int) -> tuple[Llama, float]:
    """The model after `steps` steps and the CPU seconds they took; goes on from the last checkpoint."""
    torch.manual_seed(SEED)
    model = Llama(SIZES)
    initialise(model)
    matrices = [one for one in model.parameters() if one.ndim > 1]
    gains = [one for one in model.parameters() if one.ndim == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": gains, "weight_decay": 0.0}], lr=PEAK, betas=(0.9, 0.95)
    )
    generator = torch.Generator().manual_seed(SEED)
    path, first, spent = work / "checkpoint.pt", 0, 0.0
    if path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        generator.set_state(saved["generator"])
        first, spent = saved["step"], saved["spent"]
    start, recent = time.process_time(), []
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = PEAK * min(1, (step + 1) / WARM) * min(1, max(0.03, (1 - step / steps) / 0.4))
        begins = torch.randint(0, len(train) - LENGTH - 1, (ROWS,), generator=generator)
        batch = torch.stack([train[at : at + LENGTH] for at in begins.tolist()])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = token_loss(model(batch), batch).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent.append(loss.item())
        if (step + 1) % 100 == 0:
            now = spent + time.process_time() - start
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1, "spent": now}
            torch.save({**state, "generator": generator.get_state()}, path)
            said = {"step": step + 1, "train": round(sum(recent) / len(recent), 3), "cpu_s": round(now)}
            print(json.dumps({**said, "held_out": round(held_out(model, held), 3)}), flush=True)
            recent = []
    return model, spent + time.process_time() - start


def initialise(model: Llama) -> None:
    """Normal, 0.02 at width 576 as SmolLM2 has it; what writes to the stream is divided by sqrt(2 * layers)."""
    scale = 0.02 * math.sqrt(576 / SIZES.width)
    for name, one in model.named_parameters():
        if one.ndim > 1:
            down = math.sqrt(2 * SIZES.layers) if name.endswith(("o_proj.weight", "down_proj.weight")) else 1
            torch.nn.init.normal_(one, std=0.02 if "embed" in name else scale / down)


@torch.no_grad()
def held_out(model: Llama, held: Tensor) -> float:
    """Mean loss in nats on 60 rows of the held-out text."""
    rows = torch.stack([held[at * 1000 : at * 1000 + LENGTH] for at in range(60)])
    return token_loss(model(rows), rows).mean().item()


def package(model: Llama, text: dict[str, Tensor], steps: int, spent: float) -> None:
    """Weights in bf16 with the held-out ids beside them, and the card that says where they come from."""
    rows = text["held"][: len(text["held"]) // 32 * 32].view(-1, 32)
    chosen = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(SEED))[: HELD_OUT // 32]]
    tensors = {name: one.detach().to(torch.bfloat16).contiguous() for name, one in model.state_dict().items()}
    save_file({**tensors, "held_out": chosen.to(torch.int16)}, OUT / "probe.safetensors")
    card = {
        "sizes": SIZES._asdict(),
        "parameters": sum(one.numel() for one in model.parameters()),
        "seed": SEED,
        "steps": steps,
        "tokens": steps * ROWS * LENGTH,
        "train_tokens": len(text["train"]),
        "held_out_loss": round(held_out(model, text["held"]), 3),
        "cpu_seconds": round(spent),
        "gain": round(gain(model, chosen), 2),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "text": "docstrings, comments and help topics of Python's standard library, files with a notice of their own "
        "left out",
        "licence": "Copyright Python Software Foundation; PSF License Agreement version 2, "
        "https://docs.python.org/3/license.html",
    }
    (OUT / "probe_card.json").write_text(json.dumps(card, indent=1) + "\n", "utf-8")
    print(card)


def gain(model: Llama, rows: Tensor) -> float:
    """The factor on alpha that brings this model's first gradients to those of a real one.

    SmolLM2-135M's LoRA-B gradient at the start, all linear layers, per s*sqrt(r), is 0.1556 (median over batches of
    2x32 tokens); a small model's is several times smaller, which shifts where clipped and unclipped SGD break.
    """
    rank, stack, sizes = 16, Stack(model, [Arm(16, 16, LINEAR)]), []
    for batch in rows[:24].view(12, 2, -1):
        token_loss(stack(batch), batch).sum().backward()
        assert stack.weights.grad is not None
        sizes.append(stack.weights.grad.norm().item() / math.sqrt(rank))
        stack.weights.grad = None
    stack.close()
    return 0.1556 / torch.tensor(sizes).median().item()


if __name__ == "__main__":
    main()
