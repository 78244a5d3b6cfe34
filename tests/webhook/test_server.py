"""The service as a process: TLS, ports, an end without a lost review, large configs beside small ones, no orphans."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime

import pytest

from tests.webhook.reviews import BAD, GOOD, UID, WORSE, body, config_map, job

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes by /proc")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    from tests.webhook.server import Server

    made = Server(tmp_path_factory.mktemp("serve"))
    yield made.wait()
    made.stop()


@pytest.fixture
def own(tmp_path):
    """A server that a test may end."""
    from tests.webhook.server import Server

    started = []

    def start(*options, output=None):
        started.append(Server(tmp_path, *options, output=output))
        return started[-1].wait()

    yield start
    for one in started:
        one.stop()


def test_a_review_over_tls(server):
    answer = server.post(body(config_map(BAD)))
    assert answer.status_code == 200
    assert answer.json()["response"]["uid"] == UID
    assert answer.json()["response"]["allowed"] is False
    assert server.post(body(config_map(BAD)), "/validate/warn").json()["response"]["allowed"] is True
    assert server.post(body(config_map(BAD)), "/validate").json()["response"]["warnings"]


def test_probes_and_metrics_on_a_port_of_their_own(server):
    server.post(body(config_map(GOOD)))
    said = server.metrics()
    assert 'loralint_admission_requests_total{dry_run="false",kind="ConfigMap",mode="enforce"' in said
    assert 'loralint_workers{lane="quick"} 1.0' in said
    assert "loralint_cert_expiry_timestamp_seconds" in said
    assert "loralint_build_info{" in said
    with server.client() as client:
        assert client.get("/healthz").text == "ok"
        assert client.get("/metrics").status_code == 404
        assert client.get("/validate").status_code == 405


@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"", 400), (b"{", 400), (b"[" * 100_000, 400), (b'{"kind": "AdmissionReview"}', 400), (b"\xff\xfe", 400)],
)
def test_what_is_no_review_is_refused(server, sent, status):
    assert server.post(sent).status_code == status


def test_what_is_too_large_is_refused_unread(server):
    assert server.post(b" " * (9 * 1024 * 1024)).status_code == 413


def test_a_body_that_ends_early_costs_nothing(server):
    import socket

    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        one = server.trust().wrap_socket(raw, server_hostname="127.0.0.1")
        one.sendall(b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{")
        one.close()
    assert server.post(body(config_map(GOOD))).status_code == 200


def test_mutation_is_off_unless_asked_for(server):
    response = server.post(body(config_map(GOOD)), "/mutate").json()["response"]
    assert response["allowed"] is True
    assert "patch" not in response


def test_a_changed_certificate_is_served_without_a_restart(server):
    before = server.serial()
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
        server.certify()
        until = time.monotonic() + 20
        while server.serial() == before and time.monotonic() < until:
            time.sleep(0.1)
        assert client.get("/healthz").status_code == 200  # a connection from before goes on
    assert server.serial() != before


def test_a_certificate_that_does_not_fit_leaves_the_old_one_served(server):
    before, kept = server.serial(), (server.folder / "tls.key").read_bytes()
    (server.folder / "tls.key").write_bytes(b"no key")
    time.sleep(1)
    assert server.serial() == before
    assert any(one["event"] == "certificate" and one["level"] == "error" for one in server.logged())
    (server.folder / "tls.key").write_bytes(kept)


def test_with_an_expired_certificate_it_is_not_ready(server):
    import httpx

    def ready():
        return httpx.get(f"http://127.0.0.1:{server.metrics_port}/readyz", timeout=30).text

    server.certify(not_before=datetime(2020, 1, 1, tzinfo=UTC), not_after=datetime(2020, 2, 1, tzinfo=UTC))
    until = time.monotonic() + 20
    while ready() == "ok" and time.monotonic() < until:
        time.sleep(0.1)
    assert ready() == "certificate expired"
    server.certify()
    while ready() != "ok" and time.monotonic() < until:
        time.sleep(0.1)
    assert ready() == "ok"


def test_small_reviews_do_not_wait_for_large_ones(server):
    rows = "".join(f"  - path: data/{number}.jsonl\n    type: alpaca\n" for number in range(5000))
    large = body(config_map(BAD + rows, key="a.yaml"))
    assert len(large) > 150_000
    threads = [threading.Thread(target=server.post, args=(large,)) for _ in range(3)]
    for one in threads:
        one.start()
    took = []
    with server.client() as client:
        for number in range(30):
            began = time.monotonic()
            answer = client.post("/validate/enforce?timeout=3s", content=body(config_map(BAD + f"# {number}\n")))
            took.append(time.monotonic() - began)
            assert answer.json()["response"]["allowed"] is False
    for one in threads:
        one.join()
    assert sorted(took)[len(took) // 2] < 1  # a large one takes seconds


def test_what_is_not_done_in_time_is_let_through_and_its_worker_ends(server):
    expression = "(" * 400 + "a" + ")*" * 400
    hostile = GOOD.replace("lora_target_linear: true", f"lora_target_modules: '{expression}'")
    answer = server.post(body(config_map(hostile)), "/validate/enforce?timeout=3s")
    assert answer.json()["response"]["uid"] == UID
    rows = "".join(f"k{number}: [{number}]\n" for number in range(15_000))
    began = time.monotonic()
    answer = server.post(body(config_map(GOOD + rows)), "/validate/enforce?timeout=800ms").json()["response"]
    assert time.monotonic() - began < 10
    assert answer["allowed"] is True
    assert "not checked: the time of the review was over" in answer["warnings"][0]
    assert 'loralint_worker_restarts_total{reason="deadline"}' in server.metrics()
    until = time.monotonic() + 30
    while 'loralint_workers{lane="slow"} 1.0' not in server.metrics() and time.monotonic() < until:
        time.sleep(0.2)
    assert 'loralint_workers{lane="slow"} 1.0' in server.metrics()


def test_a_worker_that_dies_is_replaced(server):
    for one in server.workers():
        os.kill(one, signal.SIGKILL)
    first = server.post(body(config_map(BAD + "# after\n"))).json()["response"]
    assert first["uid"] == UID
    until = time.monotonic() + 30
    while first["allowed"] and time.monotonic() < until:
        assert first["warnings"][0].startswith("loralint: ConfigMap/train: not checked")
        first = server.post(body(config_map(BAD + "# after\n"))).json()["response"]
    assert first["allowed"] is False


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_service(own, how):
    server = own()
    workers = server.workers()
    assert len(workers) == 2
    server.process.send_signal(how)
    assert server.process.wait(30) == (0 if how == signal.SIGTERM else -signal.SIGKILL)
    until = time.monotonic() + 10
    while server.workers() and time.monotonic() < until:
        time.sleep(0.1)
    assert server.workers() == []


def test_the_end_loses_no_review(own):
    """As in a cluster: not ready at once, then the connections end, then the port."""
    import httpx

    server = own("--drain-delay", "3")
    answers, lost, stop = [], [], threading.Event()

    def load(number):
        with server.client() as client:
            while not stop.is_set():
                try:
                    sent = body(config_map(BAD + f"# {number} {len(answers)}\n"))
                    answers.append(client.post("/validate/enforce?timeout=3s", content=sent).json()["response"]["uid"])
                except httpx.TransportError as error:
                    lost.append(error)

    threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    time.sleep(1)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    with server.client() as client:
        ready = client.get("/readyz")
        assert (ready.status_code, ready.text) == (503, "draining")
    time.sleep(1)  # until then who did not hear of it opens new connections
    stop.set()
    assert server.process.wait(30) == 0
    for one in threads:
        one.join()
    assert lost == []
    assert len(answers) > 10


def _judges_and_ends(server):
    """As a service does whose log is written: each review answered, and 0 at the end; how many lines were lost."""
    for number in range(3):
        answer = server.post(body(config_map(BAD + f"# {number}\n")))
        assert (answer.status_code, answer.json()["response"]["allowed"]) == (200, False)
    said = server.metrics()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0
    assert server.log.read_text() == ""
    return float(said.partition("\nloralint_log_lines_dropped_total ")[2].partition("\n")[0])


def test_a_log_without_a_reader_costs_nothing_but_its_lines(own):
    reader, writer = os.pipe()
    server = own(output=writer)
    os.close(writer)
    os.close(reader)
    assert _judges_and_ends(server) == 3


def test_a_log_without_room_costs_nothing_but_its_lines(own):
    with open("/dev/full", "w") as full:
        server = own(output=full)
    assert _judges_and_ends(server) == 4  # that it serves is a line too


def test_a_log_that_nobody_reads_holds_up_nothing(own):
    reader, writer = os.pipe()
    server = own("--log-level", "debug", output=writer)
    with server.client() as client:
        sent = body(config_map(BAD))
        for _ in range(6000):
            assert client.post("/validate/enforce?timeout=3s", content=sent).status_code == 200
    lost = _judges_and_ends(server)
    os.close(writer)
    with open(reader, "rb") as file:
        lines = file.read().splitlines()
    assert lost > 500
    assert all(json.loads(line)["event"] for line in lines[:-1])  # the last may be cut where the pipe was full


def test_without_a_certificate_it_says_what_is_missing(tmp_path):
    import subprocess

    from tests.webhook.server import ROOT

    done = subprocess.run(
        [sys.executable, "-m", "loralint", "serve", "--cert-dir", str(tmp_path)], capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2
    assert "tls.crt" in done.stderr


SETTINGS = """\
gpu = "T4"
ignore = ["LL304"]
[tiers]
LL214 = "S"
[[exceptions]]
rule = "LL405"
path = "swept.yaml"
reason = "a sweep of rates"
expires = 2999-01-01
"""


def test_settings_are_those_of_a_file_that_is_named(own, tmp_path):
    file = tmp_path / "loralint.toml"
    file.write_text(SETTINGS)
    server = own("--settings", str(file))
    file.write_text("nonsense")  # a worker that takes another's place is told what was read at the start
    first = set(server.workers())
    for worker in first:
        os.kill(worker, signal.SIGKILL)
    while (now := set(server.workers())) & first or len(now) < len(first):
        time.sleep(0.1)
    refused = server.wait().post(body(config_map(WORSE))).json()["response"]
    assert "LL214 train.yaml:10 " in refused["status"]["message"]
    assert "LL405 train.yaml:6 " in refused["status"]["message"]
    assert "LL304" not in json.dumps(refused)
    excepted = server.post(body(config_map(WORSE, key="swept.yaml"))).json()["response"]
    assert "LL214" in excepted["status"]["message"]
    assert "LL405" not in json.dumps(excepted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tires = {}", "unknown key `tires`"),
        ("ignore = ['LL000']", "LL000"),
        ("gpu = 'none'", "GPU `none`"),
        ("#" * 70_000, "has more than 64 KiB"),
        ("\xff", "is no UTF-8"),
    ],
)
@pytest.mark.parametrize("command", ["serve", "scan-cluster"])
def test_settings_that_cannot_be_used_are_a_usage_error(tmp_path, command, text, said):
    from click.testing import CliRunner

    from loralint.cli import main

    (tmp_path / "loralint.toml").write_text(text, encoding="latin-1")
    more = ["--cert-dir", str(tmp_path)] if command == "serve" else []
    done = CliRunner().invoke(main, [command, "--settings", str(tmp_path / "loralint.toml"), *more])
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_port_that_is_taken_is_said_at_once(server, tmp_path):
    from tests.webhook.server import Server

    other = Server(tmp_path, "--port", str(server.port))
    assert other.process.wait(60) == 2
    assert "address already in use" in other.log.read_text()


def test_logs_are_json_and_hold_no_values(server):
    token = "hf_" + "b" * 34
    server.post(body(config_map(BAD + f"hub_token: {token}\n")))
    server.post(body(job()))
    said = server.logged()
    assert any(one["event"] == "review" and one.get("verdict") == "deny" for one in said)
    assert token not in json.dumps(said)
