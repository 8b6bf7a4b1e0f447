"""The Patterns section: fenced YAML that lists pattern instances (LANGUAGE.md section 1, Patterns)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from prose_runtime.diagnostics import Collector, did_you_mean
from prose_runtime.nodes import Instance, Section
from prose_runtime.syntax.frontmatter import report_tabs
from prose_runtime.syntax.slots import distinct
from prose_runtime.syntax.yaml_values import Yaml
from prose_runtime.text import Source, Span

_FIELDS = ("name", "pattern", "with", "config")
_CODE = "pattern-instance"
_EXAMPLE = "write a list of entries such as - name: reviewed, pattern: worker-critic, with: {worker: writer}"


def read_instances(source: Source, section: Section, out: Collector) -> tuple[Instance, ...]:
    """All instances of the section's YAML fences."""
    found: list[Instance] = []
    for fence in section.fences:
        if fence.label in ("", "yaml", "yml", "json") and not report_tabs(source, fence.content, out):
            found += _Reader(Yaml(source, fence.content, out, _CODE)).instances()
    named = [(i.name, _name_span(source, i)) for i in found if i.name]
    distinct(named, out, "instance")
    return tuple(found)


def _name_span(source: Source, instance: Instance) -> Span:
    at = source.text.find(instance.name or "", instance.span.start, instance.span.end)
    return Span(at, at + len(instance.name or "")) if at >= 0 else instance.span


class _Reader:
    def __init__(self, text: Yaml):
        self.text = text

    def instances(self) -> list[Instance]:
        root = self.text.root()
        if root is None:
            return []
        if isinstance(root, yaml.SequenceNode):
            return [found for node in root.value if (found := self._top(node))]
        if isinstance(root, yaml.MappingNode):
            return [found] if (found := self._top(root)) else []
        self.text.error(self.text.span(root), "the instances must be a list", _EXAMPLE)
        return []

    def _top(self, node: yaml.Node) -> Instance | None:
        instance = self._instance(node)
        if instance is not None and not instance.name:
            self.text.error(self._head(node), "this instance has no name, so nothing can call it", "add name: ...")
        return instance

    def _head(self, node: yaml.Node) -> Span:
        """The first line of a node."""
        span = self.text.span(node)
        line = self.text.source.text[span.start : span.end].split("\n", 1)[0]
        return Span(span.start, span.start + len(line.rstrip()))

    def _instance(self, node: yaml.Node) -> Instance | None:
        if not isinstance(node, yaml.MappingNode):
            self.text.error(self._head(node), "a pattern instance must be a mapping", _EXAMPLE)
            return None
        fields = self.text.fields(node)
        for key, (span, _) in fields.items():
            if key not in _FIELDS:
                known = ", ".join(_FIELDS)
                hint = did_you_mean(key, _FIELDS) or f"an instance has {known}"
                self.text.error(span, f"an instance has no field `{key}`", hint)
        if "pattern" not in fields:
            self.text.error(self._head(node), "this instance names no pattern", "add pattern: the pattern's name")
            return None
        return Instance(
            span=self.text.span(node),
            name=self._word(fields, "name"),
            pattern=self._word(fields, "pattern") or "",
            bindings=self._bindings(fields),
            config=self._config(fields),
        )

    def _word(self, fields: dict[str, tuple[Span, yaml.Node]], key: str) -> str | None:
        if key not in fields:
            return None
        node = fields[key][1]
        if isinstance(node, yaml.ScalarNode) and node.value:
            return str(node.value)
        self.text.error(self._head(node), f"`{key}` must be a name")
        return None

    def _bindings(self, fields: dict[str, tuple[Span, yaml.Node]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for slot, (_, node) in self._mapping(fields, "with").items():
            value = self._filler(node)
            if value is not None:
                found[slot] = value
        return found

    def _mapping(self, fields: dict[str, tuple[Span, yaml.Node]], key: str) -> dict[str, tuple[Span, yaml.Node]]:
        node = fields[key][1] if key in fields else None
        if isinstance(node, yaml.MappingNode):
            return self.text.fields(node)
        if node is not None and node.value:
            self.text.error(self._head(node), f"`{key}` must be a mapping of names to values")
        return {}

    def _config(self, fields: dict[str, tuple[Span, yaml.Node]]) -> dict[str, Any]:
        return {name: self.text.value(node) for name, (_, node) in self._mapping(fields, "config").items()}

    def _filler(self, node: yaml.Node) -> Any:
        """What fills a slot: a name, a nested instance, or a list of these."""
        if isinstance(node, yaml.SequenceNode):
            return self._fillers(node.value)
        if isinstance(node, yaml.MappingNode):
            return self._instance(node)
        if node.value:
            return str(node.value)
        self.text.error(
            self._head(node), "this slot is filled with nothing", "name a component, a service or a pattern"
        )
        return None

    def _fillers(self, nodes: Sequence[yaml.Node]) -> list[Any]:
        return [value for node in nodes if (value := self._filler(node)) is not None]
