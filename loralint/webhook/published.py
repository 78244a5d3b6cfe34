"""Reports of a scan written into the cluster, and old ones brought up to date."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from loralint.webhook.policy_report import GROUP, KIND, NAME, PLURAL, VERSION, reports
from loralint.webhook.scan import Seen
from loralint.webhook.stored import CHUNK

if TYPE_CHECKING:
    from lightkube import Client


class NoReportsError(Exception):
    """The cluster does not know reports; the message names what it lacks."""


def publish(client: Client, seen: list[Seen], namespace: str, without: Container[str]) -> int:
    """Write one report for each namespace that was looked at or has one from before; how many.

    Raises HTTPStatusError, and NoReportsError.
    """
    from httpx2 import HTTPStatusError
    from lightkube.generic_resource import create_namespaced_resource

    kind = create_namespaced_resource(GROUP, VERSION, KIND, PLURAL)
    known = client.list(kind, namespace=namespace, chunk_size=CHUNK)
    try:
        old = [str(one.metadata.namespace) for one in known if one.metadata and one.metadata.name == NAME]
    except HTTPStatusError as error:
        if error.response.status_code != 404:
            raise
        raise NoReportsError(f"the cluster has no {KIND}s: the CRD {PLURAL}.{GROUP} is not installed") from None
    made = reports(seen, [one for one in old if one not in without])
    for report in made:
        one = kind.from_dict(report)
        client.apply(one, NAME, namespace=report["metadata"]["namespace"], field_manager=NAME, force=True)
    return len(made)
