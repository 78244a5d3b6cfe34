"""Objects that a cluster already holds: listed in pieces, so that neither side ever has all of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from loralint.webhook.objects import CONFIG_MAP, KINDS, Object, group_kind, mapping
from loralint.webhook.resources import Resource

if TYPE_CHECKING:
    from httpx2 import HTTPStatusError
    from lightkube import Client

CHUNK = 500
# No set: what stands in an object of a CRD need not be a text.
_ENDED = ("Complete", "Completed", "Succeeded", "Failed", "Finished")


class Unlisted(NamedTuple):
    """A kind that could not be listed, and why."""

    resource: Resource
    why: str


def listed(client: Client, resource: Resource, namespace: str) -> Iterator[Object | Unlisted]:
    """All objects of a kind, of every namespace for "*"; none where the cluster does not know the kind."""
    from httpx2 import HTTPStatusError

    for version in resource.versions:
        try:
            for one in client.list(_class(resource, version), namespace=namespace, chunk_size=CHUNK):
                yield _object(one, resource, version)
        except HTTPStatusError as error:
            if error.response.status_code == 404:
                continue
            yield Unlisted(resource, refusal(error))
        return


def refusal(error: HTTPStatusError) -> str:
    """Why the API server refused. A group that it does not know it answers without a status of its own."""
    from lightkube import ApiError

    said = error.status.message if isinstance(error, ApiError) else ""
    return said or f"HTTP {error.response.status_code}"


def _class(resource: Resource, version: str) -> Any:
    from lightkube.generic_resource import create_namespaced_resource
    from lightkube.resources.core_v1 import ConfigMap

    if resource == CONFIG_MAP:
        return ConfigMap
    return create_namespaced_resource(resource.group, version, resource.kind, resource.plural)


def _object(one: Any, resource: Resource, version: str) -> Object:
    """Items of a list do not say their own kind."""
    found: dict[str, Any] = one.to_dict()
    return {**found, "apiVersion": f"{resource.group}/{version}".lstrip("/"), "kind": resource.kind}


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
    return any(str(key).endswith((".yaml", ".yml", ".json", ".toml")) for key in keys)
