"""OpenPGP signatures by gpg(1): keys are files of the base, so that no keyring or server of this machine has a say."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping

from loralint.engine.signers import Signer
from loralint.gate.git import GitError

MARK = b"-----BEGIN PGP SIGNATURE"
_ENDING = ".asc"
_SECONDS = 60
_QUIET = (
    "--batch",
    "--no-options",
    "--no-autostart",
    "--disable-dirmngr",
    "--weak-digest",
    "SHA1",
    "--trust-model",
    "always",
)


def openpgp_signers(keys: Mapping[str, str]) -> list[Signer]:
    """Whom these files name: ann@example.org.asc holds the public keys of ann@example.org, armoured.

    keys: file name -> text. A signer's key is its primary fingerprint, the line the armoured text.
    """
    found = []
    for name, text in sorted(keys.items()):
        if name.endswith(_ENDING) and name != _ENDING:
            found += [Signer(key, (name.removesuffix(_ENDING).lower(),), text) for key in _fingerprints(text)]
    return found


def openpgp_key(data: bytes, signature: bytes, signers: Iterable[Signer]) -> str:
    """The primary fingerprint of the key that made a signature, if it is one of these and good now; empty if not."""
    known = {one.key: one.line for one in signers if "BEGIN PGP" in one.line}
    with tempfile.TemporaryDirectory(prefix="loralint-") as home:
        beside = os.path.join(home, "signature")
        with open(beside, "wb") as file:
            file.write(signature)
        for text in set(known.values()):
            _gpg(home, "--import", stdin=text.encode())
        said = _gpg(home, "--status-fd", "1", "--verify", beside, "-", stdin=data)
    words = [line.split()[1:] for line in said.splitlines() if line.startswith("[GNUPG:]")]
    kinds = [one[0] for one in words]
    if kinds.count("NEWSIG") != 1 or kinds.count("GOODSIG") != 1 or kinds.count("VALIDSIG") != 1:
        return ""  # expired and revoked keys have other words, and a second signature could hide behind a first
    primary = next(one[-1] for one in words if one[0] == "VALIDSIG")
    return primary if primary in known else ""


def sign_openpgp(path: str, key: str) -> str:
    """Sign a file with a secret key of the user's; gives the path of the signature. Raises GitError."""
    made = f"{path}.asc"
    command = ["gpg", "--yes", "--armor", "--local-user", key, "--output", made, "--detach-sign", path]
    try:
        done = subprocess.run(command, check=False, stderr=subprocess.PIPE)  # noqa: S603 - it may ask for a passphrase
    except OSError:
        raise GitError("gpg cannot be run") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(f"gpg cannot sign with {key}: {said[-1] if said else 'no reason given'}")
    return made


def _fingerprints(text: str) -> list[str]:
    """The primary fingerprints of an armoured text."""
    with tempfile.TemporaryDirectory(prefix="loralint-") as home:
        lines = _gpg(home, "--with-colons", "--show-keys", stdin=text.encode()).splitlines()
    found, primary = [], False
    for line in lines:
        fields = line.split(":")
        if fields[0] in ("pub", "sub"):
            primary = fields[0] == "pub"
        elif fields[0] == "fpr" and primary:
            found.append(fields[9])
            primary = False
    return found


def _gpg(home: str, *arguments: str, stdin: bytes) -> str:
    """What gpg says; empty when it does not answer. Raises GitError where there is none."""
    command = ["gpg", "--homedir", home, *_QUIET, *arguments]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=_SECONDS)  # noqa: S603
    except OSError:
        raise GitError("the base has OpenPGP keys, and gpg cannot be run") from None
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode(errors="replace")
