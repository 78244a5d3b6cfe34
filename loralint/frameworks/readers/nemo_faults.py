"""What NeMo refuses of its lists of rows.

Source: NeMo 2.3 collections/nlp/models/language_modeling/megatron_gpt_sft_model.py (_build_dataset).
"""

from __future__ import annotations

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document
from loralint.source.scalars import is_template, plain

_ROWS = "model.data.train_ds"
_SHARES = "concat_sampling_probabilities"


def observe_shares(document: Document, _: Look) -> list[Observation]:
    """Observe files of rows whose shares are not told one by one, which NeMo wants of a single file too."""
    section = find(document.root, _ROWS) if document.root is not None else None
    files = section.value.pair("file_names") if section is not None else None
    shares = section.value.pair(_SHARES) if section is not None else None
    count = len(files.value.items) if files is not None and files.value.kind == "sequence" else 0
    if shares is None or not count or is_template(shares.value.raw):
        return []
    given = plain(shares.value, "omegaconf")
    if given is not None and not (isinstance(given, list) and len(given) != count):
        return []
    message = f"each file of rows has to have its share, and there {'is one' if count == 1 else f'are {count}'}"
    advice = "write [1.0]" if count == 1 else f"write {count} shares that make 1 together"
    where = place(document, shares, f"{_ROWS}.{_SHARES}")
    return [Observation("rejected", where, "crash", message, package="nemo-toolkit", data={"advice": advice})]
