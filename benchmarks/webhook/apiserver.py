"""What a real API server's create of a ConfigMap takes longer with the webhook than without, in pairs.

    KUBEBUILDER_ASSETS=DIR python benchmarks/webhook/apiserver.py [--pairs 1000] [--clients 1] [--size 2048]

DIR holds etcd and kube-apiserver. Everything runs on this machine, on loopback. One of each pair goes to a namespace
whose mode is `off`, where nobody is asked, the other to one that is enforced; which comes first alternates. Each config
is new to the service, unless --same.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
# What may be added: ms of the median, and of one in a hundred.
MEDIAN, HUNDREDTH = 5.0, 25.0
_COUNTED = "loralint_admission_requests_total{"


def config(size: int) -> str:
    """A clean config, filled up with data sets to about a size."""
    text = (ROOT / "benchmarks" / "lora.yaml").read_text("utf-8")
    row = "  - path: data/rows-{}.jsonl\n    type: alpaca\n"
    rows = "".join(row.format(number) for number in range(max(0, size - len(text)) // len(row)))
    assert "\ndatasets:\n" in text
    return text.replace("\ndatasets:\n", f"\ndatasets:\n{rows}")


def measure(api: Any, pairs: int, clients: int, size: int, same: bool) -> list[tuple[float, float]]:
    """(without, with) in ms, of each pair."""
    found: list[tuple[float, float]] = []

    def work(worker: int) -> None:
        with api.client("admin") as client:
            for number in range(-20, pairs // clients):
                text = config(size) + ("" if same else f"# {worker} {number}\n")
                took = {}
                for namespace in ("off", "enforced") if number % 2 else ("enforced", "off"):
                    made = {"metadata": {"name": f"c{worker}-{number + 20}"}, "data": {"train.yaml": text}}
                    began = time.perf_counter()
                    answer = client.post(f"/api/v1/namespaces/{namespace}/configmaps", json=made)
                    took[namespace] = (time.perf_counter() - began) * 1000
                    assert answer.status_code == 201, answer.text
                if number >= 0:  # the first ones warm both up
                    found.append((took["off"], took["enforced"]))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


def hundredth(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--same", action="store_true")
    given = parser.parse_args()
    from tests.webhook.cluster import Cluster, available, hooks
    from tests.webhook.server import Server

    if not available():
        sys.stderr.write("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver\n")
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "serve").mkdir()
        api, server = Cluster(folder), Server(folder / "serve", "--log-level", "error")
        try:
            api.wait()
            server.wait()
            for namespace, mode in (("off", "off"), ("enforced", "enforce")):
                labels = {"loralint.dev/mode": mode}
                api.http.post("/api/v1/namespaces", json={"metadata": {"name": namespace, "labels": labels}})
            path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
            assert api.http.post(path, json=hooks(server.ca, server.port)).is_success
            time.sleep(3)
            found = measure(api, given.pairs, given.clients, given.size, given.same)
            asked = sum(float(line.split()[-1]) for line in server.metrics().splitlines() if line.startswith(_COUNTED))
        finally:
            server.stop()
            api.stop()
    assert asked >= len(found), "the API server did not ask the webhook"
    without, with_ = [one for one, _ in found], [one for _, one in found]
    median = statistics.median(late - early for early, late in found)
    late = hundredth(with_) - hundredth(without)
    print(f"{len(found)} pairs, {given.clients} at once, {given.size} bytes, {'the same' if given.same else 'all new'}")
    print(f"without  p50 {statistics.median(without):6.2f} ms  p99 {hundredth(without):6.2f} ms")
    print(f"with     p50 {statistics.median(with_):6.2f} ms  p99 {hundredth(with_):6.2f} ms")
    print(f"added    p50 {median:+6.2f} ms (bar {MEDIAN:+})  p99 {late:+6.2f} ms (bar {HUNDREDTH:+})")
    return int(median > MEDIAN or late > HUNDREDTH)


if __name__ == "__main__":
    raise SystemExit(main())
