"""What is known of the arguments of a call, and where it stands."""

import pytest

from loralint.model import Unknown
from loralint.source.python import read_script


def given(program, name="f"):
    """The nodes of the arguments of the last call of a name, by keyword or place."""
    call = [call for call in read_script(program).calls if call.name == name][-1]
    return {one.name or str(place): one.node for place, one in enumerate(call.args)}


def plain(node):
    if node.kind == "sequence":
        return [plain(item) for item in node.items]
    if node.kind == "mapping":
        return {pair.key: plain(pair.value) for pair in node.pairs}
    return node.native


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("8", 8),
        ("1e-4", 1e-4),
        ("-1", -1),
        ("2 * 16", 32),
        ("2 ** 4 + 10 // 3 - 7 % 4", 16),
        ("1 / 4", 0.25),
        ("True", True),
        ("not True", False),
        ("None", None),
        ("'a' + 'b'", "ab"),
        ("'a' 'b'", "ab"),
        ("f'{2}-{\"x\"}-{1e-3:.0e}'", "2-x-1e-03"),
        ("int('8')", 8),
        ("float('2e-4')", 2e-4),
        ("str(8)", "8"),
        ("max(3, 5)", 5),
        ("min(3, 5)", 3),
        ("abs(-3)", 3),
        ("len(['a', 'b'])", 2),
        ("bool([])", False),
        ("1 if 2 > 1 else 0", 1),
        ("1 < 2 < 3", True),
        ("'a' in ['a', 'b']", True),
        ("'c' not in 'ab'", True),
        ("None is None", True),
        ("[1] is None", False),
        ("None or 4", 4),
        ("3 and 4", 4),
        ("['q', 'v'] + ['o']", ["q", "v", "o"]),
        ("('q', 'v')", ["q", "v"]),
        ("[*['q'], 'v']", ["q", "v"]),
        ("{'a': 1, **{'b': 2}}", {"a": 1, "b": 2}),
        ("{'a': 1} | {'a': 2}", {"a": 2}),
        ("dict(a=1, **{'b': 2})", {"a": 1, "b": 2}),
        ("dict(a=1).get('b', 3)", 3),
        ("{'a': [1, 2]}['a'][-1]", 2),
        ("'a,b'.split(',')", ["a", "b"]),
        ("'-'.join(['a', 'b'])", "a-b"),
        ("'A'.lower()", "a"),
        ("'abc'.startswith('a')", True),
        ("os.path.join('out', 'run')", "out/run"),
        ("[f'layers.{i}' for i in range(2)]", ["layers.0", "layers.1"]),
        ("[x for x in [1, 2, 3] if x > 1]", [2, 3]),
        ("(x := 5)", 5),
        ("(lambda a, b=2: a + b)(1)", 3),
        ("list({'a': 1})", ["a"]),
        ("getattr(SimpleNamespace(r=4), 'r')", 4),
    ],
)
def test_literals_and_what_follows_from_them(written, value):
    node = given(f"import os\nfrom types import SimpleNamespace\nf(x={written})")["x"]
    assert plain(node) == value
    assert type(plain(node)) is type(value)


@pytest.mark.parametrize(
    "written",
    [
        "compute()",
        "a.b * 2",
        "10 ** 10 ** 9",
        "'a' * 10 ** 9",
        "[0] * 10 ** 9",
        "1 << 10 ** 9",
        "'%1000000000d' % 1",
        "f'{1:>1000000000}'",
        "1 / 0",
        "(-1) ** 0.5",
        "0x" + "f" * 1000,
        "int('x')",
        "[1, 2][5]",
        "{'a': 1}['b']",
        "1 if cond() else 2",
        "{{rank}}",
        "1j",
        "b'x'",
        "...",
        "'a' < 1",
        "[x for x in y()]",
        "{k: v for k, v in y()}",
        "open('f').read()",
        "input()",
        "await g()",
        "x.y[1:2]",
    ],
)
def test_what_nobody_knows_is_unknown_and_never_computed(written):
    node = given(f"f(x={written})")["x"]
    assert isinstance(node.native, Unknown)


