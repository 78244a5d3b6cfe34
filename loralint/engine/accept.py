"""Whether a fix did what it promised: the finding is gone, the value is reached, and nothing else is new or other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from loralint.model import Edit, Finding, Run, Setting, Span, Unknown, Value
from loralint.source.document import Document, Node
from loralint.source.edit import apply

Judged = tuple[Run, tuple[Document, ...]]
# Where a value comes from that nobody wrote.
_UNWRITTEN = frozenset({"default", "derived", "absent", "option"})


# What may stand between a key and its value.
_BETWEEN = re.compile(r"[\s\"'\\]*[:=]?[\s\"'\\\[-]*")


class Moved(NamedTuple):
    """Where places of a text are after some edits of it. edits: of one file, in order; old, new: its texts."""

    edits: tuple[Edit, ...]
    old: str
    new: str

    def touches(self, start: int, end: int) -> bool:
        """Whether an edit lies in this range of the old text, or at its edge."""
        return any(edit.start <= end and start <= edit.end for edit in self.edits)

    def named(self, start: int, end: int) -> bool:
        """Whether an edit meets a value of the old text, or the key before it."""
        return any(
            edit.start <= end and (start <= edit.end or _BETWEEN.fullmatch(self.old, edit.end, start))
            for edit in self.edits
        )

    def wrote(self, start: int, end: int) -> bool:
        """Whether an edit wrote a part of a value of the new text, or the key before it."""
        shift = 0
        for edit in self.edits:
            begin = edit.start + shift
            stop = begin + len(edit.text)
            if begin <= end and (start <= stop or _BETWEEN.fullmatch(self.new, stop, start)):
                return True
            shift += len(edit.text) - (edit.end - edit.start)
        return False

    def shifted(self, at: int) -> int:
        """The offset in the new text of one in the old text that no edit covers; behind what is put in there."""
        return at + sum(len(edit.text) - (edit.end - edit.start) for edit in self.edits if edit.end <= at)


def fault_of(
    before: Sequence[Judged], after: Sequence[Judged], fixed: Sequence[Finding], edits: Mapping[str, Sequence[Edit]]
) -> str:
    """Why the text after the edits is not taken; "" if it is. before, after: the runs of the same starts, in order.

    fixed: the findings whose fixes the edits are.
    """
    moved = {file: _moved(file, several, before) for file, several in edits.items()}
    if [run.framework for run, _ in before] != [run.framework for run, _ in after]:
        return "the file would no longer be read as the same run"
    for (old, _), (new, _) in zip(before, after, strict=True):
        if fault := next(_faults(old, new, fixed, moved), ""):
            return fault
    return next(_torn(before, after, moved), "")


def _moved(file: str, edits: Iterable[Edit], before: Sequence[Judged]) -> Moved:
    text = next((part.text for _, parts in before for part in parts if part.file == file), "")
    return Moved(tuple(sorted(edits, key=lambda one: one.start)), text, apply(text, edits) if text else "")


def _faults(old: Run, new: Run, fixed: Sequence[Finding], moved: Mapping[str, Moved]) -> Iterator[str]:
    more = _blocking(new) - _blocking(old)
    if more:
        tier, rule, about = min(more)
        yield f"it would bring a finding of tier {tier}: {rule} at {about}"
    own = [one for one in fixed if one in old.findings]
    left, had = _counts(new.findings), _counts(old.findings)
    for key, count in _counts(own).items():
        if left[key] > had[key] - count:
            yield f"{key[0]} would still be found"
    wants = {field: value for one in own if one.fix is not None for field, value in one.fix.wants.items()}
    yield from _changed(_values(old.settings), _values(new.settings), wants, moved)


def _blocking(run: Run) -> Counter[tuple[str, str, str]]:
    standing = (one for one in run.findings if one.suppressed is None and one.tier in ("S", "A"))
    return Counter((one.tier, one.rule, one.parameter or one.key) for one in standing)


def _counts(findings: Iterable[Finding]) -> Counter[tuple[str, str, str]]:
    return Counter((one.rule, one.key, repr(one.value)) for one in findings)


def _values(settings: Iterable[Setting]) -> dict[str, Value]:
    return {one.parameter: one.value for one in settings}


def _changed(
    old: Mapping[str, Value], new: Mapping[str, Value], wants: Mapping[str, object], moved: Mapping[str, Moved]
) -> Iterator[str]:
    """Wanted values that are not reached, and written values that are others although no edit met them."""
    for field, value in wants.items():
        if field not in new or not same(new[field].value, value):
            yield f"{field} would not get its value"
    for field in (old.keys() | new.keys()) - wants.keys():
        was, now = old.get(field, Value(None, "absent")), new.get(field, Value(None, "absent"))
        written = was.origin not in _UNWRITTEN or now.origin not in _UNWRITTEN
        if written and not same(was.value, now.value) and not (_met(was, moved, Moved.named) or _met(now, moved)):
            yield f"it would change {now.key or was.key or field} too"


def _met(value: Value, moved: Mapping[str, Moved], how: Callable[[Moved, int, int], bool] = Moved.wrote) -> bool:
    """Whether an edit meets the place of a value, or what the value was worked out from."""
    spans: list[Span | None] = [value.span, value.key_span, *(one.span for one in (*value.items, *value.reads))]
    return any(how(moved[span.file], span.start, span.end) for span in spans if span and span.file in moved)


def same(one: object, other: object) -> bool:
    """Whether two values mean the same to a trainer; 1 and 1.0 do, true and 1 do not."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Unknown) and isinstance(other, Unknown):
        return True
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return one == other or (one != one and other != other)  # noqa: PLR0124 - NaN is no value of its own


