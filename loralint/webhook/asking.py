"""How the API server is asked for single objects: what its rights are is the chart's matter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from loralint.webhook.objects import CONFIG_MAP
from loralint.webhook.references import Wanted
from loralint.webhook.resources import Resource
from loralint.webhook.way import way

if TYPE_CHECKING:
    from lightkube import AsyncClient

# An object by namespace and name: its JSON, or the HTTP status by which the server refused.
Get = Callable[[str, Wanted], Awaitable["dict[str, Any] | int"]]


@lru_cache(maxsize=64)
def class_of(resource: Resource, version: str) -> Any:
    """What the client calls a kind."""
    from lightkube.generic_resource import create_global_resource, create_namespaced_resource
    from lightkube.resources.core_v1 import ConfigMap

    if resource == CONFIG_MAP:
        return ConfigMap
    make = create_namespaced_resource if resource.is_namespaced else create_global_resource
    return make(resource.group, version, resource.kind, resource.plural)


def client(kubeconfig: str = "") -> AsyncClient:
    """A client by a kubeconfig, else by the service account of the pod. Raises ValueError, saying what is missing."""
    from lightkube import AsyncClient, KubeConfig
    from lightkube.core.exceptions import ConfigError

    try:
        config = way(partial(KubeConfig.from_file, kubeconfig) if kubeconfig else KubeConfig.from_service_account)
    except (ConfigError, OSError) as error:
        raise ValueError(f"no way to the API server: {error}") from None
    return AsyncClient(config=config, namespace="default")


def getter(asked: AsyncClient) -> Get:
    """How an object is asked of the server."""
    from httpx2 import HTTPStatusError

    async def get(namespace: str, wanted: Wanted) -> dict[str, Any] | int:
        kind = class_of(wanted.resource, wanted.version)
        where = {"namespace": namespace} if wanted.resource.is_namespaced else {}
        try:
            found = await asked.get(kind, wanted.name, **where)
        except HTTPStatusError as error:
            return error.response.status_code
        return as_object(found, wanted.resource, wanted.version)

    return get


def as_object(one: Any, resource: Resource, version: str) -> dict[str, Any]:
    """What the client found as JSON has it; items of a list do not say their own kind."""
    found: dict[str, Any] = one.to_dict()
    return {**found, "apiVersion": f"{resource.group}/{version}".lstrip("/"), "kind": resource.kind}
