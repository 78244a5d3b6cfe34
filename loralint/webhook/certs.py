"""Certificates of our own in a cluster: made, renewed, and told to the API server before they are served.

It runs as a task of its own: the service that reads what strangers write has no right to write anything.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from loralint.webhook.issuing import BUNDLE, Data, Wanted, authority, leaf

if TYPE_CHECKING:
    from lightkube import Client


class Place(NamedTuple):
    """Where things lie. configuration: name of the webhook configurations; service: also names the Secrets."""

    namespace: str
    service: str
    configuration: str

    @property
    def names(self) -> tuple[str, ...]:
        """Under which the API server asks for the service."""
        host = f"{self.service}.{self.namespace}.svc"
        return host, f"{host}.cluster.local"


class Renewed(NamedTuple):
    """done: what was, in words; is_known: whether there is a configuration that could hold the CA."""

    done: tuple[str, ...]
    is_known: bool


def renew(client: Client, place: Place, wanted: Wanted, now: datetime) -> Renewed:
    """Bring the Secrets and the webhook configurations up to date.

    A Secret that somebody else changed meanwhile raises ApiError; the next try sees what they wrote.
    """
    done = []
    ca, changed = _kept(client, place, f"{place.service}-ca", lambda data: authority(data, wanted, now))
    done += ["a new CA"] * changed
    # before anything of it is served
    told = _announce(client, place.configuration, ca[BUNDLE])
    done += [f"told to {kind}" for kind, is_news in told.items() if is_news]
    _, changed = _kept(
        client, place, f"{place.service}-tls", lambda data: leaf(data, ca, wanted, now), "kubernetes.io/tls"
    )
    return Renewed((*done, *["a new certificate"] * changed), bool(told))


def withdraw(client: Client, configuration: str) -> tuple[str, ...]:
    """Take the webhook configurations away, so that nothing waits for a service that goes."""
    from lightkube import ApiError

    done = []
    for kind in _kinds():
        try:
            client.delete(kind, configuration)
        except ApiError as error:
            if error.status.code != 404:
                raise
            continue
        done.append(f"{kind.__name__} {configuration} is gone")
    return tuple(done)


def _kept(
    client: Client, place: Place, name: str, make: Callable[[Data], Data], kind: str = "Opaque"
) -> tuple[Data, bool]:
    """The data of a Secret as `make` wants it, and whether that had to be written."""
    from lightkube import ApiError
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import Secret

    try:
        old = client.get(Secret, name, namespace=place.namespace)
    except ApiError as error:
        if error.status.code != 404:
            raise
        old = None
    known = {key: base64.b64decode(text) for key, text in ((old and old.data) or {}).items()}
    data = make(known)
    if old is not None and data == known:
        return data, False
    text = {key: base64.b64encode(value).decode() for key, value in data.items()}
    if old is None:
        client.create(Secret(metadata=ObjectMeta(name=name, namespace=place.namespace), type=kind, data=text))
    else:  # with its resourceVersion: what somebody else wrote meanwhile is not lost
        old.data = text
        client.replace(old)
    return data, True


def _announce(client: Client, configuration: str, bundle: bytes) -> dict[str, bool]:
    """Write the CAs into every hook that lacks them: each kind of configuration that there is, and whether one did."""
    from lightkube import ApiError

    text, told = base64.b64encode(bundle).decode(), {}
    for kind in _kinds():
        try:
            found = client.get(kind, configuration)
        except ApiError as error:
            if error.status.code != 404:
                raise
            continue
        hooks = [hook.name for hook in found.webhooks or () if hook.clientConfig.caBundle != text]
        if hooks:
            trust = [{"name": name, "clientConfig": {"caBundle": text}} for name in hooks]
            client.patch(kind, configuration, {"webhooks": trust})
        told[kind.__name__] = bool(hooks)
    return told


def _kinds() -> tuple[Any, ...]:
    from lightkube.resources.admissionregistration_v1 import MutatingWebhookConfiguration as Mutating
    from lightkube.resources.admissionregistration_v1 import ValidatingWebhookConfiguration as Validating

    return Validating, Mutating
