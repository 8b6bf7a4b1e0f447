"""Sections as data: Slots, Config, Parameters, Returns, Shape, Invariants and Patterns in all their spellings."""

import pytest

from prose_runtime.nodes import Instance
from prose_runtime.syntax.config_values import BadValue, fits, read_value
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source


def read(body, kind="function"):
    source = Source("t.md", f"---\nname: t\nkind: {kind}\n---\n\n{body}\n")
    return parse(source)


def spec_of(body, kind="function"):
    spec, diagnostics = read(body, kind)
    assert [d.message for d in diagnostics if d.severity == "error"] == []
    return spec


def text(spec, span):
    return spec.source.text[slice(*span)]


# Slots


def test_comments_behind_a_bullet_are_no_part_of_it():
    spec = spec_of("### Parameters\n\n- `a`: what <!-- one --> <!-- two -->\n- `b` <!-- three -->\n- `c`: `<!-- x -->`")
    assert [(row.name, row.description) for row in spec.parameters] == [("a", "what"), ("b", ""), ("c", "`<!-- x -->`")]
    wrapped = "### Slots\n\n- `w`: writes <!-- one -->\n  a <!-- two -->\n  <!-- three -->\n  lot\n"
    wrapped += "  - requires: `a`,\n    `b`"
    (slot,) = spec_of(wrapped, "function").slots
    assert (slot.description, [item.name for item in slot.requires]) == ("writes a lot", ["a", "b"])


def test_slots_with_their_contracts():
    spec = spec_of("""### Slots

- `writer` (primary): who writes
  - requires: `topic`, notes (a, b, c), optional tone, the reply of the other (if any), g (if any)
  - ensures: `draft`, `notes`
- `reader` — who reads
  - Requires:
    - draft
    - `bar` (optional)
  - maintains: a fair verdict
- others (person)
""")
    writer, reader, others = spec.slots
    assert (writer.name, writer.primary, writer.description) == ("writer", True, "who writes")
    assert [(r.name, r.optional) for r in writer.requires] == [
        ("topic", False),
        ("notes", False),
        ("tone", True),
        (None, True),
        ("g", True),
    ]
    assert [text(spec, r.span) for r in writer.requires][1] == "notes (a, b, c)"
    assert [p.names for p in writer.ensures] == [("draft", "notes")]
    assert (reader.description, reader.primary) == ("who reads", False)
    assert [(r.name, r.optional) for r in reader.requires] == [("draft", False), ("bar", True)]
    assert [(p.text, p.names) for p in reader.ensures] == [("a fair verdict", ())]
    assert (others.name, others.requires) == ("others", ())
    assert [slot.person for slot in spec.slots] == [False, False, True]


@pytest.mark.parametrize(
    ("ensures", "names"),
    [
        ("`draft`", ()),
        ("a, b", ("a", "b")),
        ("`a`, `b` and `c`", ("a", "b", "c")),
        ("title (string), text.", ("title", "text")),
        ("`a`, optional `b`", ("a",)),
        ("continue, adjust or abort", ()),
        ("whether to proceed, and the reason", ()),
        ("clear, honest and kind", ()),
        ("pros and cons", ()),
    ],
)
def test_ensures_declares_fields_only_as_a_list_of_names(ensures, names):
    spec = spec_of(f"### Slots\n\n- `s`\n  - ensures: {ensures}\n")
    assert spec.slots[0].ensures[0].names == names


def test_a_bracketed_row_makes_a_list_slot():
    spec = spec_of(
        "### Slots\n\n- `stages`\n- `judge`\n\n### Parameters\n\n"
        "- Pattern instance receives:\n    stages: string[] -- in order\n    judge: string\n    n: number[]\n"
    )
    assert [(s.name, s.is_list) for s in spec.slots] == [("stages", True), ("judge", False)]
    assert [(p.name, p.type) for p in spec.parameters] == [("n", "number[]")]


@pytest.mark.parametrize("section", ["Slots", "Config", "Parameters", "Returns"])
@pytest.mark.parametrize("words", ["- None. Nothing to set.", "- none", "- (none)", "None.", "- None — not needed"])
def test_none_means_nothing(section, words):
    spec, diagnostics = read(f"### {section}\n\n{words}\n")
    assert diagnostics == []
    assert (spec.slots, spec.config, spec.parameters) == ((), (), ())
    assert spec.returns is None or spec.returns.outputs == spec.returns.promises == ()


# Config


