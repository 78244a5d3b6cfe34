"""The protocol's side of the server: what an editor says to a session, and what it is told."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from threading import Event
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from loralint.lsp.actions import KINDS, Asked, actions, resolved
from loralint.lsp.buffer import buffer
from loralint.lsp.hover import hover
from loralint.lsp.session import PAUSE, Session
from loralint.source.discover import lexically_within
from loralint.version import __version__

# What runs read besides configs: settings of ours, companions, pins.
_WATCHED = ("**/*.{toml,yaml,yml,json,txt,env,py,sh}",)


class Server(LanguageServer):
    """Full texts are taken, since a text has other line breaks for the protocol than for Python."""

    def __init__(self) -> None:
        super().__init__("loralint", __version__, types.TextDocumentSyncKind.Full)
        self.session = Session(self._publish, self._log, self.folder)

    def folder(self, path: str) -> str:
        """The workspace folder around a path, the innermost of several; its own folder where there is none."""
        given = [one.uri for one in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        folders = [folder for uri in given if uri and (folder := to_fs_path(uri))]
        around = [one for one in folders if lexically_within(path, one)]
        return max(around, key=len, default=os.path.dirname(path))

    def first_folder(self) -> str:
        """Where a buffer that is no file is taken to lie."""
        folders = [folder for one in self.workspace.folders.values() if (folder := to_fs_path(one.uri))]
        return next(iter(folders), None) or self.workspace.root_path or os.curdir

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log the kind of error alone; its text may quote what an editor sent."""
        del source
        self._log(f"internal error: {type(error).__name__}; please report it")

    def versioned(self) -> bool:
        """Whether the editor takes edits for a version of a text."""
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        return bool(edit and edit.document_changes)

    def lazy(self) -> bool:
        """Whether the editor asks for the edit of an action when it is chosen."""
        document = self.client_capabilities.text_document
        action = document.code_action if document else None
        support = action.resolve_support if action and action.data_support else None
        return bool(support and "edit" in support.properties)

    def markdown(self) -> bool:
        """Whether the editor shows Markdown beside a place."""
        document = self.client_capabilities.text_document
        formats = document.hover.content_format if document and document.hover else None
        return types.MarkupKind.Markdown in (formats or ())

    def _publish(self, uri: str, version: int | None, said: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, said, version))

    def _log(self, line: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, line))


def server() -> Server:
    """A server that answers what an editor asks."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it quotes what it is sent
    made = Server()
    for name, handler in _HANDLERS.items():
        made.feature(name)(handler)
    options = types.CodeActionOptions(list(KINDS), resolve_provider=True)
    made.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_code_action)
    return made


def _initialized(ls: Server, params: types.InitializedParams) -> None:
    del params
    ls.session.encoding = str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding))
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched and watched.dynamic_registration:
        watchers = [types.FileSystemWatcher(glob) for glob in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = types.Registration("loralint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        ls.client_register_capability(types.RegistrationParams([registration]))


def _opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    _put(ls, params.text_document.uri, 0)


def _changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    _put(ls, params.text_document.uri, PAUSE)


def _put(ls: Server, uri: str, pause: float) -> None:
    document = ls.workspace.get_text_document(uri)
    found = buffer(uri, document.language_id or "", document.source, document.version or 0, ls.first_folder())
    if found is not None:
        ls.session.put(found, pause)


def _closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.session.close(params.text_document.uri)


def _around_changed(ls: Server, params: object) -> None:
    del params
    ls.session.look_again(PAUSE)


async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    sights, markdown = await ls.session.sights(params.text_document.uri), ls.markdown()

    def explain() -> types.Hover | None:
        return next(filter(None, (hover(one, params.position, markdown=markdown) for one in sights)), None)

    return await ls.session.work("explaining", explain)


async def _code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    sights, stopped = await ls.session.sights(params.text_document.uri), Event()
    only = tuple(str(getattr(kind, "value", kind)) for kind in params.context.only or ())
    asked = Asked(params.range, only, ls.versioned(), ls.lazy())

    def offer() -> list[types.CodeAction]:
        return [action for sight in sights for action in actions(sight, asked, stopped.is_set)]

    try:
        return await ls.session.work("looking for fixes", offer)
    except asyncio.CancelledError:
        stopped.set()
        raise


async def _resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    data: Any = action.data
    sights = await ls.session.sights(data["uri"]) if isinstance(data, dict) and "uri" in data else []
    own = [one for one in sights if one.judged.buffer.uri == data["uri"]]
    if not own or own[0].judged.buffer.version != data.get("version"):
        return action
    (judged, places, _), versioned = own[0], ls.versioned()
    return await ls.session.work("fixing", lambda: resolved(action, judged, places, versioned=versioned)) or action


def _shut(ls: Server, params: object) -> None:
    del params
    ls.session.end()


_HANDLERS: dict[str, Callable[..., Any]] = {
    types.INITIALIZED: _initialized,
    types.TEXT_DOCUMENT_DID_OPEN: _opened,
    types.TEXT_DOCUMENT_DID_CHANGE: _changed,
    types.TEXT_DOCUMENT_DID_SAVE: _around_changed,
    types.TEXT_DOCUMENT_DID_CLOSE: _closed,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _around_changed,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: _around_changed,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: _around_changed,
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.CODE_ACTION_RESOLVE: _resolve,
    types.SHUTDOWN: _shut,
}
