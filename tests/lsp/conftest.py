from __future__ import annotations

import pytest


@pytest.fixture
def editor(tmp_path):
    from tests.lsp.editor import Editor

    started = []

    def start(**given):
        started.append(Editor(tmp_path, **given))
        return started[-1]

    yield start
    for one in started:
        one.stop()
        assert one.logged == []
