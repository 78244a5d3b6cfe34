"""A command line as launches, shown plainly."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch import launches
from loralint.source.document import Document, Node
from loralint.source.shell import read_shell


def plain(node: Node) -> object:
    if node.kind == "mapping":
        return {pair.key: plain(pair.value) for pair in node.pairs}
    if node.kind == "sequence":
        return [plain(item) for item in node.items]
    return node.native


@pytest.fixture
def find():
    """Text -> its launches."""

    def finding(text: str):
        document = Document("run.sh", "shell", text)
        return launches(read_shell(document), document)

    return finding


@pytest.fixture
def flags(find):
    """Text -> the flags of its only launch."""

    def reading(text: str):
        (launch,) = find(text)
        return plain(launch.flags.root)

    return reading
