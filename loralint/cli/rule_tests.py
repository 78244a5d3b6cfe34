"""`loralint rules test`."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from loralint.cli.options import settings_for, usage
from loralint.engine.settings import Settings
from loralint.render.changes import counted

if TYPE_CHECKING:
    from loralint.authoring.examples import Subject
    from loralint.authoring.rule import Example

    Task = tuple[Subject, Sequence[Example], Settings]


def run_tests(what: tuple[str, ...]) -> int:
    """The exit code: 0 when every example does what it says, 1 when one does not."""
    try:
        from loralint.authoring.load import AuthoringError
    except ImportError as error:
        raise usage(f"testing rules needs {error.name}: pip install '.[authoring]' in a checkout") from None
    try:
        rules = [task for one in what or _named() for task in _rules(one)]
    except (AuthoringError, ValueError) as error:
        click.echo(str(error), err=True)
        return 1
    told = [fault for task in rules for fault in _faults(*task)]
    click.echo("\n".join([*told, f"{counted(len(rules), 'rule')}, {counted(len(told), 'fault')}"]))
    return int(bool(told))


def _named() -> list[str]:
    """The rule files of the settings. Exits with code 2 where there are none."""
    settings = settings_for(isolated=False)
    found = [path for one in settings.rules for path in glob.glob(one, root_dir=settings.own_root, recursive=True)]
    if not found:
        raise usage("the settings name no rules of your own; give a file, a folder, or rules of ours such as LL401")
    return [os.path.join(settings.own_root, path) for path in sorted(found)]


def _rules(what: str) -> Iterator[Task]:
    """The rules of a file or folder, else ours by selector, each with its examples and the settings it counts under."""
    from loralint.authoring.examples import subject
    from loralint.authoring.own_models import OwnRule
    from loralint.authoring.own_text import models
    from loralint.authoring.rule import RuleFile

    if not os.path.exists(what):
        yield from _ours(what)
        return
    for path in _files(what):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        ours = os.path.basename(path).startswith("LL")
        folder, name = os.path.split(os.path.abspath(path))
        settings = Settings() if ours else Settings(file=path, rules=(glob.escape(name),), own_root=folder)
        for rule in models(path, text, RuleFile if ours else OwnRule):
            yield subject(rule), rule.examples, settings


def _files(path: str) -> list[str]:
    if os.path.isdir(path):
        return sorted(glob.glob(os.path.join(glob.escape(path), "**", "*.yaml"), recursive=True))
    return [path]


def _ours(selector: str) -> Iterator[Task]:
    """Our own rules with their examples, as the package has them."""
    from loralint.authoring.examples import Subject
    from loralint.authoring.rule import Example
    from loralint.engine.rules import select
    from loralint.knowledge.data import part

    for rule in select((selector,), (), preview=True):
        single = len(rule.tiers) == 1 and rule.tiers[0][0] is None
        examples = [Example.model_validate(one) for one in part("rules_cold")[rule.id]["examples"]]
        about = Subject(rule.id, rule.tiers[0][1] if single else None, rule.uses == "golden" or not single)
        yield about, examples, Settings()


def _faults(rule: Subject, examples: Sequence[Example], settings: Settings) -> Iterator[str]:
    from loralint.authoring.examples import Unrunnable, faults

    for number, example in enumerate(examples, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                for fault in faults(rule, example, folder, settings):
                    yield f"{rule.id} example {number}: {fault}"
            except Unrunnable as why:
                click.echo(f"{rule.id} example {number}: not run: {why}", err=True)