@pytest.mark.parametrize(
    ("bullet", "kind", "default", "optional", "description"),
    [
        ("`x` (integer, default: 2): how many", "integer", 2, False, "how many"),
        ("`x` (string, optional) — text", "string", None, True, "text"),
        ("`x`: integer, default `2`", "integer", 2, False, ""),
        ("`x`: integer, default 2. How many", "integer", 2, False, "How many"),
        ("`x`: integer (default: 2) — how many", "integer", 2, False, "how many"),
        ("`x`: 3", None, 3, False, ""),
        ("`x`: true — whether", None, True, False, "whether"),
        ("`x`: how many rounds (default: 3)", None, 3, False, "how many rounds (default: 3)"),
        ("x: number, optional", "number", None, True, ""),
        ("`x` (string, default: none): y. Default: z", "string", None, True, "y. Default: z"),
        ("`x` (integer)", "integer", None, False, ""),
        ("**x** (integer; default = 1): bold", "integer", 1, False, "bold"),
        ("`x` (number, default 0.5, optional)", "number", 0.5, True, ""),
        ("`x` (boolean, default: false): b", "boolean", False, False, "b"),
        ("`x` (fast | slow, default: slow): mode", "fast | slow", "slow", False, "mode"),
        ("`x`: a | b, default b", "a | b", "b", False, ""),
        ('`x` ("two words" | z, default: "two words")', '"two words" | z', "two words", False, ""),
        ("`x` (1 | 2, default: 2)", "1 | 2", 2, False, ""),
        ("`x` (string | null, default: null)", "string | null", None, True, ""),
        ("`x` (string, default: a, b and c): s", "string", "a, b and c", False, "s"),
        ('`x` (string, default: "it\'s (fine), ok"): q', "string", "it's (fine), ok", False, "q"),
        ("`x` (string, default: don't): q (sic)", "string", "don't", False, "q (sic)"),
        ("`x` (string[], default: [a, 'b']): l", "string[]", ["a", "b"], False, "l"),
        ("`x` (string[], default: a, b): l", "string[]", ["a", "b"], False, "l"),
        ("`x` (array, default: []): l", "array", [], False, "l"),
        ("`x` (object, default: {'a': True, 'b': None}): o", "object", {"a": True, "b": None}, False, "o"),
        ("`x` (object, default: {a: {b: [1]}}): o", "object", {"a": {"b": [1]}}, False, "o"),
        (
            "`x` (object[], default: {'m': 'big', 'n': 2}, {'m': 'small', 'n': 3}): which",
            "object[]",
            [{"m": "big", "n": 2}, {"m": "small", "n": 3}],
            False,
            "which",
        ),
        ("`x` (integer,\n  default: 7): wrapped\n  text", "integer", 7, False, "wrapped text"),
        ("`x`\n  - type: integer\n  - default: 4\n  - description: four", "integer", 4, False, "four"),
    ],
)
def test_spellings_of_config(bullet, kind, default, optional, description):
    spec = spec_of(f"### Config\n\n- {bullet}\n")
    (item,) = spec.config
    assert item.name == text(spec, item.name_span) == "x"
    assert (item.type, item.default, item.optional) == (kind, default, optional)
    assert item.description == description
    if kind:
        assert text(spec, item.type_span) == kind


def test_the_spans_of_a_config_item():
    spec = spec_of(
        "### Config\n\n- `tiers` (object[], default: {'a': 1}, {'a': 2}): how\n- `n`: integer, default `2`\n"
    )
    tiers, n = spec.config
    assert text(spec, tiers.default_span) == "{'a': 1}, {'a': 2}"
    assert text(spec, n.default_span) == "2"
    assert text(spec, n.span) == "- `n`: integer, default `2`"


@pytest.mark.parametrize(
    ("bullet", "words"),
    [
        ("`x` (integer, default: many): n", ["many", "integer"]),
        ("`x` (integer, default: 2.5)", ["2.5", "integer"]),
        ("`x` (integer, default: true)", ["true", "integer"]),
        ("`x`: number, default `lots`", ["lots", "number"]),
        ("`x` (boolean, default: maybe)", ["maybe", "boolean"]),
        ("`x` (fast | slow, default: quick)", ["quick", "fast", "slow"]),
        ("`x` (object, default: {a: [1}): o", ["{a: [1}", "object"]),
        ("`x` (object, default: [1])", ["[1]", "object"]),
        ("`x` (integer[], default: 1, b)", ["1, b", "integer[]"]),
    ],
)
def test_a_default_of_another_type_is_an_error_at_the_value(bullet, words):
    spec, diagnostics = read(f"### Config\n\n- {bullet}\n")
    (fault,) = diagnostics
    assert (fault.code, fault.severity, fault.start.line) == ("config-type", "error", 8)
    assert text(spec, fault.span) == words[0]
    assert all(word in fault.message for word in words)


