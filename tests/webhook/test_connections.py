"""Many connections, heads without an end and large bodies of strangers, beside an API server that asks."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import sys
import time

import pytest

from loralint.webhook.connections import CONNECTIONS
from tests.webhook.reviews import GOOD, body, config_map

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes by /proc")
MANY, LARGE = 60, 6_000_000
HEAD = b"POST /validate/enforce HTTP/1.1\r\nhost: x\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    from tests.webhook.server import Server

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4 * CONNECTIONS:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as containers often have it
    made = Server(tmp_path_factory.mktemp("serve"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4 * CONNECTIONS), hard))
    yield made.wait()
    made.stop()


@pytest.fixture
def opened(server):
    """Opens connections that stay open until the test ends."""
    with contextlib.ExitStack() as kept:
        trust = server.trust()

        def opened():
            raw = kept.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
            return kept.enter_context(trust.wrap_socket(raw, server_hostname="127.0.0.1"))

        yield opened


def _memory(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))


def _files(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.parametrize("begun", [b"", HEAD, HEAD + b"content-length: 5000\r\n\r\n{"], ids=["none", "head", "body"])
def test_connections_that_ask_nothing_take_nobodys_place(server, opened, begun):
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
        for _ in range(CONNECTIONS + 20):
            opened().sendall(begun)
        assert server.post(body(config_map(GOOD))).status_code == 200
        assert client.get("/readyz").status_code == 200  # it asked before the others came, and comes again


def test_connections_without_tls_take_nobodys_place(server):
    before, files = _memory(server), _files(server)
    with contextlib.ExitStack() as kept:
        for _ in range(3 * CONNECTIONS):
            kept.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
        assert server.post(body(config_map(GOOD))).status_code == 200
        assert _files(server) - files < CONNECTIONS / 2
        assert _memory(server) - before < 64 * 1024 * 1024  # all of them would take 150 MB


def test_a_body_has_the_time_of_its_review(server, opened):
    one = opened()
    began = time.monotonic()
    one.sendall(b"POST /validate?timeout=2s HTTP/1.1\r\nhost: x\r\ncontent-length: 5000\r\n\r\n{")
    assert one.recv(1000).startswith(b"HTTP/1.1 400 ")
    assert 1 < time.monotonic() - began < 10


def test_nobody_gets_another_protocol_by_asking_for_it(server, opened):
    """A web socket would be a connection that never gives way."""
    one = opened()
    upgrade = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n"
    one.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + upgrade + b"\r\n")
    assert one.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_requests_behind_requests_do_not_fill_the_memory(server, opened):
    before, one = _memory(server), opened()
    with pytest.raises((OSError, ssl.SSLError)):
        one.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n" * 200_000)
    assert server.post(body(config_map(GOOD))).status_code == 200
    assert _memory(server) - before < 128 * 1024 * 1024


def test_a_head_has_an_end(server, opened):
    with pytest.raises((OSError, ssl.SSLError)):
        opened().sendall(b"POST /validate/enforce HTTP/1.1\r\nx: " + b"a" * 20_000_000)
    assert server.post(body(config_map(GOOD))).status_code == 200


def test_large_bodies_that_do_not_end_do_not_fill_the_memory(server, opened):
    before = _memory(server)
    head = b"POST /validate/enforce HTTP/1.1\r\nhost: x\r\ncontent-length: 8000000\r\n\r\n"
    for _ in range(MANY):
        one = opened()
        one.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            one.sendall(head + b" " * LARGE)
    assert server.post(body(config_map(GOOD))).status_code == 200  # small ones do not wait
    assert _memory(server) - before < 20 * LARGE
