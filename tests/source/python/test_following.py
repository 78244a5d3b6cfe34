"""The order of calls, what branches and loops leave, and which objects are the same."""

from loralint.model import Unknown
from loralint.source.python import read_script


def names(program):
    return [call.name for call in read_script(program).calls]


def value(program):
    """What the last call of `f` gets."""
    return [call for call in read_script(program).calls if call.name == "f"][-1].args[0].node.native


def sure(program):
    return {call.name: call.sure for call in read_script(program).calls}


def test_functions_are_followed_where_they_are_called():
    program = """
def build(model, lr=1e-4):
    model = wrap(model)
    return trainer(model, lr)
def main():
    model = load("a")
    t = build(model, lr=3e-4)
    t.train()
if __name__ == "__main__":
    main()
"""
    script = read_script(program)
    assert [call.name for call in script.calls] == ["load", "wrap", "trainer", "train"]
    load, wrap, trainer, train = script.calls
    assert wrap.args[0].thing is load.result
    assert trainer.args[0].thing is wrap.result
    assert trainer.args[1].node.native == 3e-4
    assert train.on is trainer.result
    assert all(call.sure for call in script.calls)


def test_a_function_that_nobody_calls_may_not_run():
    assert sure("def f(x):\n    g(x)\nh()") == {"h": True, "g": False}


def test_functions_that_call_themselves_end():
    assert names("def f(n):\n    g(n)\n    return f(n - 1) + f(n - 2)\nf(3)").count("g") == 1


def test_methods_attributes_and_properties_of_own_classes():
    program = """
class Base:
    rank = 8
    def __init__(self, lr):
        self.lr = lr
    def run(self):
        self.step()
class Job(Base):
    def __init__(self, lr, extra=1):
        super().__init__(lr)
        self.extra = extra
    def step(self):
        f(self.lr, self.extra, self.rank)
Job(1e-4).run()
"""
    call = read_script(program).calls[-1]
    assert [one.node.native for one in call.args] == [1e-4, 1, 8]


def test_a_class_that_builds_on_an_imported_one_is_told_as_that():
    program = """
from transformers import Trainer
class Plain(Trainer):
    def compute_loss(self):
        g()
class Own(Trainer):
    def __init__(self, *args, beta=0.1, **kwargs):
        super().__init__(*args, **kwargs)
    def train(self):
        return super().train(resume=True)
Plain(model=1).train()
Own(model=2, beta=3).train()
"""
    calls = read_script(program).calls
    told = [(call.name, {one.name: one.node.native for one in call.args}) for call in calls if call.sure]
    assert told == [
        ("transformers.Trainer", {"model": 1}),
        ("train", {}),
        ("transformers.Trainer", {"model": 2}),
        ("train", {"resume": True}),
    ]
    assert calls[1].on is calls[0].result
    assert calls[3].on is calls[2].result


def test_dataclasses_take_their_fields():
    program = """
from dataclasses import dataclass, field
@dataclass
class C:
    r: int = 8
    names: list = field(default_factory=lambda: ["q"])
    lr: float = field(default=1e-4)
c = C(16)
f(c.r)
f(c.names)
f(c.lr)
"""
    calls = [call for call in read_script(program).calls if call.name == "f"]
    assert calls[0].args[0].node.native == 16
    assert [item.native for item in calls[1].args[0].node.items] == ["q"]
    assert calls[2].args[0].node.native == 1e-4


def test_branches_that_differ_leave_nothing_known():
    assert value("if a():\n    x = 1\nelse:\n    x = 1\nf(x)") == 1
    assert isinstance(value("if a():\n    x = 1\nelse:\n    x = 2\nf(x)"), Unknown)
    assert isinstance(value("x = 1\nif a():\n    x = 2\nf(x)"), Unknown)
    assert value("if a():\n    x = 2\nf(x)") == 2  # without it the program stops here
    assert value("x = 1\nif a():\n    x = 2\n    raise E\nf(x)") == 1
    assert value("x = 1\nif a():\n    x = 2\n    f(x)") == 2
    assert value("x = 1\nif 1 > 2:\n    x = 2\nf(x)") == 1


def test_what_one_branch_puts_into_a_dictionary_may_not_be_there():
    call = read_script("k = {'a': 1}\nif g():\n    k['r'] = 8\nf(**k)").calls[-1]
    assert {one.name: one.node.native for one in call.args if one.name == "a"} == {"a": 1}
    assert isinstance(next(one.node.native for one in call.args if one.name == "r"), Unknown)


def test_branches_are_unsure_and_what_follows_is_sure_again():
    program = "if a():\n    b()\nelif c():\n    d()\nelse:\n    e()\nf()"
    assert sure(program) == {"a": True, "b": False, "c": False, "d": False, "e": False, "f": True}


