"""Flags that OpenRLHF's PPO trainer refuses beside what others say, by their names of today and of before 0.10.2.

Source: OpenRLHF/OpenRLHF@3c3be623 openrlhf/cli/train_ppo_ray.py (at its end) and pull 980, which mended the examples.
"""

from __future__ import annotations

from loralint.frameworks.refusals import Refusal, among, off, on, refused
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document

_STOPS = "OpenRLHF stops before it loads anything"
_GROUPED = among("rloo", "reinforce_baseline", "group_norm", "dr_grpo")
_SAMPLES = ("rollout.n_samples_per_prompt", "n_samples_per_prompt")


def _single(value: object) -> bool:
    """Hold for one answer to a prompt, which is the default."""
    return value in (None, 0, 1)


_ROWS = (
    *(Refusal(key, _GROUPED, "an answer is compared with others to its prompt, and there is only one",
              tuple((name, _single) for name in _SAMPLES), advice=f"write {samples} 8, say")
      for key, samples in zip(("algo.advantage.estimator", "advantage_estimator"), _SAMPLES, strict=True)),
    *(Refusal(key, on, "prompts are chosen by how their answers differ, and there is only one to each",
              tuple((name, _single) for name in _SAMPLES), advice=f"write {samples} 8, say")
      for key, samples in zip(("algo.dynamic_filtering_enable", "dynamic_filtering"), _SAMPLES, strict=True)),
    *(Refusal(key, on, "vLLM makes the answers of packed rows", ((engines, off),), advice=f"write {engines} 1 or more")
      for key, engines in (("ds.packing_samples", "vllm.num_engines"), ("packing_samples", "vllm_num_engines"))),
)  # fmt: skip


def observe_refusals(document: Document, look: Look) -> list[Observation]:
    """Observe what the PPO trainer refuses; the other trainers have neither an estimator nor rollouts."""
    root = document.root
    if root is None or not any(_said(document, key) for key in ("rollout", "advantage", "n_samples", "actor")):
        return []
    return list(refused(document, look, _ROWS, _STOPS, "pyyaml", "openrlhf"))


def _said(document: Document, part: str) -> bool:
    root = document.root
    return root is not None and any(pair.key.startswith(part) or f".{part}" in pair.key for pair in root.pairs)
