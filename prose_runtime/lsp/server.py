"""The language server: it hears what the editor does and answers; what it says is worked out in the other files."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from prose_runtime.check.checker import strictly
from prose_runtime.check.fixes import fixed, mended
from prose_runtime.cli.check_settings import Defaults, Settings
from prose_runtime.diagnostics import Diagnostic, Edit
from prose_runtime.errors import UsageError
from prose_runtime.lsp import convert
from prose_runtime.lsp.completion import completion
from prose_runtime.lsp.desk import Desk, View
from prose_runtime.lsp.formatting import formatting
from prose_runtime.lsp.hover import hover
from prose_runtime.lsp.index import Index, index_of
from prose_runtime.lsp.outline import outline
from prose_runtime.lsp.positions import Positions
from prose_runtime.lsp.rename import Refused, definition, rename, renameable
from prose_runtime.text import Span

PAUSE = 0.15
"""Seconds without a further key after which a text is checked; as many as the last check took when that is more."""

LONGEST_PAUSE = 1.0
"""Seconds of pause at most."""


@dataclass(eq=False)
class Session:
    """One open text as the features see it."""

    uri: str
    view: View
    positions: Positions

    @cached_property
    def index(self) -> Index:
        """The names of the file."""
        return index_of(self.view)


class ProseServer(LanguageServer):
    """A server with the texts of one editor."""

    def __init__(self) -> None:
        # Whole texts on each change: the checker reads the whole file anyway, and no two sides can ever differ on
        # what a line is.
        sync = types.TextDocumentSyncKind.Full
        super().__init__("prose", version("prose-runtime"), text_document_sync_kind=sync)
        self.desk = Desk()
        self.sessions: dict[str, Session] = {}
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.took = 0.0
        self.ended = False

    def take(self, uri: str) -> None:
        """Read what the editor shows of a file."""
        document = self.workspace.get_text_document(uri)
        self.desk.put(uri, to_fs_path(uri) or str(document.path), document.source, document.version)
        self.sessions.clear()

    def session(self, uri: str) -> Session | None:
        """What is known of an open text; None when it is not ours."""
        if uri not in self.sessions:
            view = self.desk.view(uri)
            if view is None:
                return None
            encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
            self.sessions[uri] = Session(uri, view, Positions(view.source, encoding))
        return self.sessions[uri]

    def check(self, uri: str) -> None:
        """Publish the faults of an open text."""
        start = time.monotonic()
        session = self.session(uri)
        found = reported(session.view.analysis.diagnostics) if session else []
        shown = [convert.diagnostic(one, uri, session.positions) for one in found] if session else []
        paper = self.desk.papers.get(uri)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, shown, paper.version if paper else None)
        )
        self.took = time.monotonic() - start

    def check_soon(self, uri: str) -> None:
        """Check a text, and those that call it, when the person stops writing."""
        known = self.waiting.pop(uri, None)
        if known:
            known.cancel()
        self.waiting[uri] = asyncio.ensure_future(self._check_later(uri))

    async def _check_later(self, uri: str) -> None:
        await asyncio.sleep(max(PAUSE, min(self.took, LONGEST_PAUSE)))
        self.waiting.pop(uri, None)
        if uri in self.desk.papers:
            for one in (uri, *self.desk.dependants(uri)):
                self.check(one)

    def check_all(self) -> None:
        """Look at the files around anew, and check every open text."""
        self.desk.look_around()
        self.sessions.clear()
        for uri in list(self.desk.papers):
            self.check(uri)


def reported(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The faults of a text that ``prose check`` would report for it, with the settings of its prose.yml."""
    defaults = Defaults(Settings())
    try:
        wanted = [one for one in found if defaults.wants(one)]
        return [strictly([one])[0] if defaults.strict(one) else one for one in wanted]
    except UsageError:  # `prose check` reports a prose.yml that is wrong; here it sets nothing
        return list(found)


def build() -> ProseServer:
    """A server with all its features."""
    server = ProseServer()
    _documents(server)
    _reading(server)
    _names(server)
    _changes(server)
    return server


def serve() -> int:
    """Speak the protocol over standard input and output until the editor ends it; the exit code that it asks for."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_no_refusals)
    server = build()
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, redirect_stdout(sys.stderr):
        server.start_io(stdout=out)  # whatever else is printed must not get between the messages
    return 0 if server.ended else 1


def _no_refusals(record: logging.LogRecord) -> bool:
    """A refused request is an answer, not a failure of the server."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcInvalidParams))


