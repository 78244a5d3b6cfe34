"""Objects of a cluster as the engine takes them: by group and kind, without what the server adds to them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from loralint.frameworks.readers.kubernetes.maps import ConfigMap, Text
from loralint.run.mapped import ENDS
from loralint.source.document import Document
from loralint.source.read import read_text

Object = Mapping[str, Any]
# (group, kind): a Volcano Job and a batch Job are both called Job.
CONFIG_MAP = ("", "ConfigMap")
POD = ("", "Pod")
KINDS = frozenset(
    {
        CONFIG_MAP,
        ("batch", "Job"), ("batch", "CronJob"),
        ("kubeflow.org", "PyTorchJob"), ("kubeflow.org", "MPIJob"), ("kubeflow.org", "TFJob"),
        ("kubeflow.org", "JAXJob"), ("kubeflow.org", "XGBoostJob"), ("kubeflow.org", "PaddleJob"),
        ("kubeflow.org", "TrainJob"), ("trainer.kubeflow.org", "TrainJob"),
        ("trainer.kubeflow.org", "TrainingRuntime"), ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        ("ray.io", "RayJob"), ("jobset.x-k8s.io", "JobSet"), ("batch.volcano.sh", "Job"),
        ("argoproj.io", "Workflow"), ("argoproj.io", "CronWorkflow"),
        ("argoproj.io", "WorkflowTemplate"), ("argoproj.io", "ClusterWorkflowTemplate"),
        ("workload.codeflare.dev", "AppWrapper"), ("sagemaker.amazonaws.com", "HyperPodPyTorchJob"),
        ("kaiwo.silogen.ai", "KaiwoJob"), ("kaito.sh", "Workspace"), ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    }
)  # fmt: skip
# A training config has some kilobytes. These bound the work of one review, and the deadline bounds the rest.
KEY_LIMIT, OBJECT_LIMIT = 256 * 1024, 512 * 1024
# Maps of one job that are looked up, and how deep they are looked for in it.
MOST_MAPS = 4
_DEEP = 40
# The folder of everything that is judged: it cannot exist, so nothing of this machine is ever read for a config.
NOWHERE = "/dev/null/"
# Keys as the server takes them, which it has not looked at yet when it asks for mutations.
_KEY = re.compile(r"(?!\.\.|\.$)[A-Za-z0-9._-]{1,253}")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_META = ("name", "generateName", "namespace", "labels", "annotations")


class TooLargeError(Exception):
    """More than is checked within a review; the message says what, in a clause."""


def group_kind(obj: Object) -> tuple[str, str]:
    """("batch", "Job") of an object that says `apiVersion: batch/v1`."""
    version = str(obj.get("apiVersion") or "")
    return version.rpartition("/")[0], str(obj.get("kind") or "")


def is_watched(obj: Object, *, pods: bool = False) -> bool:
    """Whether objects of this kind may start a training, or hold the config of one."""
    kind = group_kind(obj)
    return kind in KINDS or (pods and kind == POD)


def manifest(obj: Object) -> str:
    """The object as the text of a file: without what the server keeps in it, and with `binaryData` as texts.

    Two objects that say the same have the same text. Raises TooLargeError.
    """
    if group_kind(obj) == CONFIG_MAP:  # of which nothing but its texts is judged, whatever it is called
        kept = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "data": _texts(obj)}
    else:
        kept = {key: value for key, value in obj.items() if key not in ("status", "metadata")}
        kept["metadata"] = _metadata(mapping(obj.get("metadata")))
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    if len(text) > OBJECT_LIMIT:
        raise TooLargeError(f"the object has more than {OBJECT_LIMIT // 1024} KiB")
    return text


def _metadata(meta: Object) -> dict[str, Any]:
    kept = {key: meta[key] for key in _META if meta.get(key)}
    if isinstance(kept.get("annotations"), dict):
        kept["annotations"] = {key: value for key, value in kept["annotations"].items() if key != _APPLIED}
    return kept


def unread(obj: Object) -> list[str]:
    """Which keys of a map are not looked at though they may hold a config, and why, each in a clause."""
    if group_kind(obj) != CONFIG_MAP:
        return []
    large = [f"`{key}` is larger than is checked here" for key, value in contents(obj) if len(value) > KEY_LIMIT]
    binary = {key: _decoded(value) for key, value in mapping(obj.get("binaryData")).items() if key.endswith(ENDS)}
    odd = (key for key, text in binary.items() if text is None and _KEY.fullmatch(key))
    return large + [f"`{key}` is text neither in UTF-8 nor in UTF-16" for key in odd]


def _texts(obj: Object) -> dict[str, str]:
    return {key: value for key, value in contents(obj) if len(value) <= KEY_LIMIT}


def contents(obj: Object) -> Iterator[tuple[str, str]]:
    """The texts of a map by key. A file that is not UTF-8 throughout comes as base64; bytes of other kinds are none."""
    data = mapping(obj.get("data"))
    yield from ((key, value) for key, value in data.items() if isinstance(value, str) and _KEY.fullmatch(key))
    for key, value in mapping(obj.get("binaryData")).items():
        text = _decoded(value) if _KEY.fullmatch(key) else None
        if text is not None and key not in data:
            yield key, text


def _decoded(raw: object) -> str | None:
    """The text that stands in base64: UTF-8, or UTF-16 with its mark, as editors of Windows save it."""
    try:
        given = base64.b64decode(raw if isinstance(raw, str) else "", validate=True)
        text = given.decode("utf-16" if given[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except (binascii.Error, ValueError):
        return None
    return None if "\0" in text else text


def wanted_maps(obj: Object) -> tuple[str, ...]:
    """The names of the maps that an object mounts or takes variables from, each once."""
    if group_kind(obj) == CONFIG_MAP:
        return ()
    return tuple(dict.fromkeys(_named(obj, _DEEP)))


def _named(node: object, depth: int) -> Iterator[str]:
    if depth and isinstance(node, Mapping):
        for key, value in node.items():
            name = value.get("name") if isinstance(value, Mapping) else None
            if key in ("configMap", "configMapRef", "configMapKeyRef") and isinstance(name, str) and name:
                yield name
            elif key not in ("metadata", "status"):
                yield from _named(value, depth - 1)
    elif depth and isinstance(node, list):
        for one in node:
            yield from _named(one, depth - 1)


class MapFiles(NamedTuple):
    """A map that was looked up: its texts by key. whole: it has no other keys, such as large ones, or bytes."""

    name: str
    data: Mapping[str, str]
    whole: bool = True

    @property
    def config_map(self) -> ConfigMap:
        """The map as the engine takes it, each key a file called by map and key."""
        files = {key: Text(document_of(text, file_of(self.name, key)), None) for key, text in self.data.items()}
        return ConfigMap(self.name, "", files, whole=self.whole)


def document_of(text: str, file: str) -> Document:
    """A text of a map as the file that it becomes, whose byte order mark no reader sees."""
    return read_text(text.lstrip("\ufeff"), file)


def file_of(name: str, key: str) -> str:
    """The file that a key of a looked-up map is."""
    return f"{NOWHERE}ConfigMap/{name}/{key}"


def map_files(obj: Object) -> MapFiles:
    """A ConfigMap of the cluster, without what is too large or no text."""
    texts = _texts(obj)
    keys = {*mapping(obj.get("data")), *mapping(obj.get("binaryData"))}
    return MapFiles(str(mapping(obj.get("metadata")).get("name") or ""), texts, keys == texts.keys())


class Lent(NamedTuple):
    """An object that another one takes its training from. what: its kind and name; maps: those that it mounts."""

    what: str
    text: str
    maps: tuple[str, ...] = ()


def lent(obj: Object) -> Lent:
    """An object that was looked up. Raises TooLargeError."""
    return Lent(f"{obj['kind']}/{mapping(obj.get('metadata')).get('name')}", manifest(obj), wanted_maps(obj))


def mapping(node: object) -> Object:
    """The node if it is a mapping, else an empty one: what a webhook is sent need not be what it should."""
    return node if isinstance(node, Mapping) else {}
