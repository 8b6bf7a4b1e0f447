"""The YAML head of a spec: name, kind and whatever else it says (LANGUAGE.md section 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from prose_runtime.diagnostics import Collector, Edit, Fix, did_you_mean
from prose_runtime.records import dataclass
from prose_runtime.syntax.names import KINDS, MODERN_KIND, RETIRED_KINDS
from prose_runtime.syntax.scalars import Entry, plain_mapping
from prose_runtime.text import NOWHERE, Source, Span

_OPEN = re.compile(r"\s*^---[ \t]*$", re.M)
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.M)
_BODY = re.compile(r"^[ ]{0,3}(?:#{2,6}[ \t]|```|~~~)", re.M)
_TITLE = re.compile(r"^(?:[ \t]*$|#[ \t])", re.M)
_LINE = re.compile(r"^(?P<key>name|kind)[ \t]*:[ \t]*(?P<value>[^\n#]*?)[ \t]*(?:#.*)?$", re.M)
_HELP = "start the file with ---, name: ..., kind: ..., and --- again, each on a line of its own"
_KINDS = "the kinds are " + ", ".join(KINDS)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What the head says. ``kind`` is the modern reading, "" when it is missing or unknown; ``end`` its last offset."""

    data: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    name_span: Span = NOWHERE
    kind: str = ""
    span: Span = NOWHERE

    @property
    def end(self) -> int:
        """Where the Markdown begins."""
        return self.span.end


def frontmatter_span(source: Source) -> Span | None:
    """Where the lines of a file's frontmatter stand, without the dashes around them."""
    opening = _OPEN.match(source.text)
    closing = opening and _CLOSE.search(source.text, opening.end())
    return Span(opening.end(), closing.start()) if opening and closing else None


def read_frontmatter(source: Source, out: Collector) -> Frontmatter:
    """Read the head of a file that is not empty. What is wrong with it is reported; the rest of the file is read on."""
    text = source.text
    opening = _OPEN.match(text)
    if opening is None:
        first = source.line_span(source.place(len(text) - len(text.lstrip())).line)
        out.error("missing-frontmatter", first, "this file has no frontmatter, so its name and kind are unknown", _HELP)
        return Frontmatter(name_span=first)
    at = opening.end() - len(opening[0].lstrip())
    mark = Span(at, at + 3)
    start = min(opening.end() + 1, len(text))
    closing = _CLOSE.search(text, start)
    body = _BODY.search(text, start)
    if closing is None or (body and body.start() < closing.start()):
        out.error("unclosed-frontmatter", mark, "the frontmatter is never closed", "end it with a line of three dashes")
        # A blank line or the title ends what can be frontmatter.
        title = _TITLE.search(text, start)
        end = min(found.start() for found in (body, title) if found) if body or title else len(text)
        return _guessed(source, Span(start, max(start, end)), Span(mark.start, max(start, end)), mark)
    content = Span(start, closing.start())
    whole = Span(mark.start, closing.end())
    if report_tabs(source, content, out):
        return _guessed(source, content, whole, mark)
    return _read(source, content, whole, mark, out)


_TAB = re.compile(r"^[ ]*(?P<tab>\t)[ \t]*(?=\S)", re.M)


def report_tabs(source: Source, span: Span, out: Collector) -> bool:
    """Report tabs in the indentation of lines, once a run of neighbouring lines, and say whether there is any."""
    last = -1
    for found in _TAB.finditer(source.text, span.start, span.end):
        line = source.place(found.start()).line
        if line != last + 1:
            place = Span(found.start("tab"), found.end("tab"))
            out.error("tab-indentation", place, "a tab stands in the indentation", "indent with blanks")
        last = line
    return last > 0


def _read(source: Source, content: Span, whole: Span, mark: Span, out: Collector) -> Frontmatter:
    entries = plain_mapping(source, content)
    if entries is None:
        import yaml

        from prose_runtime.syntax.yaml_values import Yaml

        before = len(out.items)
        reader = Yaml(source, content, out, "bad-frontmatter")
        root = reader.root()
        if root is None and len(out.items) > before:
            return _guessed(source, content, whole, mark)
        if root is not None and not isinstance(root, yaml.MappingNode):
            reader.error(reader.span(root), "the frontmatter is no mapping of keys to values", _HELP)
            return Frontmatter(span=whole, name_span=mark)
        entries = reader.entries(root) if root is not None else {}
    data = {key: entry.value for key, entry in entries.items()}
    name, name_span = _name(entries.get("name"), mark, out)
    return Frontmatter(data, name, name_span, _kind(entries.get("kind"), mark, out), whole)


def _guessed(source: Source, content: Span, whole: Span, mark: Span) -> Frontmatter:
    """Name and kind from their lines, when the YAML around them cannot be read and has been reported."""
    found = {m["key"]: m for m in _LINE.finditer(source.text, content.start, content.end) if m["value"]}
    kind = found["kind"]["value"].strip("\"'").lower() if "kind" in found else ""
    kind = RETIRED_KINDS.get(kind, kind if kind in KINDS else "")
    if "name" not in found:
        return Frontmatter(kind=kind, span=whole, name_span=mark)
    return Frontmatter({}, found["name"]["value"], Span(*found["name"].span("value")), kind, whole)


def _name(entry: Entry | None, mark: Span, out: Collector) -> tuple[str | None, Span]:
    if entry is None or (entry.text is not None and not entry.text.strip()):
        place = entry.key if entry else mark
        out.error("missing-name", place, "the frontmatter gives no name", "add name: ...")
        return None, place
    if entry.text is None:
        out.error("missing-name", entry.place, "the name must be a word", "write name: my-pattern")
    return entry.text, entry.place


def _kind(entry: Entry | None, mark: Span, out: Collector) -> str:
    if entry is None or (entry.text is not None and not entry.text.strip()):
        place = entry.key if entry else mark
        out.error("missing-kind", place, "the frontmatter gives no kind", f"add kind: ...; {_KINDS}")
        return ""
    if entry.text is None:
        out.error("unknown-kind", entry.place, "the kind must be a word", _KINDS)
        return ""
    return _known_kind(entry.text.strip(), entry.place, out)


def _known_kind(word: str, span: Span, out: Collector) -> str:
    kind = word.lower()
    if kind in RETIRED_KINDS:
        read_as = RETIRED_KINDS[kind]
        modern = MODERN_KIND.get(read_as, read_as)
        fix = Fix(f"Write {modern}", (Edit(span, modern),)) if modern == read_as else None
        out.warning("retired-kind", span, f"the kind `{word}` is of an older dialect", f"write kind: {modern}", fix=fix)
        return read_as
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        out.error("unknown-kind", span, f"there is no kind `{word}`", f"{hint} {_KINDS}" if hint else _KINDS)
        return ""
    if kind != word:
        fix = Fix(f"Write {kind}", (Edit(span, kind),))
        out.warning(
            "kind-spelling", span, f"the kind `{word}` is written in lower case", f"write kind: {kind}", fix=fix
        )
    return kind
