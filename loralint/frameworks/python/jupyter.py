"""Parsers of the command line in a notebook, whose command line is Jupyter's own: `-f` and the file of the kernel.

Sources: the documentation of jupyter_client on kernels (argv has `-f {connection_file}`), transformers 5.24.0
hf_argparser.py (what no option takes is refused).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loralint.frameworks.python.syntax import place, trees
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.script import Script

_PARSERS = re.compile(r"\b(?:\w*ArgumentParser|TrlParser)\(")
_PARSES = frozenset({"parse_args", "parse_args_into_dataclasses", "parse_args_and_config"})
# where a notebook makes a command line, or leaves alone what it does not know; an option `-f` of its own takes the file
_LINE = re.compile(r"\bargv\b|parse_known|remaining_strings|fail_with_unknown|[\"']--?f\\?[\"']|\"-f\\?\"")


def of_jupyter(script: Script) -> Iterator[Observation]:
    """Observe the first that is asked, outside of functions."""
    if script.document.format != "notebook" or not _PARSERS.search(script.text) or _LINE.search(script.text):
        return
    for tree in trees(script):
        for call in _outside(tree.body) if tree.shown else ():
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in _PARSES or call.args or call.keywords:
                continue
            key = call.func.attr
            span = place(tree.document, rf"\.({key})\(\s*\)") or tree.document.span_at(0, 0)
            where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
            what = f"the command line of a notebook is Jupyter's own, and {key} stops at its `-f`"
            advice = f'hand the options to it: {key}(["--output_dir", "out"])'
            yield Observation("misplaced", where, "crash", what, data={"advice": advice})
            return


def _outside(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """Calls that are made as the cell runs."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))