def test_a_row_types_a_config_item_and_may_make_it_required():
    spec = spec_of("""### Config

- `question` (string, default: none): what
- `note` (string, default: none): more
- `rounds` (integer, default: 2): how many
- `mode` (fast | slow, default: fast): how
- `late`: when

### Requires

- &compositeState exists at __compositeState with:
    question: string -- what is argued
    note: text -- (optional)
    rounds: number -- (optional, default 2)
    mode: string -- how
    late: integer -- (optional, default 9)
    other: string
""")
    shown = {c.name: (c.type, c.default, c.optional) for c in spec.config}
    assert shown == {
        "question": ("string", None, False),
        "note": ("string", None, True),
        "rounds": ("number", 2, False),
        "mode": ("fast | slow", "fast", False),
        "late": ("integer", 9, False),
    }
    assert [p.name for p in spec.parameters] == ["other"]


def test_a_misspelt_type_and_an_unread_bullet_are_warnings():
    _, diagnostics = read("### Config\n\n- `x` (intger, default: 1)\n- The threshold is 3\n")
    assert [(d.code, d.severity, d.start.line) for d in diagnostics] == [
        ("unknown-type", "warning", 8),
        ("unread-bullet", "warning", 9),
    ]
    assert "integer" in diagnostics[0].help


def test_a_parenthesis_that_stays_open_is_an_error():
    _, diagnostics = read("### Config\n\n- `x` (integer, default: 1: how many\n")
    assert ("unclosed-parenthesis", (8, 7)) in [(d.code, tuple(d.start)) for d in diagnostics]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("3", "integer", 3),
        ("3", "string", "3"),
        ("3", None, 3),
        ("1e2", "number", 100.0),
        ("yes", "boolean", True),
        ("[1, 2]", "integer[]", [1, 2]),
        ("1, 2", "array of integers", [1, 2]),
        ("null", "string | null", None),
        ('"a"', "string", "a"),
        ("x" * 5000, None, "x" * 5000),
        ("9" * 5000, None, "9" * 5000),
    ],
)
def test_values_are_read_by_type(value, kind, expected):
    assert read_value(value, kind) == expected
    assert fits(expected, kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [("x", "integer"), ("{1: 2", "object"), ("{'a' 1}", "object"), ("[" * 5000, "array"), ("3", "object")],
)
def test_values_that_are_of_another_type(value, kind):
    with pytest.raises(BadValue):
        read_value(value, kind)


# Parameters


@pytest.mark.parametrize("section", ["Parameters", "Requires", "Inputs"])
@pytest.mark.parametrize(
    ("bullet", "kind", "optional", "default"),
    [
        ("`x`: what", None, False, None),
        ("x: what", None, False, None),
        ("`x` (optional): what", None, True, None),
        ("`x`: (optional) what", None, True, None),
        ("`x`: optional — what", None, True, None),
        ("`x`: Optional. what", None, True, None),
        ("`x` (string, optional): what", "string", True, None),
        ("`x`: string — what", "string", False, None),
        ("`x` (optional, default 2): what", None, True, 2),
        ("`x`: number, optional, default 3 — what", "number", True, 3),
        ("`x` (string[]): what", "string[]", False, None),
        ("`x` — what", None, False, None),
    ],
)
def test_spellings_of_parameters(section, bullet, kind, optional, default):
    spec = spec_of(f"### {section}\n\n- {bullet}\n")
    (item,) = spec.parameters
    assert item.name == text(spec, item.name_span) == "x"
    assert (item.type, item.optional, item.default, item.has_default) == (kind, optional, default, default is not None)
    assert item.description == "what"


def test_rows_of_one_bullet():
    spec = spec_of("""### Parameters

- Pattern instance receives:
    a: string       -- first
    b: number       -- (optional, default 2)
    c: Verdict[]    -- (optional) list
    d: object
    e -- bare
    g: a | b        -- (optional, default a)
""")
    assert [(p.name, p.type, p.optional, p.default, p.description) for p in spec.parameters] == [
        ("a", "string", False, None, "first"),
        ("b", "number", True, 2, ""),
        ("c", "Verdict[]", True, None, "list"),
        ("d", "object", False, None, ""),
        ("e", None, False, None, "bare"),
        ("g", "a | b", True, "a", ""),
    ]
    assert [text(spec, p.span) for p in spec.parameters][1] == "b: number       -- (optional, default 2)"


def test_rows_may_be_nested_bullets():
    spec = spec_of("### Inputs\n\n- The pattern receives:\n  - a: string -- first\n  - `b`: number -- (optional)\n")
    assert [(p.name, p.type, p.optional) for p in spec.parameters] == [("a", "string", False), ("b", "number", True)]


def test_prose_in_a_responsibility_is_no_fault():
    spec, diagnostics = read("### Requires\n\n- a thing in words\n- `x`: y\n", "responsibility")
    assert ([p.name for p in spec.parameters], diagnostics) == (["x"], [])


# Returns, Invariants, Shape


