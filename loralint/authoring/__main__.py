"""`python -m loralint.authoring [--check]`: write the compiled data and docs, or exit 1 naming what is stale.

`python -m loralint.authoring site --out DIR` writes the sources of the documentation site.
"""

from __future__ import annotations

import sys
from pathlib import Path

from loralint.authoring.compile import compiled
from loralint.authoring.load import AuthoringError
from loralint.knowledge.data import part

ROOT = Path(__file__).parents[2]


def stale(root: Path) -> dict[str, str]:
    """The compiled files whose committed text is another; new text by path below root."""
    files = ((root / path, path, text) for path, text in compiled(root).items())
    return {path: text for file, path, text in files if not file.is_file() or file.read_text("utf-8") != text}


def main(arguments: list[str]) -> int:
    """Compile, or with --check only compare. Readers of the data make the pages, hence the round after writing."""
    if arguments[:2] == ["site", "--out"] and len(arguments) == 3:
        from loralint.authoring.site import write_site

        sys.stdout.write(f"{write_site(ROOT, Path(arguments[2]))} pages in {arguments[2]}\n")
        return 0
    if not set(arguments) <= {"--check"}:
        sys.stderr.write("usage: python -m loralint.authoring [--check | site --out DIR]\n")
        return 2
    check = "--check" in arguments
    try:
        changed = stale(ROOT)
        if not check and _write(changed):
            part.cache_clear()
            _write(stale(ROOT))
    except (AuthoringError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for path in changed:
        sys.stdout.write(f"{'stale' if check else 'written'}: {path}\n")
    return int(check and bool(changed))


def _write(files: dict[str, str]) -> bool:
    for path, text in files.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, "utf-8")
    return bool(files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
