"""A `loralint serve` of its own, over TLS on loopback."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import trustme

ROOT = Path(__file__).parents[2]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, folder, *options, output=None):
        self.folder, self.ca = folder, trustme.CA()
        self.certify()
        self.port, self.metrics_port = free_port(), free_port()
        self.log = folder / "log"
        given = ["--host", "127.0.0.1", "--port", str(self.port), "--metrics-port", str(self.metrics_port)]
        given += ["--cert-dir", str(folder), "--cert-poll", "0.2", "--workers", "1", *options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "loralint", "serve", *given], cwd=folder, stderr=log,
                stdout=log if output is None else output, env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip

    def certify(self, **given):
        """Issue a certificate, as cert-manager puts a new one into the mounted Secret."""
        made = self.ca.issue_cert("127.0.0.1", **given)
        (self.folder / "tls.key").write_bytes(made.private_key_pem.bytes())
        (self.folder / "tls.crt").write_bytes(b"".join(one.bytes() for one in made.cert_chain_pems))

    def trust(self):
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        return context

    def client(self):
        return httpx.Client(base_url=f"https://127.0.0.1:{self.port}", verify=self.trust(), timeout=30)

    def wait(self):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            assert self.process.poll() is None, self.log.read_text()
            try:
                with self.client() as client:
                    if client.get("/readyz").status_code == 200:
                        return self
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def post(self, body, path="/validate/enforce?timeout=3s"):
        with self.client() as client:
            return client.post(path, content=body)

    def metrics(self):
        return httpx.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=30).text

    def logged(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def serial(self):
        """Of the certificate that is served now."""
        from cryptography import x509

        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        with (
            socket.create_connection(("127.0.0.1", self.port)) as raw,
            context.wrap_socket(raw, server_hostname="127.0.0.1") as served,
        ):
            return x509.load_der_x509_certificate(served.getpeercert(binary_form=True)).serial_number

    def workers(self):
        """Ids of the worker processes that live."""
        return workers_of(self.process.pid)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def workers_of(parent):
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            said, state = (one / "cmdline").read_text(), (one / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if "loralint.webhook.worker" in said and f'"parent": {parent}' in said and state[0] != "Z":
            found.append(int(one.name))
    return found
