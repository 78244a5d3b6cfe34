"""Signatures of ssh-keygen(1), of gpg(1) and of commits, checked against keys that the base knows."""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
from collections.abc import Iterable

from loralint.engine.settings_file import Gate
from loralint.engine.signers import Signer, parse_signers
from loralint.gate.git import GitError, git
from loralint.gate.openpgp import MARK, openpgp_key, openpgp_signers
from loralint.gate.tree import Tree

# What a signature is for is part of it, so that one made for a commit is none for an approval.
APPROVAL = "loralint-approval"
_COMMIT = "git"
_SECONDS = 30


def signers_of(tree: Tree, rules: Gate) -> list[Signer]:
    """Everybody whom a commit's settings allow to sign: lines of a file, and the files of a folder."""
    folder = f"{rules.openpgp_keys.strip('/')}/"
    keys = {name.removeprefix(folder): tree.read(name) for name in tree.entries if name.startswith(folder)}
    return parse_signers(tree.read(rules.allowed_signers)) + openpgp_signers(keys)


def signer_key(data: bytes, signature: bytes, signers: Iterable[Signer], purpose: str = APPROVAL) -> str:
    """The key that made a signature of this data, if it is one of these and may; empty if not."""
    if signature.startswith(MARK):
        return openpgp_key(data, signature, signers)
    key = _key_in(signature)
    fitting = [one for one in signers if one.key == key]
    with tempfile.TemporaryDirectory(prefix="loralint-") as folder:
        known, beside = os.path.join(folder, "signers"), os.path.join(folder, "signature")
        with open(known, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{one.line}\n" for one in fitting)
        with open(beside, "wb") as file:
            file.write(signature)
        for one in fitting:
            if _keygen("verify", "-f", known, "-I", one.names[0], "-n", purpose, "-s", beside, stdin=data):
                return key
    return ""


def sign(path: str, key: str) -> str:
    """Sign a file with a key, which may lie in an agent; gives the path of the signature. Raises GitError."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; it may ask for the key's passphrase
            ["ssh-keygen", "-Y", "sign", "-f", key, "-n", APPROVAL, path],  # noqa: S607
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError:
        raise GitError("ssh-keygen cannot be run; it comes with OpenSSH") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(f"ssh-keygen cannot sign with {key}: {said[-1] if said else 'no reason given'}")
    return f"{path}.sig"


def commit_key(repository: str, commit: str, signers: Iterable[Signer]) -> str:
    """The key that signed a commit, if it is one of these; empty if not."""
    data = git(repository, "cat-file", "commit", commit)
    head, _, message = data.partition(b"\n\n")
    signed, signature, inside = [], [], False
    for line in head.split(b"\n"):
        if line.startswith((b"gpgsig ", b"gpgsig-sha256 ")):
            inside = True
            signature.append(line.partition(b" ")[2])
        elif inside and line.startswith(b" "):
            signature.append(line[1:])
        else:
            inside = False
            signed.append(line)
    if not signature:
        return ""
    return signer_key(b"\n".join(signed) + b"\n\n" + message, b"\n".join(signature) + b"\n", signers, _COMMIT)


def _key_in(signature: bytes) -> str:
    """The public key that a signature says it is by: "SSHSIG", a version and a length stand before it."""
    lines = [line for line in signature.split(b"\n") if line and not line.startswith(b"-----")]
    try:
        blob = base64.b64decode(b"".join(lines), validate=True)
    except ValueError:
        return ""
    length = int.from_bytes(blob[10:14], "big")
    known = blob.startswith(b"SSHSIG") and len(blob) > 14 + length
    return base64.b64encode(blob[14 : 14 + length]).decode() if known else ""


def _keygen(*arguments: str, stdin: bytes) -> bool:
    command = ["ssh-keygen", "-Y", *arguments]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=_SECONDS)  # noqa: S603
    except OSError:
        raise GitError("ssh-keygen cannot be run; it comes with OpenSSH") from None
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
