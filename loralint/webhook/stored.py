"""Objects that a cluster already holds: listed in pieces, so that neither side ever has all of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from loralint.run.mapped import ENDS
from loralint.webhook.asking import as_object, class_of
from loralint.webhook.objects import KINDS, Object, group_kind, mapping
from loralint.webhook.references import Wanted
from loralint.webhook.resources import NAMESPACE, Resource

if TYPE_CHECKING:
    from httpx2 import HTTPStatusError
    from lightkube import Client

CHUNK = 500
# No set: what stands in an object of a CRD need not be a text.
_ENDED = ("Complete", "Completed", "Succeeded", "Failed", "Finished")


class Unlisted(NamedTuple):
    """A kind that could not be listed, and why. forbidden: for want of rights."""

    resource: Resource
    why: str
    forbidden: bool = False


def listed(client: Client, resource: Resource, namespace: str) -> Iterator[Object | Unlisted]:
    """All objects of a kind, of every namespace for "*"; none where the cluster does not know the kind."""
    from httpx2 import HTTPStatusError

    for version in resource.versions:
        try:
            for one in client.list(class_of(resource, version), namespace=namespace, chunk_size=CHUNK):
                yield as_object(one, resource, version)
        except HTTPStatusError as error:
            if error.response.status_code == 404:
                continue
            yield Unlisted(resource, refusal(error), error.response.status_code in (401, 403))
        return


def missing_namespace(client: Client, name: str) -> tuple[bool, str]:
    """Whether there is no namespace of this name, and why that cannot be known, "" where it is."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import Namespace

    if not NAMESPACE.fullmatch(name):
        return True, ""
    try:
        client.get(Namespace, name)
    except HTTPStatusError as error:
        return error.response.status_code == 404, refusal(error)
    return False, ""


def refusal(error: HTTPStatusError) -> str:
    """Why the API server refused. A group that it does not know it answers without a status of its own."""
    from lightkube import ApiError

    said = error.status.message if isinstance(error, ApiError) else ""
    return said or f"HTTP {error.response.status_code}"


def fetched(client: Client, namespace: str, wanted: Wanted) -> Object | str:
    """An object by its name, or why it cannot be had, in a clause."""
    from httpx2 import HTTPStatusError

    where = {"namespace": namespace} if wanted.resource.is_namespaced else {}
    try:
        found = client.get(class_of(wanted.resource, wanted.version), wanted.name, **where)
    except HTTPStatusError as error:
        gone = error.response.status_code == 404
        return f"{wanted.shown} is not there" if gone else f"{wanted.shown} cannot be had: {refusal(error)}"
    return as_object(found, wanted.resource, wanted.version)


def is_open(obj: Object) -> bool:
    """Whether it can still cost something: no run that has ended, and nothing that another object of ours made."""
    if mapping(obj.get("metadata")).get("deletionTimestamp"):
        return False
    status = mapping(obj.get("status"))
    conditions = status.get("conditions")
    states = [one for one in conditions if isinstance(one, dict)] if isinstance(conditions, list) else []
    ended = any(one.get("type") in _ENDED and one.get("status") == "True" for one in states)
    return not ended and status.get("phase") not in _ENDED and not _has_parent(obj)


def _has_parent(obj: Object) -> bool:
    owners = mapping(obj.get("metadata")).get("ownerReferences")
    for owner in owners if isinstance(owners, list) else []:
        if isinstance(owner, dict) and owner.get("controller") and group_kind(owner) in KINDS:
            return True
    return False


def holds_config(obj: Object) -> bool:
    """Whether a map has a key that the hooks ask about, by its ending."""
    keys = [*mapping(obj.get("data")), *mapping(obj.get("binaryData"))]
    return any(str(key).endswith(ENDS) for key in keys)