def test_a_value_stands_where_it_is_given_and_its_key_where_it_is_named():
    text = "RANK = 8\nkw = {'lora_alpha': 2 * RANK}\nkw['bias'] = 'none'\nf(r=RANK, **kw)"
    call = read_script(text).calls[-1]
    places = {one.name: (one.node.line, one.node.raw, one.name_span.line) for one in call.args}
    assert places == {"r": (1, "8", 4), "lora_alpha": (2, "2 * RANK", 2), "bias": (3, "none", 3)}
    assert text[call.span.start : call.span.end] == "f(r=RANK, **kw)"


def test_names_of_imports_are_told_in_full():
    program = """
import torch
import torch.nn as nn
from peft import LoraConfig as LC, get_peft_model
from .local import build
try:
    from unsloth import FastLanguageModel
except ImportError:
    FastLanguageModel = None
from trl import *
dtype = torch.bfloat16
LC(a=torch.float16, b=dtype, c=nn.Linear)
get_peft_model()
build()
FastLanguageModel.get_peft_model()
SFTConfig()
"""
    script = read_script(program)
    assert [call.name for call in script.calls] == [
        "peft.LoraConfig",
        "peft.get_peft_model",
        ".local.build",
        "unsloth.FastLanguageModel.get_peft_model",
        "SFTConfig",
    ]
    nodes = [one.node for one in script.calls[0].args]
    assert [(node.tag, node.native, node.line) for node in nodes] == [
        ("name", "torch.float16", 12),
        ("name", "torch.bfloat16", 11),
        ("name", "torch.nn.Linear", 12),
    ]


def test_append_gives_none_and_changes_the_list():
    nodes = given("names = ['a']\nf(x=names.append('b'), y=names)")
    assert (nodes["x"].tag, nodes["x"].native, nodes["x"].raw) == ("null", None, "names.append('b')")
    assert plain(nodes["y"]) == ["a", "b"]


def test_dictionaries_are_changed_where_they_are_held():
    program = """
a = {'r': 8}
b = a
b['r'] = 16
a.update(x=1)
a.update({'y': 2})
a.setdefault('r', 4)
a.pop('x')
f(**a)
"""
    assert {name: node.native for name, node in given(program).items()} == {"r": 16, "y": 2}


def test_what_may_give_more_arguments_is_open():
    calls = read_script("f(**g())\nf(**{'a': 1, **h()})\nf(*i())\nf(**{'a': 1})\nf(*[1])").calls
    assert [call.open for call in calls if call.name == "f"] == [True, True, True, False, False]


def test_environment_and_attributes_are_calls():
    script = read_script("import os\nos.environ['A'] = '1'\ntok.pad_token = tok.eos_token\nf(os.environ.get('B', 8))")
    assert [(call.name, [one.node.raw for one in call.args]) for call in script.calls] == [
        ("__setitem__", ["A", "1"]),
        ("__setattr__", ["pad_token", "tok.eos_token"]),
        ("f", ["os.environ.$B"]),
    ]
    assert script.calls[0].on.name == "os.environ"
    assert script.calls[2].args[0].node.native == Unknown("the environment variable B, default 8")


@pytest.mark.parametrize(
    "change",
    [
        "for k, v in load().items():\n    setattr(c, k, v)",
        "vars(c).update(load())",
        "c.__dict__.update(load())",
        "if a():\n    setattr(c, b(), 1)",
    ],
)
@pytest.mark.parametrize(
    "before",
    [
        "class C:\n    r = 8\nc = C()",
        "class C:\n    r = 8\nc = C",
        "from types import SimpleNamespace\nc = SimpleNamespace(r=8)",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--r', default=8)\nc = p.parse_args()",
    ],
)
def test_attributes_that_nobody_can_name_leave_none_known(before, change):
    node = given(f"{before}\n{change}\nf(r=c.r)")["r"]
    assert (node.tag, type(node.native)) == ("unknown", Unknown)


