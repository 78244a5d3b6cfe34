"""Jobs of SageMaker that a program hands in: the script that runs there, its hyperparameters as flags, the machine.

Sources: aws/sagemaker-python-sdk 2.251 (estimator.py: entry_point, source_dir; `torch_distributed` starts torchrun;
modules/train: ModelTrainer, SourceCode, Compute); aws/sagemaker-training-toolkit mapping.py (`to_cmd_args`: each
hyperparameter is a flag and a word, those of one letter with one dash).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.instances import instance
from loralint.source.command import Part
from loralint.source.document import Node
from loralint.source.python.spelled import value_field
from loralint.source.script import Argument, Call, Script
from loralint.source.shell.session import Step
from loralint.source.shell.words import Field

_UNSEEN = "what the job gets besides is not seen here"


class Job(NamedTuple):
    """call: what makes the job. script: the program, or with `typed` a command; folder: where it lies, "" where that is
    not known; given: its hyperparameters; machine: call that says on what; spread: whether torchrun starts it.
    """

    call: Call
    script: Argument
    typed: bool
    folder: str
    given: Argument | None
    machine: Call
    spread: bool


def jobs(script: Script) -> Iterator[Job]:
    """Every job of a program that runs a Python file of a known name, or a command; what the plain Estimator starts is
    its image's own business.
    """
    for call in script.calls:
        ours = call.name.startswith("sagemaker.") and not call.name.endswith(".Estimator")
        job = _job(call) if ours and call.span.file == script.document.file else None
        if job is not None and (job.typed or str(job.script.node.native).endswith(".py")):
            yield job


def _job(call: Call) -> Job | None:
    code, compute, spread = (_made(call, key) for key in ("source_code", "compute", "distributed"))
    typed = code.arg("command") if code is not None else None
    own = typed or call.arg("entry_point") or (code.arg("entry_script") if code is not None else None)
    if own is None or not isinstance(own.node.native, str):
        return None
    held, given = call.arg("distribution"), call.arg("hyperparameters")
    torch = held.node.get("torch_distributed") if held is not None and held.node.kind == "mapping" else None
    on = torch.get("enabled") if torch is not None and torch.kind == "mapping" else None
    return Job(
        call, own, typed is not None, text(code or call, "source_dir"), given, compute or call,
        spread=(on is not None and on.native is True)
        or (spread is not None and spread.name.rpartition(".")[2] == "Torchrun"),
    )  # fmt: skip


def _made(call: Call, key: str) -> Call | None:
    given = call.arg(key)
    return given.thing.made if given is not None and given.thing is not None else None


def steps(script: Script, job: Job) -> list[Step]:
    """What the machine does: variables, then the script with its flags."""
    found = list(_variables(script, job))
    if job.typed:
        return [*found, Step("text", (value_field(script, job.script.node),))]
    words = [*_launcher(job), value_field(script, job.script.node), *_flags(script, job)]
    return [*found, Step("words", tuple(words))]


def released(job: Job) -> dict[str, str]:
    """The versions that the image of a job has."""
    named = {"transformers": "transformers_version", "torch": "pytorch_version"}
    return {package: given for package, key in named.items() if (given := text(job.call, key))}


def _launcher(job: Job) -> list[Field]:
    at, nodes = job.script.node.start, nodes_of(job)
    cards = instance(text(job.machine, "instance_type"))[1]
    if not job.spread:
        return [_plain("python", at)]
    each = _plain(f"--nproc_per_node={cards}", at) if cards else _unknown("--nproc_per_node=", at)
    return [_plain("torchrun", at), _plain(f"--nnodes={nodes}", at) if nodes else _unknown("--nnodes=", at), each]


def _flags(script: Script, job: Job) -> Iterator[Field]:
    given = job.given.node if job.given is not None else None
    if given is None or given.kind != "mapping":
        yield from [_unknown("", job.script.node.start)] if given is not None or job.call.open else []
        return
    for pair in given.pairs:
        dashes = "--" if len(pair.key) > 1 else "-"
        yield Field((Part(f"{dashes}{pair.key}", pair.key_node.start, pair.key_node.end),), *_span(pair.key_node))
        value = pair.value
        yield value_field(script, value) if value.kind == "scalar" else _unknown("", value.start)


def _variables(script: Script, job: Job) -> Iterator[Step]:
    given = job.call.arg("environment")
    for pair in given.node.pairs if given is not None and given.node.kind == "mapping" else ():
        name = Field((Part(pair.key, *_span(pair.key_node)),), *_span(pair.key_node))
        value = value_field(script, pair.value) if pair.value.kind == "scalar" else _unknown("", pair.value.start)
        yield Step("variable", (name, value))


def _span(node: Node) -> tuple[int, int]:
    return node.start, node.end


def _plain(text: str, at: int) -> Field:
    return Field((Part(text, at, at),), at, at)


def _unknown(text: str, at: int) -> Field:
    return Field((Part(text, at, at), Part("${HYPERPARAMETERS}", at, at, _UNSEEN)), at, at)


def text(call: Call, key: str) -> str:
    """An argument that is a text; empty for any other."""
    given = call.arg(key)
    return given.node.native if given is not None and isinstance(given.node.native, str) else ""


def nodes_of(job: Job) -> int:
    """How many machines there are, 0 where that is not known."""
    given = job.machine.arg("instance_count")
    native = given.node.native if given is not None else 1
    return native if isinstance(native, int) and not isinstance(native, bool) and native > 0 else 0
