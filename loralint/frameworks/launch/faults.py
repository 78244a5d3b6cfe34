"""What is wrong with a launch as a command line: what the shell takes otherwise, and options given to the wrong one."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.key_list import top_keys
from loralint.frameworks.launch.programs import ONLY, OPTIONS, PYTHON
from loralint.frameworks.launch.recipes import recipe_started
from loralint.frameworks.launch.strict import left_over, rank_refused, refused
from loralint.frameworks.launched import Launch, Launcher
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.document import Document, Pair

# kind of a shell's fault -> (effect, what to do)
_SHELL = {
    "continuation": ("lost", "end every line but the last with a blank and a backslash, with nothing behind it"),
    "carriage": ("lost", "save the file with the line ends of Unix: sed -i 's/\\r$//' on it, or dos2unix"),
    "assignment": ("lost", "write it with no blank round the `=`"),
    "empty-value": ("crash", "write the value right behind the `=`, with no blank between"),
    "held": ("changed", "leave the backslashes out of the text, or put no blank behind them and use double quotes"),
    "wide": ("crash", "type the comma anew with an English keyboard"),
    "typographic": ("crash", "type the dashes and quotes anew in a plain text editor"),
    "unterminated": ("crash", "close it"),
    "quote": ("changed", "leave the last backslash out, or write / for it"),
}
# switches of `accelerate launch` of which it refuses a second. Source: accelerate 1.15.0 commands/launch.py
_KINDS = frozenset({"multi_gpu", "cpu", "tpu", "use_deepspeed", "use_fsdp"})

# frameworks whose script reads a config as the first word behind the script, and flags otherwise
_FIRST = frozenset({"llamafactory", "alignment-handbook"})
_KOHYA = ("sd_scripts", "musubi")  # how the names of the lists of kohya's trainers begin


def observed(launch: Launch, known: str, package: str = "") -> Iterator[Observation]:
    """All observations of a launch. known: the name of the list of keys of its program, "" for none. package: whose
    release decides over that list.
    """
    from loralint.frameworks.launch.degrees import divided
    from loralint.frameworks.launch.known_scripts import refused_by_scripts
    from loralint.frameworks.launch.kohya_config import misnamed
    from loralint.frameworks.launch.listed import listed
    from loralint.frameworks.launch.machines import alone, unmet

    for fault in launch.faults:
        yield _shell(launch.flags, *fault)
    for launcher in launch.launchers:
        yield from _after(launch, launcher, known)
        yield from _before(launcher)
        yield from _alone(launcher)
        yield from _together(launcher)
        yield from _chosen_twice(launcher)
        yield from _no_python(launcher)
    yield from _no_script(launch)
    yield from _dashed(launch)
    yield from recipe_started(launch)
    yield from refused(launch)
    yield from listed(launch, known, package)
    yield from rank_refused(launch)
    yield from left_over(launch)
    yield from _pushed_back(launch, known)
    yield from alone(launch)
    yield from unmet(launch)
    yield from refused_by_scripts(launch)
    yield from divided(launch)
    if known.startswith(_KOHYA):
        yield from misnamed(launch)


def misplaced(launch: Launch) -> bool:
    """Whether a script of nobody known is given options of its launcher."""
    return any(True for launcher in launch.launchers for _ in _after(launch, launcher, ""))


def _shell(document: Document, kind: str, message: str, start: int, end: int) -> Observation:
    effect, advice = _SHELL[kind]
    written = document.text[start:end]
    if kind == "continuation" and not written.strip("\\\r\n"):
        effect = "changed"
    key = written.split("=")[0].split()[0] if written.strip("\\ \r\n") else "\\"
    value = Value(written, key=key, text=written, span=document.span_at(start, end))
    return Observation("shell", value, effect, message, data={"advice": advice, "fault": kind})


def _pushed_back(launch: Launch, known: str) -> Iterator[Observation]:
    """The config that is no longer the first word, since deepspeed writes the number of the process before it."""
    own = next((one.flags.root for one in launch.launchers if one.name == "deepspeed"), None)
    config = launch.positionals[0] if launch.positionals else None
    if own is None or config is None or launch.program != "python" or known not in _FIRST:
        return
    if own.pair("no_local_rank") is None and config.raw.endswith((".yaml", ".yml")):
        what = "deepspeed writes `--local_rank` before the config, and the script reads one as its first word only"
        where = Value(config.raw, key="config", pointer="/config", span=launch.flags.span(config.node))
        advice = "write `--no_local_rank` before the script, or start it with torchrun"
        yield Observation("misplaced", where, "crash", what, data={"advice": advice})


def _no_script(launch: Launch) -> Iterator[Observation]:
    """A launcher's first word that is no Python file, with the script right behind it."""
    script, launcher = launch.script, launch.launchers[-1] if launch.launchers else None
    behind = launch.positionals[0] if launch.positionals else None
    if script is None or behind is None or launcher is None or launcher.name not in ONLY:
        return
    known = isinstance(script.text, str) and isinstance(behind.text, str)
    if known and "." not in script.raw.replace("\\", "/").rpartition("/")[2] and behind.raw.endswith(".py"):
        lost = next((f"--{one}" for one in ("hostfile", "num_gpus") if one in script.raw.lower()), "")
        message = f"{launcher.name} starts `{script.raw}` as the Python script, and hands it the name `{behind.raw}`"
        advice = f"write `{lost} {script.raw}`" if lost else f"write the option that `{script.raw}` is the value of"
        where = Value(script.raw, key=script.raw, pointer=f"/{script.raw}", span=launch.flags.span(script.node))
        yield Observation("misplaced", where, "crash", message, data={"advice": advice})


