"""What the service counts, for Prometheus; the names are listed in docs/webhook.md."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from loralint.version import __version__

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3)
_BYTES = (1024, 4096, 16384, 65536, 262144, 1048576)
# Why an object that concerns us is let in unjudged: there from the start, since Prometheus sees no series' first step.
_UNCHECKED = ("too-large", "busy", "deadline", "crashed", "internal")


class Metrics:
    """A registry of its own, so that two servers in one process do not meet."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series beside every counter, which nobody asks for
        self.registry = CollectorRegistry()
        self.requests = self._counter(
            "loralint_admission_requests", "Reviews answered.", "kind", "operation", "verdict", "dry_run", "mode"
        )
        self.findings = self._counter("loralint_findings", "Findings told.", "rule", "severity")
        self.lookups = self._counter("loralint_lookup", "ConfigMaps looked up.", "result")
        self.skipped = self._counter("loralint_skipped", "Objects that were not judged.", "reason")
        for reason in _UNCHECKED:
            self.skipped.labels(reason)
        self.internal_errors = self._counter("loralint_internal_errors", "Faults of loralint itself.")
        self.refused = self._counter("loralint_refused", "Requests answered 503, as too many are being answered.")
        self.dropped = self._counter("loralint_log_lines_dropped", "Lines of the log that could not be written.")
        self.restarts = self._counter("loralint_worker_restarts", "Worker processes that ended.", "reason")
        self.seconds = Histogram(
            "loralint_admission_duration_seconds", "Time to answer.", ["hook"],
            buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self.size = Histogram("loralint_config_bytes", "Size of the reviews.", buckets=_BYTES, registry=self.registry)
        self.workers = Gauge("loralint_workers", "Worker processes at hand.", ["lane"], registry=self.registry)
        self.expiry = Gauge(
            "loralint_cert_expiry_timestamp_seconds", "When the served certificate ends.", ["which"],
            registry=self.registry,
        )  # fmt: skip
        Gauge("loralint_build_info", "Always 1.", ["version"], registry=self.registry).labels(__version__).set(1)

    def _counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(name, told, labels, registry=self.registry)

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)
