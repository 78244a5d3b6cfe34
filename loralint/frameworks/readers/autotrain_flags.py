"""AutoTrain's command line, `autotrain llm --train` and its kin: the parameters of the task as flags, without sections.

The parser is made of the same class that reads `params` of a file, so the rows are those of the config under shorter
names. It refuses a flag that it does not know. Subcommands other than `llm` have parameters of their own, of which
nothing is claimed.
Sources: autotrain-advanced 0.8.36 cli/run_llm.py, cli/utils.py (get_field_info), trainers/clm/params.py.
"""

from __future__ import annotations

from functools import cache

from loralint.frameworks.flags import as_flags
from loralint.frameworks.readers.autotrain import READER as CONFIG
from loralint.frameworks.readers.autotrain import TABLE as CONFIG_TABLE
from loralint.frameworks.readers.autotrain_faults import cut
from loralint.frameworks.table import SKIP, Entry, Reader

# Keys of a file whose flag is no mere last name.
_NAMES = {"base_model": "model", "data.path": "data_path", "task": ""}


def _flag(row: Entry) -> Entry:
    name = _NAMES.get(row.key, row.key.rpartition(".")[2])
    return row._replace(key=name, default="pt") if name == "trainer" else row._replace(key=name)


TABLE = tuple(_flag(row) for row in CONFIG_TABLE if row.key != "task")
READER = as_flags(CONFIG._replace(table=TABLE, keys="autotrain_flags", observe=(cut,)))


@cache
def reader_of(subcommand: str) -> Reader:
    """The reader of a subcommand's flags; of another than `llm` it knows the common names and no defaults."""
    if subcommand == "llm":
        return READER
    return READER._replace(table=tuple(row._replace(default=SKIP) for row in TABLE), keys="", observe=())
