"""What one `loralint serve` takes: reviews a second, how long small ones wait beside large ones, and memory.

    python benchmarks/webhook/load.py [--seconds 5] [--connections 8] [--soak 50000] [--workers N]

The service and this client share the machine, over TLS on loopback with connections kept alive, as the API server
keeps them. A config is sent as it is again and again (what GitOps does: the verdict is remembered) and, as another
figure, never twice alike.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = (ROOT / "benchmarks" / "lora.yaml").read_text(encoding="utf-8")


def config(size: int) -> str:
    """A config that trains, filled up with data sets to about a size."""
    row = "  - path: data/rows-{}.jsonl\n    type: alpaca\n"
    rows = "".join(row.format(number) for number in range(max(0, size - len(CONFIG)) // len(row)))
    assert "\ndatasets:\n" in CONFIG
    return CONFIG.replace("\ndatasets:\n", f"\ndatasets:\n{rows}")


def review(text: str, key: str = "train.yaml", binary: bool = False) -> bytes:
    held = {"binaryData": {key: base64.b64encode(text.encode()).decode()}} if binary else {"data": {key: text}}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "train", "namespace": "team"}, **held}
    return json.dumps(
        {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": "0b7c1a52-7d5f-4a8e-9a53-3d1fd2a3f001",
                "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
                "name": "train", "namespace": "team", "operation": "CREATE", "userInfo": {"username": "alice"},
                "object": obj, "oldObject": None, "dryRun": False,
            },
        },
        separators=(",", ":"),
    ).encode()  # fmt: skip


class Service:
    def __init__(self, folder: str, workers: int) -> None:
        import trustme

        authority = trustme.CA()
        made = authority.issue_cert("127.0.0.1")
        made.private_key_pem.write_to_path(os.path.join(folder, "tls.key"))
        made.cert_chain_pems[0].write_to_path(os.path.join(folder, "tls.crt"))
        self.context = ssl.create_default_context()
        authority.configure_trust(self.context)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        given = ["--host", "127.0.0.1", "--port", str(self.port), "--metrics-port", "0", "--cert-dir", folder]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "loralint", "serve", *given, "--workers", str(workers), "--log-level", "error"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    async def wait(self) -> None:
        while True:
            try:
                await asyncio.open_connection("127.0.0.1", self.port, ssl=self.context)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                break

    def memory(self) -> dict[str, float]:
        """MiB resident: of the serving process, and of all its workers together."""
        found = {"parent": _resident(self.process.pid), "workers": 0.0}
        for one in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                said = one.read_text()
            except OSError:
                continue
            if "loralint.webhook.worker" in said and f'"parent": {self.process.pid}' in said:
                found["workers"] += _resident(int(one.parent.name))
        return found


def _resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> bytes:
    head = f"POST /validate/warn?timeout=3s HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answered = await reader.readuntil(b"\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 200"), answered
    length = next(int(line.split(b":")[1]) for line in answered.split(b"\r\n") if line.startswith(b"content-length"))
    return await reader.readexactly(length)


def small(config_text: str, *, alike: bool) -> Iterator[bytes]:
    number = 0
    while True:
        number += 1
        yield review(config_text if alike else f"{config_text}\n# {os.getpid()} {time.time_ns()} {number}\n")


async def load(
    service: Service, bodies: Iterator[bytes], *, connections: int, stop: Callable[[int], bool], pause: float = 0
) -> tuple[list[float], int]:
    """Seconds of each answer, and how many were not judged."""
    took: list[float] = []
    unjudged = 0

    async def one() -> None:
        nonlocal unjudged
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port, ssl=service.context)
        while not stop(len(took)):
            body = next(bodies)
            began = time.perf_counter()
            answer = await post(reader, writer, body)
            took.append(time.perf_counter() - began)
            unjudged += b"not checked" in answer
            await asyncio.sleep(pause)
        writer.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return took, unjudged


def until(seconds: float) -> Callable[[int], bool]:
    end = time.perf_counter() + seconds
    return lambda _: time.perf_counter() > end


def percentile(took: list[float], share: float) -> float:
    return sorted(took)[min(len(took) - 1, int(len(took) * share))] * 1000


def told(name: str, took: list[float], unjudged: int, seconds: float) -> None:
    print(
        f"{name:44} {len(took) / seconds:8.0f} /s   p50 {percentile(took, 0.5):7.1f} ms   "
        f"p99 {percentile(took, 0.99):7.1f} ms   not judged {unjudged}"
    )


def hostile() -> Iterator[bytes]:
    """1 MB of YAML, the largest text that is judged, and regular expressions that backtracking never ends on."""
    bombs = [f"({'a+' * 40})+$", "(" * 300 + "a" + ")*" * 300, f"^({'|'.join('(a|a)*' for _ in range(200))})*b$"]
    number = 0
    while True:
        number += 1
        yield review(config(1_000_000) + f"# {number}\n")
        yield review(config(250_000) + f"# {number}\n")
        bomb = CONFIG.replace("lora_target_linear: true", "") + f"\nlora_target_modules: '{bombs[number % 3]}'\n"
        yield review(bomb + f"# {number}\n")
        yield review("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
        ) + f"# {number}\n")  # fmt: skip


async def isolation(service: Service, seconds: float) -> None:
    """Small reviews at a steady pace, never alike, without and with large ones beside them, in turn."""
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(3):
        took, _ = await load(service, small(config(2048), alike=False), connections=4, stop=until(seconds), pause=0.1)
        alone += took
        stop = until(seconds)
        (took, missed), (large, _) = await asyncio.gather(
            load(service, small(config(2048), alike=False), connections=4, stop=stop, pause=0.1),
            load(service, hostile(), connections=1, stop=stop, pause=0.1),
        )
        beside += took
    told("small, at a steady pace", alone, 0, 3 * seconds)
    told(f"small, beside {len(large)} large or hostile ones", beside, missed, 3 * seconds)
    print(f"p99 beside / p99 alone: {percentile(beside, 0.99) / percentile(alone, 0.99):.2f} (bar 3)")


async def main(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(folder, given.workers)
        try:
            await service.wait()
            print("MiB at rest:", {name: round(size, 1) for name, size in service.memory().items()})
            for size, bar in ((2048, 500), (16_000, 100)):
                for alike in (True, False):
                    stop = until(given.seconds)
                    took, missed = await load(
                        service, small(config(size), alike=alike), connections=given.connections, stop=stop
                    )
                    how = "sent again and again" if alike else "never twice alike"
                    told(f"{size // 1000} KB, {how} (bar {bar})", took, missed, given.seconds)
            await isolation(service, given.seconds)
            if given.soak:
                mixed = (next(one) for one in _turns(small(config(2048), alike=True), small(config(2048), alike=False)))
                half = given.soak // 2
                await load(service, mixed, connections=given.connections, stop=lambda done: done >= half)
                print(f"MiB after {half} reviews:", {name: round(size, 1) for name, size in service.memory().items()})
                await load(service, mixed, connections=given.connections, stop=lambda done: done >= half)
                print(
                    f"MiB after {given.soak} reviews:",
                    {name: round(size, 1) for name, size in service.memory().items()},
                )
        finally:
            service.process.terminate()
            service.process.wait()


def _turns(*several: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    while True:
        yield from several


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--soak", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asyncio.run(main(parser.parse_args()))
