"""Who may approve: the allowed signers of ssh-keygen(1), and which keys and names belong to one person.

Anyone can write any e-mail into a commit, so a person is told by keys: names that share a key, and keys that share a
name, are the same person.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# Public key algorithms as ssh-keygen writes them in front of the key.
_KEYS = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")


class Signer(NamedTuple):
    """One key (base64, or an OpenPGP fingerprint), the names that may sign with it, and the line or key file itself."""

    key: str
    names: tuple[str, ...]
    line: str


def parse_signers(text: str) -> list[Signer]:
    """The lines that name people and keys exactly. A pattern of names or an authority's key tells no person."""
    return [one for line in text.splitlines() if (one := _signer(line.strip())) is not None]


def _signer(line: str) -> Signer | None:
    words = line.split()
    if not words or line.startswith("#"):
        return None
    at = next((index for index, word in enumerate(words[1:], 1) if word.startswith(_KEYS)), 0)
    if not at or at + 1 >= len(words) or "cert-authority" in " ".join(words[1:at]).lower():
        return None
    names = tuple(name.lower() for name in words[0].strip('"').split(",") if name)
    if not names or any(set("*?!") & set(name) for name in names):
        return None
    return Signer(words[at + 1], names, line)


def people(signers: Iterable[Signer]) -> dict[str, str]:
    """Key -> the person, named by the first of all the names that belong together."""
    groups: list[tuple[set[str], set[str]]] = []
    for one in signers:
        names, keys = set(one.names), {one.key}
        for group in [group for group in groups if group[0] & names or group[1] & keys]:
            groups.remove(group)
            names |= group[0]
            keys |= group[1]
        groups.append((names, keys))
    return {key: min(names) for names, keys in groups for key in keys}
