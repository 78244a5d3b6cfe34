"""Secrets in configs: found by their issuers' fixed shapes, and masked in everything that is shown.

Every pattern starts with a literal and what follows it is bounded or cannot be retried, so the time is linear.
"""

from __future__ import annotations

import re

# (kind, pattern); the first match of one alternation names the kind, so narrower shapes stand before wider ones.
_SHAPES = (
    ("Hugging Face token", r"(?:hf_|api_org_)[A-Za-z0-9]{34,}"),
    ("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", r"sk-[A-Za-z0-9]{32,}"),
    ("AWS key id", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    ("GitHub token", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("GitLab token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"xox[abprs]-[A-Za-z0-9-]{10,}"),
    ("Google key", r"AIza[A-Za-z0-9_-]{35}"),
    ("Weights & Biases key", r"wandb_v1_[A-Za-z0-9_-]{20,}"),
)
_ANY = re.compile(r"(?<![A-Za-z0-9_])(?:" + "|".join(f"({shape})" for _, shape in _SHAPES) + r")(?![A-Za-z0-9])")
_BEARER = re.compile(r"\b(Bearer[ \t]{1,8})([A-Za-z0-9._~+/-]{16,}={0,2})", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(://[^\s:/@]{0,200}:)([^\s:/@]{3,200})(@)")
_WANDB_KEY = re.compile(r"wandb.{0,20}key", re.IGNORECASE)
_AWS_KEY = re.compile(r"aws.{0,20}secret|secret_?access_?key", re.IGNORECASE)
_HEX40 = re.compile(r"[0-9a-f]{40}")
_BASE64_40 = re.compile(r"[A-Za-z0-9/+]{40}")
# The two shapes that are secrets only beside the right name: the name, at most a few signs, then the value.
_NAMED = re.compile(
    r"(wandb[\w.-]{0,20}key|aws[\w.-]{0,20}secret[\w.-]{0,20}|secret_?access_?key)"
    r"([\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?)([0-9a-f]{40}|[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    re.IGNORECASE,
)
_WORDS = ("your", "xxxx", "example", "placeholder", "replace", "insert", "dummy", "changeme")
_NO_PASSWORDS = {"pass", "password", "secret", "token", "key", "xxx", "..."}
MASK = "***"


def find(key: str, raw: str) -> str | None:
    """Name the kind of secret that a scalar holds, or None. Placeholders and references like ${TOKEN} are clean."""
    for match in _ANY.finditer(raw):
        if not _placeholder(match[0]):
            return _SHAPES[(match.lastindex or 1) - 1][0]
    bearer = _BEARER.search(raw)
    if bearer and not _placeholder(bearer[2]):
        return "bearer token"
    password = _URL_PASSWORD.search(raw)
    if password and password[2].lower() not in _NO_PASSWORDS and not set(password[2]) & set("$<{*"):
        return "password in a URL"
    text = raw.strip()
    if _WANDB_KEY.search(key) and _HEX40.fullmatch(text) and not _placeholder(text):
        return "Weights & Biases key"
    if _AWS_KEY.search(key) and _BASE64_40.fullmatch(text) and not _placeholder(text):
        return "AWS secret key"
    return None


def redact(text: str) -> str:
    """Mask every secret in any text, whatever surrounds it. Placeholders may be masked too."""
    text = _ANY.sub(MASK, text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _URL_PASSWORD.sub(rf"\1{MASK}\3", text)
    return _NAMED.sub(rf"\1\2{MASK}", text)


def _placeholder(secret: str) -> bool:
    """Whether it only shows where a secret goes: few different characters, or a word that says so."""
    lower = secret.lower()
    return len(set(secret[-16:])) < 6 or any(word in lower for word in _WORDS)
