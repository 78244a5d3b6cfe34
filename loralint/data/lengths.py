"""How long texts are in tokens: counted with the run's own tokenizer where it is given, else bounded with certainty.

A word between white space is at least one token, whatever the tokenizer: those in use for language models do not join
words. So a text of more words than fit is too long. One of as few characters as tokens fit is taken to fit, since a
token holds several; in between nothing is claimed without the tokenizer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Rows that are counted exactly; a token takes about a microsecond.
COUNTED = 20_000
MISSING = "rows are counted in tokens with tokenizers, which the extra loralint[data] brings"
_TOKENIZER_BYTES = 64 * 1024 * 1024


class Policy(NamedTuple):
    """What a framework does with a row that is longer than the sequence. loses: the answer's end goes, or the row."""

    loses: str
    says: str


DROP = Policy("row", "{framework} drops such a row")
CUT = Policy("end", "{framework} cuts such a row at its end")
SHARE = Policy("both", "{framework} shortens both the prompt and the answer of such a row")
POLICIES = {
    "axolotl": DROP,
    "ms-swift": DROP,
    "llamafactory": SHARE,
    "trl": CUT,
    "alignment-handbook": CUT,
    "unsloth-studio": CUT,
    "mlx-lm": CUT,
    "torchtune": CUT,
    "litgpt": CUT,
}


class Ruler:
    """Says whether a text is longer than a sequence. undecided: how often that could not be told."""

    __slots__ = ("_left", "_limit", "_tokenizer", "undecided")

    def __init__(self, limit: int, tokenizer: Any = None) -> None:
        self._limit = limit
        self._tokenizer = tokenizer
        self._left = COUNTED
        self.undecided = 0

    def longer(self, text: str) -> bool:
        """Whether it certainly is."""
        limit = self._limit
        if len(text) <= limit:
            return False
        if len(text) > 2 * limit and _breaks(text) >= limit and len(text.split()) > limit:
            return True
        if self._tokenizer is None or self._left <= 0:
            self.undecided += 1
            return False
        self._left -= 1
        return len(self._tokenizer.encode(text, add_special_tokens=False)) > limit


def _breaks(text: str) -> int:
    """The usual signs between words, and ours between texts: cheap to count, and at most one fewer than words."""
    return text.count(" ") + text.count("\n") + text.count("\t") + text.count("\x1e")


def load_tokenizer(path: str) -> Any:
    """A tokenizer.json as an object of `tokenizers`; a text that says why not where it cannot be used."""
    from loralint.source.read import NotRegularError, open_regular

    try:
        from tokenizers import Tokenizer
    except ImportError:
        return MISSING
    try:
        with open_regular(path) as file:
            data = file.read(_TOKENIZER_BYTES + 1)
    except (OSError, NotRegularError):
        return "the tokenizer cannot be read"
    if len(data) > _TOKENIZER_BYTES:
        return "the tokenizer is larger than 64 MiB"
    try:
        return Tokenizer.from_str(data.decode())
    except Exception:  # noqa: BLE001 - whatever the parser of another package says of a file that it does not like
        return "the tokenizer is no tokenizer.json"
