"""A base model from the user's own disk: a folder as Transformers saves it, a Hugging Face cache, or a GGUF file.

Nothing is downloaded, no code that comes with a model runs, and no pickle is opened. The head is cut to the tokens of
the text, which is all that the probe asks of it.
"""

from __future__ import annotations

import os
import re
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from loralint.probe.base import Base

_LARGEST = {"cpu": 0.6e9, "cuda": 3e9}  # parameters
_MOST_ROWS = {"cpu": 2, "cuda": 8}
_LENGTH, _ROWS = 32, 288
_FEWEST = 16  # rows; of fewer every batch is the same
_UNASKED = 0.2e9  # parameters of a model that is probed on a CPU without being asked for


class Pruned(nn.Module):
    """A causal language model of Transformers whose head tells only some tokens apart; takes numbers of those."""

    def __init__(self, model: Any, tokens: Tensor) -> None:
        super().__init__()
        self.model = model.base_model  # so that layers are called as in the whole model
        self.tokens = tokens
        head = model.get_output_embeddings()
        self.head = nn.Parameter(head.weight[tokens].detach().clone())
        self.cap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)

    def forward(self, numbers: Tensor) -> Tensor:
        """numbers: [rows, tokens] in the cut vocabulary -> logits [rows, tokens, vocabulary]."""
        stream = self.model(input_ids=self.tokens[numbers], use_cache=False).last_hidden_state
        logits = functional.linear(stream, self.head)
        return torch.tanh(logits / self.cap) * self.cap if self.cap else logits


def local(path: str, device: str, prose: str = "") -> Base:
    """Load a whole small model with its tokenizer. prose: the text to train on, "" for our own.

    Raises ValueError, saying what to give instead.
    """
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError:
        raise ValueError("--probe-model needs transformers: pip install 'loralint[probe]'") from None
    folder, file = _place(path)
    size = _parameters(os.path.join(folder, file) if file else folder)
    if size > _LARGEST[device]:
        least = f"about {size / 1e9:.1f} B parameters, and on this device the probe takes {_LARGEST[device] / 1e9:g} B"
        raise ValueError(f"{path}: {least}; without --probe-model it uses the embedded model")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    options |= {"gguf_file": file} if file else {}
    weights = {} if file else {"use_safetensors": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options, **weights)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ValueError(f"{path}: Transformers cannot load it: {str(error).splitlines()[0]}") from None
    tokens, rows = _text(tokenizer, prose)
    pruned = Pruned(model.eval().to(device), tokens.to(device))
    title = f"{os.path.basename(os.path.normpath(path))} ({sum(one.numel() for one in model.parameters()) / 1e6:.0f} M)"
    return Base(title, pruned, rows.to(device), 1.0, "own", len(tokens), _MOST_ROWS[device])


def in_cache(name: str, device: str) -> bool:
    """Whether a model that a config names lies in the local cache, in a form and size that may be taken unasked."""
    found = _cached(name)
    if not found or not os.path.isfile(os.path.join(found, "config.json")):
        return False
    return 0 < _parameters(found) <= (_UNASKED if device == "cpu" else _LARGEST[device])


def _place(path: str) -> tuple[str, str]:
    """Folder and, of a GGUF file, its name; a model id is looked for in the cache."""
    if os.path.isfile(path):
        if not path.endswith(".gguf"):
            raise ValueError(f"{path}: weights are read from a folder with config.json and safetensors, or a GGUF file")
        return os.path.dirname(path) or ".", os.path.basename(path)
    found = path if os.path.isdir(path) else _cached(path)
    if not found:
        raise ValueError(f"{path}: no such folder or file, and no model of that name in the local cache")
    names = sorted(os.listdir(found))
    if "config.json" in names and any(name.endswith(".safetensors") for name in names):
        return found, ""
    gguf = [name for name in names if name.endswith(".gguf")]
    if len(gguf) == 1:
        return found, gguf[0]
    raise ValueError(f"{path}: neither config.json with safetensors nor a single GGUF file; pickles are not opened")


def _cached(name: str) -> str:
    """The snapshot of a model id in the local Hugging Face cache; "" for none."""
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or ".." in name:  # a config's word is not trusted to be a path
        return ""
    home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    cache = os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")
    folder = os.path.join(cache, "models--" + name.replace("/", "--"))
    head = os.path.join(folder, "refs", "main")
    if not os.path.isfile(head):
        return ""
    with open(head, encoding="utf-8") as file:
        snapshot = os.path.join(folder, "snapshots", file.read(64).strip())
    return snapshot if os.path.isdir(snapshot) else ""


def _parameters(path: str) -> float:
    """About how many the weights hold: two bytes each in safetensors, somewhat over half a byte in a GGUF file."""
    if os.path.isfile(path):
        return os.path.getsize(path) / 0.6
    names = (name for name in os.listdir(path) if name.endswith(".safetensors"))
    return sum(os.path.getsize(os.path.join(path, name)) for name in names) / 2


def _text(tokenizer: Any, prose: str) -> tuple[Tensor, Tensor]:
    """The tokens in use, and rows of their numbers, after BOS where there is one. Raises ValueError for too few."""
    prose = prose or _own_text()
    ids = tokenizer(prose[: 16 * _LENGTH * _ROWS], add_special_tokens=False)["input_ids"]
    begin = [tokenizer.bos_token_id] if tokenizer.bos_token_id is not None else []
    length = _LENGTH - len(begin)
    starts = range(0, min(len(ids) // length, _ROWS) * length, length)
    if len(starts) < _FEWEST:
        raise ValueError(f"{len(ids)} tokens of text are too few: a probe takes {_FEWEST * length} at least")
    rows = torch.tensor([[*begin, *ids[at : at + length]] for at in starts])
    tokens, numbers = torch.unique(rows, return_inverse=True)
    return tokens, numbers


def _own_text() -> str:
    """The help texts of Python itself."""
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))
