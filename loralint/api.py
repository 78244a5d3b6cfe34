"""The Python interface, which the command line is a thin layer over."""

from __future__ import annotations

import errno
import itertools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loralint.engine.lint import Job, lint
from loralint.engine.rules import select
from loralint.engine.settings import Settings
from loralint.knowledge.rules import Rule
from loralint.knowledge.versions import parse_targets
from loralint.model import Note, Report, Run
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.discover import Candidate, discover, starts_first
from loralint.source.document import Document
from loralint.source.read import read_bytes, read_file

if TYPE_CHECKING:
    from loralint.data.given import Given
    from loralint.engine.baseline import Key
    from loralint.probe.request import Request


def check(
    what: str | os.PathLike[str] | Mapping[str, Any] | Iterable[str | os.PathLike[str]],
    *,
    gpu: str = "",
    target: Iterable[str] = (),
    framework: str = "",
    rows: int | None = None,
    select_rules: Iterable[str] = (),
    ignore_rules: Iterable[str] = (),
    settings: Settings | None = None,
    show_settings: bool = False,
    data: Iterable[str | os.PathLike[str]] = (),
    eval_data: Iterable[str | os.PathLike[str]] = (),
    tokenizer: str | os.PathLike[str] = "",
    companions: Iterable[str | os.PathLike[str]] = (),
    env: Mapping[str, str] | None = None,
    configmaps: Mapping[str, str] | None = None,
    launch: str = "",
    model_config: Iterable[str] = (),
    model_cache: str = "",
    probe: Request | None = None,
    grouped: bool = True,
    figures: bool = False,
) -> Report:
    """Lint a file, a folder, several of them, or a config given as a mapping.

    gpu: such as "T4" or "A100-80GBx8"; target: such as "transformers=5.24"; rows: rows of training data; framework:
    read the files as this framework's. data, eval_data: files of rows to check with the configs; tokenizer: the model's
    tokenizer.json. companions: files that every run reads besides those that it names (DeepSpeed, accelerate, pins,
    .env); env: variables that it gets; configmaps: name of a ConfigMap that manifests mount -> the file or folder that
    it is made of; launch: the command line that starts it. model_config: the base model's config.json or its folder, or
    "BASE=PATH" for one base model; model_cache: folder of a Hugging Face cache, "auto" for this machine's. grouped:
    outdated keywords of one call or flags of one command are one finding. figures: runs carry their settings and what
    `render("html", ...)` draws. A mapping is linted as if it were written as JSON.
    Raises ValueError for an unknown framework, GPU, target, rule selector, model config or file of rows, and
    FileNotFoundError for a path that leads to nothing. What a file holds never raises: an unreadable one is told.
    """
    settings = settings or Settings()
    chosen = options(
        gpu=gpu, target=target, framework=framework, rows=rows, settings=settings,
        model_config=model_config, model_cache=model_cache,
    )  # fmt: skip
    job = make_job(
        settings,
        chosen._replace(
            companions=tuple(os.fspath(path) for path in companions),
            env=dict(env or {}),
            configmaps=dict(configmaps or {}),
        ),
        chosen=tuple(select_rules),
        ignored=tuple(ignore_rules),
        show_settings=show_settings,
        data=data_files(data, eval_data, tokenizer),
    )
    if figures:
        from loralint.engine.figures import drawing

        job = drawing(job)
    if probe is not None:
        job = probing(job, probe)
    line = [launch_line(launch)] if launch else []
    if isinstance(what, Mapping):
        return report([*line, document_of(what)], job, grouped=grouped)
    paths = [what] if isinstance(what, (str, os.PathLike)) else list(what)
    found = starts_first(discover([os.fspath(path) for path in paths], exclude=settings.exclude))
    files = (read_file(one.path, one.shown) for one in found if _readable(one))
    return report(itertools.chain(line, files), job, project=around(paths), grouped=grouped)


def watch(
    path: str | os.PathLike[str], *, select_rules: Iterable[str] = (), ignore_rules: Iterable[str] = ()
) -> Report:
    """Judge the log of a training: a file, or the newest log in a folder (`loralint.watch.read`).

    Raises ValueError, saying what to give instead, for a path that leads to no log with losses, or an unknown rule.
    """
    from loralint.engine.watched import judge_log
    from loralint.watch.read import read

    rules = select(tuple(select_rules), tuple(ignore_rules), False)
    return Report((judge_log(read(os.fspath(path)), rules),))


def probing(job: Job, request: Request) -> Job:
    """The job with micro-training. Raises ValueError, saying what to do, where that cannot be had."""
    from loralint.probe.request import prober

    return job._replace(probe=prober(request))


def around(paths: Iterable[str | os.PathLike[str]]) -> Project:
    """The files that the runs of these paths may name: those of the working folder and of every folder given."""
    named = [os.fspath(path) for path in paths]
    files = tuple(path for path in named if os.path.isfile(path))
    return Project(os.curdir, *(path for path in named if os.path.isdir(path)), given=files)


def launch_line(text: str) -> Document:
    """A command line that was given and stands in no file."""
    return read_bytes(text.encode(), "--launch", "shell")


def _readable(one: Candidate) -> bool:
    if one.missing:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), one.shown)
    return not one.skipped


def options(
    *,
    gpu: str = "",
    target: Iterable[str] = (),
    framework: str = "",
    rows: int | None = None,
    model_config: Iterable[str] = (),
    model_cache: str = "",
    settings: Settings,
) -> Options:
    """The caller's words over the settings'. Raises ValueError, naming what is not known."""
    gpu = gpu or settings.gpu
    if gpu:
        from loralint.knowledge.hardware import parse_gpus

        if parse_gpus(gpu)[0] is None:
            where = f"{settings.file}: " if gpu == settings.gpu and settings.file else ""
            raise ValueError(f"{where}GPU `{gpu}` is not in the list; `loralint golden gpu` shows it")
    if framework:
        from loralint.frameworks.detect import by_name

        by_name(framework)
    targets = parse_targets([*settings.target, *target])
    return _with_model(Options(gpu, rows, targets, framework), tuple(model_config), model_cache, settings)


