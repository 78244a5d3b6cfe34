"""Variables that a launch gets from elsewhere: files that its script reads with `source`, and the caller."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.companions.dotenv import is_dotenv, read_dotenv
from loralint.run.arguments import Variables
from loralint.run.options import Options
from loralint.run.project import Lookup
from loralint.source.command import Shell
from loralint.source.document import Document

_READS = frozenset({"source", "."})
_MOST = 8  # files that a script sources before a launch


def of_caller(options: Options, files: Lookup) -> tuple[Variables, ...]:
    """Those of the caller's files and of `--env`, as the run's other parts have them."""
    named = [files.document(path, path) for path in options.companions if is_dotenv(path)]
    found = [Variables(read_dotenv(one), one) for one in named]
    if options.env:
        import shlex

        lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in options.env.items())
        document = Document("--env", "text", lines)
        found.append(Variables(read_dotenv(document), document))
    return tuple(found)


def sourced(shell: Shell, offset: int, files: Lookup, near: str) -> Iterator[Variables]:
    """Those of `source .env` before a launch, the last one first; scripts that are sourced set what only they know.

    `[ -f .env ] && source .env` counts, as the file is there; of several that may be read nobody knows which is.
    """
    reads = [one for one in shell.commands if one.start < offset and len(one.words) > 1 and one.words[0].raw in _READS]
    paths = {one.words[1].text for one in reads if not one.sure}
    named = [one.words[1].text for one in reversed(reads) if one.sure or len(paths) == 1]
    for path in list(dict.fromkeys(named))[:_MOST]:
        document = files.find(path, near) if isinstance(path, str) and is_dotenv(path) else None
        if document is not None:
            yield Variables(read_dotenv(document), document)
