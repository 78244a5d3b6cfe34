"""What a config means for its rows."""

from __future__ import annotations

import os
from typing import NamedTuple

from loralint.data.declared import Declared, declared
from loralint.data.lengths import CUT, POLICIES, Policy
from loralint.data.texts import family_named
from loralint.run.config import Config

_GENERATE = frozenset({"ppo", "grpo", "rloo"})
_LABELLED = frozenset({"cls", "embedding", "reranker", "generative_reranker"})
_TEMPLATED = frozenset({"llamafactory", "mlx-lm"})
_BY_TRL = frozenset({"trl", "alignment-handbook", "unsloth-studio"})


class Plan(NamedTuple):
    """length: tokens of a sequence, None where unknown. policy: what becomes of longer rows, None where unknown.

    masked: whether the prompt is left out of the loss; None where that follows from the layout, or is unknown.
    family: of the chat template, empty where unknown. supervised: prompts and answers are told apart. generates: the
    answers come from the model, as in reinforcement learning, or labels stand in their place. templated: texts get turn
    marks, also those of rows that are no conversations.
    """

    framework: str
    title: str
    declared: Declared
    length: int | None
    policy: Policy | None
    masked: bool | None
    family: str
    supervised: bool
    generates: bool
    templated: bool
    tokenizer: str


def plan(config: Config, file: str, tokenizer: str) -> Plan:
    """The plan for one file of rows."""
    length = config.get("data.sequence_len").value
    learnt = config.get("data.train_on_inputs").value
    template = config.get("data.template").value
    task = config.get("train.task").value
    layout = declared(config, file)
    return Plan(
        config.reader.name,
        config.reader.title,
        layout,
        length if isinstance(length, int) and not isinstance(length, bool) and length > 0 else None,
        _policy(config),
        not learnt if isinstance(learnt, bool) else None,
        family_named(template) if isinstance(template, str) else "",
        task in ("sft", None),
        task in _GENERATE or task in _LABELLED,
        config.reader.name in _TEMPLATED or (config.reader.name == "axolotl" and "alpaca" in layout.by),
        tokenizer or _beside(config),
    )


def _policy(config: Config) -> Policy | None:
    """What the framework does with long rows, as far as the config leaves that at its default."""
    name = config.reader.name
    packed = config.get("data.packing").value not in (False, None)
    if name in _BY_TRL and (packed or _written(config, "truncation_mode")):
        return None
    if name == "axolotl" and _written(config, "excess_length_strategy"):
        return CUT if _written(config, "excess_length_strategy") == "truncate" else None
    if name == "ms-swift" and _written(config, "truncation_strategy") not in ("", "delete"):
        return None
    return POLICIES.get(name)


def _written(config: Config, key: str) -> str:
    root = config.main.document.root
    pair = root.pair(key) if root is not None and root.kind == "mapping" else None
    return pair.value.raw if pair is not None else ""


def _beside(config: Config) -> str:
    """The tokenizer.json of a base model that lies in the folder of the config; "" where there is none."""
    from loralint.source.discover import within

    base = config.get("model.base").value
    folder = os.path.dirname(os.path.abspath(config.main.document.file))
    path = os.path.join(folder, base, "tokenizer.json") if isinstance(base, str) and base else ""
    return path if path and within(path, folder) and os.path.isfile(path) else ""
