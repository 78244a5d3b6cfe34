"""Certificates of our own over two years of renewals: what is served verifies, before, during and after each change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

x509 = pytest.importorskip("cryptography.x509")
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def wanted():
    from loralint.webhook.issuing import Wanted

    return Wanted(("loralint.loralint.svc", "loralint.loralint.svc.cluster.local"))


def _verifies(leaf, bundle, at, name="loralint.loralint.svc"):
    from cryptography.x509.verification import PolicyBuilder, Store

    policy = PolicyBuilder().store(Store(x509.load_pem_x509_certificates(bundle))).time(at)
    served = x509.load_pem_x509_certificate(leaf)
    return policy.build_server_verifier(x509.DNSName(name)).verify(served, [])


def test_what_is_good_stays(wanted):
    from loralint.webhook.issuing import authority, leaf

    ca = authority({}, wanted, START)
    served = leaf({}, ca, wanted, START)
    later = START + timedelta(days=2)
    assert authority(ca, wanted, later) == ca
    assert leaf(served, ca, wanted, later) == served
    assert _verifies(served["tls.crt"], ca["ca.crt"], later)


def test_two_years_of_daily_runs_always_serve_what_was_trusted_the_day_before(wanted):
    from loralint.webhook.issuing import authority, leaf

    ca, served, cas, leaves = {}, {}, set(), set()
    for day in range(730):
        now = START + timedelta(days=day)
        told = authority(ca, wanted, now)
        if served:  # the API server knows the new bundle, pods still serve the old certificate
            assert _verifies(served["tls.crt"], told["ca.crt"], now)
        new = leaf(served, told, wanted, now)
        assert _verifies(new["tls.crt"], told["ca.crt"], now)
        assert len(x509.load_pem_x509_certificates(told["ca.crt"])) <= 2
        ca, served = told, new
        cas.add(told["ca.key"])
        leaves.add(new["tls.crt"])
    assert len(cas) == 3
    assert 70 <= len(leaves) <= 85


@pytest.mark.parametrize(
    "broken",
    [{"tls.crt": b""}, {"tls.crt": b"no PEM"}, {"tls.key": b""}, {"tls.crt": None}],
)
def test_a_broken_secret_is_made_anew(wanted, broken):
    from loralint.webhook.issuing import authority, leaf

    ca = authority({}, wanted, START)
    served = leaf({}, ca, wanted, START)
    data = {key: value for key, value in {**served, **broken}.items() if value is not None}
    assert _verifies(leaf(data, ca, wanted, START)["tls.crt"], ca["ca.crt"], START)
    assert authority({"ca.crt": b"no PEM", "ca.key": b"x"}, wanted, START)["ca.crt"] != ca["ca.crt"]


def test_another_name_or_another_ca_wants_another_certificate(wanted):
    from loralint.webhook.issuing import authority, leaf

    ca = authority({}, wanted, START)
    served = leaf({}, ca, wanted, START)
    moved = wanted._replace(names=("loralint.elsewhere.svc",))
    assert _verifies(leaf(served, ca, moved, START)["tls.crt"], ca["ca.crt"], START, "loralint.elsewhere.svc")
    other = authority({}, wanted, START)
    assert _verifies(leaf(served, other, wanted, START)["tls.crt"], other["ca.crt"], START)
