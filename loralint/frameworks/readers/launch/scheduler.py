"""What a batch system is asked for: the directives of Slurm, PBS and LSF in a script, and srun's own options.

A type of card is a name that each cluster gives itself; one that is no known GPU is not told. Directives are what the
command line of `sbatch` may replace, so that they are assumed; options of `srun` are not.
Sources: SchedMD/slurm@a243f652 doc/html/gres.shtml (types, counts per node and job; CUDA_VISIBLE_DEVICES is set to the
cards of a job); openpbs/openpbs@1859ef9a doc/man1/pbs_resources.7B (chunks of `-l select=`; names of a type of card are
each site's own); IBM Spectrum LSF 10.1.0, bsub -gpu (`num` counts per host, `gmodel`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.convert import never
from loralint.frameworks.launch.flags import Style, take
from loralint.frameworks.table import SKIP, Entry, Reader, Values
from loralint.model import Unknown
from loralint.source.command import Part, Word
from loralint.source.document import Document, Mark, Node

_DIRECTIVE = re.compile(r"^#(SBATCH|PBS|BSUB)[ \t]+([^\r\n]*)", re.MULTILINE)
# The directives end where the commands start.
_HEAD = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z))*")
_WORD = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'#]|(?<=\S)#)+")
_SLICE = re.compile(r"(.+?)[_.-](\d)g\.(\d{1,3})gb", re.IGNORECASE)
_JOINED = re.compile(r"(-[NGC])(\S+)")
_RESOURCE = re.compile(r"\b(?:select|nodes|num|ngpus|gpus|gpu_type|gpu_model|gmodel)=[^:+,]+")
_MOST = 64
# srun starts its command once for each task, unless it is told how many; without srun the batch script runs once
_PLAIN_SRUN = re.compile(r"^[ \t]*srun(?![^\n]*(?:ntasks| -n ?\d))", re.MULTILINE)


def directives(document: Document) -> Document | None:
    """The options that a script asks its batch system for, in one document; None for a script without any."""
    head = _HEAD.match(document.text)
    found = list(_DIRECTIVE.finditer(document.text, 0, head.end() if head else 0))[:_MOST]
    if not found:
        return None
    words = [word for match in found for word in _words(document, match)]
    return take(words, document, (found[0].start(), found[-1].end()), Style(settings=True)).flags


def _words(document: Document, match: re.Match[str]) -> Iterator[Word]:
    """The words of a directive; those of PBS and LSF as `name=value`."""
    for word in _WORD.finditer(match[2]):
        start, text = match.start(2) + word.start(), word[0].replace('"', "").replace("'", "")
        shift = start + (word[0][:1] in "\"'")
        if match[1] != "SBATCH":
            for one in _RESOURCE.finditer(text):
                yield _word(document, one[0], shift + one.start(), shift + one.end())
        elif joined := _JOINED.fullmatch(text):
            yield _word(document, joined[1], start, start + 2)
            yield _word(document, joined[2], start + 2, start + len(text))
        else:
            yield _word(document, text, start, start + len(word[0]))


def _word(document: Document, text: str, start: int, end: int) -> Word:
    node = Node("scalar", "str", Mark(start, document.lines), Mark(end, document.lines), text, native=text)
    return Word(text, node, parts=(Part(text, start, end),), start=start, end=end)


def _asked(given: object) -> tuple[str, int] | None:
    """Type and number of `gpu:a100:4`, `a100:4` or `4`; the type is "" where none is asked for."""
    items = str(given).split("(")[0].split(",")
    cards = [one for one in items if one.partition(":")[0] == "gpu"] or items
    if len(cards) != 1:
        return None
    *name, last = [part for part in cards[0].removeprefix("gpu").split(":") if part] or ["1"]
    number = int(last) if last.isascii() and last.isdigit() and len(last) < 6 else 0
    return (name[0] if name else "", number) if number else (last, 1)


def _number(given: object) -> object:
    asked = _asked(given)
    return asked[1] if asked is not None and (isinstance(given, int) or ":" in str(given) or not asked[0]) else SKIP


def _type(given: object) -> object:
    asked = _asked(given)
    return _known(asked[0]) if asked is not None and asked[0] else SKIP


def _known(name: str) -> object:
    """The name of a GPU of the list; a slice of one by its profile, as `a100_3g.20gb`."""
    from loralint.knowledge.hardware import gpu

    slice_ = _SLICE.fullmatch(name)
    spelled = f"{slice_[1]}-MIG-{slice_[2]}g.{slice_[3]}gb" if slice_ is not None else name
    return spelled if gpu(spelled) is not None else SKIP


def _feature(given: object) -> object:
    """The card among the features that a node must have; of several to choose from nobody knows which."""
    names = [one for one in re.split(r"[&|,\[\]() ]+", str(given)) if _known(one) is not SKIP]
    if len(names) > 1 and "|" in str(given):
        return Unknown(f"the scheduler may choose among {', '.join(names)}")
    return names[0] if len(names) == 1 and "|" not in str(given) else SKIP


def _nodes(given: object) -> object:
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else SKIP


_PER_NODE = ("gres", "gpus_per_node", "ngpus", "num")
_TABLE: tuple[Entry, ...] = (
    *(Entry("run.gpu", key, _type, never) for key in ("gres", "gpus_per_node", "gpus", "G", "gpus_per_task")),
    *(Entry("run.gpu", key, lambda name: _known(str(name)), never) for key in ("gpu_type", "gpu_model", "gmodel")),
    *(Entry("run.gpu", key, _feature, never) for key in ("constraint", "C")),
    *(Entry("job.gpus_per_node", key, _number, never) for key in _PER_NODE),
    *(Entry("dist.visible_devices", key, _number, never) for key in _PER_NODE),
    *(Entry("job.nodes", key, _nodes, never) for key in ("nodes", "N", "select")),
    Entry("job.tasks_per_node", "ntasks_per_node", _nodes, never),
    Entry("job.requeued", "requeue", lambda on: True if on is True else SKIP, never),
    *(Entry("run.gpu_count", key, _number, never) for key in ("gpus", "G")),
)


def _combine(document: Document, values: Values) -> Values:
    """The cards of all nodes together, where the nodes are counted."""
    root = document.root
    fields: Values = {} if _PLAIN_SRUN.search(document.text) else {"job.tasks_per_node": ()}
    tasks = root is not None and any(root.pair(key) for key in ("ntasks", "n"))
    each, nodes = values.get("job.gpus_per_node", ()), values.get("job.nodes", ())
    if values.get("run.gpu_count") or not each or (tasks and not nodes):
        return fields
    number = each[0].value * (nodes[0].value if nodes else 1)  # type: ignore[operator]
    return {**fields, "run.gpu_count": (each[0]._replace(value=number, field="run.gpu_count"),)}


READER = Reader(
    name="scheduler",
    title="the batch system",
    dialect="flags",
    table=_TABLE,
    keys="",
    coerces=True,
    packages=("slurm",),
    combine=_combine,
)
