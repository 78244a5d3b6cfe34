"""What an import of another file of the program binds, compared with what Python itself binds."""

from __future__ import annotations

import importlib
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.source.document import Document
from loralint.source.limits import MODULES
from loralint.source.python import read_script

NAMES = ("a", "b", "c")


def script(text, modules):
    """The program, whose modules stand beside it."""
    documents = {name: Document(f"{name}.py", "python", body) for name, body in modules.items()}
    return read_script(Document("main.py", "python", text), None, lambda name, *_: documents.get(name))


def told(text, modules):
    """What `f` gets, at its places."""
    call = [one for one in script(text, modules).calls if one.name == "f"][-1]
    return [one.node.native for one in call.args], [getattr(one.node.start_mark, "file", "") for one in call.args]


@pytest.mark.parametrize(
    "statement",
    [
        "from a import x as y",
        "import a\ny = a.x",
        "import a as m\ny = m.x",
        "from a import *\ny = x",
        "from b import y",
    ],
)
def test_every_form_of_an_import_gives_the_value_at_its_place(statement):
    modules = {"a": "x = 8\n", "b": "from a import x as y\n"}
    assert told(f"{statement}\nf(y)", modules) == ([8], ["a.py"])


def test_a_name_that_begins_with_an_underscore_is_not_public():
    modules = {"a": "_x = 1\ny = 2\n", "b": "__all__ = ['_x']\n_x = 1\ny = 2\n"}
    assert told("_x = y = 0\nfrom a import *\nf(_x, y)", modules)[0] == [0, 2]
    assert told("_x = y = 0\nfrom b import *\nf(_x, y)", modules)[0] == [1, 0]


def test_a_module_is_run_once_and_shared():
    modules = {"a": "g()\nx = 1\n", "b": "import a\na.x = 5\n"}
    found = script("import a\nimport b\nfrom a import x\nf(x, a.x)", modules)
    assert [call.name for call in found.calls] == ["g", "f"]
    assert [one.node.native for one in found.calls[-1].args] == [5, 5]


def test_a_branch_that_imports_leaves_the_module_to_the_others():
    text = "if q():\n    from a import x\nelse:\n    from a import y as x\nf(x)\nimport a\nf(a.x, a.y)"
    assert told(text, {"a": "x = 1\ny = 1\n"})[0] == [1, 1]
    assert [one.sure for one in script(text, {"a": "g()\nx = y = 1\n"}).calls if one.name == "g"] == [False]


def test_functions_of_a_module_see_its_names_and_not_the_program_s():
    body = "x = 3\ndef set_x(value):\n    global x\n    x = value\ndef get(*rest, **more):\n    return x, rest, more\n"
    text = "from a import get, set_x\nimport a\nx = 9\nset_x(4)\nf(get()[0], x, a.x)\nf(*get(1, b=2)[1])"
    assert told(text, {"a": body})[0] == [1]
    first = next(one for one in script(text, {"a": body}).calls if one.name == "f")
    assert [one.node.native for one in first.args] == [4, 9, 4]


def test_functions_of_a_module_that_nobody_calls_are_not_followed():
    assert [one.name for one in script("import a\nf()", {"a": "def b():\n    g()\n"}).calls] == ["f"]


def test_names_that_a_module_does_not_have_are_names_of_it():
    found = script("import a\nfrom a import B\na.c(B(1))", {"a": "x = 1\n"})
    assert [one.name for one in found.calls] == ["a.B", "a.c"]


def test_circles_and_the_program_itself_end():
    modules = {"a": "import b, main\nx = 1\n", "b": "from a import x\ny = x\n", "main": "z = 1\n"}
    assert told("import a, b\nf(a.x)", modules)[0] == [1]


def test_no_more_modules_are_followed_than_a_program_has():
    modules = {f"m{i}": f"import m{i + 1}\nx = {i}\n" for i in range(3 * MODULES)}
    assert len(script("import m0\nf(m0.x)", modules).modules) <= MODULES


# Programs of three modules, as far as we follow them: constants, names of others, and all of them.
LINES = st.one_of(
    st.builds("{} = {}".format, st.sampled_from("xyz"), st.integers(0, 9)),
    st.builds("from {} import {}".format, st.sampled_from(NAMES), st.sampled_from("xyz")),
    st.builds("from {} import *".format, st.sampled_from(NAMES)),
    st.builds("import {0}\n{1} = {0}.{2}".format, st.sampled_from(NAMES), *2 * (st.sampled_from("xyz"),)),
    st.builds("import {0}\n{0}.{1} = {2}".format, st.sampled_from(NAMES), st.sampled_from("xyz"), st.integers(0, 9)),
)  # fmt: skip
BODIES = st.lists(LINES, max_size=5).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(bodies=st.tuples(BODIES, BODIES, BODIES), text=BODIES)
def test_what_is_told_is_what_python_makes(tmp_path_factory, bodies, text):
    folder = tmp_path_factory.mktemp("modules")
    head = "x = y = z = 0\n"
    modules = {name: head + body + "\n" for name, body in zip(NAMES, bodies, strict=True)}
    for name, body in modules.items():
        (folder / f"{name}.py").write_text(body)
    program = f"{head}{text}\n"
    scope: dict[str, object] = {"__name__": "__main__"}
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        exec(program, scope)
    except (ImportError, AttributeError):
        return  # an import in a circle, which stops the program
    finally:
        sys.path.remove(str(folder))
        for name in NAMES:
            sys.modules.pop(name, None)
    assert told(f"{program}f(x, y, z)", modules)[0] == [scope[name] for name in "xyz"]
