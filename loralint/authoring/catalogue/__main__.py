"""`python -m loralint.authoring.catalogue [TYPE ...]`: study model types with the installed Transformers.

With Transformers 5 all records are written; gemma3n's tower needs timm and torchvision beside it. With Transformers 4
only those of types whose modules it names otherwise.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "_data" / "catalogue"


def main(arguments: list[str]) -> int:
    """Write the records of the given types, of all without any; tell of those that could not be studied."""
    import transformers

    from loralint.authoring.catalogue.mappings import types

    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    older = transformers.__version__.startswith("4.")
    folder = FOLDER / "4" if older else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments or [*types(), *_diffusion(older=older)]:
        before = time.monotonic()
        try:
            written = studied(name, older=older)
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything; the others go on
            sys.stderr.write(f"{name}: left out: {type(error).__name__}: {str(error)[:200]}\n")
            continue
        if written:
            (folder / f"{name}.json").write_text(written, "utf-8")
        else:
            (folder / f"{name}.json").unlink(missing_ok=True)
        sys.stderr.write(f"{name}: {len(written)} bytes, {time.monotonic() - before:.1f} s\n")
    return 0


def _diffusion(*, older: bool) -> list[str]:
    if older:
        return []
    from loralint.authoring.catalogue.diffusers_models import FAMILIES

    return [f"diffusion-{family}" for family in FAMILIES]


def studied(name: str, *, older: bool) -> str:
    """The text of a type's record; of an older Transformers that has the same modules as the record on disk, nothing.

    That it has is said of a mixture, whose experts it often keeps otherwise.
    """
    from loralint.authoring.catalogue.mappings import subjects
    from loralint.authoring.catalogue.popped import with_fields
    from loralint.authoring.catalogue.record import agrees, packs_experts, record, text

    if name.startswith("diffusion-"):
        from loralint.authoring.catalogue import diffusers_models

        return text(diffusers_models.record(name.removeprefix("diffusion-")))
    classes = subjects(name)
    if older and agrees(name, classes):
        return json.dumps({"same": True}) + "\n" if packs_experts(name) else ""
    made = record(classes)
    if all("*" in entry.get("unsure", ()) for entry in made["classes"].values() if "like" not in entry):
        raise ValueError("nothing of it was learned")
    for kind, entry in made["classes"].items():
        if entry.get("unsure"):
            sys.stderr.write(f"  {kind}: unsure of {', '.join(entry['unsure'])}\n")
    return text(with_fields(name, made))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
