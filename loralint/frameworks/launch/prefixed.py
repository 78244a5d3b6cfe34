"""Variables in front of a command of the shell's own, as `CUDA_VISIBLE_DEVICES=1 cd work && torchrun ...`.

Bash gives such a variable to that one command, and what is started behind it does not see it. In POSIX mode, as `sh`,
the shell keeps what stands before its special commands (POSIX.1-2017 2.14), `export` among them. A number behind a
blank, as in `CUDA_VISIBLE_DEVICES= 0,1`, is a command by itself, and none that there is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.document import Document

_PREFIXED = re.compile(
    r"^[ \t]*(?P<set>(?P<name>[A-Z][A-Z0-9_]*)=[^\s;&|#\"'$`]+)(?:[ \t]+[A-Z][A-Z0-9_]*=[^\s;&|#]+)*"
    r"[ \t]+(?P<own>export|cd|ulimit)[ \t]",
    re.MULTILINE,
)
_SPACED = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?P<name>(?:CUDA|HIP|ASCEND_RT)_VISIBLE_DEVICES|NPROC_PER_NODE|NNODES|NODE_RANK|"
    r"MASTER_PORT|WORLD_SIZE|OMP_NUM_THREADS)(?:=[ \t]+|[ \t]+=[ \t]*)(?P<value>\d[\d,\\]*)[ \t]*(?=\r?$|;|&&)",
    re.MULTILINE,
)
_POSIX = re.compile(r"#![ \t]*(?:/usr)?/bin/(?:sh|dash|env[ \t]+sh)\b|.*set -o posix", re.DOTALL)
_SPECIAL = "export"
_SETS = re.compile(r"\b([A-Z][A-Z0-9_]*)=")
_WORD = re.compile(r"\w+|\n")


def prefixed(found: list[Launch], document: Document) -> Iterator[Observation]:
    """Observe the first such variable of a script that starts something later and sets it nowhere else."""
    text, last = document.text, max((one.offset for one in found), default=-1)
    several = [match for match in _PREFIXED.finditer(text) if match.start("own") < last]
    if not several:
        return
    often, exported, posix = Counter(_SETS.findall(text)), _exported(text), _POSIX.match(text) is not None
    for match in several:
        name, own = match["name"], match["own"]
        again = often[name] > 1 or exported.get(name, -1) >= match.end()
        if again or (own == _SPECIAL and posix):
            continue
        span = document.span_at(match.start("set"), match.end("set"))
        message = f"`{match['set'][:60]}` holds for `{own}` alone, and what is started later does not see it"
        data = {"advice": f"write `export {match['set'][:60]}` on a line of its own", "fault": "prefix"}
        where = Value(match["set"], key=name, pointer=f"/{name}", text=match["set"], span=span)
        yield Observation("shell", where, "lost", message, data=data)
        return


def _exported(text: str) -> dict[str, int]:
    """Each word that stands behind an `export` in its line -> where the last such `export` of a text stands."""
    found: dict[str, int] = {}
    export = -1
    for one in _WORD.finditer(text):
        if one[0] == "\n":
            export = -1
        elif export >= 0:
            found[one[0]] = export
        if one[0].startswith(_SPECIAL):
            export = one.start()
    return found


def spaced(found: list[Launch], document: Document) -> Iterator[Observation]:
    """Observe variables for launchers whose value a blank parts from them, of a script that starts something."""
    for match in _SPACED.finditer(document.text) if found else ():
        name, value, text = match["name"], match["value"].replace("\\", ""), match[0].strip()
        where = Value(text, key=name, pointer=f"/{name}", text=text, span=document.span_at(*match.span()))
        message = f"a blank stands beside the `=` of {name}, and `{value[:60]}` is a word by itself, not its value"
        data = {"advice": f"write `export {name}={value}`, without blanks", "fault": "prefix"}
        yield Observation("shell", where, "lost", message, data=data)
