"""Who counts as two people, by records, keys and reviews."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.engine.approval import confirmed, read_record, sha256, write_record
from loralint.engine.owners import owners
from loralint.engine.reviews import reviewers
from loralint.engine.settings import SettingsError
from loralint.engine.signers import parse_signers, people

KEY = "ssh-ed25519"


@pytest.mark.parametrize(
    ("signed", "authors", "enough"),
    [
        ("ab", "c", True), ("ab", "a", False), ("abc", "a", True), ("a", "c", False), ("", "c", False),
        ("ab", "ab", True), ("ab", "ac", True), ("ab", None, False), ("abc", None, True), ("ab", "", False),
    ],
)  # fmt: skip
def test_two_people_of_whom_neither_is_the_only_author(signed, authors, enough):
    why = confirmed(set(signed), None if authors is None else set(authors))
    assert (why == "") is enough


@pytest.mark.parametrize(
    ("lines", "persons"),
    [
        (["a {} K1", "b {} K2"], 2),
        (["a {} K1", "a {} K2"], 1),
        (["a,b {} K1"], 1),
        (["a {} K1", "b {} K1"], 1),
        (["a {} K1", "b {} K2", "a,b {} K3"], 1),
        (["A@X {} K1", "a@x {} K2"], 1),
        (["# a {} K1", "", "b {} K2"], 1),
        (['a namespaces="git,loralint-approval",valid-before="20301231" {} K1 comment'], 1),
        (["*@x {} K1", "a cert-authority {} K2", "!a {} K3", "a", "a {}", "{} K1"], 0),
    ],
)
def test_people_are_told_by_keys_and_names(lines, persons):
    found = people(parse_signers("\n".join(lines).replace("{}", KEY)))
    assert len(set(found.values())) == persons


@given(st.text(max_size=400))
def test_any_text_is_a_file_of_signers(text):
    people(parse_signers(text))


SUBJECT = {
    "file": "a.yaml", "rule": "LL101", "name": "n", "tier": "A", "pointer": "/k", "value": "1", "message": "m",
    "logic": "", "models": [],
}  # fmt: skip


def test_a_record_reads_back():
    data = write_record(SUBJECT, "Ann", "why not", "2026-01-15T10:00:00+00:00", "loralint 1")
    record = read_record(sha256(data), data)
    assert (record.fault, record.by, record.reason, record.subject) == ("", "Ann", "why not", SUBJECT)


@given(
    st.binary(max_size=200) | st.recursive(st.none() | st.text(), st.lists).map(lambda one: json.dumps(one).encode())
)
def test_any_bytes_are_at_most_a_record_with_a_fault(data):
    assert read_record(sha256(data), data).fault


def test_a_record_needs_a_reason():
    data = write_record(SUBJECT, "Ann", " ", "t", "l")
    assert read_record(sha256(data), data).fault == "it gives no reason"


def test_who_wrote_all_of_it_does_not_count_though_another_opened_it():
    body = json.loads(_reviews("ann APPROVED c write", "bob APPROVED c write"))
    assert reviewers(json.dumps({**body, "wrote": ["Bob"]}), "c") == ["ann"]
    assert reviewers(json.dumps({**body, "wrote": ["Bob", "eve"]}), "c") == ["ann", "bob"]


def _reviews(*words):
    reviews = [dict(zip(("user", "state", "commit", "permission"), one.split(), strict=True)) for one in words]
    return json.dumps({"author": "Mal", "reviews": reviews})


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ann APPROVED c write", "bob APPROVED c admin"], ["ann", "bob"]),
        (["ann APPROVED c write", "Ann APPROVED c write"], ["ann"]),
        (["ann APPROVED c write", "ann CHANGES_REQUESTED c write"], []),
        (["ann CHANGES_REQUESTED c write", "ann APPROVED c maintain"], ["ann"]),
        (["ann APPROVED c write", "ann COMMENTED c write"], ["ann"]),
        (["ann APPROVED c write", "ann DISMISSED c write"], []),
        (["ann APPROVED old write", "bob APPROVED c read", "mal APPROVED c admin", "eve APPROVED c none"], []),
    ],
)
def test_reviews(words, found):
    assert reviewers(_reviews(*words), "c") == found


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"author": "a", "reviews": [{}]}', '{"author": "a", "reviews": 3}'])
def test_what_is_no_list_of_reviews(text):
    with pytest.raises(SettingsError):
        reviewers(text, "c")


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("a.yaml", ("@all",)), ("configs/a.yaml", ("@train", "ann@example.org")), ("configs/old/a.yaml", ()),
        ("docs/a.md", ("@docs",)), ("docs/in/a.md", ("@all",)), ("x/build/a", ("@build",)), ("a.sh", ("@shell",)),
    ],
)  # fmt: skip
def test_owners(file, found):
    text = (
        "* @all\n# * @nobody\n/configs/ @train ann@example.org # who trains\n/configs/old/\ndocs/* @docs\n"
        "build/ @build\n*.sh @shell\n"
    )
    assert owners(text, file) == found
