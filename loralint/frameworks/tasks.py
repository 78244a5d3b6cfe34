"""Files that hand commands to a cloud or to a runner: which of their texts a shell runs, and with what around them.

Sources: docs.skypilot.co/en/latest/reference/yaml-spec; dstack.ai/docs/reference/dstack.yml/task; Azure ML CLI v2
commandJob and pipelineJob; docs.docker.com/reference/compose-file/services; dvc.org dvc.yaml; Beaker's experiment spec
v2; Vertex AI CustomJobSpec; Anyscale's job config.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, text, top
from loralint.source.document import Node

# `${{inputs.lr}}`; `${train.lr}`; `$LR`, `${LR:-1e-4}` and `$$`, which stands for a dollar
_DOUBLE = re.compile(r"\$\{\{[ \t]{0,80}(?P<name>[\w.-]+)[ \t]{0,80}\}\}")
_DOTTED = re.compile(r"\$\{(?P<name>[\w.\[\]-]{1,80})\}")
_COMPOSE = re.compile(
    r"\$(?:\$|[A-Za-z_]\w*|\{(?P<name>[A-Za-z_]\w{0,80})(?::?-(?P<default>[^{}$]{0,400})|[^{}$]{0,400})\})"
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


class Kind(NamedTuple):
    """One kind of such files. name: of what reads it. every: keys at the root; some: one of these as well; only: the
    keys that there are, empty for any; says: (key, pattern) that its text fits.

    units: where each command stands: "" for the root, `services.*`, `tasks[]`; see `units_of`. texts: scripts, in their
    order; a list is one script. words: a command that no shell takes apart, in pieces. env: variables; folder: where it
    starts; mounts: files of the repository, under the paths that it sees them by. filled: what is filled in before;
    inputs: what that may name. counts: variables that are set by what is asked for, and the field of each. sweep: the
    command is made of parameters, see `sweeps`.
    """

    name: str
    every: frozenset[str]
    some: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    says: tuple[str, str] = ("", "")
    units: str = ""
    texts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    folder: str = ""
    mounts: str = ""
    filled: re.Pattern[str] = _DOUBLE
    inputs: str = ""
    counts: tuple[tuple[str, str], ...] = ()
    sweep: bool = False


_AZURE = Kind(
    "Azure ML", _set("command environment"), _set("compute code inputs $schema"), texts=("command",),
    env=("environment_variables",), folder="code", inputs="inputs",
)  # fmt: skip
_VERTEX = Kind(
    "Vertex AI", _set("workerPoolSpecs"), units="workerPoolSpecs[0]", env=("containerSpec.env",),
    words=("containerSpec.command", "containerSpec.args"),
)  # fmt: skip
KINDS = (
    Kind(
        "SkyPilot", _set("run"), _set("resources setup num_nodes file_mounts envs secrets workdir"),
        only=_set("""name workdir num_nodes resources envs secrets file_mounts setup run config volumes experimental
                     inputs outputs event_callback pool job labels"""),
        texts=("setup", "run"), env=("envs", "secrets"), folder="workdir", mounts="file_mounts",
        counts=(("SKYPILOT_NUM_GPUS_PER_NODE", "job.gpus_per_node"), ("SKYPILOT_NUM_NODES", "job.nodes")),
    ),
    Kind("dstack", _set("type commands"), says=("type", "task"), texts=("commands",), env=("env",),
         folder="working_dir",
         counts=(("DSTACK_GPUS_PER_NODE", "job.gpus_per_node"), ("DSTACK_NODES_NUM", "job.nodes"),
                 ("DSTACK_GPUS_NUM", "run.gpu_count"))),
    _AZURE,
    _AZURE._replace(every=_set("type jobs"), some=frozenset(), says=("type", "pipeline"), units="jobs.*"),
    Kind("Docker Compose", _set("services"), units="services.*", words=("entrypoint", "command"),
         env=("environment",), folder="working_dir", mounts="volumes", filled=_COMPOSE),
    Kind("DVC", _set("stages"), units="stages.*", texts=("cmd",), folder="wdir", filled=_DOTTED),
    Kind("Beaker", _set("version tasks"), says=("version", r"v2.*"), units="tasks[]", words=("command", "arguments"),
         env=("envVars",)),
    _VERTEX,
    _VERTEX._replace(every=_set("worker_pool_specs"), units="worker_pool_specs[0]", env=("container_spec.env",),
                     words=("container_spec.command", "container_spec.args")),
    Kind("Weights & Biases", _set("program parameters"), _set("method"), sweep=True),
    Kind("Anyscale", _set("entrypoint"), _set("image_uri compute_config cluster_env build_id containerfile"),
         texts=("entrypoint",), env=("env_vars",), folder="working_dir"),
)  # fmt: skip


def kind_of(root: Node) -> Kind | None:
    """What a file is for, by the keys at its root; None for all else."""
    keys = frozenset(pair.key for pair in root.pairs)
    return next((one for one in KINDS if one.every <= keys and _fits(one, keys, root)), None)


def _fits(kind: Kind, keys: frozenset[str], root: Node) -> bool:
    key, pattern = kind.says
    given = text(named(top(root), key)) if key else ""
    return (
        (not kind.some or not kind.some.isdisjoint(keys))
        and (not kind.only or keys <= kind.only)
        and (not key or (key in keys and re.fullmatch(pattern, given) is not None))
    )


def units_of(kind: Kind, root: Node) -> Iterator[At]:
    """Each part of a file that has a command of its own."""
    at, path = top(root), kind.units
    if not path:
        yield at
    elif path.endswith(".*"):
        yield from entries(inside(at, path.removesuffix(".*")))
    else:
        several = items(named(at, path.partition("[")[0]))
        yield from several[:1] if path.endswith("[0]") else several


def variables_of(kind: Kind, unit: At) -> Iterator[tuple[Node, Node | None]]:
    """Name and value of each variable; of `NAME=value` in a list both are the same node, and a value from elsewhere is
    none.
    """
    for key in kind.env:
        held = inside(unit, key)
        for one in entries(held):
            if one.label is not None:
                yield one.label, one.node if one.node.kind == "scalar" and one.node.tag != "null" else None
        for one in items(held):
            name, value = named(one, "name"), named(one, "value")
            if one.node.kind == "scalar":
                yield one.node, one.node if "=" in one.node.raw else None
            elif name is not None:
                yield name.node, value.node if value is not None else None


def commands_of(kind: Kind, unit: At) -> list[At]:
    """Where the commands of a unit stand."""
    return [at for key in (*kind.texts, *kind.words) if (at := inside(unit, key)) is not None]


def scalars(several: Iterable[At]) -> Iterator[Node]:
    """The texts at these places and in lists at them."""
    for at in several:
        yield from (one.node for one in (items(at) or [at]) if one.node.kind == "scalar" and one.node.tag != "null")
