"""Diagnostics, fixes, proposals and outlines as the protocol spells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from prose_runtime.check.reading import FIRM
from prose_runtime.check.suppress import CODE as UNUSED
from prose_runtime.check.suppress import silencing
from prose_runtime.diagnostics import Diagnostic, Edit
from prose_runtime.lsp.completion import Proposal
from prose_runtime.lsp.outline import Entry
from prose_runtime.lsp.positions import Positions
from prose_runtime.nodes import Spec

SOURCE = "prose"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_PROPOSALS: Mapping[str, types.CompletionItemKind] = {
    "slot": types.CompletionItemKind.Interface,
    "config": types.CompletionItemKind.Property,
    "input": types.CompletionItemKind.Property,
    "component": types.CompletionItemKind.Class,
    "instance": types.CompletionItemKind.Class,
    "block": types.CompletionItemKind.Function,
    "agent": types.CompletionItemKind.Class,
    "alias": types.CompletionItemKind.Module,
    "variable": types.CompletionItemKind.Variable,
    "spec": types.CompletionItemKind.Module,
    "field": types.CompletionItemKind.Field,
    "keyword": types.CompletionItemKind.Keyword,
    "function": types.CompletionItemKind.Function,
    "section": types.CompletionItemKind.Struct,
    "value": types.CompletionItemKind.Value,
}
_ENTRIES: Mapping[str, types.SymbolKind] = {
    "section": types.SymbolKind.Namespace,
    "slot": types.SymbolKind.Interface,
    "config": types.SymbolKind.Property,
    "input": types.SymbolKind.Property,
    "output": types.SymbolKind.Field,
    "component": types.SymbolKind.Class,
    "instance": types.SymbolKind.Object,
    "block": types.SymbolKind.Function,
    "variable": types.SymbolKind.Variable,
    "call": types.SymbolKind.Event,
}


def uri_of(path: str) -> str:
    """The URI of a file."""
    return str(from_fs_path(str(Path(path).absolute())))


def diagnostic(found: Diagnostic, uri: str, positions: Positions) -> types.Diagnostic:
    """A fault as editors show it; its help is the second line of the message."""
    related = [
        types.DiagnosticRelatedInformation(types.Location(uri, positions.range(other.span)), other.message)
        for other in found.secondary
    ]
    return types.Diagnostic(
        range=positions.range(found.span),
        message=f"{found.message}\n{found.help}" if found.help else found.message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if found.code.startswith(("unused-", "unreachable")) else None,
        related_information=related or None,
    )


def text_edits(edits: Iterable[Edit], positions: Positions) -> list[types.TextEdit]:
    """Edits of one text."""
    return [types.TextEdit(positions.range(edit.span), edit.text) for edit in edits]


def workspace_edit(uri: str, edits: Sequence[Edit], positions: Positions) -> types.WorkspaceEdit:
    """Edits of one file."""
    return types.WorkspaceEdit(changes={uri: text_edits(edits, positions)})


def quick_fixes(found: Sequence[Diagnostic], uri: str, positions: Positions) -> list[types.CodeAction]:
    """The fixes of faults, each as an action."""
    return [
        types.CodeAction(
            title=one.fix.title[:1].upper() + one.fix.title[1:],
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(one, uri, positions)],
            is_preferred=one.fix.safe,
            edit=workspace_edit(uri, one.fix.edits, positions),
        )
        for one in found
        if one.fix
    ]


def suppressions(found: Sequence[Diagnostic], spec: Spec, uri: str, positions: Positions) -> list[types.CodeAction]:
    """For each fault that a comment can silence, the action that writes it."""
    fixes = [(one, silencing(spec, one)) for one in found if one.severity != "error" or one.code not in FIRM]
    return [
        types.CodeAction(
            title=fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(one, uri, positions)],
            edit=workspace_edit(uri, fix.edits, positions),
        )
        for one, fix in fixes
        if fix and one.code != UNUSED
    ]


def completion_item(proposal: Proposal, order: int, positions: Positions) -> types.CompletionItem:
    """A proposal; clients keep the order in which they come."""
    return types.CompletionItem(
        label=proposal.label,
        kind=_PROPOSALS[proposal.kind],
        detail=proposal.kind,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, proposal.about) if proposal.about else None,
        sort_text=f"{order:04}",
        filter_text=proposal.label,
        text_edit=types.TextEdit(positions.range(proposal.span), proposal.insert or proposal.label),
    )


def document_symbol(entry: Entry, positions: Positions) -> types.DocumentSymbol:
    """A line of the outline with those below it."""
    whole, name = positions.range(entry.whole), positions.range(entry.name_span)
    return types.DocumentSymbol(
        name=entry.name or entry.kind,
        kind=_ENTRIES[entry.kind],
        range=whole,
        selection_range=name if entry.whole.covers(entry.name_span) else types.Range(whole.start, whole.start),
        detail=entry.detail or None,
        children=[document_symbol(inner, positions) for inner in entry.inside] or None,
    )
