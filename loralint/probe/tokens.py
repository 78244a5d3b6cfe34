"""Tokens of a text by a tokenizer that came with a model: it may make a text of any length of it, or never end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Thread
from typing import Any

_SECONDS = 120
_MOST_TIMES = 64  # as long as the text
_LARGEST_MAP = 1 << 22  # characters; those of SentencePiece have some 300,000


def ids_of(tokenizer: Any, prose: str) -> list[int]:
    """The ids of a text, no special ones among them. Raises ValueError for a tokenizer that would take all memory or
    that takes minutes; the library that it runs in heeds no Ctrl-C, so it is waited for from beside.
    """
    _refuse_growth(tokenizer, prose)
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(tokenizer(prose, add_special_tokens=False)["input_ids"])
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            found.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(_SECONDS)
    if not found:
        raise ValueError(f"its tokenizer takes more than {_SECONDS} s for {len(prose):,} characters")
    if isinstance(found[0], BaseException):
        raise found[0]
    ids: list[int] = found[0]
    return ids


def _refuse_growth(tokenizer: Any, prose: str) -> None:
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    if normalizer is None:
        return
    times = 1
    for one in _steps(json.loads(normalizer.__getstate__())):
        times *= _times(one)
    if times > _MOST_TIMES or any(len(normalizer.normalize_str(one)) > _MOST_TIMES for one in set(prose)):
        raise ValueError("its tokenizer makes a text many times as long before it reads it")


def _steps(normalizer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The single steps of a normalizer, out of sequences in sequences."""
    ahead = [normalizer]
    while ahead:
        one = ahead.pop()
        yield one
        ahead += one.get("normalizers") or ()


def _times(step: dict[str, Any]) -> int:
    """How many times as long a step makes a text at most; too many for one that says nothing of it."""
    kind = step.get("type")
    if kind == "Replace":  # an expression may match the nothing between two characters
        return max(1, len(step["content"])) + ("Regex" in step["pattern"])
    if kind == "Prepend":
        return 1 if len(step["prepend"]) <= _MOST_TIMES else _MOST_TIMES + 1
    if kind == "Precompiled":  # two of which could multiply
        return 8 if len(step["precompiled_charsmap"]) <= _LARGEST_MAP else _MOST_TIMES + 1
    return 1
