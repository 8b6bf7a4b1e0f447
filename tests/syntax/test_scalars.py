"""Mappings of the plainest form: read as YAML reads them, or not at all."""

import random

import pytest
import yaml

from prose_runtime.diagnostics import Collector
from prose_runtime.syntax.scalars import plain_mapping
from prose_runtime.syntax.yaml_values import Yaml
from prose_runtime.text import Source, Span

KEYS = ["name", "kind", "a-b", "_x", "v2", "true", "key", "of", "1", "é", "- a", "  name", "? a", "", "null"]
VALUES = (
    "word|two words|a, b|a: b|a:b|http://x/y?z=1#a|a #b|a#b|x:|12|1.5|1e3|0x1f|true|No|null|~|2024-01-01|12:30"
    "|'q'|\"q\"|[a]|{a: b}|- x|-x|&a|*a|!t x|>|# c|%x|@x|`x`|é|“q”|a\tb|a  b |a: |a\u0085b|a\u2028b|a\u00a0b|\ufeffa"
    "|a]b|a'b|=|<<|.5|..."
).split("|")
JOINTS = [": ", ": ", ": ", ":  ", ":", " : ", ":\t"]
BETWEEN = ["", "", "", "# a comment", "  ", " # c", "\t", "  more", "..."]


def by_library(source: Source, span: Span) -> object:
    out = Collector(source)
    reader = Yaml(source, span, out, "yaml")
    root = reader.root()
    found = reader.entries(root) if isinstance(root, yaml.MappingNode) else {} if root is None else root
    return out.items or found


def test_what_is_read_without_a_library_is_what_the_library_reads() -> None:
    pick = random.Random(3)
    read = 0
    for _ in range(20_000):
        lines = [pick.choice(KEYS) + pick.choice(JOINTS) + pick.choice(VALUES) for _ in range(pick.randint(1, 3))]
        lines.insert(pick.randint(0, len(lines)), pick.choice(BETWEEN))
        source = Source("t.md", "--\n" + "\n".join(lines) + pick.choice(["\n", "\r\n", ""]))
        span = Span(3, len(source.text))
        found = plain_mapping(source, span)
        if found is not None:
            read += 1
            assert found == by_library(source, span), source.raw
    assert read > 400


@pytest.mark.parametrize("text", ["name: a\nkind: b\n", "# c\n\nname: what it is, in words\nversion: 1.0\nempty:\n"])
def test_the_usual_head_is_of_the_plainest_form(text: str) -> None:
    source = Source("t.md", text)
    assert plain_mapping(source, Span(0, len(text))) == by_library(source, Span(0, len(text)))
