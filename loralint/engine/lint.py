"""The pipeline for one file: the runs that it starts, each judged, what is lifted, the score."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from loralint.engine.judge import Judgement, judge, unchecked_notes
from loralint.engine.score import score, verdict
from loralint.engine.settings import Settings
from loralint.facts import FACTS
from loralint.facts.scope import Scope, unknown
from loralint.knowledge.rules import Rule
from loralint.model import Finding, Note, Observation, Probed, Run, Setting, Table, Value
from loralint.run.build import Assembled
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.document import Document

if TYPE_CHECKING:
    from loralint.data.findings import Checked
    from loralint.data.given import Given
    from loralint.engine.baseline import Key


class Job(NamedTuple):
    """What is the same for all files of one invocation. today: ISO date. baseline_root: folder its paths start at.

    fixes: whether findings carry their edits. data: files of rows to check with every run. probe: micro-trains a run.
    count_trained: whether settings that are shown say how many parameters train, which takes a while. figures: whether
    runs carry what formats draw. own: the rules among them that speak of any key of some files (`engine.own`).
    """

    rules: tuple[Rule, ...]
    options: Options
    settings: Settings
    today: str
    baseline: "Counter[Key] | None" = None
    baseline_root: str = "."
    inline: bool = True
    show_settings: bool = False
    fixes: bool = True
    data: "Given | None" = None
    probe: Callable[[Config], Probed] | None = None
    count_trained: bool = True
    figures: bool = False
    own: tuple[Rule, ...] = ()


def lint(document: Document, job: Job, project: Project) -> list[tuple[Run, tuple[Document, ...]]]:
    """The runs that this file starts, judged, each with the files it reads; a script may start several, or none."""
    found = [(_judged(one, job), one.documents) for one in starts(document, job.options, project)]
    return found or (_bare(document, job) if job.own else [])


def _bare(document: Document, job: Job) -> list[tuple[Run, tuple[Document, ...]]]:
    """A file that starts no run, where the project's own golden entries speak of its keys."""
    from loralint.engine.own import bare, matches

    if not matches(document, job.own, job.settings.root):
        return []
    observers = tuple(rule for rule in job.rules if rule.uses == "observation")
    plain = job._replace(rules=observers, data=None, probe=None, show_settings=False, figures=False)
    return [(_judged(bare(document), plain)._replace(framework=None), (document,))]


def _with_own(assembled: Assembled, job: Job) -> Assembled:
    from loralint.engine.own import look

    said = tuple(look(assembled.documents, job.own, job.settings.root))
    return assembled._replace(
        observations=(*assembled.observations, *(one for one in said if isinstance(one, Observation))),
        notes=(*assembled.notes, *(one for one in said if isinstance(one, Note))),
    )


def _judged(assembled: Assembled, job: Job) -> Run:
    config = assembled.config
    if job.own:
        assembled = _with_own(assembled, job)
    checked = _checked(assembled, job)
    if checked is not None:
        assembled = assembled._replace(observations=(*assembled.observations, *checked.observations))
    probed = job.probe(config) if job.probe is not None else Probed()
    scope = Scope(config, FACTS, (*assembled.observations, *probed.observations), assembled.events)
    result = judge(job.rules, config, scope, fixes=job.fixes)
    findings, notes = _suppressed(result, assembled, job)
    findings.sort(key=lambda one: (one.span.file, one.span.start, one.span.column, one.rule, one.key))
    return Run(
        _files(assembled, job),
        config.reader.name,
        score(findings),
        verdict(findings),
        tuple(findings),
        (
            *probed.notes,
            *assembled.notes,
            *notes,
            *(checked.notes if checked is not None else ()),
            *unchecked_notes(result.unchecked),
        ),
        tuple(_settings(config, scope, job)) if job.show_settings else (),
        assembled.reason,
        probed.tables,
        probed.series,
        _figures(config, scope) if job.figures else (),
    )


