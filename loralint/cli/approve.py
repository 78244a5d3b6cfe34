"""`loralint approve`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import click

from loralint.cli.options import _card, usage
from loralint.engine.approval import FOLDER, Subject, read_record, sha256, write_record
from loralint.engine.settings import SettingsError
from loralint.gate.git import GitError, text, top_of
from loralint.gate.judging import Asked
from loralint.gate.openpgp import sign_openpgp
from loralint.gate.signature import sign
from loralint.gate.subjects import protected_subject, subjects
from loralint.source.rewrite import leads_elsewhere
from loralint.source.shown import path as path_shown
from loralint.source.shown import shown


@click.command("approve")
@click.argument("finding")
@click.option("--reason", default="", help="Why the value is right all the same. The second person needs none.")
@click.option("--key", metavar="FILE", default="", help="SSH key to sign with; git's user.signingkey if not given.")
@click.option("--openpgp", metavar="KEY", default="", help="OpenPGP key to sign with, as gpg calls it.")
@click.option("--no-sign", is_flag=True, help="Leave it unsigned: it counts only with reviews of the forge.")
@click.option("--head", metavar="REF", default="HEAD", show_default=True, help="The commit that holds the finding.")
@click.option("--gpu", metavar="GPU", default="", callback=_card, help="As given to the gate.")
@click.option("--target", metavar="PACKAGE=VERSION", multiple=True, help="As given to the gate; repeatable.")
@click.option("--rows", type=click.IntRange(min=1), help="As given to the gate.")
def command(finding: str, reason: str, key: str, openpgp: str, no_sign: bool, head: str, **given: Any) -> None:
    """Approve a finding of tier A, or the change of a protected file: two people do it, and sign.

    FINDING is the id that `loralint gate` names, or a protected file. The record is one file in .loralint/approvals for
    this value, rule and model; commit it with the change. Who approves second gives the same id, and signs the same
    record.
    """
    try:
        top = top_of(".")
        subject = _subject(top, head, finding, Asked(given["gpu"], given["target"], given["rows"]))
        record, data = _record(top, subject, reason)
        _put(top, f"{record}.json", data)
        signature = "" if no_sign else _signed(top, record, data, *_key(top, key, openpgp))
    except (GitError, SettingsError, ValueError) as error:
        raise usage(shown(error, 500)) from None
    place = f"{subject['pointer']} = {subject['value']}" if subject["pointer"] else subject["value"]
    click.echo(f"{subject['rule']} {subject['name']} in {path_shown(subject['file'])}: {shown(place)}")
    click.echo(f"record:    {FOLDER}/{record}.json")
    click.echo(
        f"signature: {FOLDER}/{signature}" if signature else "signature: none; reviews of the forge must confirm it"
    )
    click.echo("Commit both with the change. It takes two people: the other gives the same id, in the same branch.")


def _subject(top: str, head: str, finding: str, asked: Asked) -> Subject:
    if os.path.lexists(finding) or "/" in finding or "." in finding:
        name = os.path.relpath(os.path.realpath(finding), os.path.realpath(top)).replace(os.sep, "/")
        return protected_subject(top, head, name)
    known = subjects(top, head, asked)
    fitting = [one for id_, one in known.items() if len(finding) >= 6 and id_.startswith(finding.lower())]
    if len(fitting) == 1:
        return fitting[0]
    there = "; ".join(f"{id_} is {one['rule']} in {one['file']}" for id_, one in known.items())
    raise ValueError(f"no finding of tier A is called {finding} in {head}; {there or 'there is none'}")


def _record(top: str, subject: Subject, reason: str) -> tuple[str, bytes]:
    """The id and bytes of the record to sign: the one that is there, or a new one."""
    folder = os.path.join(top, FOLDER)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith(".json") and os.path.isfile(os.path.join(folder, name)):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read(1 << 17)
            found = read_record(name.removesuffix(".json"), data)
            if not found.fault and dict(found.subject) == dict(subject) and reason in ("", found.reason):
                return found.id, data
    if not reason.strip():
        raise ValueError('there is no record to sign yet; say why the value is right: --reason "..."')
    from datetime import UTC, datetime

    from loralint.cli.git import author
    from loralint.version import __version__

    now = datetime.now(UTC).isoformat(timespec="seconds")
    data = write_record(subject, author(top), reason, now, f"loralint {__version__}")
    return sha256(data), data


def _key(top: str, ssh: str, openpgp: str) -> tuple[str, Callable[[str, str], str]]:
    """A key and what signs with it: as given, else as git would sign. Raises ValueError where there is none."""
    if ssh or openpgp:
        return (ssh, sign) if ssh else (openpgp, sign_openpgp)
    key, form = (_configured(top, name) for name in ("user.signingkey", "gpg.format"))
    if key and form in ("", "openpgp"):
        return key, sign_openpgp
    if not os.path.isfile(os.path.expanduser(key)):
        raise ValueError(
            "no key to sign with: give --key ~/.ssh/id_ed25519 or --openpgp KEY, or set git's user.signingkey"
        )
    return os.path.expanduser(key), sign


def _configured(top: str, name: str) -> str:
    try:
        return text(top, "config", "--get", name)
    except GitError:
        return ""


def _signed(top: str, record: str, data: bytes, key: str, sign_with: Callable[[str, str], str]) -> str:
    """Sign a copy, so that nothing in the checkout is asked for or overwritten; the name of the signature's file."""
    with tempfile.TemporaryDirectory(prefix="loralint-") as folder:
        copy = os.path.join(folder, "record")
        with open(copy, "wb") as file:
            file.write(data)
        with open(sign_with(copy, key), "rb") as file:
            signature = file.read()
    name = f"{record}.{sha256(signature)[:16]}.sig"
    _put(top, name, signature)
    return name


def _put(top: str, name: str, data: bytes) -> None:
    folder = os.path.join(top, FOLDER)
    if leads_elsewhere(top, FOLDER):
        raise ValueError(f"{FOLDER} is a link that leads elsewhere")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        with open(path, "xb") as file:
            file.write(data)
