"""From counts to what the rules judge: observations, and notes on what was looked at and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loralint.data.given import Given
from loralint.data.look import Look, Looks, look
from loralint.data.shape import fields_of, named, shape_of
from loralint.data.tally import SHOWN, Count, Place
from loralint.model import Note, Observation, Span, Unknown, Value
from loralint.run.config import Config
from loralint.source.shown import shown

# Rules that other rows are needed for, named in the note when they cannot be judged.
_NEAR = ("LL615", "LL628")
_LENGTHS = ("LL606", "LL607")
# What becomes of turns that are not user, assistant, user, assistant.
_FATES = {
    "llamafactory": "LLaMA-Factory skips such a row with a warning",
    "": "a chat template may refuse it, and others train on it as it stands",
}


class Checked(NamedTuple):
    """What a run's files hold. rows: of all training files, an Unknown where they are not all of the run's."""

    observations: tuple[Observation, ...]
    notes: tuple[Note, ...]
    rows: int | Unknown


def check_data(config: Config, given: Given) -> Checked:
    """Look at the files and say what was found. Nothing is raised but OSError of a disk that fails."""
    looks = look(config, given)
    observations = [one for file in looks.files for one in _observations(file, looks)]
    notes = [note for file in looks.files for note in _notes(file)]
    notes += _missing(looks)
    return Checked(tuple(observations), tuple(notes), _rows(config, looks))


def _rows(config: Config, looks: Looks) -> int | Unknown:
    """Rows of the training files, when the config names no more data sets than there are files."""
    named_sets = config.get("data.datasets").value
    files = [one for one in looks.files if not one.evaluation]
    if isinstance(named_sets, list) and len(named_sets) > len(files):
        return Unknown(f"the config names {len(named_sets)} data sets, and --data {len(files)}")
    if any(one.source.unread for one in files):
        return Unknown("not all rows of --data were read")
    return sum(one.source.total for one in files)


def _observations(one: Look, looks: Looks) -> Iterator[Observation]:
    if one.source.unread and not one.source.total:
        if not one.source.refused:
            return
        yield _observed("unreadable", "", Place(1, 1), one, {"what": f"{one.source.shown}: {one.source.unread}"})
        return
    if not one.looked and not one.source.total:
        yield _observed("data-empty-file", "", Place(1, 1), one, {})
        return
    layout = _layout(one)
    if layout is not None:
        yield layout
    labels = {kind: count for (kind, _), count in one.tally.counts.items() if kind.startswith("data-label-")}
    for (kind, field), count in one.tally.counts.items():
        if kind in ("data-label-true", "data-label-false"):
            if len(labels) == 1:
                yield _counted("data-one-label", field, count, one, {"word": kind.removeprefix("data-label-")})
        elif layout is None or kind != "data-missing-field":
            yield _counted(kind, field, count, one, _compared(kind, one, looks))
    outlying = one.spread.outlying()
    if outlying:
        yield _outlying(outlying, one)


def _layout(one: Look) -> Observation | None:
    """That no row is laid out as the config reads it."""
    shapes = one.plan.declared.shapes
    readable = one.looked - sum(count.rows for (kind, _), count in one.tally.counts.items() if kind == "data-broken")
    if not shapes or not readable:
        return None
    wrong_keys = [
        field
        for (kind, field), count in one.tally.counts.items()
        if kind == "data-missing-field" and "." in field and count.rows == readable
    ]
    if not one.unseen and one.other < readable and not wrong_keys:
        return None
    guess = shape_of(tuple(one.unknown))
    missing = ", ".join(sorted(one.unseen)) or ", ".join(wrong_keys) or fields_of(shapes)
    data = {
        "wanted": fields_of(shapes),
        "missing": missing,
        "seen": named(guess) if guess is not None else ", ".join(one.unknown) or "turns with other keys",
        "by": one.plan.declared.by,
    }
    return _observed("data-other-format", missing, Place(1, 1), one, data)


def _compared(kind: str, one: Look, looks: Looks) -> Mapping[str, object]:
    """For what was found by comparing, the rows that could be compared instead of all that were looked at."""
    if kind == "data-leak":
        return {"looked": one.comparable}
    if kind in ("data-near-duplicate", "data-near-leak"):
        return {"looked": looks.compared}
    return {}


def _counted(kind: str, field: str, count: Count, one: Look, more: Mapping[str, object]) -> Observation:
    looked = more.get("looked") or one.looked
    assert isinstance(looked, int)
    data = {
        "many": _many(count.rows, looked),
        "count": count.rows,
        "share": min(1.0, count.rows / looked),
        "where": _where(count.first, count.rows, one.source.unit),
        "field": field,
        "detail": ", ".join(shown(detail, 60) for detail, _ in count.details.most_common(3)),
        **more,
    }
    return _observed(kind, field, count.first[0], one, data)


def _outlying(places: list[Place], one: Look) -> Observation:
    data = {
        "many": _many(len(places), one.looked),
        "count": len(places),
        "where": _where(places[:SHOWN], len(places), one.source.unit),
        "longest": one.spread.longest(),
        "usual": one.spread.quantile(0.99),
    }
    return _observed("data-outlier", "", places[0], one, data)


def _observed(kind: str, field: str, place: Place, one: Look, data: Mapping[str, object]) -> Observation:
    its_plan = one.plan
    file = one.source.shown
    span = Span(file, 0, 0, place.line, 1, place.line, 1)
    policy = its_plan.policy
    facts = {
        "file": file,
        "length": its_plan.length,
        "certain": its_plan.declared.certain,
        "lost": its_plan.framework == "llamafactory",
        "evaluation": one.evaluation,
        "fate": _FATES.get(its_plan.framework, _FATES[""]),
        "long_fate": policy.says.replace("{framework}", its_plan.title) if policy is not None else "",
        # these read a conversation without asking whether there is one
        "stops": _is_conversation(field, one) and its_plan.framework in ("axolotl", "torchtune"),
        **data,
    }
    return Observation(kind, Value(None, key=field or "rows", span=span), "changed", kind, data=facts)


def _is_conversation(field: str, one: Look) -> bool:
    shapes = one.plan.declared.shapes
    return len(shapes) == 1 and bool(field) and field == shapes[0].messages


def _many(count: int, looked: int) -> str:
    if count == looked:
        return "the only row" if count == 1 else f"all {count:,} rows"
    return f"{count:,} of {looked:,} rows"


def _where(first: list[Place], count: int, unit: str) -> str:
    numbers = ", ".join(str(place.number) for place in first)
    return f"{unit}{'s' if len(first) > 1 else ''} {numbers}" + (" ..." if count > len(first) else "")


def _notes(one: Look) -> Iterator[Note]:
    """How many rows were looked at, and which were not."""
    source = one.source
    if source.unread and not source.refused:
        rest = f", the rest behind row {source.total:,}" if source.total else ""
        yield Note("not-checked", f"{source.shown}{rest}: {source.unread}")
    if source.too_long:
        yield Note("not-checked", f"{source.shown}: rows longer than 4 MiB, {source.too_long:,} in number")
    if one.other and not one.plan.declared.shapes:
        names = ", ".join(shown(name, 24) for name in one.unknown)
        said = f"rows with no fields that are known ({names}), {one.other:,} in number"
        yield Note("not-checked", f"{source.shown}: {said}")
    if one.ruler is not None and one.ruler.undecided:
        yield Note(
            "not-checked",
            f"{source.shown}: whether {one.ruler.undecided:,} of the rows fit; --tokenizer FILE counts their tokens",
            _LENGTHS,
        )
    if source.total:
        whole = f"all {source.total:,}" if one.looked >= source.total else f"{one.looked:,} of {source.total:,}"
        kinds = ", ".join(f"{kind}" for kind, _ in one.shapes.most_common(3)) or "unknown"
        kind = "info" if source.every == 1 else "not-checked"
        said = "" if kind == "info" else ", a sample chosen by content"
        yield Note(kind, f"{source.shown}: {whole} rows looked at{said}; layout {kinds}{_spread(one)}")


def _spread(one: Look) -> str:
    longest = one.spread.longest()
    if not longest:
        return ""
    return f"; half have up to {min(one.spread.quantile(0.5), longest):,} characters, the longest {longest:,}"


def _missing(looks: Looks) -> Iterator[Note]:
    if looks.not_near:
        yield Note("not-checked", looks.not_near, _NEAR)
    if looks.not_counted:
        yield Note("not-checked", looks.not_counted, _LENGTHS)