@pytest.mark.parametrize(
    "change",
    [
        "d.update(load())",
        "d.update(**load())",
        "for k, v in load().items():\n    d[k] = v",
        "k, v = argv[1].split('=')\nd[k] = v",
        "d = {**d, **load()}",
        "d = {**d, k(): 8}",
        "d = d | load()",
        "d = dict(d, **load())",
        "from utils import merge_configs\nmerge_configs(d, argv[1:])",
        "from settings import *\nd = dict(r=r)",
        "exec(open('configurator.py').read())\nd = dict(r=r)",
        "globals().update(load())\nd = dict(r=r)",
        "globals()[k()] = 8\nd = dict(r=r)",
        "x = {'d': d}\nx['d'].update(load())",
        "def over(c):\n    c.update(load())\nover(d)",
    ],
)
def test_what_nobody_sees_may_stand_in_the_place_of_what_was_there(change):
    nodes = given(f"r = 8\nd = {{'r': r}}\n{change}\nf(r=d['r'])\ng(**d)")
    assert (nodes["r"].tag, type(nodes["r"].native)) == ("unknown", Unknown)
    call = read_script(f"r = 8\nd = {{'r': r}}\n{change}\ng(**d)").calls[-1]
    assert call.name == "g"
    assert all(isinstance(one.node.native, Unknown) for one in call.args)


@pytest.mark.parametrize(
    "change",
    [
        "d = {**load(), **d}",
        "d = dict(load(), **d)",
        "d = load() | d",
        "d.update({'x': load()})",
        "d.setdefault(k(), 1)",
        "import wandb\nwandb.config.update(d)",
        "from torch.nn import *\nd = dict(r=r)",
        "globals()['x'] = load()\nd = dict(r=r)",
        "exec('x = 1', {})\nd = dict(r=r)",
    ],
)
def test_what_is_put_over_something_unseen_is_known(change):
    assert given(f"r = 8\nd = {{'r': r}}\n{change}\nf(r=d['r'])")["r"].native == 8


def test_settings_whose_names_nobody_sees_hide_what_made_a_config():
    call = next(c for c in read_script("c = LoraConfig(r=8)\nsetattr(c, k(), 1)").calls if c.name == "LoraConfig")
    assert (call.open, type(call.args[0].node.native)) == (True, Unknown)
    call = next(c for c in read_script("m = load(r=8)\nsetattr(m, k(), 1)").calls if c.name == "load")
    assert (call.open, call.args[0].node.native) == (False, 8)


def test_an_attribute_of_a_thing_that_nobody_can_name():
    call = read_script("t = make()\nsetattr(t, k(), 1)").calls[-1]
    assert (call.name, call.on.made.name, call.args[0].node.raw) == ("__setattr__", "make", "")


def test_reasons_quote_no_text_of_the_program():
    node = given("login(token='hf_secret')\nf(x=g('hf_secret') + 'hf_secret', y=d['hf_secret'])")
    assert "hf_" not in node["x"].native.reason + node["y"].native.reason


def test_strings_that_join_in_a_list_are_reported():
    text = "f(a=['q_proj', 'k_proj' 'v_proj',\n  \"o\"  # none\n  'p'], ok=['a', ('b' 'c'), 'it''s'[0], f'x'])"
    script = read_script(text)
    assert [(fault.kind, text[fault.span.start : fault.span.end]) for fault in script.faults] == [
        ("implicit-join", "'k_proj' 'v_proj'"),
        ("implicit-join", "\"o\"  # none\n  'p'"),
    ]


def test_names_of_the_module():
    script = read_script("import torch\nlr = 1e-4\noptim = dict(type=torch.optim.AdamW, lr=lr)\nlr = 2e-4\ndel gone")
    assert [(one.name, plain(one.node), one.name_span.line) for one in script.names] == [
        ("lr", 2e-4, 4),
        ("optim", {"type": "torch.optim.AdamW", "lr": 1e-4}, 3),
    ]
