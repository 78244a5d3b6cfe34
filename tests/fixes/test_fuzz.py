"""Random fixes of random files: the value is reached, all other bytes stay, and a second time changes nothing.

LORALINT_EXAMPLES sets how many; docs/fixes.md says how many were made so far.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from loralint.engine.lint import Job
from loralint.engine.mend import mend
from loralint.engine.save import save
from loralint.engine.settings import Settings
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.source.read import read_file

from .files import FIELDS, File, files, loaded
from .rules import own_rule

EXAMPLES = int(os.environ.get("LORALINT_EXAMPLES", "80"))


def mended(file: Path, framework: str, rule):
    job = Job((rule,), Options("", None, {}, framework), Settings(), "2026-01-15")
    return mend([read_file(str(file), str(file))], job, lambda: Project(str(file.parent)))


@settings(
    deadline=None,
    max_examples=EXAMPLES,
    derandomize="LORALINT_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
@given(files(), st.data())
def test_one_fix(file: File, data):
    how = data.draw(st.sampled_from(["set", "set", "remove"]))
    field = data.draw(
        st.sampled_from([one for one in sorted(file.keys) if how == "set" or file.keys[one] in file.values])
    )
    key = file.keys[field]
    there = key in file.values
    value = data.draw(st.sampled_from([one for one in FIELDS[field] if one != file.values.get(key)]))
    if how == "set":
        rule = own_rule(field, {"set": {field: value}}, {field: {"ne": value}})
        wanted = {**file.values, key: value}
    else:
        rule = own_rule(field, {"remove": [field]}, {field: {"set": True}})
        wanted = {name: one for name, one in file.values.items() if name != key}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file.name
        path.write_bytes(file.data)
        found = mended(path, file.framework, rule)
        assert save(found, None).refused == {}
        after = path.read_bytes()
        text = after.decode("utf-16" if after[:2] == b"\xff\xfe" else "utf-8-sig")
        again = mended(path, file.framework, rule)
    assert again.texts == {}, "a second fix changes nothing"
    if not found.texts:
        assert after == file.data
        assert not (how == "set" and there), found
        event(f"{file.name} {how} {'there' if there else 'absent'}: refused")
        return
    event(f"{file.name} {how} {'there' if there else 'absent'}: made")
    assert loaded(file, text) == wanted
    _rest_stays(file, text, key, how)


def _rest_stays(file: File, text: str, key: str, how: str) -> None:
    old = file.text
    if how == "set" and key in file.places:  # only the value's own characters
        start, end = file.places[key]
        assert (text[:start], text[len(text) - (len(old) - end) :]) == (old[:start], old[end:])
    elif how == "set":  # one stretch is put in
        assert _common(old, text) == len(old)
    else:  # one stretch is taken out, on the lines of the pair
        assert _common(old, text) == len(text)
        assert len(old) - len(text) <= 120


def _common(old: str, new: str) -> int:
    """Characters that the two have in common at both ends."""
    before = _same(old, new)
    return before + _same(old[before:][::-1], new[before:][::-1])


def _same(old: str, new: str) -> int:
    return next((at for at, two in enumerate(zip(old, new, strict=False)) if two[0] != two[1]), min(len(old), len(new)))
