"""The arguments of the one function that Fire makes a program of.

Fire calls the function with what it finds and looks at what is left over afterwards: a flag of another name changes
nothing, and the program ends with an error once the training is over (fire 0.7.1 core.py: _Fire, _ParseKeywordArgs;
run here).
"""

from __future__ import annotations

import ast
import re

from loralint.frameworks.python.syntax import trees, written
from loralint.source.script import Script

_ELSEWHERE = re.compile(r"\bargparse\b|\bargv\b|HfArgumentParser|\bclick\b|\btyper\b")


def fired(script: Script) -> frozenset[str]:
    """Their names; empty where the function takes any, or where Fire is given something else."""
    if "Fire(" not in script.text or _ELSEWHERE.search(script.text):
        return frozenset()
    found = trees(script)
    given = [call for tree in found for call in _calls(tree.body)]
    target = given[0].args[0] if len(given) == 1 and len(given[0].args) == 1 and not given[0].keywords else None
    if not isinstance(target, ast.Name):
        return frozenset()
    named = [
        node
        for tree in found
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == target.id
    ]
    if len(named) != 1 or named[0].decorator_list or named[0].args.kwarg or named[0].args.vararg:
        return frozenset()
    args = named[0].args
    return frozenset(one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _calls(body: list[ast.stmt]) -> list[ast.Call]:
    """What calls Fire."""
    calls = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return [call for call in calls if written(call.func) in ("fire.Fire", "Fire")]
