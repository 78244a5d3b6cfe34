"""`python -m loralint.authoring.catalogue [TYPE ...]`: study model types with the installed Transformers."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "_data" / "catalogue"


def main(arguments: list[str]) -> int:
    """Write the records of the given types, of all without any; tell of those that could not be studied."""
    import transformers

    from loralint.authoring.catalogue.mappings import subjects, types
    from loralint.authoring.catalogue.record import record, text

    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    for name in arguments or types():
        before = time.monotonic()
        try:
            made = record(subjects(name))
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything; the others go on
            sys.stderr.write(f"{name}: left out: {type(error).__name__}: {str(error)[:200]}\n")
            continue
        written = text(made)
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.json").write_text(written, "utf-8")
        unsure = {key: entry["unsure"] for key, entry in made["classes"].items() if entry.get("unsure")}
        sys.stderr.write(f"{name}: {len(written)} bytes, {time.monotonic() - before:.1f} s, unsure {unsure}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
