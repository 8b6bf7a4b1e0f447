"""YAML read as JSON values with exact places: safe tags only, no duplicate keys, no alias bombs.

Scalars follow YAML 1.2's core schema, so that ``no``, ``12:30`` and ``2024-01-01`` are text.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, ClassVar, cast

import yaml

from prose_runtime.diagnostics import Collector, Secondary
from prose_runtime.syntax.scalars import Entry, plain
from prose_runtime.text import Source, Span

_MOST_VALUES = 20_000
_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """Composes nodes only; plain scalars keep the tag of text and are read by ``scalars.plain``."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]


_FAST: Any = (
    type("_FastLoader", (yaml.CSafeLoader,), {"yaml_implicit_resolvers": {}}) if yaml.__with_libyaml__ else None
)
_UNLIKE = re.compile(r"[\t\ufeff!\[{|>]")
"""Signs whose use libyaml reads otherwise than PyYAML in some places: a text with one of them is left to the latter."""


def _compose(text: str) -> yaml.Node | None:
    """The tree of a text, by libyaml where that is at hand and the text is right; faults are told by PyYAML."""
    if _FAST is not None and not _UNLIKE.search(text):
        with suppress(yaml.YAMLError, UnicodeError):
            return cast("yaml.Node | None", _FAST(text).get_single_node())
    return _Loader(text).get_single_node()


class Yaml:
    """A YAML text inside a file. Faults go to a collector under one code, at their own place."""

    def __init__(self, source: Source, span: Span, out: Collector, code: str):
        self.source = source
        self.where = span
        self.out = out
        self.code = code
        self._content = source.text[span.start : span.end]

    def root(self) -> yaml.Node | None:
        """The tree, or None when the text is empty or wrong, which is then reported."""
        try:
            node = _compose(self._content)
            if node is not None:
                self._weigh(node, {})
        except yaml.MarkedYAMLError as fault:
            self.error(self._spot(self._index(fault)), f"this is no valid YAML: {_reason(fault)}")
        except yaml.reader.ReaderError as fault:
            self.error(self._spot(fault.position), "this is no valid YAML: a control character stands here")
        except RecursionError:
            self.error(self._spot(0), "this YAML is nested too deeply")
        except _Bomb as bomb:
            self.error(self.span(bomb.node), "this YAML refers to itself or grows too large through its aliases")
        else:
            return node
        return None

    def error(self, span: Span, message: str, help: str | None = None) -> None:  # noqa: A002
        """Report a fault of this text."""
        self.out.error(self.code, span if span.end > span.start else self._before(span.start), message, help)

    def _before(self, offset: int) -> Span:
        """What stands before a value that is left empty, such as its key."""
        text = self.source.text[self.where.start : offset].rstrip()
        found = re.search(r"[^\s:]*:?\Z", text[-200:])
        end = self.where.start + len(text)
        return Span(end - len(found[0]) if found else end, end)

    def span(self, node: yaml.Node) -> Span:
        """The characters of a node, without what follows it."""
        start = self.where.start + node.start_mark.index
        end = self.where.start + node.end_mark.index
        return Span(start, start + len(self.source.text[start:end].rstrip()))

    def fields(self, node: yaml.MappingNode) -> dict[str, tuple[Span, yaml.Node]]:
        """Key span and value of each entry; a second use of a key is an error and left out."""
        found: dict[str, tuple[Span, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.error(self.span(key), "a key must be a plain word or a quoted text")
            elif key.value in found:
                first = Secondary(found[key.value][0], "first given here")
                self.out.error(
                    "duplicate-key", self.span(key), f"the key `{key.value}` is given twice", secondary=[first]
                )
            else:
                found[key.value] = (self.span(key), value)
        return found

    def entries(self, node: yaml.MappingNode) -> dict[str, Entry]:
        """The entries of a mapping by key, with their values."""
        return {key: self._entry(place, value) for key, (place, value) in self.fields(node).items()}

    def _entry(self, key: Span, node: yaml.Node) -> Entry:
        span, value = self.span(node), self.value(node)
        if not isinstance(node, yaml.ScalarNode):
            return Entry(key, value, None, span)
        inner = Span(span.start + 1, span.end - 1) if node.style in ("'", '"') else span
        return Entry(key, value, str(node.value), inner)

    def value(self, node: yaml.Node) -> Any:
        """The JSON value of a node."""
        if isinstance(node, yaml.MappingNode):
            return {key: self.value(value) for key, (_, value) in self.fields(node).items()}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item) for item in node.value]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        tag = node.tag.removeprefix(_TAG)
        if tag not in ("str", "int", "float", "bool", "null"):
            self.error(self.span(node), f"the tag `{node.tag}` is not allowed; only plain values are")
            return None
        text = str(node.value)
        if node.style in ("|", ">"):
            # The carriage return of a CRLF is a blank in the masked text and would stay in a block scalar.
            return text.replace(" \n", "\n") if "\r" in self.source.raw else text
        explicit_text = self._content[node.start_mark.index] == "!" and tag == "str"
        return text if node.style or explicit_text else plain(text)

    def _spot(self, index: int) -> Span:
        last = len(self._content.rstrip()) - 1
        index = len(self._content[: max(0, min(index, last)) + 1].rstrip()) - 1
        start = self.where.start + max(0, index)
        return Span(start, min(start + 1, self.where.end))

    def _index(self, fault: yaml.MarkedYAMLError) -> int:
        """Where a fault is: at the opening of what the text's end leaves open, else at what is wrong."""
        problem, context = fault.problem_mark, fault.context_mark
        if problem and context and problem.index >= len(self._content.rstrip()):
            return int(context.index)
        mark = problem or context
        return int(mark.index) if mark else 0

    def _weigh(self, node: yaml.Node, known: dict[int, int]) -> int:
        """How many values a node stands for when its aliases are written out."""
        size = known.get(id(node))
        if size is None:
            known[id(node)] = _MOST_VALUES + 1
            size = 1
            for child in _children(node):
                size += self._weigh(child, known)
                if size > _MOST_VALUES:
                    raise _Bomb(node)
            known[id(node)] = size
        return size


class _Bomb(Exception):
    def __init__(self, node: yaml.Node):
        super().__init__()
        self.node = node


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for entry in node.value for part in entry]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _reason(fault: yaml.MarkedYAMLError) -> str:
    words = [text for text in (fault.context, fault.problem) if text]
    return ", ".join(words) or "it cannot be read"
