"""A base model from the user's own disk: whole where it is small, else a cut of a few layers that is healed first.

Nothing is downloaded, no code that comes with a model runs, and no pickle is opened. Of the vocabulary only the tokens
of the text are read, which is all that the probe asks of the head.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from loralint.probe.asked import MOST_LAYERS, few_parts, refuse_odd_config
from loralint.probe.base import Base
from loralint.probe.cut import assembled, cut_config, cut_state, kept_layers, refuse_much
from loralint.probe.gguf_header import refuse_odd_head
from loralint.probe.heal import heal
from loralint.probe.memory import no_memory
from loralint.probe.place import place
from loralint.probe.text import Text, text_for
from loralint.probe.weights import Weights, gguf, parsed_once, safetensors

# Parameters without the embedding and the head: of a model that is probed whole; of a cut, all of which is trained.
WHOLE = {"cpu": 0.6e9, "cuda": 3e9}
_CUT = {"cpu": 0.12e9, "cuda": 1e9}
_MOST_ROWS = {"cpu": 2, "cuda": 8}
# What NumPy says of a GGUF file that ends too early, and what safetensors says.
_SHORT = ("cannot reshape array", "file not fully covered")


class Pruned(nn.Module):
    """A causal language model of Transformers that knows only some tokens, by their numbers among those."""

    def __init__(self, model: Any, tokens: Tensor) -> None:
        super().__init__()
        self.tokens = tokens  # the ids that the numbers stand for
        self.model = model.base_model  # so that layers are called as in the whole model
        self.head = model.get_output_embeddings().weight
        self.bias = model.get_output_embeddings().bias
        self.cap = getattr(model.config, "final_logit_softcapping", None)

    def forward(self, numbers: Tensor) -> Tensor:
        """numbers: [rows, tokens] in the cut vocabulary -> logits [rows, tokens, vocabulary]."""
        stream = self.model(input_ids=numbers, use_cache=False).last_hidden_state
        logits = functional.linear(stream, self.head, self.bias)
        return torch.tanh(logits / self.cap) * self.cap if self.cap else logits


class _Found(NamedTuple):
    tokenizer: Any
    config: Any
    weights: Weights


def local(
    path: str, device: str, prose: str = "", tell: Callable[[str], None] = lambda _: None, whole: float | None = None
) -> Base:
    """Load a model with its tokenizer. prose: the text to train on, "" for our own. tell: hears of what takes minutes.

    whole: parameters of the body up to which it is taken whole, if not the usual. Raises ValueError, saying what to
    give instead.
    """
    folder, file = place(path)
    name = os.path.basename(os.path.normpath(path))
    try:
        found = _opened(folder, file)
        most, body = WHOLE[device] if whole is None else whole, found.weights.of_body()
        layers = () if body <= most else kept_layers(found.weights, _CUT[device])
        text = text_for(found.tokenizer, prose, heals=bool(layers))
        refuse_much(found.weights, layers, len(text.tokens), 2 * max(most, WHOLE[device]))
        config = cut_config(deepcopy(found.config), layers, len(text.tokens))
        model = Pruned(assembled(config, cut_state(found.weights, layers, text.tokens)).eval().to(device), text.tokens)
        with torch.no_grad():  # what a kind of model that was never tried here needs besides, it says now
            model(text.rows[:1].to(device))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a broken file makes libraries raise any kind; Rust's is no Exception
        instead = "" if prose else "; without --probe-model the embedded model is used"
        raise ValueError(f"{path}: {_reason(error, folder)}{instead}") from None
    size = sum(prod(shape) for shape in found.weights.shapes.values())
    if not layers:
        return _base(f"{name} ({size / 1e6:.0f} M)", model, text, "own", device)
    heal(model, text.healing.to(device), config.hidden_size, tell)
    title = f"{name} ({size / 1e6:.0f} M), {len(layers)} layers of it, healed"
    return _base(title, model, text, "cut", device)._replace(layers=layers)


def _reason(error: BaseException, folder: str) -> str:
    """The first line of what a library said, with the kind of error or in plainer words where that says little."""
    said = (str(error).splitlines() or [""])[0]
    if no_memory(error):
        return "there is too little memory for it"
    if any(sign in said for sign in _SHORT):
        return f"its weights are cut short or damaged, so copy or download them again ({said})"
    if "backend tokenizer" in said and not os.path.exists(os.path.join(folder, "tokenizer.json")):
        return "its tokenizer.json is missing"
    if isinstance(error, (OSError, ValueError, ImportError)) and said:
        return said
    return f"it cannot be read ({type(error).__name__}: {said})"


def _base(title: str, model: Pruned, text: Text, kind: str, device: str) -> Base:
    return Base(title, model, text.rows.to(device), 1.0, kind, len(text.tokens), _MOST_ROWS[device])


def _opened(folder: str, file: str) -> _Found:
    try:
        from transformers.utils import logging
    except ImportError:
        raise ValueError("it needs transformers: pip install '.[probe]' in a checkout") from None
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with parsed_once() if file else nullcontext():
        return _read(folder, file)


def _read(folder: str, file: str) -> _Found:
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    if file:
        refuse_odd_head(os.path.join(folder, file), MOST_LAYERS)
    else:
        refuse_odd_config(folder)
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    options |= {"gguf_file": file} if file else {}
    tokenizer = AutoTokenizer.from_pretrained(folder, **options)
    config = AutoConfig.from_pretrained(folder, **options)
    layers = getattr(config.get_text_config(), "num_hidden_layers", 1)
    if not 0 < layers <= MOST_LAYERS:  # each is made before any tensor is read
        raise ValueError(f"its config names {layers} layers")
    if not file:
        return _Found(tokenizer, config, safetensors(folder))
    with torch.device("meta"), few_parts():
        names = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    return _Found(tokenizer, config, gguf(os.path.join(folder, file), names))
