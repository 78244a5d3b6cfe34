"""`loralint watch`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from loralint.cli.options import usage
from loralint.cli.output import color
from loralint.engine.rules import select
from loralint.engine.watched import judge_log
from loralint.knowledge.rules import Rule
from loralint.model import TIERS, Finding, Report, Run
from loralint.render import render
from loralint.watch.read import UnreadableError, read

if TYPE_CHECKING:
    from loralint.watch.history import History


@click.command("watch")
@click.argument("log", metavar="LOG")
@click.option("--follow", is_flag=True, help="Look again as it grows, until it is done or a finding fails.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=5.0, show_default=True, help="Seconds between two looks."
)
@click.option(
    "--idle",
    type=click.FloatRange(min=0),
    default=3600.0,
    show_default=True,
    help="Seconds without a new step, or without a log, after which --follow ends.",
)
@click.option(
    "--format", "format_", type=click.Choice(("full", "concise", "json")), default="full", help="Format of the report."
)
@click.option("--fail-on", type=click.Choice(TIERS), default="S", show_default=True, help="Lowest tier that fails.")
@click.option("--select", "chosen", metavar="RULES", default="", help="Only these: codes, prefixes, names, tiers.")
@click.option("--ignore", "ignored", metavar="RULES", default="", help="All but these.")
def command(log: str, **given: Any) -> None:
    """Say what the log of a training shows: NaN, divergence, spikes, growing gradients, a rate of 0, no learning.

    LOG is a trainer_state.json, a TensorBoard event file, a JSONL or CSV export of W&B, LLaMA-Factory's or ms-swift's
    JSONL log, the printed output of a Trainer, or a folder, of which the newest log counts. Exit codes as of check.
    """
    try:
        rules = select(_words(given["chosen"]), _words(given["ignored"]), preview=False)
    except ValueError as error:
        raise usage(str(error)) from None
    failing = TIERS[: TIERS.index(given["fail_on"]) + 1]
    run = _follow(log, rules, failing, given) if given["follow"] else judge_log(_read(log), rules)
    click.echo(render(given["format_"], Report((run,)), color=color()), nl=False, color=True if color() else None)
    sys.exit(int(_fails(run, failing)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _read(log: str) -> History:
    try:
        return read(log)
    except UnreadableError as error:
        raise usage(str(error)) from None


def _fails(run: Run, failing: tuple[str, ...]) -> bool:
    return any(finding.tier in failing for finding in run.findings)


def _follow(log: str, rules: tuple[Rule, ...], failing: tuple[str, ...], given: dict[str, Any]) -> Run:
    """Look until the run is done, fails, or stands still; new findings are told on standard error at once."""
    run, told = None, set[tuple[str, str]]()
    try:
        for history in _looks(log, given["every"], given["idle"]):
            run = judge_log(history, rules)
            for finding in run.findings:
                if (finding.rule, finding.key) not in told:
                    told.add((finding.rule, finding.key))
                    click.echo(f"step {history.last:g}: {_line(finding)}", err=True)
            if history.done or _fails(run, failing):
                break
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
    return run or judge_log(_read(log), rules)


def _looks(log: str, every: float, idle: float) -> Iterator[History]:
    """The history each time that it has grown, for as long as it does."""
    last, since = None, time.monotonic()
    while True:
        try:
            history = read(log)
        except UnreadableError:  # not there yet, or in the middle of being written
            history = None
        state = history and (history.file, history.last, len(history.loss))
        if history is not None and state != last:
            last, since = state, time.monotonic()
            yield history
        if time.monotonic() - since >= idle:
            return
        time.sleep(every)


def _line(finding: Finding) -> str:
    return f"{finding.tier} {finding.rule} {finding.message}; {finding.help}"
