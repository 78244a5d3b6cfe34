"""The shapes of a language model that memory follows from: linear layers and norms of a block, and what is outside.

The catalogue gives a few sizes; which layers a block has follows from its family. A model whose layers do not add up to
its known number of parameters is not told at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from loralint.facts.memory.census import Census
from loralint.facts.need import Missing

if TYPE_CHECKING:
    from loralint.knowledge.models import ModelFacts

TOLERANCE = 0.03  # of the known number of parameters; biases and positions are not counted here


class Linear(NamedTuple):
    """A linear layer of a block. `reads`: attention, output, mlp or down; what reads the same shares its input."""

    name: str
    into: int
    out: int
    reads: str


class Shape(NamedTuple):
    """Sizes in entries. `attended` is the width of all query heads, `kept` that of all key or value heads.

    `gated`: the block multiplies two inner layers. `norms`: norms over the residual stream in a block, `rms` or layer
    norms; `head_norms`: entries that norms of queries and keys see. A model that is no plain stack of such blocks is
    `counted` instead, and `untold` says why nothing but its weights is known.
    """

    hidden: int
    inner: int
    layers: int
    heads: int
    attended: int
    kept: int
    vocabulary: int
    linears: tuple[Linear, ...]
    tied: bool
    gated: bool
    norms: int
    rms: bool
    head_norms: int
    counted: Census | None = None
    untold: str = ""

    @property
    def block(self) -> int:
        """Weights of the linear layers of one block; all of those of the largest where they were counted."""
        return self.counted.block if self.counted else sum(one.into * one.out for one in self.linears)

    @property
    def packable(self) -> int:
        """Weights that quantisation packs: of linear layers and of experts."""
        return self.counted.packed + self.counted.experts if self.counted else self.block * self.layers

    @property
    def outside(self) -> int:
        """Weights that quantisation leaves alone: embedding, head and norms."""
        if self.counted:
            return self.counted.plain
        norms = (self.norms * self.layers + 1) * self.hidden
        return self.vocabulary * self.hidden * (1 if self.tied else 2) + norms

    @property
    def parameters(self) -> int:
        """All weights."""
        return self.packable + self.outside


class Family(NamedTuple):
    """What the blocks of a family are: norms (of them), whether RMS norms, gated, and the width of head norms."""

    norms: int = 2
    rms: bool = True
    gated: bool = True
    head_norms: bool = False


# modeling_*.py of transformers 5.24; a family that is not listed is not told
FAMILIES = {
    **dict.fromkeys(("llama", "mistral", "qwen2", "gemma", "phi3", "granite", "smollm3", "baichuan"), Family()),
    **dict.fromkeys(("internlm2", "internlm3", "seed_oss"), Family()),
    "qwen3": Family(head_norms=True),
    "gemma2": Family(norms=4),
    "gemma3_text": Family(norms=4, head_norms=True),
    "glm4": Family(norms=4),
    "olmo2": Family(head_norms=True),
    "stablelm": Family(rms=False),
    "cohere": Family(norms=1, rms=False),
    "cohere2": Family(norms=1, rms=False),
    "gpt_neox": Family(rms=False, gated=False),
    "starcoder2": Family(rms=False, gated=False),
    "opt": Family(rms=False, gated=False),
}


def shape_of(model: ModelFacts, name: str) -> Shape:
    """The shapes of a model of the catalogue; `name` is what the config calls it. Raises Missing where not known."""
    family = FAMILIES.get(model.family)
    if model.vision:
        raise Missing(f"how many tokens the pictures become that `{model.family}` models see is not in the config")
    if family is None or not model.modules:
        raise Missing(f"how the blocks of `{model.family}` models use memory is not known here")
    sizes = (model.hidden_size, model.intermediate_size, model.num_layers, model.num_heads, model.head_dim)
    more = (model.num_kv_heads, model.vocab_size)
    if None in (*sizes, *more) or model.params is None:
        raise Missing(f"the catalogue does not have all sizes of `{name}`")
    hidden, inner, layers, heads, width = (int(size or 0) for size in sizes)
    kept, vocabulary = int(more[0] or 0) * width, int(more[1] or 0)
    widths = {"hidden": hidden, "inner": inner, "both": 2 * inner, "attended": heads * width, "kept": kept}
    widths["packed"] = heads * width + 2 * kept
    linears = tuple(_linear(one, widths) for one in model.modules)
    shape = Shape(
        hidden, inner, layers, heads, heads * width, kept, vocabulary, linears, model.tied is True, family.gated,
        family.norms, family.rms, heads * width + kept if family.head_norms else 0,
    )  # fmt: skip
    if model.tied is None or abs(shape.parameters / (model.params * 1e9) - 1) > TOLERANCE:
        raise Missing(f"the layers of `{name}` do not add up to its size")
    return shape


# name of the layer -> width in, width out, what it reads
LAYERS = {
    "q_proj": ("hidden", "attended", "attention"),
    **dict.fromkeys(("k_proj", "v_proj"), ("hidden", "kept", "attention")),
    **dict.fromkeys(("qkv_proj", "query_key_value", "wqkv", "W_pack"), ("hidden", "packed", "attention")),
    **dict.fromkeys(("o_proj", "out_proj", "dense", "wo"), ("attended", "hidden", "output")),
    **dict.fromkeys(("gate_proj", "up_proj", "w1", "w3", "dense_h_to_4h", "fc1", "c_fc"), ("hidden", "inner", "mlp")),
    "gate_up_proj": ("hidden", "both", "mlp"),
    **dict.fromkeys(("down_proj", "w2", "dense_4h_to_h", "fc2", "c_proj"), ("inner", "hidden", "down")),
}


def _linear(name: str, widths: Mapping[str, int]) -> Linear:
    if name not in LAYERS:
        raise Missing(f"the shape of `{name}` layers is not known here")
    into, out, reads = LAYERS[name]
    return Linear(name, widths[into], widths[out], reads)
