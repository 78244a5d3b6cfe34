"""What is wrong with the entries of LLaMA-Factory's dataset_info.json that a run names: what its rows are read by.

With `columns` nothing is looked up under its usual name any more, and likewise with `tags`: what they leave out is not
there. Keys that nobody knows are passed by, which takes `format` for no word on the format.
Source: llamafactory 0.9.5 data/parser.py (DatasetAttr.join), data/converter.py, data/loader.py and
extras/constants.py (FILEEXT2TYPE).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from loralint.frameworks.lookup import closest
from loralint.frameworks.observe import place
from loralint.model import Observation
from loralint.run.config import Config
from loralint.run.dataset_list import named_folder, names
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import plain

_KEYS = ("file_name", "formatting", "ranking", "subset", "split", "folder", "num_samples", "columns", "tags",
         "hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name")  # fmt: skip
_ELSEWHERE = ("hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name")
_COLUMNS = ("prompt", "query", "response", "history", "messages", "system", "tools", "images", "videos", "audios",
            "chosen", "rejected", "kto_tag")  # fmt: skip
_TAGS = ("role_tag", "content_tag", "user_tag", "assistant_tag", "observation_tag", "function_tag", "system_tag")
_NEEDED = _TAGS[:4]
_SLIPS = {"format": "formatting"}  # as `formatting` is called elsewhere
_ENDINGS = frozenset({".arrow", ".csv", ".json", ".jsonl", ".parquet", ".txt"})
_TURNS = frozenset({"sharegpt", "openai"})
_STOPS = "training stops when the data is loaded"
_NO_ROWS = "no row of the dataset is kept, and without another one training stops"
_BLIND = "the model never sees a prompt"


def observed(config: Config, document: Document) -> list[Observation]:
    """What is seen in the entries of the run; document: the list."""
    root = document.root
    if root is None or root.kind != "mapping":
        return []
    pairs = [pair for name in names(config.get("data.datasets")) if (pair := root.pair(name)) is not None]
    entries = [_Entry(document, pair) for pair in pairs if pair.value.kind == "mapping"]
    learns = config.get("train.task").value == "sft" and config.get("train.enabled").value is not False
    found = [one for entry in entries for one in entry.faults(learns)]
    sure = {"sure": named_folder(config)}
    return [one._replace(data={**one.data, **sure}) for one in found]


class _Entry:
    """One entry of the list."""

    def __init__(self, document: Document, pair: Pair) -> None:
        self.document, self.name, self.node = document, pair.key, pair.value
        self.columns, self.tags = self.node.get("columns"), self.node.get("tags")
        self.turns = self._word("formatting") in _TURNS
        self.ranking = self._word("ranking") is True

    def faults(self, learns: bool) -> Iterator[Observation]:
        """All of that; learns: whether the run is to learn answers."""
        slips = list(self._slips())
        yield from slips
        if slips:  # what follows from a slip is told with it
            return
        yield from self._file()
        if self.columns is not None and self.columns.kind == "mapping":
            yield from self._of_turns(self.columns) if self.turns else self._of_pairs(self.columns, learns)
        if self.turns and self.tags is not None and self.tags.kind == "mapping":
            lost = [one for one in _NEEDED if not self._text(self.tags, one)]
            if lost:
                told = f"`tags` leaves out {lost[0]}, and what it leaves out has no value"
                yield self._fault("tags", lost[0], _STOPS if lost[0] in _TAGS[:2] else _NO_ROWS, told)

    def _slips(self) -> Iterator[Observation]:
        for dotted, node, known in (("", self.node, _KEYS), ("columns.", self.columns, _COLUMNS),
                                    ("tags.", self.tags, _TAGS)):  # fmt: skip
            for pair in node.pairs if node is not None and node.kind == "mapping" else ():
                meant = "" if pair.key in known else _SLIPS.get(pair.key, "") or closest(pair.key, known)
                if meant in known and node is not None and node.pair(meant) is None:
                    yield self._slip(pair, dotted, meant)

    def _slip(self, pair: Pair, dotted: str, meant: str) -> Observation:
        turned = meant == "formatting" and pair.value.raw in _TURNS
        told = f"nobody reads `{pair.key}`" + (", so the rows are taken for instructions and outputs" if turned else "")
        outcome = _STOPS if turned or meant == "messages" else "the rows are read otherwise than they are meant"
        data = {"then": outcome, "advice": f"write `{meant}` instead of `{pair.key}`"}
        where = place(self.document, pair, f"{self.name}.{dotted}{pair.key}")
        return Observation("list-entry", where, "crash", told, meant, "key", data=data)

    def _file(self) -> Iterator[Observation]:
        pair = self.node.pair("file_name")
        ending = os.path.splitext(pair.value.raw)[1].lower() if pair is not None else ""
        if pair is None or not ending or any(self.node.pair(one) is not None for one in _ELSEWHERE):
            return  # a folder, or what lies on a hub
        if ending == ".txt" and "text" not in self._read():
            told = "each line of a .txt is taken for a row with nothing but `text`"
            yield self._fault("file_name", "", _STOPS, told, "let the name end in .json or .jsonl, as the rows are")
        elif ending not in _ENDINGS and ending[1:].isalpha():
            told = f"LLaMA-Factory reads no {ending}"
            yield self._fault("file_name", "", _STOPS, told, "convert it to .json, .jsonl, .csv, .parquet or .arrow")

    def _read(self) -> set[str]:
        """The columns that are looked up."""
        node = self.columns
        if node is None or node.kind != "mapping":
            return {"conversations" if self.turns else "instruction"}
        return {pair.value.raw for pair in node.pairs}

    def _of_turns(self, columns: Node) -> Iterator[Observation]:
        if not self._text(columns, "messages"):
            told = "`columns` leaves out messages, so no column is looked up for the turns"
            yield self._fault("columns", "messages", _STOPS, told)
        yield from self._ranked(columns)

    def _of_pairs(self, columns: Node, learns: bool) -> Iterator[Observation]:
        yield from self._ranked(columns)
        if not any(self._text(columns, one) for one in ("prompt", "query", "history")):
            yield self._fault(
                "columns", "prompt", _BLIND, "`columns` leaves out prompt, and what it leaves out is empty"
            )
        answered = any(self._text(columns, one) for one in ("response", "kto_tag"))
        if learns and not self.ranking and not answered:
            told = "`columns` leaves out response, and rows without an answer are dropped"
            yield self._fault("columns", "response", _NO_ROWS, told)

    def _ranked(self, columns: Node) -> Iterator[Observation]:
        lost = [one for one in ("chosen", "rejected") if self.ranking and not self._text(columns, one)]
        if lost:
            yield self._fault("columns", lost[0], _STOPS, f"the rows are ranked, and `columns` leaves out {lost[0]}")

    def _fault(self, key: str, inner: str, then: str, told: str, advice: str = "") -> Observation:
        """A fault at a key of the entry, or at one inside it that is there and empty."""
        pair = self.node.pair(key)
        assert pair is not None
        within = pair.value.pair(inner) if inner else None
        dotted = f"{self.name}.{key}" + (f".{inner}" if within is not None else "")
        data = {"then": then, "advice": advice or f"add `{inner}` to {key}, with the name that the rows have for it"}
        return Observation("list-entry", place(self.document, within or pair, dotted), "crash", told, data=data)

    def _word(self, key: str) -> object:
        node = self.node.get(key)
        return plain(node, "json") if node is not None else None

    @staticmethod
    def _text(node: Node, key: str) -> str:
        found = node.get(key)
        made = plain(found, "json") if found is not None else None
        return made if isinstance(made, str) else ""