def _torn(before: Sequence[Judged], after: Sequence[Judged], moved: Mapping[str, Moved]) -> Iterator[str]:
    """What stood outside of the edits has to stand in the tree as before, at its new place."""
    new = {part.file: part for _, parts in after for part in parts}
    for old in {part.file: part for _, parts in before for part in parts}.values():
        if old.file not in moved or old.file not in new:
            continue
        if len(new[old.file].problems) > len(old.problems):
            yield f"the file would not be read: {new[old.file].problems[0].message}"
        elif not _kept(old, new[old.file], moved[old.file]):
            yield "it would change what stands beside it"


def _kept(old: Document, new: Document, moved: Moved) -> bool:
    there = dict(_leaves(new.roots))
    for (start, end), (path, raw, tag) in _leaves(old.roots):
        if moved.touches(start, end - 1) or moved.touches(start + 1, end):
            continue
        length = end - start
        begin = moved.shifted(start)
        found = there.get((begin, begin + length))
        if found is None or found[1:] != (raw, tag) or not _same_path(path, found[0], moved):
            return False
    return True


Path = tuple[tuple[str, int, int], ...]


def _same_path(old: Path, new: Path, moved: Moved) -> bool:
    """Whether two leaves lie under the same keys, but for those that an edit renamed."""
    return len(old) == len(new) and all(
        one[0] == other[0] or moved.touches(one[1], one[2]) for one, other in zip(old, new, strict=True)
    )


def _leaves(roots: Iterable[Node]) -> Iterator[tuple[tuple[int, int], tuple[Path, str, str]]]:
    """The scalars that are written out, by their places: the keys above them, what they say and their type."""
    queue: list[tuple[Node, Path]] = [(root, ()) for root in roots]
    while queue:
        node, path = queue.pop()
        if node.alias:
            continue
        if node.kind == "scalar" and node.end > node.start:
            yield (node.start, node.end), (path, node.raw, node.tag)
        queue += [(item, path) for item in node.items]
        for pair in node.pairs:
            if not pair.merged:
                queue.append((pair.value, (*path, (pair.key, pair.key_node.start, pair.key_node.end))))
