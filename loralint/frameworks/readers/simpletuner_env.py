"""SimpleTuner's `config.env` (0.9.8, 1.0 and 4.8.0 read): shell variables that become flags of its training script.

Until 0.9.8 `train.sh` made the command line of them, for one architecture each (`FLUX=true`); since 1.0 a table of the
program does, with `MODEL_FAMILY` and without some of the old names. A switch of `false` is left out. What stands in
`TRAINER_EXTRA_ARGS` is handed on as it is, behind the rest.
Sources: helpers/configuration/{env_file,loader}.py, train.sh and config/config.env.example of 0.9.8.3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from loralint.frameworks.convert import never
from loralint.frameworks.flags import as_flags
from loralint.frameworks.launch.flags import Style, take
from loralint.frameworks.observe import chosen, place
from loralint.frameworks.readers import simpletuner
from loralint.frameworks.readers.diffusion import family
from loralint.frameworks.readers.simpletuner_faults import observe_faults
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.source.command import Part, Word
from loralint.source.document import Document, Mark, Node, Pair

# Flag -> variable, of the flags that a row of the config's table reads.
NAMES = {
    "pretrained_model_name_or_path": "MODEL_NAME", "model_family": "MODEL_FAMILY", "model_type": "MODEL_TYPE",
    "lora_type": "LORA_TYPE", "lycoris_config": "LYCORIS_CONFIG", "use_dora": "USE_DORA",
    "base_model_precision": "BASE_MODEL_PRECISION", "optimizer": "OPTIMIZER", "learning_rate": "LEARNING_RATE",
    "lr_scheduler": "LR_SCHEDULE", "lr_warmup_steps": "LR_WARMUP_STEPS", "train_batch_size": "TRAIN_BATCH_SIZE",
    "gradient_accumulation_steps": "GRADIENT_ACCUMULATION_STEPS", "num_train_epochs": "NUM_EPOCHS",
    "max_train_steps": "MAX_NUM_STEPS", "seed": "TRAINING_SEED", "mixed_precision": "MIXED_PRECISION",
    "caption_dropout_probability": "CAPTION_DROPOUT_PROBABILITY", "output_dir": "OUTPUT_DIR",
    "checkpoint_step_interval": "CHECKPOINT_STEP_INTERVAL", "checkpointing_steps": "CHECKPOINTING_STEPS",
    "checkpoints_total_limit": "CHECKPOINTING_LIMIT", "resume_from_checkpoint": "RESUME_CHECKPOINT",
    "gradient_checkpointing": "USE_GRADIENT_CHECKPOINTING", "data_backend_config": "DATALOADER_CONFIG",
    "resolution": "RESOLUTION", "resolution_type": "RESOLUTION_TYPE",
}  # fmt: skip
# The same for variables that only train.sh handed on.
_OLD_NAMES = {"lora_rank": "LORA_RANK", "snr_gamma": "MIN_SNR_GAMMA"}
_FLAGS = {name: flag for flag, name in (*NAMES.items(), *_OLD_NAMES.items())}
# Switches of old that chose the architecture, which otherwise was SDXL.
_FAMILIES = {
    "FLUX": "flux", "STABLE_DIFFUSION_3": "sd3", "PIXART_SIGMA": "pixart_sigma", "KOLORS": "kolors",
    "SMOLDIT": "smoldit", "STABLE_DIFFUSION_LEGACY": "sd2",
}  # fmt: skip
_OLD = "simpletuner<1"
_SOURCED = "simpletuner<3"  # bash read the file until train.sh went
_OWN = frozenset({"MODEL_TYPE", "LEARNING_RATE", "DATALOADER_CONFIG", "MODEL_NAME", "TRAIN_BATCH_SIZE"})
_ENOUGH = 3
_MOST = 2000  # words that anybody hands on
_EXTRA = ("TRAINER_EXTRA_ARGS", "DEBUG_EXTRA_ARGS")


def is_config(document: Document) -> bool:
    """Whether variables describe a training of SimpleTuner; others only say how its processes start."""
    names = {pair.key for pair in document.root.pairs} if document.root is not None else set()
    return len(names & _OWN) >= _ENOUGH


def backend(document: Document) -> str:
    """The format of config that the variables choose: json, toml, env, or "" where they choose none."""
    pairs = document.root.pairs if document.root is not None else ()
    given = {pair.key: pair.value.raw.lower() for pair in pairs}
    wanted = ("SIMPLETUNER_CONFIG_BACKEND", "CONFIG_BACKEND", "CONFIG_TYPE")
    return next((given[name] for name in wanted if name in given), "")


def extra(document: Document) -> list[Document]:
    """The flags that the file hands on as they are, one document for each variable that has some."""
    given = [document.root.get(name) for name in _EXTRA] if document.root is not None else []
    texts = [(node, node.native) for node in given if node is not None and isinstance(node.native, str)]
    return [take(_words(document, node, text), document, (node.start, node.end), Style()).flags for node, text in texts]


def _words(document: Document, node: Node, text: str) -> Iterator[Word]:
    """A text as words, each at its place where the text stands in the file as it is."""
    at = document.text.find(text, node.start, node.end)
    for match in islice(re.finditer(r"\S+", text), _MOST):
        start, end = (at + match.start(), at + match.end()) if at >= 0 else (node.start, node.end)
        marks = Mark(start, document.lines), Mark(end, document.lines)
        made = Node("scalar", "str", *marks, match[0], native=match[0])
        yield Word(match[0], made, parts=(Part(match[0], start, end),), start=start, end=end)


def _as_flags(document: Document) -> Document:
    """The same with variables under the names of their flags."""
    made = Document(document.file, "env", document.text)
    root = Node("mapping", "map", Mark(0, made.lines), Mark(len(made.text), made.lines))
    pairs = document.root.pairs if document.root is not None else ()
    root.pairs = [Pair(_FLAGS[pair.key], pair.key_node, pair.value) for pair in pairs if pair.key in _FLAGS]
    made.roots = [root]
    return made


def _combine(document: Document, values: Values) -> Values:
    """As in the other formats; a checkpointing that is denied is on all the same, or was before 1.0."""
    fields = dict(simpletuner.combine(_as_flags(document), values))
    root = document.root
    chosen = (pair for pair in root.pairs if pair.key in _FAMILIES and pair.value.raw == "true") if root else ()
    pair = next(iter(chosen), None)
    if pair is not None and not values.get("model.diffusion_family"):
        told = place(document, pair, pair.key)._replace(value=family(_FAMILIES[pair.key]))
        fields["model.diffusion_family"] = (told._replace(field="model.diffusion_family"),)
    switch = root.get("USE_GRADIENT_CHECKPOINTING") if root else None
    if switch is not None and switch.raw.lower() == "false" and not pins(document):  # left out, and on by default
        fields["memory.gradient_checkpointing"] = ()
    return fields


def pins(document: Document) -> dict[str, str]:
    """The release that a file is for which chooses its architecture by a switch of old."""
    names = {pair.key for pair in document.root.pairs} if document.root is not None else set()
    return {"simpletuner": "0.9.8"} if names & set(_FAMILIES) and "MODEL_FAMILY" not in names else {}


def _observe(document: Document, look: Look) -> list[Observation]:
    """What is observed of flags, told of the variables; and variables of old that nobody reads any more."""
    flags = _as_flags(document)
    today = (*chosen(flags, simpletuner.READER, look), *observe_faults(flags, look), *_unread(document))
    found = () if look.version_is(_OLD) else today
    return [*map(_told, found), *(_carriage(document) if look.version_is(_SOURCED) else ())]


def _carriage(document: Document) -> Iterator[Observation]:
    """A file with the line ends of Windows, which bash takes for a letter at the end of each value."""
    end = document.text.find("\r\n")
    pairs = document.root.pairs if document.root is not None and end >= 0 else ()
    pair = next((one for one in pairs if one.value.end >= end - 1), None)
    if pair is not None:
        message = "the lines end as on Windows (CRLF), and train.sh hands the carriage return on with each value"
        told = {"advice": "save the file with the line ends of Unix (dos2unix)", "fault": "carriage"}
        yield Observation("shell", place(document, pair, pair.key), "crash", message, package="simpletuner", data=told)


def _told(one: Observation) -> Observation:
    """The same of a variable, which can switch nothing off."""
    value = one.value._replace(key=NAMES.get(one.value.key, one.value.key))
    return (
        one._replace(value=value, replacement="", rewrite="")
        if one.replacement == "false"
        else one._replace(value=value)
    )


def _unread(document: Document) -> list[Observation]:
    assert document.root is not None
    found = []
    for flag, name in _OLD_NAMES.items():
        pair = document.root.pair(name)
        if pair is not None and f"--{flag}" not in document.text:
            message = "SimpleTuner hands this variable on no more since 1.0"
            told = {"advice": f'write TRAINER_EXTRA_ARGS="--{flag}={pair.value.raw}"'}
            lost = place(document, pair, name)
            found.append(Observation("ignored", lost, "lost", message, package="simpletuner", data=told))
    return found


def _row(row: Entry) -> Entry:
    """The row under the variable's name; one without a variable keeps its default."""
    name = NAMES.get(row.key, "")
    return row._replace(key=name) if name or not row.key else row._replace(key="", write=never)


_ROWS = tuple(row for row in simpletuner.TABLE if not row.key.startswith("--"))
TABLE = (
    *(row._replace(key=_OLD_NAMES[row.key], when=_OLD, default=SKIP) for row in _ROWS if row.key in _OLD_NAMES),
    *(_row(row) for row in _ROWS if row.key in NAMES or row.default is not SKIP),
)

READER = Reader(
    name="simpletuner",
    title="SimpleTuner",
    dialect="flags",
    table=TABLE,
    keys="simpletuner_env",
    coerces=True,
    packages=("simpletuner",),
    observe=(_observe,),
    combine=_combine,
    pins=pins,
)
FLAGS = as_flags(simpletuner.READER)
