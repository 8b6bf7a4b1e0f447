"""Offsets of Markdown against markdown-it-py's line maps, and what must hold of the parser for every text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Block, Node
from prose_runtime.syntax.bullets import read_bullets
from prose_runtime.syntax.markdown import read_blocks
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source, Span

SPEC = """---
name: sample
kind: pattern
---

# Sample

### Slots

- `writer` (primary): who writes
  - requires: topic, notes (a, b), optional tone
  - ensures: `draft`, `notes`
- `readers`

### Config

- `rounds` (integer, default: 2): how many
- `mode`: fast | slow, default `fast`
- `tiers` (object[], default: {'a': 1}, {'a': 2}): what

### Parameters

- Pattern instance receives:
    readers: string[]  -- who reads
    topic: string      -- (optional, default "x")
- `more` (optional): text

### Returns

- `text`: the result
- a promise

### Shape

- `self`: carry
- `delegates`:
  - `writer`: writes — not more

### Patterns

```yaml
- name: one
  pattern: two
  with: {a: [b, {pattern: c}]}
```

### Delegation

```prose
let text = \"\"\"
```json
{"a": 1}
```
\"\"\"
repeat rounds as n:
  let view = call writer
    topic: topic
return { text: text }
```

## helper

### Parameters

- `x`: y

### Execution

~~~
return x
~~~
"""

WORDS = st.lists(
    st.sampled_from(["one", "two", "`x`", "é", "𝒳", "a-b", "(c, d)", "42", "e:"]), min_size=1, max_size=5
).map(" ".join)


@st.composite
def items(draw, depth=0):
    """Lines of a list, nested by two blanks, with wrapped text."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        lines.append("- " + draw(WORDS))
        lines += ["  " + draw(WORDS) for _ in range(draw(st.integers(0, 2)))]
        if depth < 3 and draw(st.booleans()):
            lines += ["  " + line for line in draw(items(depth + 1))]
    return lines


@st.composite
def fences(draw):
    mark = draw(st.sampled_from(["```", "~~~", "````"]))
    label = draw(st.sampled_from(["", "prose", "yaml", "json x"]))
    inside = st.sampled_from(["### Slots", "- a", "x = 1", "", "  y", "> z", "# c", "---", '"a" # b', '"""', "\tt"])
    lines = draw(st.lists(inside, max_size=5))
    if lines.count('"""') % 2:
        lines.append('"""')
    return [mark + label, *lines, mark]


HEADINGS = st.tuples(
    st.integers(1, 6), st.sampled_from(["Slots", "Delegation", "Notes", "a b c", "helper", "Execution ##"])
).map(lambda h: ["#" * h[0] + " " + h[1]])
PARAGRAPHS = st.lists(WORDS, min_size=1, max_size=3)
OTHERS = st.sampled_from([["***"], ["> quote", "> more"], ["<!-- c -->"], ["    code"], [""]])


@st.composite
def documents(draw):
    parts = draw(st.lists(st.one_of(HEADINGS, PARAGRAPHS, items(), fences(), OTHERS), max_size=12))
    lines = [line for part in parts for line in [*part, *[""] * draw(st.integers(1, 2))]]
    end = draw(st.sampled_from(["\n", "\r\n", "  \n", "\n"]))
    return end.join(lines)


def ours(text):
    source = Source("t.md", text)
    found = []
    for block in read_blocks(source):
        line = source.place(block.span.start).line
        if block.kind == "heading":
            found.append(("heading", line, block.level, source.text[slice(*block.title)]))
        elif block.fence:
            content = source.text[slice(*block.fence.content)]
            found.append(("fence", line, source.place(block.span.end).line, content.replace(" \n", "\n")))
        elif block.kind == "list":
            bullets = read_bullets(source, block.span, Collector(source))
            found += [("bullet", source.place(at).line) for at in starts(bullets)]
    return sorted(found)


def starts(bullets):
    for bullet in bullets:
        yield bullet.span.start
        yield from starts(bullet.bullets)


def theirs(text):
    found = []
    tokens = MarkdownIt("commonmark").parse(text)
    for token, after in zip(tokens, [*tokens[1:], None], strict=False):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open" and token.level == 0:
            found.append(("heading", line, int(token.tag[1]), after.content))
        elif token.type == "fence" and token.level == 0:
            found.append(("fence", line, token.map[1], token.content.replace(" \n", "\n")))
        elif token.type == "list_item_open":
            found.append(("bullet", line))
    return sorted(found)


@settings(max_examples=200, deadline=None)
@given(documents())
def test_positions_agree_with_a_second_parser(text):
    assert ours(text) == theirs(text)


def test_positions_of_the_sample_agree_with_a_second_parser():
    sample = (
        SPEC.split("---\n", 2)[2]
        .replace("```prose", "````prose")
        .replace("}\n```\n\n## helper", "}\n````\n\n## helper")
    )
    assert ours(sample) == theirs(sample)
    assert ours(sample.replace("\n", "\r\n")) == theirs(sample)


@st.composite
def mutations(draw):
    """The sample with lines cut, doubled, swapped or put in, and perhaps cut off."""
    lines = SPEC.split("\n")
    for _ in range(draw(st.integers(0, 4))):
        one, two = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        change = draw(st.sampled_from(["cut", "double", "swap", "put", "indent"]))
        if change == "cut" and len(lines) > 1:
            del lines[one]
        elif change == "double":
            lines.insert(one, lines[two])
        elif change == "swap":
            lines[one], lines[two] = lines[two], lines[one]
        elif change == "put":
            lines.insert(
                one, draw(st.text(alphabet="#`~-> \t:()[]{}\"'\\,|=*&!a1\xa0é𝒳\x85\u2028\ufeff\0", max_size=12))
            )
        else:
            lines[one] = draw(st.sampled_from(["\t", "  ", "\xa0", "> "])) + lines[one]
    text = draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines)
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@settings(max_examples=250, deadline=None)
@given(st.one_of(mutations(), st.text(max_size=200), documents()), st.sampled_from(["t.md", "t.prose"]))
def test_the_parser_never_raises_and_spans_nest(text, path):
    source = Source(path, text)
    spec, diagnostics = parse(source)
    assert spec.name
    assert spec.kind or any(d.severity == "error" for d in diagnostics)
    whole = Span(0, len(text))
    assert all(whole.covers(d.span) and d.span.start <= d.span.end for d in diagnostics)
    assert diagnostics == sorted(diagnostics, key=lambda d: (d.span, d.code))
    nested(spec, whole)
    for component in (spec, *spec.components):
        names_are_exact(component)


def nested(node: Node, around: Span):
    assert node.span.start <= node.span.end
    assert around.covers(node.span), (type(node), node.span, around)
    if not isinstance(node, Block):
        for child in node.children():
            nested(child, node.span)


def names_are_exact(spec):
    outputs = spec.returns.outputs if spec.returns else ()
    for node in (*spec.slots, *spec.config, *spec.parameters, *outputs, *spec.components):
        assert spec.source.text[slice(*node.name_span)] == node.name
        assert node.span.covers(node.name_span)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([("\n", "\r\n"), ("\n", "  \n"), ("\n\n", "\n \t\n"), ("~~~", "```"), ("  - ", "    - ")]))
def test_the_sample_has_no_fault_however_it_is_spelt(change):
    spec, diagnostics = parse(Source("t.md", SPEC.replace(*change)))
    assert diagnostics == []
    assert [len(part) for part in (spec.slots, spec.config, spec.parameters, spec.instances)] == [2, 3, 2, 1]
    names_are_exact(spec)