def _figures(config: Config, scope: Scope) -> tuple[Table, ...]:
    from loralint.engine.figures import figures

    return figures(config, scope)


_OWN_ADAPTER = "this trainer builds its adapter without PEFT, by whose rules parameters are counted here"


def _settings(config: Config, scope: Scope, job: Job) -> Iterator[Setting]:
    """Every effective setting, and what a LoRA run trains by them."""
    for field in config.fields():
        yield Setting(field, config.get(field))
    if job.count_trained and scope.get("lora.on").value is True:
        peft = bool(config.versions.of("peft"))
        for fact in ("lora.trainable", "lora.trainable_by_module"):
            yield Setting(fact, scope.get(fact) if peft else unknown(_OWN_ADAPTER), "parameters")


def _checked(assembled: Assembled, job: Job) -> "Checked | None":
    """What the rows of the run's data hold; their number becomes the run's, if all of its data was given."""
    if job.data is None:
        return None
    from loralint.data.findings import check_data

    checked = check_data(assembled.config, job.data)
    if isinstance(checked.rows, int):
        rows = Value(checked.rows, "option", "--data", source="--data", field="run.rows")
        assembled.config.add("run.rows", lambda _: rows)
    return checked


def _files(assembled: Assembled, job: Job) -> tuple[str, ...]:
    data = (*job.data.train, *job.data.evaluation) if job.data is not None else ()
    return (*(document.file for document in assembled.documents), *data)


def _suppressed(result: Judgement, assembled: Assembled, job: Job) -> tuple[list[Finding], list[Note]]:
    findings, notes = _tiered(_distinct(result.findings), job), list(result.notes)
    for document in assembled.documents:
        if job.inline and "loralint" in document.text:
            open_ones = {code for codes in result.unchecked.values() for code in codes}
            checked = frozenset(rule.id for rule in job.rules if rule.id not in open_ones)
            findings, notes = _with_comments(findings, notes, document, assembled, job, checked)
    if job.settings.per_file_ignores or job.settings.exceptions:
        from loralint.engine.exemptions import apply_settings, expired

        findings = apply_settings(findings, job.settings, job.today)
        notes += expired(findings, job.settings, job.today)
    if job.baseline is not None:
        from loralint.engine.baseline import apply_baseline

        findings = apply_baseline(findings, job.baseline, job.baseline_root)
    return findings, notes


def _with_comments(
    findings: list[Finding],
    notes: list[Note],
    document: Document,
    assembled: Assembled,
    job: Job,
    checked: frozenset[str],
) -> tuple[list[Finding], list[Note]]:
    """Lift what one file's ignore comments lift, and judge the comments themselves."""
    from loralint.engine.directives import apply_directives, directives, faults, hushed

    given = directives(document)
    others = {one.file for one in assembled.documents} - {document.file}
    # files of rows have no comments of their own, so those of the first document speak for them
    if document is not assembled.documents[0]:
        others |= {one.span.file for one in findings} - {document.file}
    elsewhere = [one for one in findings if one.span.file in others]
    here = [one for one in findings if one.span.file not in others]
    findings, used, more = apply_directives(here, given)
    notes, needed = hushed(notes, given)
    scope = Scope(assembled.config, FACTS, tuple(faults(given, used | needed, checked)))
    observers = tuple(rule for rule in job.rules if rule.uses == "observation")
    judged = _tiered(judge(observers, assembled.config, scope, fixes=job.fixes).findings, job)
    return [*findings, *elsewhere, *judged], notes + more


def _tiered(findings: list[Finding], job: Job) -> list[Finding]:
    if not job.settings.tiers:
        return findings
    from loralint.engine.tiers import with_tiers

    return with_tiers(findings, job.settings)


def _distinct(findings: list[Finding]) -> list[Finding]:
    """The same rule says the same thing of one place once."""
    return list({(one.rule, one.span, one.key, one.message): one for one in reversed(findings)}.values())[::-1]
