"""A small Llama in plain torch, with the parameter names of Transformers' `LlamaForCausalLM`.

Transformers takes seconds to import; the embedded model needs none of it. A test holds the two to the same logits.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Sizes(NamedTuple):
    """`head` is the width of one attention head, `inner` that of the gated layer; all in entries."""

    vocab: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    inner: int
    theta: float = 10_000.0
    eps: float = 1e-5


class Norm(nn.Module):
    """x / rms(x) * weight, computed in fp32."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., width]."""
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


class Attention(nn.Module):
    """Causal attention with rotary positions and shared key and value heads."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        width, head = sizes.width, sizes.head
        self.q_proj = nn.Linear(width, sizes.heads * head, bias=False)
        self.k_proj = nn.Linear(width, sizes.kv_heads * head, bias=False)
        self.v_proj = nn.Linear(width, sizes.kv_heads * head, bias=False)
        self.o_proj = nn.Linear(sizes.heads * head, width, bias=False)
        self.head = head

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        """x: [rows, tokens, width]; turn: cosine and sine, [tokens, head]."""
        rows, tokens, _ = x.shape
        q, k, v = (
            one(x).view(rows, tokens, -1, self.head).transpose(1, 2) for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        seen = functional.scaled_dot_product_attention(
            _turned(q, turn), _turned(k, turn), v, is_causal=True, enable_gqa=True
        )
        out: Tensor = self.o_proj(seen.transpose(1, 2).reshape(rows, tokens, -1))
        return out


class Gated(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.up_proj = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.down_proj = nn.Linear(sizes.inner, sizes.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: [rows, tokens, width]."""
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Block(nn.Module):
    """Attention and gated layer, each after a norm and added to the stream."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.input_layernorm = Norm(sizes.width, sizes.eps)
        self.self_attn = Attention(sizes)
        self.post_attention_layernorm = Norm(sizes.width, sizes.eps)
        self.mlp = Gated(sizes)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        """x: [rows, tokens, width]."""
        x = x + self.self_attn(self.input_layernorm(x), turn)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Trunk(nn.Module):
    """Everything but the head."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(sizes.vocab, sizes.width)
        self.layers = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.norm = Norm(sizes.width, sizes.eps)


class Llama(nn.Module):
    """The whole model; the head is the embedding matrix."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.model = Trunk(sizes)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: [rows, tokens] of ids -> logits [rows, tokens, vocab]."""
        x = self.model.embed_tokens(tokens)
        turn = _turn(tokens.shape[1], self.sizes, x)
        for block in self.model.layers:
            x = block(x, turn)
        return functional.linear(self.model.norm(x), self.model.embed_tokens.weight)


def _turn(tokens: int, sizes: Sizes, like: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the rotary angles, [tokens, head]."""
    pairs = torch.arange(0, sizes.head, 2, device=like.device).float() / sizes.head
    angles = torch.outer(torch.arange(tokens, device=like.device).float(), sizes.theta**-pairs).repeat(1, 2)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def _turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * turn[0] + torch.cat((-second, first), dim=-1) * turn[1]