def _after(launch: Launch, launcher: Launcher, known: str) -> Iterator[Observation]:
    """Options of the launcher behind the script, which gets them instead."""
    root, own = launch.flags.root, launcher.flags.root
    keys = launch.declared | (top_keys(known) if known else frozenset())
    for pair in root.pairs if root is not None and launch.program == "python" else ():
        if pair.key in ONLY.get(launcher.name, ()) and pair.key not in keys and pair.key_node.raw not in launch.takes:
            said = own is not None and own.pair(pair.key) is not None
            message = f"`{pair.key_node.raw}` stands behind the script, so {launcher.name} does not get it"
            advice = f"write `{pair.key_node.raw}` before the script"
            if said:
                message, advice = f"{message} and takes its own", f"remove `{pair.key_node.raw}` behind the script"
            yield _misplaced(launch.flags, pair, "crash" if launch.takes else "lost", message, advice)


def _before(launcher: Launcher) -> Iterator[Observation]:
    """Options before the script that the launcher does not know: it refuses them."""
    root, options = launcher.flags.root, OPTIONS.get(launcher.name, frozenset())
    wrong = [
        pair
        for pair in (root.pairs if root is not None and options else ())
        if pair.key not in options and not any(one.startswith(pair.key) for one in options)
    ]
    if wrong:
        names = [f"`{pair.key_node.raw}`" for pair in wrong]
        first = f"{names[0]} stands" if len(names) == 1 else f"{names[0]} and {len(names) - 1} more stand"
        message = f"{first} before the script, so {launcher.name} gets what it has no option for"
        yield _misplaced(launcher.flags, wrong[0], "crash", message, f"write {', '.join(names)} behind the script")


def _together(launcher: Launcher) -> Iterator[Observation]:
    """Two kinds of launch asked for at once, of which accelerate takes one."""
    root = launcher.flags.root if launcher.name == "accelerate" else None
    asked = [pair for pair in (root.pairs if root is not None else ()) if pair.key in _KINDS]
    if len({pair.key for pair in asked}) > 1:
        message = f"accelerate takes only one of {', '.join(f'--{pair.key}' for pair in asked)}"
        where = place(launcher.flags, asked[-1], asked[-1].key)
        yield Observation("rejected", where, "crash", message, package="accelerate")


def _chosen_twice(launcher: Launcher) -> Iterator[Observation]:
    """A number of cards or machines beside their names, which deepspeed refuses (launcher/runner.py)."""
    root = launcher.flags.root if launcher.name == "deepspeed" else None
    if root is None or not any(root.pair(key) for key in ("include", "i", "exclude", "e")):
        return
    for key in ("num_gpus", "num_nodes"):
        if (pair := root.pair(key)) is not None and not pair.value.raw.startswith("-"):
            message = "deepspeed takes no number of GPUs or nodes beside `--include` or `--exclude`"
            data = {"advice": f"leave `--{key}` out"}
            yield Observation("rejected", place(launcher.flags, pair, key), "crash", message, "", "remove", data=data)
            return


def _no_python(launcher: Launcher) -> Iterator[Observation]:
    """A program where the launcher wants a Python file: it starts Python with that name itself."""
    word = launcher.started
    if word is not None:
        message = f"{launcher.name} starts Python by itself, and takes `{word.raw}` for the file that it is to run"
        better = (
            "write the script right behind the options" if PYTHON.fullmatch(word.raw) else f"start `{word.raw}` alone"
        )
        where = Value(word.raw, key=word.raw, pointer=f"/{word.raw}", span=launcher.flags.span(word.node))
        yield Observation("misplaced", where, "crash", message, data={"advice": better})


def _alone(launcher: Launcher) -> Iterator[Observation]:
    """`--multi_gpu` with one process, which accelerate refuses before it looks at anything else."""
    root = launcher.flags.root if launcher.name == "accelerate" else None
    count = root.pair("num_processes") if root is not None and root.pair("multi_gpu") is not None else None
    if count is not None and count.value.raw in ("0", "1"):
        message = "accelerate wants at least 2 processes with `--multi_gpu`"
        where = place(launcher.flags, count, "num_processes")
        yield Observation("rejected", where, "crash", message, package="accelerate")


def _dashed(launch: Launch) -> Iterator[Observation]:
    """Flags beside a config where only `key=value` counts: OmegaConf takes the dashes for a part of the key."""
    given = launch.positionals[0].raw if launch.positionals else ""
    root = launch.flags.root
    if launch.program != "llamafactory-cli" or root is None or not given.lower().endswith((".yaml", ".yml", ".json")):
        return
    wrong = [pair for pair in root.pairs if pair.key_node.raw.startswith("-")]
    if wrong:
        names = ", ".join(f"`{pair.key}=...`" for pair in wrong)
        message = f"beside a config LLaMA-Factory takes `key=value`, and refuses `{wrong[0].key_node.raw}`"
        yield _misplaced(launch.flags, wrong[0], "crash", message, f"write {names}")


def _misplaced(document: Document, pair: Pair, effect: str, message: str, advice: str) -> Observation:
    value = Value(
        pair.value.raw if pair.value.kind == "scalar" else None,
        key=pair.key,
        pointer=f"/{pair.key}",
        text=document.text[pair.value.start : pair.value.end],
        span=document.span(pair.value),
        key_span=document.span(pair.key_node),
    )
    return Observation("misplaced", value, effect, message, data={"advice": advice})
