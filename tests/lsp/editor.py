from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).parents[2]
LONGEST = 60  # seconds; a busy machine starts a process slowly
LANGUAGES = {"yml": "yaml", "py": "python", "sh": "shellscript"}


class Editor:
    """A real client of the real process, whose steps a test takes one after the other."""

    def __init__(self, folder: Path, encodings=("utf-16",), **capabilities):
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("test", "1")
        self.said: dict[str, types.PublishDiagnosticsParams] = {}
        self.published: deque[types.PublishDiagnosticsParams] = deque(maxlen=1000)
        self.logged: list[str] = []
        self.registered: list[types.Registration] = []
        self.version = 0

        def take(params):
            self.said[params.uri] = params
            self.published.append(params)

        for name, handler in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, take),
            (types.WINDOW_LOG_MESSAGE, lambda params: self.logged.append(params.message)),
            (types.CLIENT_REGISTER_CAPABILITY, lambda params: self.registered.extend(params.registrations)),
        ):
            self.client.feature(name)(handler)
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default"}
        self.run(self.client.start_io(sys.executable, "-m", "loralint", "lsp", cwd=folder, env=env))
        self.started = self.run(self.client.initialize_async(types.InitializeParams(
            types.ClientCapabilities(
                general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
                workspace=types.WorkspaceClientCapabilities(
                    did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
                    workspace_edit=types.WorkspaceEditClientCapabilities(
                        document_changes=capabilities.get("versioned", False)
                    ),
                ),
                text_document=types.TextDocumentClientCapabilities(
                    hover=types.HoverClientCapabilities(content_format=capabilities.get("formats", ["markdown"])),
                    code_action=types.CodeActionClientCapabilities(
                        data_support=True,
                        resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
                    ) if capabilities.get("lazy") else None,
                ),
            ),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "w")],
        )))  # fmt: skip
        self.client.initialized(types.InitializedParams())

    def run(self, step):
        return self.loop.run_until_complete(asyncio.wait_for(step, LONGEST))

    def uri(self, name):
        return name if ":" in name else (self.folder / name).as_uri()

    def open(self, name, text, language=None):
        self.version += 1
        language = language or LANGUAGES.get(suffix := name.rpartition(".")[2], suffix)
        item = types.TextDocumentItem(self.uri(name), language, self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self.newest(name)

    def change(self, name, text, *, wait=True):
        self.version += 1
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(uri=self.uri(name), version=self.version),
            [types.TextDocumentContentChangeWholeDocument(text)],
        ))  # fmt: skip
        return self.newest(name) if wait else None

    def save(self, name):
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.named(name)))

    def close(self, name):
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.named(name)))

    def named(self, name):
        return types.TextDocumentIdentifier(self.uri(name))

    def newest(self, name):
        """What is shown of the newest version."""
        version = self.version
        return list(
            self.until(lambda: (one := self.said.get(self.uri(name))) and one.version == version and one).diagnostics
        )

    def until(self, holds):
        async def wait():
            while not (found := holds()):  # noqa: ASYNC110 - what is waited for is any state at all
                await asyncio.sleep(0.01)
            return found

        return self.run(wait())

    def settle(self, seconds):
        self.run(asyncio.sleep(seconds))

    def hover(self, name, line, character):
        place = types.Position(line, character)
        found = self.run(self.client.text_document_hover_async(types.HoverParams(self.named(name), place)))
        return found.contents.value if found else None

    def actions(self, name, first, last=None, only=None):
        wanted = types.Range(types.Position(first, 0), types.Position(first if last is None else last, 0))
        context = types.CodeActionContext([], only)
        step = self.client.text_document_code_action_async(types.CodeActionParams(self.named(name), wanted, context))
        return self.run(step) or []

    def stop(self):
        self.run(self.client.shutdown_async(None))
        self.client.exit(None)
        self.run(self.client.stop())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


def codes(diagnostics):
    return [one.code for one in diagnostics]


def applied(text, edits, units=lambda text: len(text.encode("utf-16-le")) // 2):
    """What an editor makes of a text by these edits; units: how wide a text is in the editor's columns."""
    lines = text.replace("\r\n", "\n").split("\n")
    width = 2 if "\r\n" in text else 1

    def offset(place):
        before = sum(len(line) + width for line in lines[: place.line])
        line = lines[place.line] if place.line < len(lines) else ""
        count = next((n for n in range(len(line) + 1) if units(line[:n]) >= place.character), len(line))
        return before + count

    for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
