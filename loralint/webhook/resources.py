"""The kinds that are looked at, as the API server calls them. A test holds the chart's hooks and rights to them."""

from __future__ import annotations

import re
from typing import NamedTuple

from loralint.webhook.objects import CONFIG_MAP, KINDS

# Names as the server takes them; any other could lead the path of a request elsewhere.
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
# Under which versions a group is served, the newest first; a cluster may have any of them, or none.
_VERSIONS = {
    "": ("v1",),
    "batch": ("v1",),
    "kubeflow.org": ("v1", "v2beta1", "v2alpha1"),
    "trainer.kubeflow.org": ("v1alpha1",),
    "ray.io": ("v1",),
    "jobset.x-k8s.io": ("v1alpha2",),
    "batch.volcano.sh": ("v1alpha1",),
    "argoproj.io": ("v1alpha1",),
    "workload.codeflare.dev": ("v1beta2",),
    "sagemaker.amazonaws.com": ("v1",),
    "kaiwo.silogen.ai": ("v1alpha1",),
    "kaito.sh": ("v1beta1", "v1alpha1"),
    "leaderworkerset.x-k8s.io": ("v1",),
}


class Resource(NamedTuple):
    """One kind. Those of a whole cluster have no namespace, so that no namespace's mode is theirs."""

    group: str
    kind: str

    @property
    def versions(self) -> tuple[str, ...]:
        """All that it may be served under."""
        return _VERSIONS[self.group]

    @property
    def plural(self) -> str:
        """As it stands in paths and rights."""
        return f"{self.kind.lower()}s"

    @property
    def is_namespaced(self) -> bool:
        """Whether its objects lie in namespaces."""
        return not self.kind.startswith("Cluster")


RESOURCES = tuple(Resource(*one) for one in sorted(KINDS))
WORKLOADS = tuple(one for one in RESOURCES if one != CONFIG_MAP)
