"""`python -m loralint.authoring [--check]`: write the compiled data, or exit 1 naming what is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from loralint.authoring.compile import compiled
from loralint.authoring.load import AuthoringError

ROOT = Path(__file__).parents[2]


def stale(root: Path) -> dict[str, str]:
    """The compiled files whose committed text is another; new text by path below root."""
    files = ((root / path, path, text) for path, text in compiled(root).items())
    return {path: text for file, path, text in files if not file.is_file() or file.read_text("utf-8") != text}


def main(arguments: list[str]) -> int:
    """Compile, or with --check only compare."""
    try:
        changed = stale(ROOT)
    except (AuthoringError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    check = "--check" in arguments
    for path, text in changed.items():
        sys.stdout.write(f"{'stale' if check else 'written'}: {path}\n")
        if not check:
            (ROOT / path).write_text(text, "utf-8")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
