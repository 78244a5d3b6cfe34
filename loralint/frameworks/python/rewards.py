"""Reward functions that TRL cannot call or that give one number for all answers, and models of words as reward models.

Sources: trl 0.17.0, 0.18.0 and 1.16.0 trainer/grpo_trainer.py (since 0.18 every function gets `completion_ids`; since
1.x too few rewards are refused, before they were broadcast over the batch); trl 0.18.2 and 1.16.0
trainer/reward_trainer.py (one number for each text, which newer releases look for in config.num_labels).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.functions import function_of, given_back
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.trace import argument, last
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.document import Node
from loralint.source.script import Call, Script

_BY_FUNCTION = frozenset({"grpo", "rloo"})
_ONE_ANSWER = re.compile(r"per_device_train_batch_size\W{1,5}1\b")  # then a list of one is whole


def of_rewards(script: Script, parts: Parts, look: Look) -> Iterator[Observation]:
    """What is wrong with the rewards of one trainer of TRL's."""
    trainer, what = parts.trainer, of(parts.trainer) if parts.trainer is not None else None
    if trainer is None or what is None or what.package != "trl":
        return
    if what.word in _BY_FUNCTION:
        given = argument(trainer, "reward_funcs", what)
        for node in (given.node.items or [given.node]) if given is not None else ():
            yield from _of_function(script, trainer, node, look)
    elif last(trainer) == "RewardTrainer" and parts.load is not None:
        yield from _of_model(parts.load)


def _of_function(script: Script, trainer: Call, node: Node, look: Look) -> Iterator[Observation]:
    function = function_of(node, script)
    if function is None:
        return
    key = f"{last(trainer)}.reward_funcs"
    where = Value(None, key=key, pointer=f"/{key}", span=script.document.span(node))
    data = {"function": function.name}
    taken = {one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    if function.args.kwarg is None and "completion_ids" not in taken and look.version_is("trl>=0.18"):
        yield Observation("reward-takes", where, "crash", "", package="trl", data=data)
    if _one_for_all(function) and not _ONE_ANSWER.search(script.text):
        yield Observation("reward-of-all", where, "lost", "", data=data)


def _one_for_all(function: ast.FunctionDef) -> bool:
    """Whether whatever it returns is a list of one."""
    back = given_back(function)
    return bool(back) and all(
        isinstance(one, ast.List) and len(one.elts) == 1 and not isinstance(one.elts[0], ast.Starred) for one in back
    )


def _of_model(load: Call) -> Iterator[Observation]:
    """A model that writes text, whose many numbers are no reward."""
    owner = load.name.rpartition(".")[0].rpartition(".")[2]
    if owner == "AutoModelForCausalLM":
        where = Value(None, key=owner, pointer=f"/{owner}", span=load.name_span, key_span=load.name_span)
        yield Observation("reward-model", where, "crash", "")