def _with_model(chosen: Options, configs: tuple[str, ...], cache: str, settings: Settings) -> Options:
    """The options with where the base model's config.json is. Raises ValueError where it is not there."""
    if not (configs or cache or settings.model_config or settings.model_cache):
        return chosen
    from loralint.run.base_model import given_cache, given_configs

    own = given_configs(configs)
    of_project = {} if "" in own else given_configs(settings.model_config, settings.root)
    cache = given_cache(cache) if cache else given_cache(settings.model_cache, settings.root)
    return chosen._replace(model_configs={**of_project, **own}, meant=tuple(filter(None, own)), model_cache=cache)


def data_files(
    train: Iterable[str | os.PathLike[str]],
    evaluation: Iterable[str | os.PathLike[str]] = (),
    tokenizer: str | os.PathLike[str] = "",
) -> Given | None:
    """Files of rows, None for none. Raises ValueError for a file that is missing or of a kind that is not read."""
    train, evaluation = tuple(train), tuple(evaluation)
    if not train and not evaluation:
        return None
    from loralint.data.given import given

    paths = [os.fspath(path) for path in train]
    return given(paths, [os.fspath(path) for path in evaluation], os.fspath(tokenizer))


def make_job(
    settings: Settings,
    chosen_options: Options,
    *,
    chosen: tuple[str, ...] = (),
    ignored: tuple[str, ...] = (),
    preview: bool = False,
    inline: bool = True,
    show_settings: bool = False,
    baseline: Counter[Key] | None = None,
    baseline_root: str = ".",
    fixes: bool = True,
    data: Given | None = None,
) -> Job:
    """All that stays the same over the files of one invocation. Raises ValueError for a name that is no rule's."""
    use_own(settings)
    if settings.file:
        from loralint.engine.exemptions import refuse_unknown_rules

        refuse_unknown_rules(settings)
    rules: tuple[Rule, ...] = select(
        chosen or settings.select, (*settings.ignore, *ignored), preview or settings.preview
    )
    from datetime import UTC, datetime

    today = datetime.now(UTC).date().isoformat()
    job = Job(rules, chosen_options, settings, today, baseline, baseline_root, inline, show_settings, fixes, data)
    if not settings.golden:
        return job
    from loralint.engine.own import keyed

    return job._replace(own=keyed(rules))


def use_own(settings: Settings) -> None:
    """Have the project's own rules and golden entries count from now on, or none. Raises ValueError for a fault."""
    if settings.rules or settings.golden:
        from loralint.authoring.own_files import use_files

        use_files(settings)
    elif (own := sys.modules.get("loralint.engine.own")) is not None:  # another project's may be in use
        own.use({})


def document_of(config: Mapping[str, Any]) -> Document:
    """A mapping as the JSON file that would hold it."""
    import json

    return read_bytes(json.dumps(dict(config), indent=2, default=str).encode(), "<config>", "json")


def report(
    documents: Iterable[Document], job: Job, *, skipped: Iterable[Candidate] = (), project: Project | None = None,
    grouped: bool = True,
) -> Report:  # fmt: skip
    """Lint documents in order; a file that is part of another one's run is none of its own.

    Files that start no run leave no trace, except those that could not be read at all.
    """
    runs: list[Run] = []
    owners: list[str] = []  # of each run, the file that starts it; empty for one that is part of its own run
    texts: dict[str, str] = {}
    cells: dict[tuple[str, int], str] = {}
    project = project or Project()
    for document in documents:
        if project.is_claimed(document.file):
            continue
        before = len(project.claimed)
        found = lint(document, job, project)
        own = len(project.claimed) > before and project.is_claimed(document.file)
        for run, parts in found:
            owners.append("" if own else document.file)
            runs.append(_grouped(run, parts, job) if grouped and len(run.findings) > 1 else run)
            if run.findings:
                texts.update((part.file, part.text) for part in parts)
                cells.update(_cells(run, parts))
        if not found:
            from loralint.engine.unread import unread

            skips = [skip] if (skip := unread(document)) is not None else []
            runs += skips
            owners += [""] * len(skips)
    if project.claimed:
        later = {file for file in dict.fromkeys(owners) if file and project.is_claimed(file)}
        runs = [run for run, file in zip(runs, owners, strict=True) if file not in later]
    if job.options.meant and runs:
        from loralint.run.base_model import unused

        runs[0] = runs[0]._replace(notes=(*unused(job.options.meant, project.bases), *runs[0].notes))
    runs += [Run((one.shown,), None, 100, "pass", (), (Note("not-checked", one.skipped),)) for one in skipped]
    return Report(tuple(runs), texts, cells)


def _grouped(run: Run, parts: Sequence[Document], job: Job) -> Run:
    """The run with outdated keywords of one call, or flags of one command, told together."""
    if not any("--" in part.text or part.format in ("python", "notebook") for part in parts):
        return run
    from loralint.engine.grouped import together

    return together(run, job.rules, parts)


def _cells(run: Run, parts: Iterable[Document]) -> Iterator[tuple[tuple[str, int], str]]:
    """The texts of the notebook cells that findings stand in."""
    meant = {(one.span.file, one.span.cell) for one in run.findings if one.span.cell is not None}
    for part in (one for one in parts if any(file == one.file for file, _ in meant)):
        from loralint.source.python.cellfile import cells_of

        yield from (((part.file, cell.number), cell.text) for cell in cells_of(part))
