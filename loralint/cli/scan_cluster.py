"""`loralint scan-cluster`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from loralint.cli.named_settings import settings_file, settings_text
from loralint.cli.options import usage
from loralint.cli.reached import kubeconfig, reached
from loralint.source.clean import clean

if TYPE_CHECKING:
    from lightkube import Client

    from loralint.webhook.scan import Seen
    from loralint.webhook.stored import Unlisted

# Of one object, in every form.
_MOST = 20


@click.command("scan-cluster")
@click.option("-n", "--namespace", default="*", help="This namespace only; all if not given.")
@click.option("--exclude-namespace", "without", metavar="NAME", multiple=True, default=("kube-system",),
              show_default=True, help="Leave a namespace out where all are looked at; repeatable.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json", "policyreport"]), default="text",
              show_default=True, help="What is printed.")  # fmt: skip
@click.option("--apply", "write", is_flag=True, help="Write the PolicyReports into the cluster, one a namespace.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option("--gpu", metavar="GPU", default="", help="Card of all objects that name none.")
@click.option("--select", metavar="RULE", multiple=True, help="Judge by these rules only; repeatable.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Leave a rule out; repeatable.")
@settings_file
@kubeconfig
def command(  # noqa: PLR0917 - click hands over every option
    namespace: str, without: tuple[str, ...], form: str, write: bool, exit_zero: bool, gpu: str,
    select: tuple[str, ...], ignore: tuple[str, ...], settings_file: str | None, kubeconfig: str | None,
) -> None:  # fmt: skip
    """Judge the configs and jobs that a cluster already holds: docs/kubernetes.md.

    Needs rights to list, and to get what jobs refer to; changes nothing without --apply. Exit codes: 0 nothing of
    tier S, 1 something, 2 usage, 3 a kind could not be listed.
    """
    without = without if namespace == "*" else ()
    if write and form != "policyreport":
        raise usage("--apply writes PolicyReports: add --format policyreport")
    from loralint.engine.settings import SettingsError
    from loralint.webhook.judging import settings_of, webhook_job

    try:
        settings = settings_of(settings_text(settings_file), settings_file or "") if settings_file else None
        job = webhook_job(gpu=gpu, select=select, ignore=ignore, settings=settings)
    except (ValueError, SettingsError) as error:
        raise usage(str(error)) from None
    with reached(kubeconfig) as client:
        from loralint.webhook.published import NoReportsError, publish
        from loralint.webhook.scan import scan
        from loralint.webhook.stored import Unlisted, fetched, listed

        doubt = _doubt(client, namespace)
        found = list(scan(lambda one: listed(client, one, namespace), partial(fetched, client), job, without=without))
        unlisted = [one for one in found if isinstance(one, Unlisted)]
        seen = [one for one in found if not isinstance(one, Unlisted)]
        if write:
            try:
                click.echo(f"{publish(client, seen, namespace, without)} reports written")
            except NoReportsError as error:
                click.echo(f"no report written: {error}; --format json needs none", err=True)
                sys.exit(3)
        else:
            _FORMS[form](seen, unlisted)
    if doubt and not found:
        click.echo(f"not checked: whether there is a namespace `{namespace}`: {clean(doubt, 200)}", err=True)
    for line in _unlisted(unlisted):
        click.echo(line, err=True)
    blocks = any(told.tier == "S" for one in seen for told in one.findings)
    sys.exit(3 if unlisted else int(blocks and not exit_zero))


def _doubt(client: Client, namespace: str) -> str:
    """Why it cannot be known whether the namespace is there; one that is not ends the command."""
    from loralint.webhook.stored import missing_namespace

    missing, why = missing_namespace(client, namespace) if namespace != "*" else (False, "")
    if missing:
        raise usage(f"there is no namespace `{clean(namespace, 80)}`: `kubectl get namespaces` lists them")
    return why


def _unlisted(unlisted: list[Unlisted]) -> Iterator[str]:
    """Why kinds could not be listed; where several may not, what rights would do."""
    forbidden = [one for one in unlisted if one.forbidden]
    together = len(forbidden) > 1
    for one in unlisted:
        if not (together and one.forbidden):
            yield f"not checked: {_kind(one)}: {clean(one.why, 200)}"
    if together:
        groups = json.dumps(sorted({one.resource.group for one in forbidden}))
        kinds = ", ".join(sorted({one.resource.plural for one in forbidden}))
        yield f"not checked: {len(forbidden)} kinds, for want of rights: {clean(forbidden[0].why, 200)}"
        yield "  a ClusterRole with this rule, bound to whoever scans, would do (the chart's `scan.enabled` makes one):"
        yield f"  - {{apiGroups: {groups}, resources: [{kinds}], verbs: [list]}}"


def _kind(one: Unlisted) -> str:
    return f"{one.resource.plural}.{one.resource.group}".rstrip(".")


def _text(seen: list[Seen], unlisted: list[Unlisted]) -> None:
    del unlisted
    for one in seen:
        name = f"{one.namespace}/{one.kind}/{one.name}"
        for told in one.findings[:_MOST]:
            line = f":{told.line}" if told.line else ""
            place = f" {told.place}{line}" if told.place else ""
            click.echo(f"{name}{place}: {told.tier} {told.rule} {told.message}\n  {told.help}".rstrip())
        if len(one.findings) > _MOST:
            click.echo(f"{name}: and {len(one.findings) - _MOST} more")
        if one.not_checked:
            click.echo(f"{name}: not checked: {one.not_checked}")
    bad = sum(bool(one.findings) for one in seen)
    click.echo(f"{len(seen)} objects looked at, {bad} with findings")


def _json(seen: list[Seen], unlisted: list[Unlisted]) -> None:
    kept = [_as_json(one) for one in seen if one.findings or one.not_checked]
    whole = {
        "version": 1, "looked_at": len(seen), "objects": kept,
        "not_listed": [{"group": one.resource.group, "kind": one.resource.kind, "why": one.why} for one in unlisted],
    }  # fmt: skip
    click.echo(json.dumps(whole, indent=1))


def _as_json(one: Seen) -> dict[str, Any]:
    findings = [{key: value for key, value in told._asdict().items() if key != "new"} for told in one.findings[:_MOST]]
    return {**one._asdict(), "findings": findings, "left_out": max(0, len(one.findings) - _MOST)}


def _reports(seen: list[Seen], unlisted: list[Unlisted]) -> None:
    from loralint.webhook.policy_report import reports

    del unlisted
    click.echo(json.dumps({"apiVersion": "v1", "kind": "List", "items": reports(seen)}, indent=1))


_FORMS = {"text": _text, "json": _json, "policyreport": _reports}
