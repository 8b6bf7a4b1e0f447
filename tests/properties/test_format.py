"""A printed tree is read as the same tree; a formatted file means the same, and formatting it again changes nothing."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prose_runtime.diagnostics import Collector
from prose_runtime.errors import CheckFailed
from prose_runtime.nodes import dump
from prose_runtime.syntax.delegation import parse_block
from prose_runtime.syntax.format import format_spec, print_block, print_expression
from prose_runtime.syntax.format_code import format_code
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source, Span
from support.commands import ROOT
from support.scripts import expression, read_alone
from support.trees import blocks, expressions

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
GOLDEN = Path(__file__).parents[1] / "syntax" / "golden"
FILES = [
    path
    for folder in (ROOT / "patterns", ROOT / "examples", ROOT / "tests" / "conformance")
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.prose")])
    if path.name != "README.md"
]
HEAD = "---\nname: t\nkind: pattern\n---\n\n### Delegation\n\n```prose\n"


def golden():
    for path in sorted(GOLDEN.glob("*.txt")):
        for case in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, rest = case.partition("\n")
            yield pytest.param(rest.partition("\n---\n")[0], id=f"{path.stem}: {name}")


def same(one, other):
    """Whether two trees are alike in all but their places; true is not 1 here."""
    return repr(dump(one)) == repr(dump(other))


def errors(parsed):
    return [d for d in parsed.diagnostics if d.severity == "error"]


def laid_out(text):
    source = Source("t.prose", text)
    span = Span(0, len(text))
    return format_code(source, span, parse_block(source, span, Collector(source)))


# trees as text


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.integers(0, 3).flatmap(blocks))
def test_a_printed_program_is_read_as_the_same_tree(block):
    text = print_block(block)
    parsed = read_alone(text)
    assert errors(parsed) == [], text
    assert same(parsed.block, block), text
    assert print_block(parsed.block) == text


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(expressions(2))
def test_a_printed_expression_is_read_as_the_same_expression(tree):
    text = print_expression(tree)
    parsed, diagnostics = expression(text)
    assert [d for d in diagnostics if d.severity == "error"] == [], text
    assert same(parsed, tree), text


@pytest.mark.parametrize("program", list(golden()))
def test_programs_survive_printing_and_are_laid_out_as_they_are_printed(program):
    block = read_alone(program).block
    text = print_block(block)
    parsed = read_alone(text)
    assert errors(parsed) == []
    assert same(parsed.block, block)
    assert laid_out(text) == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_programs_of_files_survive_printing(path):
    spec, _ = parse(Source(path.name, path.read_text(encoding="utf-8")))
    for body in [owner.body for owner in (spec, *spec.components) if owner.body]:
        assert same(read_alone(print_block(body)).block, body)


# programs laid out anew


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.integers(0, 2).flatmap(blocks), st.randoms(use_true_random=False))
def test_a_program_in_disorder_is_laid_out_and_means_the_same(block, chance):
    text = disordered(print_block(block), chance)
    before = read_alone(text)
    assert errors(before) == [], text
    after = laid_out(text)
    parsed = read_alone(after)
    assert same(parsed.block, before.block), text
    assert errors(parsed) == [], after
    assert laid_out(after) == after
    assert after.count("# note") == text.count("# note")


def disordered(text: str, chance: random.Random) -> str:
    """A program with wider indentation, blank lines and comments between its lines."""
    if '"""' in text:
        return text
    lines = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        lines += [" " * chance.randint(0, 9) + "# note" for _ in range(chance.randint(0, 1))]
        lines += [""] * chance.randint(0, 2)
        lines.append(" " * depth * 2 + line.lstrip(" ") + "  " * chance.randint(0, 1))
    return "\n".join(lines)


@pytest.mark.parametrize("program", list(golden()))
def test_laying_out_keeps_the_meaning_and_is_done_once(program):
    text = laid_out(program)
    assert same(read_alone(text).block, read_alone(program).block)
    assert laid_out(text) == text


# files


MUTATIONS = (
    "# | |  |\n|\n\n|  # c|\n# c\n|(|)|-|*|**|:|,|\"|```|=|{|}|[|]| and |\\|é|- |<!-- x -->\n|1. |    |### |'".split(
        "|"
    )
)


def mutated(text: str, chance: random.Random) -> str:
    """A text with something put in, taken out, or moved to the side."""
    lines = text.split("\n")
    number = chance.randrange(len(lines))
    kind = chance.randrange(5)
    if kind == 0:
        lines[number] = " " * chance.randint(1, 4) + lines[number]
    elif kind == 1:
        lines[number] = lines[number].lstrip(" ") + "  "
    elif kind == 2:
        del lines[number]
    else:
        at = chance.randint(0, len(lines[number]))
        cut = at + (kind - 3) * chance.randint(0, 3)
        lines[number] = lines[number][:at] + chance.choice(MUTATIONS) + lines[number][cut:]
    return "\n".join(lines)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW, derandomize=True)
@given(st.sampled_from(FILES), st.randoms(use_true_random=False), st.sampled_from(["\n", "\r\n"]))
def test_a_mutated_file_is_refused_or_formatted_for_good(path, chance, newline):
    text = path.read_text(encoding="utf-8")
    for _ in range(chance.randint(1, 3)):
        text = mutated(text, chance)
    source = Source(path.name, text.replace("\n", newline))
    try:
        formatted = format_spec(source)
    except CheckFailed:
        return
    assert same(parse(Source(path.name, formatted))[0], parse(source)[0])
    assert format_spec(Source(path.name, formatted)) == formatted
