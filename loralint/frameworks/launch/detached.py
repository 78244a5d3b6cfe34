"""Variables that a backslash before an empty line cuts off from the command below: nobody exports them.

`NPROC_PER_NODE=8` with a backslash, an empty line and `swift sft ...` are two commands. The first sets a variable of
the shell, and a program that is started later sees it only if it was in the environment before (POSIX.1-2017 2.9.1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.document import Document

_DETACHED = re.compile(
    r"(?<!\\\n)^[ \t]*(?P<set>(?P<name>[A-Z][A-Z0-9_]*)=[^\s;&|#\"'$`]+)[ \t]*\\\n"
    r"(?:[ \t]*[A-Z][A-Z0-9_]*=[^\s;&|#]+[ \t]*\\\n)*[ \t]*\n",
    re.MULTILINE,
)


def detached(found: list[Launch], document: Document) -> Iterator[Observation]:
    """Observe the first such variable of a script that starts something later and names it nowhere else."""
    text, last = document.text, max((one.offset for one in found), default=-1)
    several = [match for match in _DETACHED.finditer(text) if match.end() <= last]
    often = Counter(re.findall(r"\w+", text) if several else ())
    for match in several:
        name, shown = match["name"], match["set"][:60]
        if often[name] == 1:
            span = document.span_at(match.start("set"), match.end("set"))
            message = f"the empty line ends the command, so `{shown}` is set for the shell alone, and what is started "
            message += "below does not see it"
            data = {"advice": "take the empty line out", "fault": "detached"}
            where = Value(match["set"], key=name, pointer=f"/{name}", text=match["set"], span=span)
            yield Observation("shell", where, "lost", message, data=data)
            return
