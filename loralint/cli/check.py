"""`loralint check`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import click

from loralint.api import around, data_files, launch_line, make_job, options, report
from loralint.cli import Plain
from loralint.cli.formats import about_the_output
from loralint.cli.options import about_the_probe, about_the_run, refuse_odd_of_the_probe, settings_for, usage
from loralint.cli.outcome import exit_code, low_score
from loralint.cli.output import color
from loralint.engine.settings import Settings, SettingsError
from loralint.model import TIERS, Report, Table
from loralint.render import DRAWN, FROM_ROOT, WITH_FIXES, render
from loralint.source.discover import Candidate, discover, starts_first
from loralint.source.document import Document
from loralint.source.limits import BYTES
from loralint.source.read import read_bytes, read_file
from loralint.source.shown import shown

if TYPE_CHECKING:
    from loralint.engine.baseline import Key
    from loralint.engine.lint import Job
    from loralint.run.project import Project


@click.command("check", cls=Plain)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@about_the_run
@about_the_probe
@about_the_output
@click.option(
    "--fail-on", type=click.Choice(TIERS), help="Lowest tier that fails the check; S unless the settings say otherwise."
)
@click.option(
    "--min-score", type=click.IntRange(0, 100), help="Lowest score that passes; none unless the settings say otherwise."
)
@click.option(
    "--select", "chosen", metavar="RULES", default="", help="Only these: codes, prefixes, names, topics, tiers, ALL."
)
@click.option("--ignore", "ignored", metavar="RULES", default="", help="All but these.")
@click.option("--preview", is_flag=True, help="Include rules that are still proving themselves.")
@click.option("--no-inline-ignores", is_flag=True, help="Disregard ignore comments.")
@click.option(
    "--baseline", "baseline_path", metavar="FILE", default="", help="Count only what this baseline does not hold."
)
@click.option("--statistics", is_flag=True, help="Print the number of findings by rule instead of each.")
@click.option("--stdin-filename", metavar="NAME", default="", help="Name of what comes on standard input (PATH is -).")
@click.option("--show-skipped", is_flag=True, help="Say which files were passed over and why.")
@click.option("--require-files", is_flag=True, help="Exit with 4 when there was nothing to lint.")
@click.option("--force-exclude", is_flag=True, help="Pass over excluded files also where they are named, as hooks do.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--fix", is_flag=True, help="Make the safe fixes, and judge what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that may change what is meant.")
@click.option("--diff", is_flag=True, help="Show what --fix would change and write nothing; 1 if that is anything.")
@click.option("--no-audit", is_flag=True, help="With --fix: keep no records in .loralint/audit.")
@click.option("--no-report", is_flag=True, help="With --probe: write no loralint-report.html.")
@click.option("--data", metavar="FILE", multiple=True, help="Check these training rows too: JSONL, JSON, Parquet.")
@click.option("--eval-data", metavar="FILE", multiple=True, help="Evaluation rows, looked for among those of --data.")
@click.option("--tokenizer", metavar="FILE", default="", help="The model's tokenizer.json, to count tokens of rows.")
def command(paths: tuple[str, ...], **given: Any) -> None:
    """Lint training configs: files, folders (honouring .gitignore) or - for standard input.

    Without PATH, what --launch starts, else this folder.

    A finding says what will happen to the run, where, why, and what to write instead. Tier S blocks, A wants a second
    pair of eyes, B is small.
    """
    if "" in paths:  # an unset variable in a script, most likely; it is not this folder
        raise usage("PATH is empty")
    if missing := [path for path in paths if path != "-" and not os.path.lexists(path)]:  # before torch is loaded
        raise usage(f"{shown(missing[0])}: no such file or folder")
    refuse_odd_of_the_probe(given["probe"])
    _refuse_odd(paths, given)
    settings = settings_for(given["isolated"])
    try:
        job = make_job(
            settings,
            options(
                gpu=given["gpu"],
                target=given["target"],
                framework=given["framework"],
                rows=given["rows"],
                model_config=given["model_config"],
                model_cache=given["model_cache"],
                settings=settings,
            )._replace(companions=given["companions"], env=given["env"], configmaps=given["configmaps"]),
            chosen=_words(given["chosen"]),
            ignored=_words(given["ignored"]),
            preview=given["preview"],
            inline=not given["no_inline_ignores"],
            baseline=_baseline(given["baseline_path"], settings),
            baseline_root=_baseline_root(given["baseline_path"], settings),
            data=data_files(given["data"], given["eval_data"], given["tokenizer"]),
            fixes=not WITH_FIXES.isdisjoint((given["format_"], *dict(given["outputs"]))),
        )
    except (ValueError, SettingsError) as error:
        raise usage(str(error)) from None
    job = _drawing(job, given)
    skipped: list[Candidate] = []
    text = sys.stdin.buffer.read(BYTES + 1) if "-" in paths else b""
    wanted = paths or (() if given["launch"] else (".",))
    written = True
    if given["fix"] or given["diff"]:
        text, written = _fixed(_documents(wanted, text, given, settings, []), text, job, settings, paths, given)
    documents = _documents(wanted, text, given, settings, skipped)
    read: list[str] = []
    with ExitStack() as bars:
        try:
            shown_job = bars.enter_context(_watched(job, given))
        except ValueError as error:
            raise usage(str(error)) from None
        noted = _noted(documents, read) if given["show_skipped"] else documents
        result = report(noted, shown_job, project=around(paths))
    told = [one for one in skipped if given["show_skipped"] or one.shown in paths]  # who names a file wants an answer
    told += _without_a_run(read, result)
    result = result._replace(runs=result.runs + report((), job, skipped=told).runs)
    fail_on = given["fail_on"] or settings.fail_on
    least = settings.min_score if given["min_score"] is None else given["min_score"]
    code = exit_code(result, fail_on, least, given["require_files"], probed=given["probe"]) if written else 1
    result = result._replace(
        fail_on=fail_on, exit_code=code, recorded=_recorded(result, settings) if job.figures else ()
    )
    _write(_placed(result, given), given, aside=given["fix"] and "-" in paths)
    for line in low_score(result.runs, least):
        click.echo(line, err=given["format_"] != "full" or (given["fix"] and "-" in paths))
    sys.exit(code)


def _refuse_odd(paths: tuple[str, ...], given: dict[str, Any]) -> None:
    """Options that would do nothing are mistakes."""
    if given["fix"] and given["diff"]:
        raise usage("--diff writes nothing, so it stands without --fix")
    if given["unsafe_fixes"] and not (given["fix"] or given["diff"]):
        raise usage("--unsafe-fixes needs --fix or --diff")
    if given["no_audit"] and not given["fix"]:
        raise usage("--no-audit needs --fix")
    if given["diff"] and given["outputs"]:
        raise usage("--diff prints no report, so there is none for --output")
    if (given["fix"] or given["diff"]) and "-" in paths and len(paths) > 1:
        raise usage("with --fix and --diff, standard input (-) stands alone")


def _fixed(
    documents: Iterator[Document],
    text: bytes,
    job: Job,
    settings: Settings,
    paths: tuple[str, ...],
    given: dict[str, Any],
) -> tuple[bytes, bool]:
    """Standard input after its fixes, and whether every file could be written. Ends the program after a diff."""
    from loralint.cli.fixing import Asked, fix_files, fix_text, show_diff

    def project() -> Project:
        return around(paths)

    name = (given["stdin_filename"] or "<stdin>") if "-" in paths else ""
    asked = Asked(given["unsafe_fixes"], not given["no_audit"], name)
    if given["chosen"]:  # what is not to be fixed still says whether a fix is right
        asked = asked._replace(rules=frozenset(rule.id for rule in job.rules))
        job = _whole(job, settings, given)
    if given["diff"]:
        sys.exit(1 if show_diff(documents, job, project, asked) else 0)
    if name:
        return fix_text(documents, text, job, project, asked), True
    return text, fix_files(documents, job, project, settings, asked)


def _drawing(job: Job, given: dict[str, Any]) -> Job:
    """The job whose runs carry what formats draw, where one is asked for or `--probe` brings one."""
    if not given["probe"] and DRAWN.isdisjoint((given["format_"], *dict(given["outputs"]))):
        return job
    from loralint.cli.report_file import draws
    from loralint.engine.figures import drawing

    return drawing(job) if draws(given) else job


def _noted(documents: Iterator[Document], names: list[str]) -> Iterator[Document]:
    for document in documents:
        names.append(document.file)
        yield document


def _without_a_run(read: list[str], result: Report) -> list[Candidate]:
    """The files among these that are part of no run."""
    parts = {file for run in result.runs for file in run.files}
    why = "it starts no training that is recognised; --framework NAME reads it as that trainer's"
    return [Candidate(name, name, why) for name in dict.fromkeys(read) if name not in parts]


def _watched(job: Job, given: dict[str, Any]) -> AbstractContextManager[Job]:
    """The job as it will be carried out, with bars for what takes long. Raises ValueError for what cannot be had."""
    if job.data is None and not given["probe"]:
        return nullcontext(job)
    from loralint.cli.progress import watched

    return watched(job, given)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _baseline(path: str, settings: Settings) -> Counter[Key] | None:
    path = path or _in_root(settings)
    if not path:
        return None
    from loralint.engine.baseline import read_baseline

    return read_baseline(path)


def _baseline_root(path: str, settings: Settings) -> str:
    import os

    return os.path.dirname(os.path.abspath(path or _in_root(settings) or "."))


def _in_root(settings: Settings) -> str:
    import os

    return os.path.join(settings.root, settings.baseline) if settings.baseline else ""


def _whole(job: Job, settings: Settings, given: dict[str, Any]) -> Job:
    """The job with all rules that --select does not name, those in preview that it does."""
    others = make_job(settings, job.options, ignored=_words(given["ignored"]), preview=given["preview"]).rules
    return job._replace(rules=(*job.rules, *(rule for rule in others if rule not in job.rules)))


def _documents(
    paths: tuple[str, ...], text: bytes, given: dict[str, Any], settings: Settings, skipped: list[Candidate]
) -> Iterator[Document]:
    """What is to be linted, in order. text: standard input."""
    if given["launch"]:
        yield launch_line(given["launch"])
    if "-" in paths:
        yield read_bytes(text, given["stdin_filename"] or "<stdin>")
    named = [path for path in paths if path != "-"]
    if given["force_exclude"] and settings.exclude:
        named = _not_excluded(named, settings)
    for one in starts_first(discover(named, exclude=settings.exclude)):
        if one.missing:
            raise usage(f"{shown(one.shown)}: {one.skipped}")
        if one.skipped:
            skipped.append(one)
        else:
            yield read_file(one.path, one.shown)


def _placed(result: Report, given: dict[str, Any]) -> Report:
    """The report with the folder that files are named from, where a format asks for it."""
    if FROM_ROOT.isdisjoint((given["format_"], *dict(given["outputs"]))):
        return result
    from loralint.source.checkout import root_for

    return result._replace(root=root_for(next((run.files[0] for run in result.runs if run.files), "")))


def _recorded(result: Report, settings: Settings) -> tuple[Table, ...]:
    """Approvals and what fixes changed, of the checkout or the project."""
    import os

    from loralint.engine.recorded import recorded
    from loralint.engine.trail import root_of

    return recorded(result, root_of(os.curdir, settings.root if settings.file else os.curdir))


def _not_excluded(paths: list[str], settings: Settings) -> list[str]:
    import os

    from loralint.source.walk import ignore_spec

    spec = ignore_spec(settings.exclude)
    return [path for path in paths if not spec.match_file(os.path.relpath(path))]


def _write(result: Report, given: dict[str, Any], *, aside: bool) -> None:
    """Print the report; aside: on standard error, since standard output holds the fixed text."""
    for name, path in given["outputs"]:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(render(name, result, color=False))
    name = "statistics" if given["statistics"] else given["format_"]
    text = render(name, result, color=color())
    click.echo(text, nl=False, err=aside, color=True if color() else None)
    if given["probe"]:
        from loralint.cli.report_file import write_unasked

        write_unasked(result, given)