def test_after_a_return_in_a_branch_the_rest_of_the_function_is_unsure():
    program = "def m():\n    if a():\n        return 1\n    b()\nx = m()\nc()"
    assert sure(program) == {"a": True, "b": False, "c": True}
    assert sure("def m():\n    if a():\n        raise E\n    b()\nm()") == {"a": True, "b": True}
    assert isinstance(value("k = [1]\ndef m():\n    if a(): return\n    k.append(2)\nm()\nf(len(k))"), Unknown)


def test_things_of_branches_are_told_as_either():
    script = read_script("m = load()\nif a():\n    m = wrap(m)\nt(m)")
    either = script.calls[-1].args[0].thing.either
    assert {thing.made.name for thing in either} == {"load", "wrap"}


def test_loops():
    assert sure("for i in range(3):\n    f()")["f"] is True
    assert sure("for i in range(n):\n    f()")["f"] is False
    assert sure("while True:\n    f()\n    break")["f"] is True
    assert sure("while x():\n    f()")["f"] is False
    assert names("for i in []:\n    f()\nelse:\n    g()") == ["g"]
    assert names("for lr in [1, 2]:\n    f(lr)") == ["f", "f"]
    assert isinstance(value("x = 1\nfor i in range(3):\n    x = x * 2\nf(x)"), Unknown)
    assert isinstance(value("x = 1\nfor i in g():\n    x += 1\nf(x)"), Unknown)
    assert value("for i in range(3):\n    x = 5\nf(x)") == 5
    assert sure("for i in range(3):\n    if a():\n        continue\n    f()\ng()") == {"a": True, "f": False, "g": True}
    assert names("for i in range(300):\n    f(i)").count("f") == 1


def test_what_a_loop_holds_comes_from_what_it_runs_over():
    calls = read_script("for name, p in model.named_parameters():\n    p.requires_grad = False").calls
    assert calls[1].name == "__setattr__"
    assert (calls[1].on.made.name, calls[1].on.made.on, calls[1].on.place) == ("__next__", calls[0].result, 1)


def test_try_is_taken_to_succeed_and_its_handlers_are_unsure():
    program = "try:\n    a()\nexcept E as e:\n    b(e)\nelse:\n    c()\nfinally:\n    d()"
    assert sure(program) == {"a": True, "b": False, "c": True, "d": True}
    assert isinstance(value("try:\n    g()\n    x = 1\nexcept E:\n    x = 2\nf(x)"), Unknown)
    assert value("try:\n    x = 1\nexcept E:\n    raise\nf(x)") == 1


def test_the_same_object_is_the_same_thing():
    calls = read_script("a = make()\nb = a\nf(a)\nf(b)\nf(a.model)\nf(b.model)\na.model = 1\nf(a.model)").calls
    given = [call.args[0] for call in calls if call.name == "f"]
    assert given[0].thing is given[1].thing is calls[0].result
    assert given[2].thing is given[3].thing
    assert (given[2].thing.made.name, given[2].thing.made.on) == ("__getattr__", calls[0].result)
    assert given[4].node.native == 1


def test_several_things_of_one_call():
    calls = read_script("model, tok = load()\nf(model)\nf(tok)").calls
    model, tok = calls[1].args[0].thing, calls[2].args[0].thing
    assert (model.made, model.place, tok.made, tok.place) == (calls[0], 0, calls[0], 1)
    assert model is not tok


def test_global_names_and_closures():
    assert value("def s():\n    global x\n    x = 3\ns()\nf(x)") == 3
    assert value("def o():\n    y = 4\n    def i():\n        nonlocal y\n        y = 5\n    i()\n    f(y)\no()") == 5


def test_every_statement_of_python_is_taken():
    program = """
async def a():
    async with b() as c, d():
        async for e in c:
            await g(e)
    return [x async for x in c]
def gen():
    y = yield 1
    yield from h()
@deco(1)
class K(Base, metaclass=Meta):
    z: int
    @property
    def p(self): return 1
match cmd():
    case {"a": v, **rest} if v > 1: i(v)
    case [1, *others]: j(others)
    case K(z=q) | q: k()
    case _: l()
try:
    m()
except* E as group:
    n()
del a.b, c[1], d
assert o(), "text"
x = y = 1
(s, *t), u = v()
w: int = 2
w @= 3
a[1:2] = b[::2]
lambda *p, q=1, **r: p
print(f"{x!r:>{w}}", *t, **{})
with open("f") as (g1, g2): pass
global x9
if (n := len("ab")) > 1: q2(n)
"""
    script = read_script(program)
    assert script.document.problems == []
    assert {"b", "deco", "cmd", "i", "j", "k", "l", "m", "n", "o", "q2"} <= {call.name for call in script.calls}
    assert next(call for call in script.calls if call.name == "q2").args[0].node.native == 2


def test_an_item_put_into_one_of_several_dictionaries_may_be_in_any():
    program = """
found = {"a": {}, "b": [1], "c": 2}
for kind, key in pairs:
    found[kind][key] = 1
f(list(found[%r]))
"""
    assert isinstance(value(program % "a"), Unknown)
    assert isinstance(value(program % "b"), Unknown)
