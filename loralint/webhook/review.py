"""AdmissionReview v1: what is asked, read from bytes that anybody may have sent, and the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from loralint.webhook.changes import is_suspended, scheduling
from loralint.webhook.objects import (
    CONFIG_MAP,
    KEY_LIMIT,
    Object,
    TooLargeError,
    contents,
    is_watched,
    manifest,
    mapping,
    unread,
    wanted_maps,
)
from loralint.webhook.references import Wanted, referred
from loralint.webhook.scripts import run_from

_VERSION = "admission.k8s.io/v1"
# How the API server begins every review: what is needed to answer one that nobody has the time to read.
_START = re.compile(
    rb'\s*\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io/v1","request":\{"uid":"([0-9a-f-]{36})"'
)
# Where a cluster keeps itself running: whatever a webhook configuration says, nothing there waits for us.
SPARED = frozenset({"kube-system", "kube-public", "kube-node-lease"})
# A patch of the answer is base64 of JSON, as the API has it.
PATCH_TYPE = "JSONPatch"


class BadReviewError(Exception):
    """The body is no review of version 1; the message says what is wrong and quotes nothing of it."""


class Head(NamedTuple):
    """Who asks about what. parent: (group, kind) of the controller that the object says it belongs to."""

    uid: str
    group: str = ""
    kind: str = ""
    operation: str = ""
    namespace: str = ""
    name: str = ""
    user: str = ""
    dry_run: bool = False
    parent: tuple[str, str] | None = None


class Request(NamedTuple):
    """A review as it is judged. skip: why nothing has to be judged, "" if it has. text, base: see `judging.Task`.

    maps: names of the maps that the object uses; scripts: of those from which it runs a file; referred: what it takes
    its training from; unread: which of its keys are not looked at, and why. data: of a reviewed map, what a patch may
    change; managed: whether a program would fight it.
    """

    head: Head
    skip: str = ""
    text: str = ""
    base: str = ""
    maps: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    data: Mapping[str, str] = {}
    managed: bool = False
    referred: tuple[Wanted, ...] = ()
    scripts: tuple[str, ...] = ()


def read_request(body: bytes, *, pods: bool = False) -> Request:
    """What a body asks. Raises BadReviewError."""
    request = _request(body)
    obj, old = mapping(request.get("object")), mapping(request.get("oldObject"))
    head = _head(request, obj)
    obj = _as_asked(obj, request, head)
    skip = "subresource" if request.get("subResource") else _skipped(head, obj, pods=pods)
    if skip:
        return Request(head, skip)
    try:
        text = manifest(obj)
        base = _base(obj, _as_asked(old, request, head)) if head.operation == "UPDATE" and old else ""
    except TooLargeError:
        return Request(head, "too-large")
    if text == base:
        return Request(head, "unchanged")
    data = {key: value for key, value in contents({"data": obj.get("data")}) if len(value) <= KEY_LIMIT}
    return Request(
        head, "", text, base, wanted_maps(obj), tuple(unread(obj)),
        data if (head.group, head.kind) == CONFIG_MAP else {}, _is_managed(obj), referred(obj),
        run_from(obj),
    )  # fmt: skip


def read_head(body: bytes) -> Head:
    """Who asks, of a review that is not judged. Raises BadReviewError."""
    start = _START.match(body)
    if start is not None:
        return Head(start[1].decode())
    request = _request(body)
    return _head(request, mapping(request.get("object")))


def _request(body: bytes) -> Object:
    try:
        review = json.loads(body)
    except (ValueError, RecursionError):
        raise BadReviewError("the body is not JSON") from None
    if mapping(review).get("kind") != "AdmissionReview" or review.get("apiVersion") != _VERSION:
        raise BadReviewError(f"the body is no AdmissionReview of {_VERSION}")
    request = mapping(review.get("request"))
    uid = request.get("uid")
    if not isinstance(uid, str) or not uid or len(uid) > 256 or not uid.isascii() or not uid.isprintable():
        raise BadReviewError("the review has no `request.uid`")
    return request


def _head(request: Object, obj: Object) -> Head:
    kind = mapping(request.get("kind"))
    return Head(
        str(request["uid"]),
        _word(kind.get("group")),
        _word(kind.get("kind")),
        _word(request.get("operation")),
        _word(request.get("namespace")),
        _word(request.get("name")) or _word(mapping(obj.get("metadata")).get("generateName")),
        _word(mapping(request.get("userInfo")).get("username")),
        request.get("dryRun") is True,
        _parent(obj),
    )


def _word(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= 512 else ""


def _parent(obj: Object) -> tuple[str, str] | None:
    owners = mapping(obj.get("metadata")).get("ownerReferences")
    for one in owners if isinstance(owners, list) else ():
        if mapping(one).get("controller") is True:
            return _word(one.get("apiVersion")).rpartition("/")[0], _word(one.get("kind"))
    return None


def _as_asked(obj: Object, request: Object, head: Head) -> Object:
    """The object with the kind, namespace and name that it is asked about, which it may leave to the request."""
    version = _word(mapping(request.get("kind")).get("version"))
    meta = {"name": head.name, **mapping(obj.get("metadata"))}
    meta["namespace"] = head.namespace
    named = f"{head.group}/{version}" if head.group else version
    return {**obj, "apiVersion": named, "kind": head.kind, "metadata": meta}


def _skipped(head: Head, obj: Object, *, pods: bool) -> str:
    if head.operation not in ("CREATE", "UPDATE"):
        return "operation"
    if head.namespace in SPARED:
        return "namespace"
    if not is_watched(obj, pods=pods):
        return "unknown-kind"
    return "deleting" if mapping(obj.get("metadata")).get("deletionTimestamp") else ""


def _base(obj: Object, old: Object) -> str:
    """What the object was, which old faults it may keep. A suspended job that is sent elsewhere is judged as new."""
    if (is_suspended(obj) or is_suspended(old)) and scheduling(obj) != scheduling(old):
        return ""
    try:
        return manifest(old)
    except TooLargeError:
        return ""


_MANAGERS = ("argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "meta.helm.sh/")


def _is_managed(obj: Object) -> bool:
    """Whether a program keeps the object as a repository has it, so that a patch would be fought for ever."""
    meta = mapping(obj.get("metadata"))
    names = [*mapping(meta.get("labels")), *mapping(meta.get("annotations"))]
    by_helm = mapping(meta.get("labels")).get("app.kubernetes.io/managed-by") == "Helm"
    return by_helm or any(isinstance(one, str) and one.startswith(_MANAGERS) for one in names)


def answer(
    uid: str,
    *,
    allowed: bool = True,
    message: str = "",
    warnings: list[str] | None = None,
    audit: Mapping[str, str] | None = None,
    patch: str = "",
) -> dict[str, Any]:
    """The review that answers. message: why it is not allowed; patch: base64 of a JSON patch."""
    response: dict[str, Any] = {"uid": uid, "allowed": allowed}
    if not allowed:
        response["status"] = {"code": 422, "reason": "Invalid", "message": message}
    if warnings:
        response["warnings"] = warnings
    if audit:
        response["auditAnnotations"] = dict(audit)
    if patch:
        response |= {"patchType": PATCH_TYPE, "patch": patch}
    return {"apiVersion": _VERSION, "kind": "AdmissionReview", "response": response}
