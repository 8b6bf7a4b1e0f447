"""Reads programs for tests, and shows their trees as outlines that are easy to compare by eye."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from prose_runtime.diagnostics import Collector, Diagnostic
from prose_runtime.nodes import Block, Constant, Expr, MadeName, Name, Node, ParallelOptions, Template
from prose_runtime.syntax.delegation import parse_block, parse_expression
from prose_runtime.text import Source, Span


@dataclass(frozen=True)
class Parsed:
    """A program and what reading it has reported."""

    source: Source
    block: Block
    diagnostics: list[Diagnostic]

    def faults(self) -> list[tuple[int, str]]:
        """Line and code of every fault."""
        return [(d.start.line, d.code) for d in self.diagnostics]

    def text(self, node: Node) -> str:
        """The characters that a node spans."""
        return self.source.text[node.span.start : node.span.end]

    def nodes(self, kind: type[Node]) -> list[Any]:
        """All nodes of a class, in source order."""
        return [node for node in self.block.walk() if isinstance(node, kind)]


def read(text: str) -> Parsed:
    """A program that stands in the middle of a file, so that offsets and lines of the file are other than its own."""
    before = "# Above\r\n\r\n```prose\n"
    source = Source("test.prose.md", f"{before}{text}\n```\n\nlet below = 1\n")
    out = Collector(source)
    block = parse_block(source, Span(len(before), len(before) + len(text)), out)
    return Parsed(source, block, list(out.ordered))


def read_alone(text: str) -> Parsed:
    """A program that is a whole file; its first line is line 1."""
    source = Source("test.prose", text)
    out = Collector(source)
    return Parsed(source, parse_block(source, Span(0, len(source.text)), out), out.ordered)


def expression(text: str) -> tuple[Expr | None, list[Diagnostic]]:
    """A text as one expression."""
    source = Source("test.prose", text)
    out = Collector(source)
    return parse_expression(source, Span(0, len(text)), out), out.ordered


def outline(node: Node) -> str:
    """A tree as indented lines; names, constants and strings on their parent's line."""
    return "\n".join(_outline(node))


def _outline(node: Node) -> Iterator[str]:
    brief = _brief(node)
    if brief is not None:
        yield brief
        return
    plain: list[str] = []
    below: list[str] = []
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node) and (brief := _brief(value)) is not None:
            plain.append(f"{item.name}={brief}")
        elif isinstance(value, Node):
            first, *rest = _outline(value)
            below += [f"  {item.name}: {first}", *(f"  {line}" for line in rest)]
        elif isinstance(value, tuple) and not isinstance(value, Span):
            for entry in value:
                first, *rest = _outline(entry)
                below += [f"  - {first}", *(f"  {line}" for line in rest)]
        elif not isinstance(value, Span) and value not in (None, False):
            plain.append(f"{item.name}={value!r}")
    yield " ".join([type(node).__name__, *plain])
    yield from below


def _brief(node: Node) -> str | None:
    if isinstance(node, Name):
        return node.id
    if isinstance(node, Constant):
        return f"<{node.value!r}>"
    if isinstance(node, MadeName):
        return "".join(part if isinstance(part, str) else f"⟨{part.raw}⟩" for part in node.parts)
    if isinstance(node, Template):
        return repr("".join(part if isinstance(part, str) else f"⟨{part.raw}⟩" for part in node.parts))
    if isinstance(node, ParallelOptions) and node.count is None:
        return f"({node.mode}, {node.on_fail})"
    return None
