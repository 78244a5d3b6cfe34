"""A CA of our own and the certificate that it signs, as the data of two Secrets. What time it is, is told.

Whoever trusts the CA has to know the new one before anything that it signed is served, and the old one until nothing of
it is. So the Secret of the CA holds both for as long as both are valid.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Data = dict[str, bytes]
# The newest CA comes first in the bundle; KEY is its own.
BUNDLE, CA_KEY = "ca.crt", "ca.key"
LEAF, LEAF_KEY = "tls.crt", "tls.key"
# Clocks of nodes differ.
_SKEW = timedelta(minutes=5)
# Anew at two thirds of a life: a third is left to notice that it failed.
_DUE = 2 / 3


class Wanted(NamedTuple):
    """names: under which the service is asked; days: how long a CA and a leaf live."""

    names: tuple[str, ...]
    ca_days: int = 365
    leaf_days: int = 14


def authority(data: Data, wanted: Wanted, now: datetime) -> Data:
    """The data of the CA's Secret: as it is, or with a new CA before those that are still valid."""
    known = _certificates(data.get(BUNDLE, b""))
    kept = [one for one in known if one.not_valid_after_utc > now]
    if kept and kept[0] is known[0] and data.get(CA_KEY) and not _is_due(kept[0], now):
        return {BUNDLE: _pem(kept), CA_KEY: data[CA_KEY]}
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"loralint CA {now:%Y-%m-%d %H:%M}")
    made = _builder(name, name, key, now, wanted.ca_days)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    made = made.add_extension(_usage(signs=True), critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return {BUNDLE: _pem([made.sign(key, hashes.SHA256()), *kept]), CA_KEY: _key_pem(key)}


def leaf(data: Data, ca: Data, wanted: Wanted, now: datetime) -> Data:
    """The data of the served Secret: as it is, or a new certificate where it is due, of another CA or other names."""
    issuer = _certificates(ca[BUNDLE])[0]
    known = _certificates(data.get(LEAF, b""))
    if known and data.get(LEAF_KEY) and _serves(known[0], issuer, wanted, now):
        return {LEAF: data[LEAF], LEAF_KEY: data[LEAF_KEY]}
    signer = serialization.load_pem_private_key(ca[CA_KEY], None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    made = _builder(_name(wanted.names[0][:64]), issuer.subject, key, now, wanted.leaf_days)
    made = made.add_extension(x509.SubjectAlternativeName(map(x509.DNSName, wanted.names)), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    made = made.add_extension(_usage(signs=False), critical=True)
    made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    made = made.add_extension(_issuer_key(issuer), critical=False)
    return {LEAF: _pem([made.sign(signer, hashes.SHA256())]), LEAF_KEY: _key_pem(key)}


def _serves(known: x509.Certificate, issuer: x509.Certificate, wanted: Wanted, now: datetime) -> bool:
    try:
        known.verify_directly_issued_by(issuer)
        names = known.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    return set(names.get_values_for_type(x509.DNSName)) == set(wanted.names) and not _is_due(known, now)


def _is_due(one: x509.Certificate, now: datetime) -> bool:
    life = one.not_valid_after_utc - one.not_valid_before_utc
    return now >= one.not_valid_before_utc + life * _DUE


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
    )


def _issuer_key(issuer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    known = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs, key_cert_sign=signs, crl_sign=signs, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _certificates(pem: bytes) -> list[x509.Certificate]:
    """None where the text is no PEM: it is then made anew."""
    try:
        return x509.load_pem_x509_certificates(pem) if pem.strip() else []
    except ValueError:
        return []


def _pem(certificates: list[x509.Certificate]) -> bytes:
    return b"".join(one.public_bytes(serialization.Encoding.PEM) for one in certificates)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