def test_returns_declares_by_the_first_word():
    spec = spec_of("""### Returns

- `text`: the report
- rounds (number): how many
- a summary in three parts
- `a`, `b`
- `c` holds every point
- `d` (string, optional): maybe
- if nothing is found: says so
- None of it is invented

### Maintains

- something in words
""")
    assert [(o.name, o.type, o.optional) for o in spec.returns.outputs] == [
        ("text", None, False),
        ("rounds", "number", False),
        ("a", None, False),
        ("b", None, False),
        ("c", None, False),
        ("d", "string", True),
    ]
    assert [p.text for p in spec.returns.promises] == [
        "a summary in three parts",
        "if nothing is found: says so",
        "None of it is invented",
        "something in words",
    ]
    assert all(text(spec, o.name_span) == o.name for o in spec.returns.outputs)


def test_shape_and_invariants():
    spec = spec_of("""### Slots

- `members`
- `chair`

### Parameters

- Pattern instance receives:
    members: string[]

### Shape

- `self`: hand out and collect
- `delegates`:
  - `member_1..member_N`: argues, alone — never agrees
  - `chair`: sums up
- `prohibited`:
  - judging
  - writing itself

### Invariants

- One sentence
  on two lines.
- None of the roles sees the other.
""")
    assert spec.shape.own == "hand out and collect"
    assert [(d.slot, d.job) for d in spec.shape.delegates] == [("members", "argues, alone"), ("chair", "sums up")]
    assert spec.shape.prohibited == ("judging", "writing itself")
    assert [i.text for i in spec.invariants] == ["One sentence on two lines.", "None of the roles sees the other."]


def test_prohibited_on_one_line_is_one_sentence():
    spec = spec_of("### Shape\n\n- self: do it\n- prohibited: judging, writing\n")
    assert (spec.shape.own, spec.shape.prohibited) == ("do it", ("judging, writing",))


# Patterns


def test_instances_nest_and_know_their_place():
    spec = spec_of("""### Patterns

```yaml
- name: reviewed
  pattern: drafts
  with:
    author: scribe
    panel: [one, {pattern: pipe, with: {stage: [p, q]}}]
    reader:
      name: inner
      pattern: wc
      with: {worker: w}
  config:
    most: 2
    mode: no
- name: other
  pattern: pipe
```
""")
    reviewed, other = spec.instances
    assert (reviewed.name, reviewed.pattern, reviewed.config) == ("reviewed", "drafts", {"most": 2, "mode": "no"})
    assert reviewed.bindings["author"] == "scribe"
    one, pipe = reviewed.bindings["panel"]
    assert one == "one"
    assert isinstance(pipe, Instance)
    assert (pipe.name, pipe.bindings["stage"]) == (None, ["p", "q"])
    assert reviewed.bindings["reader"].name == "inner"
    assert text(spec, other.span) == "name: other\n  pattern: pipe"
    assert text(spec, pipe.span) == "{pattern: pipe, with: {stage: [p, q]}}"


@pytest.mark.parametrize(
    ("yaml", "code", "line", "words"),
    [
        ("- name: a\n  pattern: p\n- name: a\n  pattern: q", "duplicate-name", 11, "a"),
        ("- pattern: p", "pattern-instance", 9, "name"),
        ("- name: a", "pattern-instance", 9, "pattern"),
        ("- name: a\n  pattern: p\n  wiht: {}", "pattern-instance", 11, "wiht"),
        ("- name: a\n  pattern: p\n  config: [1]", "pattern-instance", 11, "config"),
        ("- name: a\n  pattern: p\n  name: b", "duplicate-key", 11, "name"),
        ("- name: a\n  pattern: p\n  with: {s: }", "pattern-instance", 11, "slot"),
        ("- just text", "pattern-instance", 9, "mapping"),
        ("just text", "pattern-instance", 9, "list"),
        ("- name: [x", "pattern-instance", 9, "YAML"),
        ("- name: a\n\tpattern: p", "tab-indentation", 10, "tab"),
        ("- {name: a, pattern: p, config: {c: !!python/name:os.system x}}", "pattern-instance", 9, "tag"),
        ("- &a [*a]", "pattern-instance", 9, "itself"),
    ],
)
def test_faults_of_instances(yaml, code, line, words):
    _, diagnostics = read(f"### Patterns\n\n```yaml\n{yaml}\n```\n")
    assert (code, line) in [(d.code, d.start.line) for d in diagnostics]
    assert words in next(d.message for d in diagnostics if d.code == code)


def test_aliases_cannot_blow_up():
    lines = ["- name: a", "  pattern: p", "  config:", "    a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [
        f"    {b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    _, diagnostics = read("### Patterns\n\n```yaml\n" + "\n".join(lines) + "\n```\n")
    assert [d.code for d in diagnostics] == ["pattern-instance"]
