"""Other files of the program that it imports: followed where the import stands, as Python would run them.

What they hold keeps its place in their own text. A module that is not at hand, cannot be parsed or lies beyond the
bounds stays what every import is: a name of which nobody knows more.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Fault, Node
from loralint.source.elsewhere import FileMark
from loralint.source.limits import MODULES, MODULES_LENGTH
from loralint.source.places import Places
from loralint.source.python import fold
from loralint.source.python.held import Module, Names, Scalar, Sequence
from loralint.source.python.program import Program, checked, odd_lines
from loralint.source.python.walk import run

if TYPE_CHECKING:
    import ast

    from loralint.source.document import Document
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State

# Libraries that training programs import. They are none of a program's files, although a folder may be called so, as
# that of the library's own repository, and most imports need not be looked for.
LIBRARIES = sys.stdlib_module_names | {
    "PIL", "accelerate", "axolotl", "bitsandbytes", "click", "datasets", "deepspeed", "diffusers", "dotenv", "einops",
    "evaluate", "fire", "flash_attn", "huggingface_hub", "hydra", "jinja2", "jsonlines", "lightning", "loguru",
    "matplotlib", "mlflow", "modal", "nltk", "numpy", "omegaconf", "openai", "optimum", "pandas", "peft", "pydantic",
    "pytorch_lightning", "ray", "requests", "rich", "rouge_score", "safetensors", "scipy", "seaborn",
    "sentence_transformers", "sentencepiece", "sklearn", "tensorboard", "tiktoken", "timm", "tokenizers", "torch",
    "torchaudio", "torchvision", "tqdm", "transformers", "trl", "typer", "typing_extensions", "tyro", "unsloth",
    "unsloth_zoo", "vllm", "wandb", "xformers", "yaml",
}  # fmt: skip


# Programs of one folder share their modules. The trees of the last ones are kept, oldest first, up to so many
# characters of text together, each of which costs about 20 bytes of tree. A number of trees would be no bound: fewer
# than one program imports are of no use to the next one.
KEPT = 1024 * 1024
_KEPT: dict[Document, tuple[Program, ast.Module] | None] = {}
_LOCK = threading.Lock()


class _ModulePlaces(Places):
    """The places of a module, whose marks name its file."""

    __slots__ = ()

    def mark(self, offset: int) -> FileMark:
        """Give the place of an offset for a Node."""
        return FileMark(offset, self.lines, self.file)


def imported_module(state: State, name: str, level: int, node: Spot) -> Module | None:
    """The module that an import means. level: the dots before its name. None where no file of the program is meant."""
    look = state.program.modules
    if look is None or (not level and name.partition(".")[0] in LIBRARIES):
        return None
    document = look(name, level, (state.program if level else state).document.file)
    if document is not None:
        return _module(state, document, name or "." * level, node)
    return None


def started(state: State, document: Document | None, name: str, node: Spot) -> Module | None:
    """What `runpy` starts as the program itself; None where it is not at hand, or was followed before."""
    return _module(state, document, name, node, "__main__") if document is not None else None


def package(state: State, name: str, node: Spot) -> Module | None:
    """What `import a.b` puts into `a`: the folder's own file, else the folder, if `a.b` is a file of the program."""
    top, dot, _ = name.partition(".")
    found = imported_module(state, top, 0, node)
    if found is None and dot and imported_module(state, name, 0, node) is not None:
        return Module(_place(state, node, top), top, Names())
    return found


def member(state: State, module: Module, name: str, node: Spot) -> Held | None:
    """What a module holds under a name: what it gave it, else the module below it; None where nobody sees either."""
    held: Held | None = module.names.get(name)
    if held is not None or name.startswith("__"):
        return held
    program: Program | None = module.names.program
    if program is None:
        return imported_module(state, f"{module.name}.{name}", 0, node)
    is_package = program.document.file.endswith("__init__.py")
    found = program.modules(name, 1, program.document.file) if is_package and program.modules is not None else None
    return _module(state, found, f"{module.name}.{name}", node) if found is not None else None


def public(module: Module) -> list[tuple[str, Held]]:
    """What `from module import *` gives."""
    every = module.names.get("__all__")
    items = every.store["items"] if isinstance(every, Sequence) else None
    named = {fold.text(item) for item in items or ()}
    return [(name, held) for name, held in module.names.items() if name in named or not (named or name[:1] == "_")]


def _module(state: State, document: Document, name: str, node: Spot, called: str = "") -> Module | None:
    """The module of a file, followed when it is met first; while it is, an import of it gives what it has by then.
    called: its `__name__`, where that is not its name.
    """
    file = document.file
    if file in state.modules:
        return state.modules[file]
    length = sum(len(one.text) for one in state.documents())
    if file == state.document.file or len(state.modules) >= MODULES or length + len(document.text) > MODULES_LENGTH:
        return None
    state.modules[file] = None
    made = None if document.problems or document.format != "python" else _parsed(document)
    if made is not None:
        program = state.program
        program = made[0]._replace(files=program.files, modules=program.modules, line=program.line)
        state.modules[file] = found = Module(_place(state, node, name), name, Names(program=program))
        _follow(state, found, made[1], called or name)
    return state.modules[file]


def _parsed(document: Document) -> tuple[Program, ast.Module] | None:
    """A module as parsed, kept while it is among those that were asked for last."""
    with _LOCK:
        made = _KEPT[document] = _KEPT.pop(document) if document in _KEPT else _parse(document)
        while len(_KEPT) > 1 and sum(len(one.text) for one in _KEPT) > KEPT:
            del _KEPT[next(iter(_KEPT))]
    return made


def _parse(document: Document) -> tuple[Program, ast.Module] | None:
    lines, text = document.lines, document.text
    places = _ModulePlaces(document.file, lines)
    program = Program(document, text, lines.starts, places, odd_lines(text, lines.starts))
    try:
        return program, checked(program)
    except Fault:
        return None


def _follow(state: State, module: Module, tree: ast.Module, called: str) -> None:
    """Follow a module, once: no way back out of the branch that imports it undoes what it gave its names."""
    kept = state.scope, state.fixed, state.journal, state.functions, state.loops
    before = state.enter(module.names)
    state.scope, state.fixed, state.journal, state.functions, state.loops = module.names, None, [], [], []
    start = state.program.marks(0, 0)
    module.names["__name__"] = Scalar(Node("scalar", "str", *start, called, False, called))
    run(state, tree.body)
    state.leave(before)
    state.scope, state.fixed, state.journal, state.functions, state.loops = kept


def _place(state: State, node: Spot, name: str) -> Node:
    return state.node(node, "object", Unknown(f"the module `{name}`"), name)