def _documents(server: ProseServer) -> None:
    @server.feature(types.SHUTDOWN)
    def ended(_: None) -> None:
        server.ended = True

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.take(params.text_document.uri)
        server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.take(params.text_document.uri)
        server.check_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.desk.remove(uri)
        server.sessions.clear()
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def _reading(server: ProseServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        session = server.session(params.text_document.uri)
        if session is None:
            return None
        told = hover(session.view, session.index, session.positions.offset(params.position))
        if told is None:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, told.text)
        return types.Hover(text, session.positions.range(told.span))

    options = types.CompletionOptions(trigger_characters=[".", "{", "#", "`", '"', " "])

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    async def completed(params: types.CompletionParams) -> types.CompletionList:
        session = server.session(params.text_document.uri)
        found = completion(session.view, session.positions.offset(params.position)) if session else []
        items = [convert.completion_item(one, order, session.positions) for order, one in enumerate(found) if session]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outlined(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        session = server.session(params.text_document.uri)
        return [convert.document_symbol(one, session.positions) for one in outline(session.view)] if session else []


def _names(server: ProseServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def defined(params: types.DefinitionParams) -> types.Location | None:
        session = server.session(params.text_document.uri)
        if session is None:
            return None
        spot = definition(session.view, session.index, session.positions.offset(params.position))
        if spot is None:
            return None
        if spot.source is session.view.source:
            return types.Location(session.uri, session.positions.range(spot.span))
        paper = server.desk.open_at(Path(spot.source.path))
        uri = paper.uri if paper else convert.uri_of(spot.source.path)
        return types.Location(uri, Positions(spot.source, session.positions.encoding).range(spot.span))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def referred(params: types.ReferenceParams) -> list[types.Location]:
        session = server.session(params.text_document.uri)
        found = session.index.at(session.positions.offset(params.position)) if session else None
        if session is None or found is None:
            return []
        wanted = [o for o in session.index.of(found.symbol) if params.context.include_declaration or not o.declares]
        return [types.Location(session.uri, session.positions.range(one.span)) for one in wanted]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def asked(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        session = server.session(params.text_document.uri)
        if session is None:
            return None
        try:
            found = renameable(session.index, session.positions.offset(params.position))
        except Refused as refused:
            raise JsonRpcInvalidParams(str(refused)) from None
        return types.PrepareRenamePlaceholder(session.positions.range(found.span), found.symbol.name)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        session = server.session(params.text_document.uri)
        if session is None:
            return None
        try:
            edits = rename(session.view, session.index, session.positions.offset(params.position), params.new_name)
        except Refused as refused:
            raise JsonRpcInvalidParams(str(refused)) from None
        return convert.workspace_edit(session.uri, edits, session.positions)


def _changes(server: ProseServer) -> None:
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def acted(params: types.CodeActionParams) -> list[types.CodeAction]:
        session = server.session(params.text_document.uri)
        if session is None:
            return []
        found = reported(session.view.analysis.diagnostics)
        place = session.positions.span(params.range)
        touched = [one for one in found if one.span.start <= place.end and place.start <= one.span.end]
        actions = convert.quick_fixes(touched, session.uri, session.positions)
        actions += convert.suppressions(touched, session.view.spec, session.uri, session.positions)
        only = params.context.only
        if _wanted(types.CodeActionKind.SourceFixAll, only):
            actions += _fix_all(session, found, to_the_end=bool(only))
        return [action for action in actions if _wanted(action.kind, only)]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        session = server.session(params.text_document.uri)
        return convert.text_edits(formatting(session.view), session.positions) if session else []


def _fix_all(session: Session, found: Sequence[Diagnostic], *, to_the_end: bool) -> list[types.CodeAction]:
    """All safe fixes of a file in one action; ``to_the_end``: checked anew until none is left, which takes its time."""
    source = session.view.source
    if to_the_end:
        text, count = mended(source, found, lambda one: bool(reported([one])), session.view.project)
    else:
        text, count = fixed(source, found)
    if not count:
        return []
    whole = Edit(Span(0, len(session.view.source.text)), text)
    edit = convert.workspace_edit(session.uri, [whole], session.positions)
    return [types.CodeAction(f"Apply all safe fixes ({count})", types.CodeActionKind.SourceFixAll, edit=edit)]


def _wanted(action: types.CodeActionKind | str | None, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    kind = str(getattr(action, "value", action))
    wanted = [str(getattr(one, "value", one)) for one in only or ()]
    return not wanted or any(kind == one or kind.startswith(f"{one}.") for one in wanted)
