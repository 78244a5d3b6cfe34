"""Texts made to hang, to crash, to fill the memory or to run."""

import gc
import json
import subprocess
import sys
import time

import pytest

from loralint.source.document import Document
from loralint.source.limits import SCRIPT_LENGTH
from loralint.source.python import read_script

DEEP = 100_000
LONG = 60_000

TEXTS = {
    "plus": "x = " + "+".join(["a"] * LONG),
    "minus": "x = " + "-" * DEEP + "1",
    "not": "x = " + "not " * LONG + "1",
    "parentheses": "(" * DEEP + ")" * DEEP,
    "attributes": "a" + ".b" * DEEP,
    "calls": "a" + "()" * DEEP,
    "items": "a" + "[0]" * LONG,
    "powers": "**".join(["a"] * LONG),
    "lambdas": "lambda: " * 30_000 + "1",
    "choices": "1 if 1 else " * 20_000 + "1",
    "assignments": "a = " * LONG + "1",
    "elif": "if a:\n p\n" + "elif a:\n p\n" * 20_000,
    "nested if": "".join(" " * i + "if a:\n" for i in range(95)) + " " * 95 + "p()",
    "nested for": "".join(" " * i + "for a in b:\n" for i in range(60)) + " " * 60 + "p()",
    "unrolled": "".join(" " * i + "for a in [1, 2, 3, 4, 5, 6, 7, 8]:\n" for i in range(12)) + " " * 12 + "p()",
    "comprehensions": "x = [[[[a for a in range(256)] for b in range(256)] for c in range(256)] for d in range(256)]",
    "doubling lists": "x = [1]\n" + "x = x + x\n" * 60 + "f(x)",
    "doubling texts": "x = 'a'\n" + "x = x + x\n" * 60 + "f(x)",
    "doubling by stars": "x = [1]\n" + "x = [*x, *x]\n" * 60 + "f(x)",
    "doubling in place": "x = [1]\n" + "x += x\nx.extend(x)\n" * 60 + "f(x)",
    "lists in lists": "x = []\n" + "x = [x, x]\n" * 200 + "f(x)",
    "lists in themselves": "x = []\nx.append(x)\nf(x)\nd = {}\nd['d'] = d\nd.update(d=d)\nf(d, **d)",
    "appending": "x = []\n" + "x.append(1)\n" * 15_000,
    "functions": "".join(f"def f{i}(x):\n f{i + 1}(x)\n f{i + 1}(x)\n f{i + 1}(x)\n" for i in range(50)) + "f0(1)",
    "itself": "def f(x): return f(f(x)) + f(x)\nf(f)\ng = lambda x: x(x)\ng(g)",
    "classes": "class A(A): pass\nA().x()\nclass B:\n def __init__(self): B()\nB()",
    "attributes of itself": "x.a = x\nx.a.a.a.a = x\nf(x.a.a.a)",
    "returns": "def f():\n" + " if a: return g\n" * 3_000 + "f()",
    "branches": "if a: x = 1\nelse: x = 2\n" * 5_000,
    "many names": "\n".join(f"x{i} = {i}" for i in range(5_000))
    + "\nif a:\n "
    + "\n ".join(f"x{i} = 1" for i in range(5_000)),
    "joined strings": "x = [" + ",".join(["'a' 'b'"] * 10_000) + "]",
    "backslashes": "x = ['" + "a" * 50_000 + "' '" + "\\\\" * 50_000 + "']",
    "newlines": "\n" * 200_000,
    "too long": "#" * (SCRIPT_LENGTH + 1),
    "percent lines": "%a\\\n" * 40_000 + "x = = 1",
    "huge": "f(10 ** 10 ** 10, 'a' * 10 ** 10, [0] * 10 ** 10, 1 << 10 ** 10, 9 ** 9 ** 9 ** 9, '%99999999d' % 1)",
    "huge texts": "f(f'{1:>99999999}', 'a'.ljust(10 ** 10), 'a'.center(10 ** 10), bytes(10 ** 10), range(10 ** 10))",
    "digits": "x = " + "9" * 200_000,
    "digits in hex": "f(0x" + "f" * 200_000 + ", str(0x" + "f" * 10_000 + "), float(0x" + "f" * 10_000 + "))",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", ["python", "notebook"])
def test_nothing_hangs_or_raises(name, kind):
    text = TEXTS[name] if kind == "python" else json.dumps({"cells": [{"cell_type": "code", "source": TEXTS[name]}]})
    gc.collect()  # the session's own garbage is not this script's to pay for
    start = time.process_time()
    script = read_script(Document("t", kind, text))
    assert time.process_time() - start < 10
    assert len(script.calls) < 100_000


def test_a_small_stack_of_the_caller_is_enough():
    # deep texts end the process there when the parser runs on the caller's stack
    program = (
        "import sys, threading\n"
        "from loralint.source.python import read_script\n"
        "threading.stack_size(512 * 1024)\n"
        "def work():\n"
        "    for text in ('-' * 100000 + '1', 'not ' * 60000 + '1', '+'.join(['a'] * 60000), 'a' + '.b' * 100000):\n"
        "        print(len(read_script(text).document.problems))\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["1"] * 4)


def test_nothing_is_executed(tmp_path):
    marker = tmp_path / "marker"
    write = f"open({str(marker)!r}, 'w').write('x')"
    (tmp_path / "trap.py").write_text(write, encoding="utf-8")
    text = f"""# -*- coding: trap -*-
import sys
sys.path.insert(0, {str(tmp_path)!r})
import trap
from trap import *
exec({write!r})
eval({write!r})
compile({write!r}, "t", "exec")
__import__("trap")
{write}
class A:
    x = {write}
    def __getattr__(self, name): {write}
    def __init_subclass__(cls): {write}
class B(A): pass
A().y
def f(x={write}, *, y: {write} = 1) -> {write}: {write}
f()
z = f"{{{write}}}"
(lambda: {write})()
[{write} for _ in range(3)]
int({write}); str({write}); len({write}); float(A()); range(A()); "".join(A())
import os; os.system({f"echo x > {marker}"!r})
@{write}
def g(): pass
with {write}: pass
assert {write}
"""
    before = set(sys.modules)
    script = read_script(text)
    assert script.document.problems == []
    cells = json.dumps({"cells": [{"cell_type": "code", "source": f"{text}\n!echo x > {marker}\n%run trap.py"}]})
    assert read_script(Document("n.ipynb", "notebook", cells)).shell
    assert not marker.exists()
    assert not {name for name in set(sys.modules) - before if "trap" in name}
