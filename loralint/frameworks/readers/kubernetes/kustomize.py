"""A kustomization: what it takes together, which ConfigMaps it makes of files, and which objects it changes.

Read as kustomize reads it (kubernetes-sigs/kustomize@04e51ad api/types/kustomization.go, @0069d6f api/kv/kv.go).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.maps import Text
from loralint.frameworks.readers.kubernetes.patches import Patch
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, text, top, word
from loralint.source.document import Document, Mark, Node
from loralint.source.inner import read_inner

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MOST = 500  # entries of one list that are looked at
# What may change any object in ways that only running it would tell.
_OPAQUE = ("transformers", "generators", "helmCharts", "helmChartInflationGenerator", "replacements", "vars")
# What teaches it further places in which objects name a ConfigMap.
_TEACHES = ("configurations", "transformers", "crds", "openapi")
# The kinds in which it follows the name of a ConfigMap by itself (@003a131 builtinpluginconsts/namereference.go).
_FOLLOWED = frozenset(
    {("", "Pod"), ("batch", "Job"), ("batch", "CronJob"), ("apps", "Deployment"), ("apps", "StatefulSet")}
)

_IMAGE = ("name", "newName", "newTag", "digest", "tagSuffix")
# Behind the name of an image, as kustomize looks for it (@04e51ad api/image/image.go).
_VERSION = re.compile(r"(:[\w.{}-]*)?(@sha256:[\w.{}-]*)?", re.ASCII)


class Generator(NamedTuple):
    """One entry of configMapGenerator. files: key -> path; texts: what stands in the kustomization itself; envs: files
    of variables; hashed: whether the name gets a hash of the content behind it.
    """

    name: At
    behavior: str
    files: Mapping[str, str]
    texts: Mapping[str, Text]
    envs: tuple[str, ...]
    hashed: bool


class Image(NamedTuple):
    """One entry of `images`: what a container's image of that name becomes."""

    name: str
    new_name: str
    new_tag: str
    digest: str
    suffix: str


class Kustomization(NamedTuple):
    """opaque: keys whose effect only running it would tell. teaches: it may follow names in kinds of its own. renames:
    what it puts before or behind every name.
    """

    document: Document
    resources: tuple[str, ...]
    components: tuple[str, ...]
    generators: tuple[Generator, ...]
    patches: tuple[Patch, ...]
    opaque: tuple[str, ...]
    teaches: bool
    renames: At | None
    images: tuple[Image, ...] = ()


def kustomization(document: Document) -> Kustomization | None:
    """A file as a kustomization, None where it is none."""
    if document.root is None or document.problems:
        return None
    at = top(document.root)
    unhashed = text(inside(at, "generatorOptions.disableNameSuffixHash")) == "true"
    generators = tuple(_generator(document, one, unhashed) for one in items(named(at, "configMapGenerator"))[:_MOST])
    return Kustomization(
        document,
        tuple(text(one) for name in ("resources", "bases") for one in items(named(at, name))[:_MOST]),
        tuple(text(one) for one in items(named(at, "components"))[:_MOST]),
        tuple(one for one in generators if one is not None),
        tuple(_patches(at)),
        tuple(name for name in _OPAQUE if named(at, name) is not None),
        any(named(at, name) is not None for name in _TEACHES),
        named(at, "namePrefix") or named(at, "nameSuffix"),
        tuple(Image(*(word(one, key) for key in _IMAGE)) for one in items(named(at, "images"))[:_MOST]),
    )


def renamed_image(image: str, entries: Iterable[Image]) -> str:
    """An image as `images` leave it, one after the other (@04e51ad api/filters/imagetag/updater.go)."""
    for one in entries:
        found = _VERSION.fullmatch(image, len(one.name)) if one.name and image.startswith(one.name) else None
        if found is None:
            continue
        tag, digest = found[1] or "", found[2] or ""
        if one.new_tag or one.digest:
            tag, digest = f":{one.new_tag}" * bool(one.new_tag), f"@{one.digest}" * bool(one.digest)
        elif one.suffix:
            tag, digest = f"{tag}{one.suffix}", ""
        image = f"{one.new_name or one.name}{tag}{digest}"
    return image


def _generator(document: Document, at: At, unhashed: bool) -> Generator | None:
    name = named(at, "name")
    if name is None:
        return None
    envs = [text(one) for one in [*items(named(at, "envs"))[:_MOST], named(at, "env")] if one is not None]
    texts = dict(found for one in items(named(at, "literals"))[:_MOST] if (found := _literal(document, one)))
    files = [text(one) for one in items(named(at, "files"))[:_MOST]]
    return Generator(
        name,
        word(at, "behavior") or "create",
        dict(_file(one) for one in files if one),
        texts,
        tuple(envs),
        not unhashed and text(inside(at, "options.disableNameSuffixHash")) != "true",
    )


def _file(given: str) -> tuple[str, str]:
    """Key and path of `key=path`, or of a path alone."""
    key, equals, path = given.partition("=")
    return (key, path) if equals else (posixpath.basename(given), given)


def _literal(document: Document, at: At) -> tuple[str, Text] | None:
    """`key=value`; a pair of quotes round the value is taken off."""
    key, equals, given = text(at).partition("=")
    if not equals:
        return None
    quoted = len(given) > 1 and given[0] == given[-1] and given[0] in "\"'"
    start = document.text.find(given, at.node.start, at.node.end) if given else -1
    begin = (start if start >= 0 else at.node.start) + quoted
    return key, _text(document, given[1:-1] if quoted else given, begin)


def variables_of(document: Document) -> dict[str, Text]:
    """The lines of a file of variables, whose values kustomize takes as they are written."""
    found, at = {}, 0
    for line in document.text.split("\n"):
        key, _, given = line.removesuffix("\r").lstrip().partition("=")
        if key and not key.startswith("#"):
            found[key] = _text(document, given, at + len(line) - len(line.lstrip()) + len(key) + 1)
        at += len(line) + 1
    return dict(list(found.items())[:_MOST])


def _text(document: Document, given: str, start: int) -> Text:
    end = min(start + len(given), len(document.text))
    return Text(document, Node("scalar", "str", Mark(start, document.lines), Mark(end, document.lines), given))


def _patches(at: At) -> Iterator[Patch]:
    """The patches in the order in which they are laid over."""
    for one in items(named(at, "patchesStrategicMerge"))[:_MOST]:
        inline = "\n" in text(one)
        yield Patch("" if inline else text(one), one if inline else None, None)
    for key in ("patches", "patchesJson6902"):
        for one in items(named(at, key))[:_MOST]:
            yield Patch(word(one, "path"), named(one, "patch"), named(one, "target"))


def inline_objects(document: Document, patch: Patch) -> list[Node]:
    """The objects of a patch that stands in the kustomization itself."""
    return list(read_inner(document, patch.inline.node, "patch.yaml").roots) if patch.inline is not None else []


def follows_names(job: Job) -> bool:
    """Whether kustomize by itself puts the name of a generated ConfigMap into objects of this kind."""
    return (job.group, job.kind) in _FOLLOWED
