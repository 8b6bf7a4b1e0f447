"""Strings: escapes, braces, indentation, line ends (LANGUAGE.md section 3)."""

from __future__ import annotations

import pytest

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Field, Interpolation, Name, Template
from prose_runtime.syntax import strings
from prose_runtime.text import Source, Span


def template(literal: str) -> tuple[Template, Source, Collector]:
    source = Source("s", f"x = {literal} # rest")
    out = Collector(source)
    return strings.template(source, Span(4, 4 + len(literal)), out), source, out


def shown(literal: str) -> str:
    """The text, interpolations in angle brackets."""
    parts = template(literal)[0].parts
    return "".join(part if isinstance(part, str) else f"<{part.raw[1:-1]}>" for part in parts)


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        (r'"a\\b \"q\" \n \t \{x\} \{y"', 'a\\b "q" \n \t {x} {y'),
        ('"{a} {a.b} {a[0]} {a.b.c} {quality-bar}"', "<a> <a.b> {a[0]} <a.b.c> <quality-bar>"),
        (
            '"{ a } {} { proceed: boolean } {a b} {1} {a.} {-a} {a,b}"',
            "{ a } {} { proceed: boolean } {a b} {1} {a.} {-a} {a,b}",
        ),
        (r'"{\"k\": \"v\"} {\"a\": {b}}"', '{"k": "v"} {"a": <b>}'),
        ('"${X} $ {x} $5"', "${X} $ <x> $5"),
        ('"{{who}} {{ a {b} c }} {{}}"', "{who} { a {b} c } {}"),
        ('"{{a}} {{b"', "{a} {{b"),
        ('"a }} b {{{a}}} {who}}"', "a }} b {{a}} <who>}"),
        ('"${{ x.{y} }} ${{y"', "${{ x.{y} }} ${{y"),
        ('"# no comment"', "# no comment"),
    ],
)
def test_text_and_interpolations(literal: str, text: str) -> None:
    assert shown(literal) == text
    assert template(literal)[2].items == []


def test_doubled_braces_must_close_on_their_line() -> None:
    assert shown('"""\n{{a\n}} {{b}}\n"""') == "{{a\n}} {b}"


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"""\na\n"""', "a"),
        ('"""\n  a\n    b\n\n  c\n  """', "a\n  b\n\nc"),
        ('"""a\n    b\n   c"""', "a\n b\nc"),
        ('"""\n\n  a\n\n"""', "\na\n"),
        ('""""""', ""),
        ('"""\n"""', ""),
        ('"""  \n  a  \n"""', "a  "),
        ('"""say "hi" and ""x"""', 'say "hi" and ""x'),
        ('"""\n  a\n \tb\n"""', " a\n\tb"),
        ('"""\n  {a}\n  ${HOME} {{a}}\n"""', "<a>\n${HOME} {a}"),
        ('"""\n  a\\n  b\n"""', "a\n  b"),
    ],
)
def test_triple_quotes(literal: str, text: str) -> None:
    assert shown(literal) == text


def test_line_ends_are_newlines() -> None:
    assert shown('"""\r\n  a\r\n    {b}\r\n\r\n  c\r\n  """') == "a\n  <b>\n\nc"
    assert shown('"""\r  a\r  b\r"""') == "a\nb"


def test_a_lone_surrogate_is_replaced() -> None:
    assert shown('"a\ud800b"') == "a\ufffdb"


def test_an_unknown_escape_stays_with_a_warning_at_its_place() -> None:
    literal = r'"\d+ \x \d"'
    found, source, out = template(literal)
    assert found.parts == (r"\d+ \x \d",)
    assert [(d.code, d.severity, source.text[d.span.start : d.span.end]) for d in out.ordered] == [
        ("unknown-escape", "warning", r"\d"),
        ("unknown-escape", "warning", r"\x"),
        ("unknown-escape", "warning", r"\d"),
    ]


def test_the_fix_of_an_unknown_escape_keeps_the_text() -> None:
    found, source, out = template(r'"\d"')
    fix = out.items[0].fix
    assert fix is not None and fix.safe
    edit = fix.edits[0]
    fixed = source.text[: edit.span.start] + edit.text + source.text[edit.span.end :]
    assert shown(fixed[4 : fixed.rindex('"') + 1]) == found.parts[0]


def test_spans_are_those_of_the_file() -> None:
    found, source, _ = template('"""\r\n    say {a.bc.d}\r\n    """')
    inserted = next(part for part in found.parts if isinstance(part, Interpolation))
    field = inserted.value
    assert isinstance(field, Field) and isinstance(field.object, Field)
    name = field.object.object
    assert isinstance(name, Name)
    nodes = (inserted, field, field.object, name)
    spelled = [source.text[node.span.start : node.span.end] for node in nodes]
    assert spelled == ["{a.bc.d}", "a.bc.d", "a.bc", "a"]
    assert source.text[field.name_span.start : field.name_span.end] == "d"


def test_labels_and_criteria() -> None:
    source = Source("s", '"a {b} \\"c\\"" what {x}  is\n  best\\n')
    out = Collector(source)
    assert strings.plain(source, Span(0, 13), out) == 'a {b} "c"'
    bare = strings.bare(source, Span(14, len(source.text)), out)
    assert [part if isinstance(part, str) else part.raw for part in bare.parts] == ["what ", "{x}", " is best\\n"]
    assert out.items == []
