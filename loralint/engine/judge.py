"""The loop: rules x one run -> findings and notes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loralint.checks import template
from loralint.checks.conditions import holds
from loralint.checks.hit import Hit
from loralint.engine.plan import MET, concerned, plan_of
from loralint.facts.scope import Scope
from loralint.knowledge.rules import Rule, wording
from loralint.model import Finding, Fix, Note, Related, Span, Unknown, Value
from loralint.run.config import MISSING, Config
from loralint.run.versions import MAYBE, split

# Findings of one rule and tier in one run. No config that anybody trains with comes near; what does is hostile or no
# config, and people read the first few.
MOST = 100
# Of keys that may stand in another file so many are named.
_NAMED = 3


class Judgement:
    """Findings and notes of one run, in the order they were made; `unchecked` maps a reason to the rules it stopped.

    fixes: whether findings carry their edits, which only some formats show.
    """

    __slots__ = ("_told", "findings", "fixes", "notes", "unchecked")

    def __init__(self, fixes: bool) -> None:
        self.fixes = fixes
        self.findings: list[Finding] = []
        self.notes: list[Note] = []
        self.unchecked: dict[str, list[str]] = {}
        self._told: Counter[tuple[str, str]] = Counter()

    def has_room(self, rule: Rule, tier: str) -> bool:
        """Whether one more of this rule and tier is told; a note says so once when it is not."""
        self._told[rule.id, tier] += 1
        count = self._told[rule.id, tier]
        if count == MOST + 1:
            self.notes.append(
                Note("info", f"{rule.id} has more than {MOST} findings here; no more are listed", (rule.id,))
            )
        return count <= MOST


def judge(rules: tuple[Rule, ...], config: Config, scope: Scope, *, fixes: bool = True) -> Judgement:
    """Run every rule that applies to the framework and versions of this run."""
    out = Judgement(fixes)
    for rule in concerned(plan_of(rules, config), config, scope):
        _each(rule, config, scope, out)
    return out


def _each(rule: Rule, config: Config, scope: Scope, out: Judgement) -> None:
    """Apply the rule once, or once for each item of its list; an unknown list is one item that nobody knows."""
    if rule.each is None:
        _apply(rule, rule.at, config, scope, out)
        return
    whole = scope.get(rule.each)
    for item in (whole,) if isinstance(whole.value, Unknown) else whole.items:
        scope.bind("item", item._replace(field=whole.field))
        _apply(rule, rule.at or ["item"], config, scope, out)
    scope.bind("item", None)


class Before(NamedTuple):
    """What a rule read before its hits are judged, looked at once: hits and reads may both be thousands.

    reads: how many values. assumed: whether one rests on the default of an argument.
    """

    reads: int
    assumed: bool


def _apply(rule: Rule, at: Sequence[str], config: Config, scope: Scope, out: Judgement) -> None:
    scope.reads.clear()
    truth = holds(rule.when, scope) if rule.when else True
    if truth is False:
        return
    answer: list[Hit] | Unknown = []
    if truth is True or rule.uses in MET:
        answer = template(rule.uses)(scope, rule.args, tuple(at))
    if isinstance(truth, Unknown) and (answer or rule.uses not in MET):
        answer = truth
    if isinstance(answer, Unknown):
        out.unchecked.setdefault(answer.reason, []).append(rule.id)
        return
    if not answer:
        return
    before = Before(len(scope.reads), _assumed(scope.reads))
    for hit in answer:
        _report(rule, hit, before, config, scope, out)
        del scope.reads[before.reads :]


def _report(rule: Rule, hit: Hit, before: Before, config: Config, scope: Scope, out: Judgement) -> None:
    from loralint.engine.message import fill, pinning, supposing  # only a run with faults pays for it

    tier, assumed = _tier(rule, hit, before, config, scope)
    if not tier or not out.has_room(rule, tier):
        return
    said = wording(rule)
    message = fill(said.message, hit, config, scope)
    if tier == "note":
        out.notes.append(Note("info", message, (rule.id,), hit.at.key))
        return
    value = hit.at
    out.findings.append(
        Finding(
            rule.id,
            rule.name,
            tier,
            supposing(message, assumed) if assumed else message,
            fill(said.help, hit, config, scope) + (pinning(assumed) if assumed and _moved(hit) else ""),
            value.span or anchor(scope, config),
            value.key or config.key(value.field),
            value.pointer,
            value.field,
            None if isinstance(value.value, Unknown) else value.value,
            value.origin,
            tuple(_related(hit)),
            _fix(rule, hit, config) if out.fixes else None,
        )
    )


def _fix(rule: Rule, hit: Hit, config: Config) -> Fix | None:
    if wording(rule).fix is None:
        return None
    from loralint.engine.fix import fix_of

    return fix_of(rule, hit, config, pinned=not _loose(rule, hit, config))


def _tier(rule: Rule, hit: Hit, before: Before, config: Config, scope: Scope) -> tuple[str, str]:
    """The tier and, where a finding rests on a version that nobody pinned, that version: then at most A.

    Of findings below S only what a reader observed of a release is said to rest on it.

    What is read of a home-made config is guessed by the names of its keys, so that is at most A too.
    """
    tier, loose = hit.tier or _level(rule, hit, scope), _loose(rule, hit, config)
    if tier == "S" and (config.reader.guessed or before.assumed or _assumed(scope.reads[before.reads :])):
        tier = "A"
    if hit.package in loose and _forgotten(hit, config):
        return "", ""
    if tier != "S":
        return tier, _release(hit.package, config) if hit.package in loose else ""
    if not loose:
        return tier, ""
    if loose[0].endswith(MAYBE):  # the rule's own words say of which versions it speaks
        return "A", ""
    return "A", _release(loose[0], config)


def _moved(hit: Hit) -> bool:
    """Whether an older release takes as it stands what this one stops at, or passes over."""
    one = hit.observation
    return one is not None and one.effect != "harmless" and one.kind in ("renamed", "removed", "rejected")


def _release(package: str, config: Config) -> str:
    """The release of a package that a run is judged by; the newest known one where its framework names none."""
    from loralint.knowledge.versions import newest

    return f"{package} {config.versions.of(package) or newest(package) or ''}".strip()


def _forgotten(hit: Hit, config: Config) -> bool:
    """Whether it is a key, or a word of one, and nothing is known of those of the release that a run is judged by."""
    from loralint.knowledge.versions import forgotten

    listed = hit.observation is not None and (hit.observation.kind == "unknown" or _moved(hit))
    return listed and forgotten(hit.package, config.versions.of(hit.package))


def _assumed(reads: list[Value]) -> bool:
    """Whether what was read rests on the default of an argument, which a command line may overrule."""
    return any(value.origin == "inherited" for read in reads for value in (read, *read.reads))


def _of_kin(rule: Rule, config: Config) -> bool:
    """Whether the rule holds only for a part of the run that was not guessed."""
    return rule.frameworks is not None and config.reader.name not in rule.frameworks


def _loose(rule: Rule, hit: Hit, config: Config) -> list[str]:
    """Packages whose version decides and that nobody pinned."""
    packages = [split(spec)[0] for spec in rule.versions] + ([hit.package] if hit.package else [])
    return [package for package in packages if package.removesuffix(MAYBE) not in config.versions.pinned]


def _level(rule: Rule, hit: Hit, scope: Scope) -> str:
    """The first level that holds; a level of unknown truth does not. Empty when none does."""
    for name, data in hit.data.items():
        scope.bind(f"hit.{name}", Value(data, origin="derived"))
    tier = next((tier for when, tier in rule.tiers if when is None or holds(when, scope) is True), "")
    for name in hit.data:
        scope.bind(f"hit.{name}", None)
    return tier


def _related(hit: Hit) -> Iterator[Related]:
    for value, says in hit.related:
        if value.span is not None:
            yield Related(value.span.file, value.span.line, value.key, says, value.span.cell)


def anchor(scope: Scope, config: Config) -> Span:
    """Where to point when the fault is an absent key: at the first written value read, else at the start."""
    spans = [value.span for read in scope.reads for value in (read, *read.reads) if value.span is not None]
    return spans[0] if spans else start_of(config)


def start_of(config: Config) -> Span:
    """The first character of the run's first file."""
    return Span(config.main.document.file, 0, 0, 1, 1, 1, 1)


def unchecked_notes(unchecked: dict[str, list[str]]) -> list[Note]:
    """One note for each reason, most rules first."""
    from loralint.source.shown import shown

    ordered = sorted(_elsewhere(unchecked).items(), key=lambda item: (-len(item[1]), item[0]))
    return [Note("not-checked", shown(reason), tuple(sorted(set(rules)))) for reason, rules in ordered]


def _elsewhere(unchecked: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same with the keys that may stand in another file told together, the one that most rules ask for first."""
    missing: dict[str, dict[str, list[str]]] = {}
    found: dict[str, list[str]] = {}
    for reason, rules in sorted(unchecked.items(), key=lambda item: (-len(item[1]), item[0])):
        key, is_missing, why = reason.partition(MISSING)
        if is_missing:
            missing.setdefault(why, {})[key] = rules
        else:
            found[reason] = rules
    for why, keys in missing.items():
        named = ", ".join(list(keys)[:_NAMED])
        more = f" and {len(keys) - _NAMED} more keys" if len(keys) > _NAMED else ""
        verb = " are" + MISSING.removeprefix(" is") if len(keys) > 1 else MISSING
        found[f"{named}{more}{verb}{why}"] = [rule for rules in keys.values() for rule in rules]
    return found
