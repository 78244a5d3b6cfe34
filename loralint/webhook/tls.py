"""The certificate of the service: watched, and changed in place when its files do."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime

CERTIFICATE, KEY = "tls.crt", "tls.key"  # as a Secret of type kubernetes.io/tls calls them


class Certificate:
    """Files in a folder, and the context that serves them. expires: seconds since 1970; fault: of the last reload."""

    def __init__(self, folder: str) -> None:
        self.certificate = os.path.join(folder, CERTIFICATE)
        self.key = os.path.join(folder, KEY)
        self.expires = 0.0
        self.fault = ""
        self._loaded = b""
        self.context = _context()
        self._load(self._bytes())

    def reload(self) -> bool:
        """Take over changed files. What cannot be used is told in `fault`, and the old certificate stays."""
        try:
            found = self._bytes()
            if found == self._loaded:
                return False
            self._load(found)
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            self.fault = f"{type(error).__name__}: the new certificate cannot be used; the old one stays"
            return False
        self.fault = ""
        return True

    @property
    def is_valid(self) -> bool:
        """Whether the certificate has not ended."""
        return self.expires > datetime.now(UTC).timestamp()

    def _bytes(self) -> bytes:
        found = b""
        for path in (self.certificate, self.key):
            with open(path, "rb") as file:
                found += file.read(1 << 20)
        return found

    def _load(self, found: bytes) -> None:
        _context().load_cert_chain(self.certificate, self.key)  # one that does not fit must not reach the live context
        self.context.load_cert_chain(self.certificate, self.key)
        self.expires = _end(found)
        self._loaded = found


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _end(pem: bytes) -> float:
    """When the first certificate of a chain, which is the server's own, ends."""
    from cryptography.x509 import load_pem_x509_certificates

    return load_pem_x509_certificates(pem)[0].not_valid_after_utc.timestamp()
