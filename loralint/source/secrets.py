"""Secrets in configs: found by their issuers' fixed shapes, and masked in everything that is shown.

Every pattern starts with a literal and what follows it is bounded or cannot be retried, so the time is linear. Patterns
are compiled when a hint of theirs is met, because nearly every run meets none.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
# What a shape starts with, by a sign that it holds: most texts lack the sign, and to look for one is far cheaper.
_HINTS = (
    ("_", ("hf_", "api_org_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "wandb_v1_")),
    ("-", ("sk-", "glpat-", "xox")),
    ("A", ("AKIA", "ASIA", "AIza")),
)
_ANY = "(?:" + "|".join(f"({shape})" for _, shape in _SHAPES) + ")"
# To be reported a secret must stand alone; to be masked it need not (it may follow an escape such as `\n`).
_ALONE = rf"(?<![A-Za-z0-9_]){_ANY}(?![A-Za-z0-9])"
_BEARER = r"(?i)\b(bearer[ \t]{1,8})([a-z0-9._~+/-]{16,}={0,2})"
# A password may hold an `@`, so it ends at the last one before the path; one with a `/` is only masked, not reported.
_URL_PASSWORD = r"(://[^\s:/@]{0,200}:)([^\s/\"'`<>]{3,200})(@)"  # noqa: S105 - a pattern, not a password
_URL_SLASH = r"(://[^\s:/@]{1,200}:)(?!\d{1,5}/)([^\s\"'`<>@]{3,200})(@)"
# A shape in strings that stand side by side or are added, or behind escapes that a reader decodes.
_PIECES = (
    r"(?<![\w-])(?:hf_|api_org_|sk-|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|wandb_v1_)[\w-]{0,400}"
    r"(?:[\"'](?:\s{0,80}(?:\+\s{0,80})?[rbuf]?[\"'])?[\w-]{1,400}){1,20}"
)
_ESCAPE = r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
_ESCAPED = rf"[^\s\"'\\]{{0,200}}{_ESCAPE}[^\s\"']{{0,4000}}"
# Shapes that are secrets only under the right name; the name, a few signs, the value.
_WANDB_NAME = r"(?i)wandb.{0,20}(?:key|login)"
_LOGIN = r"(?i)(\bwandb[\s.\"',]{1,20}login\b[^\n]{0,80}?)(?<![0-9a-z])[0-9a-f]{40}(?![0-9a-z])"
_AWS_NAME = r"(?i)aws.{0,20}secret|secret_?access_?key"
_NAMED = (
    r"(?i)(wandb(?:[\w.(-]{0,20}|[\"']?[\w\s:{\"'./-]{0,80}[\s{\"'])key"
    r"|aws[\w.-]{0,20}secret[\w.-]{0,20}|secret_?access_?key)"
    r"(\\?[\"']?\]?[ \t]{0,8}[:=,]\s{0,80}(?:-[ \t]{1,8})?\\?[\"']?(?:\$\{\w{1,40}:-)?)"
    r"([0-9a-f]{40}|[a-z0-9/+]{40})(?![a-z0-9/+])"
)
# A variable of a manifest, its value behind its name or before it; the name says whether the value is a secret.
VARIABLE = (
    r"(\bname[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?)([A-Za-z_][A-Za-z0-9_]{0,80})([\"']?\s{0,80},?\s{0,80}[\"']?value[\"']?"
    r"[ \t]{0,8}:[ \t]{0,8}[\"']?)([^\s,}\"'$][^\s,}\"']{0,4000})"
)
VARIABLE_AFTER = (
    r"(\bvalue[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?)([^\s,}\"'$][^\s,}\"']{0,4000})([\"']?\s{0,80},?\s{0,80}[\"']?"
    r"name[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?)([A-Za-z_][A-Za-z0-9_]{0,80})"
)
MASK = "***"
_CREDENTIAL = r"(?:^|_)(?:TOKEN|API_?KEY|SECRET|SECRET_KEY|PASSWORD|PASSWD|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS)$"
_NO_CREDENTIAL = (
    r"^TOKEN$|(?:^|_)(?:PAD|EOS|BOS|SEP|CLS|MASK|UNK|STOP|SPECIAL|IMAGE|END|START|NUM|PER|MAX|MIN|SAVE|NEW|ADD)_TOKEN$"
)
# In small letters `_token` mostly ends the name of a token of text; these words tell of one that opens something.
_OPENS = (
    r"(?:HF|HUB|HUGGING_?FACE|AUTH|ACCESS|API|BEARER|REFRESH|SESSION|SECRET|GITHUB|GITLAB|GH|WANDB|COMET|NEPTUNE|MLFLOW"
    r"|CLEARML|SLACK|BOT|JWT|READ|WRITE|PRIVATE|PERSONAL|MODELSCOPE|MS|KAGGLE)_TOKEN$"
)
# One of these stands in every such name, once hyphens are lines.
_NAMES = ("_token", "api_key", "apikey", "access_key", "private_key", "secret", "passw", "credentials")
_WORDS = ("your", "xxxx", "example", "placeholder", "replace", "insert", "dummy", "changeme")
_NO_PASSWORDS = {"pass", "password", "secret", "token", "key", "xxx", "..."}


def hinted(text: str) -> bool:
    """Whether a text may hold a secret of a shape of its own: a quick look that clears nearly every text."""
    return any(sign in text and any(map(text.__contains__, hints)) for sign, hints in _HINTS)


def find(key: str, raw: str) -> str | None:
    """Name the kind of secret that a scalar holds, or None. Placeholders and references like ${TOKEN} are clean."""
    if hinted(raw):
        for match in re.finditer(_ALONE, raw):
            if not _placeholder(match[0]):
                return _SHAPES[(match.lastindex or 1) - 1][0]
    bearer = re.search(_BEARER, raw) if "earer" in raw.lower() else None
    if bearer and not _placeholder(bearer[2]):
        return "bearer token"
    password = re.search(_URL_PASSWORD, raw) if "://" in raw else None
    if password and password[2].lower() not in _NO_PASSWORDS and not set(password[2]) & set("$<{*"):
        return "password in a URL"
    text = raw.strip()
    return _find_named(key, text) if len(text) == 40 and not _placeholder(text) else None


def _find_named(key: str, text: str) -> str | None:
    if re.search(_WANDB_NAME, key) and re.fullmatch(r"[0-9a-f]{40}", text):
        return "Weights & Biases key"
    if re.search(_AWS_NAME, key) and re.fullmatch(r"[A-Za-z0-9/+]{40}", text):
        return "AWS secret key"
    return None


def credential(name: str) -> bool:
    """Whether an environment variable is named like a token, key or password: HF_TOKEN, but not PAD_TOKEN."""
    upper = name.upper()
    return re.search(_CREDENTIAL, upper) is not None and re.search(_NO_CREDENTIAL, upper) is None


def key_of_secret(key: str) -> bool:
    """Whether any key, variable or flag is named so: `hub_token`, `env.HF_TOKEN`, `--api-key`; not `image_token`."""
    name = re.split(r"[.\[/\s]", key.rstrip("]\"'"))[-1].replace("-", "_")
    if not credential(name.strip("_\"'")):
        return name.lower() == "__token"
    upper = name.upper()
    return name == upper or not upper.endswith("TOKEN") or re.search(_OPENS, upper) is not None


def names_one(text: str) -> bool:
    """Whether a text may name a key of a secret: a quick look, as `hinted`."""
    lower = text.lower().replace("-", "_")
    return any(map(lower.__contains__, _NAMES))


def redact(text: str) -> str:
    """Mask every secret in any text, whatever surrounds it; before the text is cut, or a part may be left.

    Placeholders may be masked too.
    """
    text = redact_shapes(text)
    if "\\" in text:
        text = re.sub(_ESCAPED, _decoded, text)
    if hinted(text) and ("'" in text or '"' in text):
        text = re.sub(_PIECES, _pieces, text)
    if names_one(text):
        from loralint.source.credentials import hide_named

        return hide_named(text)
    return text


def _decoded(one: re.Match[str]) -> str:
    """A word with escapes, masked where it holds a secret once they are decoded."""
    plain_text = re.sub(_ESCAPE, lambda part: _character(int(part[1] or part[2] or part[3], 16)), one[0])
    return MASK if redact_shapes(plain_text) != plain_text else one[0]


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else "?"


def _pieces(one: re.Match[str]) -> str:
    whole = re.sub(r"[\"'](?:\s*(?:\+\s*)?[rbuf]?[\"'])?", "", one[0])
    return re.sub(r"[\w-]+(?=[\"']|$)", MASK, one[0]) if redact_shapes(whole) != whole else one[0]


def redact_shapes(text: str) -> str:
    """Mask the secrets that their own shape tells, or the variable of a manifest: what `find` reports, and more."""
    if hinted(text):
        text = re.sub(_ANY, MASK, text)
    lower = text.lower()
    if "bearer" in lower:
        text = re.sub(_BEARER, rf"\1{MASK}", text)
    if "://" in text and "@" in text:
        text = re.sub(_URL_SLASH, rf"\1{MASK}\3", re.sub(_URL_PASSWORD, rf"\1{MASK}\3", text))
    if ("wandb" in lower and "key" in lower) or "secret" in lower:
        text = re.sub(_NAMED, rf"\1\2{MASK}", text)
    if "wandb" in lower and "login" in lower:
        text = re.sub(_LOGIN, rf"\1{MASK}", text)
    if "value" in lower and "name" in lower:
        text = re.sub(VARIABLE, lambda one: f"{one[1]}{one[2]}{one[3]}{MASK}" if credential(one[2]) else one[0], text)
        text = re.sub(
            VARIABLE_AFTER, lambda one: f"{one[1]}{MASK}{one[3]}{one[4]}" if credential(one[4]) else one[0], text
        )
    return text


@lru_cache(maxsize=2)
def holds_one(text: str) -> bool:
    """Whether a file's text may hold a secret; asked for each part of each of its runs."""
    return redact_shapes(text) != text


def mask(key: str, text: str) -> str:
    """Mask what is a secret by the name of its key alone, else redact."""
    bare = text.strip("\"' ")
    return MASK if find(key, bare) or _named(key, bare) else redact(text)


def _named(key: str, text: str) -> bool:
    if not key_of_secret(key):
        return False
    from loralint.source.credentials import plain

    return not plain(text)


def _placeholder(secret: str) -> bool:
    """Whether it only shows where a secret goes: few different characters, or a word that says so."""
    lower = secret.lower()
    return len(set(secret[-16:])) < 6 or any(word in lower for word in _WORDS)
