"""Blocks of Markdown, their offsets, and where a program's fence ends."""

import random

import pytest

from prose_runtime.diagnostics import Collector
from prose_runtime.syntax import markdown
from prose_runtime.syntax.bullets import read_bullets
from prose_runtime.syntax.markdown import read_blocks
from prose_runtime.text import Source


def blocks(text):
    source = Source("t.md", text)
    return [(block.kind, source.text[slice(*block.span)]) for block in read_blocks(source)]


def fence(text, which=0):
    source = Source("t.md", text)
    parts = [block.fence for block in read_blocks(source) if block.fence][which]
    return source.text[slice(*parts.content)], parts.closed, parts.label


def test_blocks_are_the_characters_of_the_file():
    text = "# Title\n\nwords\nmore\n\n### Slots ##\n\n- `a`\n  - b\n\n```prose x\nlet y = 1\n```\n> quote\n"
    assert blocks(text) == [
        ("heading", "# Title"),
        ("other", "words\nmore"),
        ("heading", "### Slots ##"),
        ("list", "- `a`\n  - b"),
        ("fence", "```prose x\nlet y = 1\n```"),
        ("other", "> quote"),
    ]


def test_a_heading_knows_its_title():
    source = Source("t.md", "###   Delegation Loop  ##  \n\n#\n\n# C#\n\nBoth\n===\n")
    headings = [b for b in read_blocks(source) if b.kind == "heading"]
    assert [(b.level, source.text[slice(*b.title)]) for b in headings] == [
        (3, "Delegation Loop"),
        (1, ""),
        (1, "C#"),
        (1, "Both"),
    ]
    assert [b.underlined for b in headings] == [False, False, False, True]


def test_windows_line_ends_do_not_shift_offsets():
    text = "### A\r\n\r\n- x\r\n- y\r\n\r\n```\r\ncode\r\n```\r\n### B"
    source = Source("t.md", text)
    assert [(b.kind, source.place(b.span.start)) for b in read_blocks(source)] == [
        ("heading", (1, 1)),
        ("list", (3, 1)),
        ("fence", (6, 1)),
        ("heading", (9, 1)),
    ]
    assert fence(text)[:2] == ("code \n", True)


@pytest.mark.parametrize("mark", ["```", "~~~", "````", "  ```"])
def test_headings_and_lists_inside_a_fence_are_none(mark):
    text = f"### Delegation\n\n{mark}prose\n### Slots\n- x\n{mark}\n\n### Slots\n"
    assert [kind for kind, _ in blocks(text)] == ["heading", "fence", "heading"]


def test_a_program_may_hold_fences_in_its_strings():
    program = 'let a = """\n```json\n{"k": 1}\n```\n### Slots\n"""\ncall x\n'
    assert fence(f"### Delegation\n\n```prose\n{program}```\n\ntext\n") == (program, True, "prose")


def test_a_bare_fence_inside_a_string_does_not_end_the_program():
    program = 'let a = """\n```\n### Slots\n```\n"""\ncall x\n'
    assert fence(f"### Execution\n\n```\n{program}```\n") == (program, True, "")


def test_comments_and_short_strings_do_not_open_a_string():
    program = '# a "quote and """ more\nlet a = "# \\" \\"\\"\\"" # """\nlet b = ""\n'
    assert fence(f"### Delegation\n\n```prose\n{program}```\n\n```json\n```\n") == (program, True, "prose")


def test_a_string_that_never_ends_does_not_swallow_the_next_sections():
    text = '### Delegation\n\n```prose\nlet a = """\nabc\n```json\n1\n```\n```\n\n### Invariants\n\n- One.\n'
    assert fence(text) == ('let a = """\nabc\n```json\n1\n```\n', True, "prose")
    again = text + '\n### Execution\n\n```prose\nlet b = """\nx\n"""\n```\n'
    assert fence(again) == fence(text)
    assert fence(again, 1) == ('let b = """\nx\n"""\n', True, "prose")


def test_outside_programs_the_first_closing_fence_counts():
    assert fence('### Notes\n\n```\nx = """\n```\n"""\n```\n')[0] == 'x = """\n'
    assert fence('### Delegation\n\n```json\nx = """\n```\n"""\n```\n')[0] == 'x = """\n'


def test_an_unclosed_fence_ends_before_the_next_known_section():
    text = "### Delegation\n\n```prose\ncall x\n\n### Invariants\n\n- One.\n"
    assert fence(text) == ("call x\n\n", False, "prose")
    # The next fence's end is not taken for this one's.
    assert fence(text + "\n```json\n{}\n```\n") == ("call x\n\n", False, "prose")
    assert fence("### Notes\n\n```\nabc") == ("abc", False, "")


def bullets(text):
    source = Source("t.md", text)
    out = Collector(source)
    found = [b for block in read_blocks(source) if block.kind == "list" for b in read_bullets(source, block.span, out)]
    return [shown(source, bullet) for bullet in found], [d.code for d in out.ordered]


def shown(source, bullet):
    assert source.text[bullet.span.start] in "-*+0123456789"
    below = [shown(source, child) for child in bullet.bullets] + [row.text for row in bullet.rows]
    return (bullet.text, below) if below else bullet.text


def test_bullets_fold_wrapped_lines_and_nest():
    assert bullets("- one\n  goes on\n  - two\nlazily\n    - three\n* other\n\n1. first\n2. second\n")[0] == [
        ("one goes on", [("two lazily", ["three"])]),
        "other",
        "first",
        "second",
    ]


def test_lines_below_a_colon_are_rows():
    text = "- Pattern instance receives:\n    a: string -- x\n\n    b: number\n- next\n  wrapped\n\n  row\n"
    assert bullets(text)[0] == [
        ("Pattern instance receives:", ["a: string -- x", "b: number"]),
        ("next wrapped", ["row"]),
    ]


def test_comments_between_bullets_are_no_text():
    assert bullets("- a\n  <!-- prose: ignore x why -->\n  - b\n<!-- c -->\n- d\n")[0] == [("a", ["b"]), "d"]


def test_a_number_inside_running_text_starts_no_bullet():
    assert bullets("- there were\n  12. of them\n")[0] == ["there were 12. of them"]


def test_a_fence_in_an_item_holds_no_bullets():
    assert bullets("- a:\n  ```\n  - x\n  ```\n- b\n") == ([("a:", ["```", "- x", "```"]), "b"], [])
    assert bullets("- a:\n  ```\n  - x\n\n- b\n")[1] == ["unclosed-fence"]


def test_quotes_and_link_definitions_swallow_no_heading():
    assert blocks("> quote\nlazy\n### Slots\n") == [("other", "> quote\nlazy"), ("heading", "### Slots")]
    assert blocks("### Slots\n[a]: http://b\n\n- x\n") == [("heading", "### Slots"), ("list", "- x")]
    assert [kind for kind, _ in blocks("> quote\n2. z\n***\n<!-- c -->\n# h\n")][-1] == "heading"


LINES = (
    "- a|- b: c|  more|    deep||  |\t|- |-|- - -|---|* x|1. z|2. z|# x|> q|```|  ```|lazy| one| - one|   - three|"
    "  - two|-  two blanks|-     code|-\ttab|\tx|<!-- c -->|  <!-- c|<div>|[a]: b|- [a]: b|===|- x  |- -a|- ```"
).split("|")


def test_plain_lists_reach_as_far_as_for_mistune(monkeypatch):
    pick = random.Random(7)
    texts = ["\n".join(pick.choices(LINES, k=pick.randint(1, 9))) + pick.choice(["", "\n"]) for _ in range(4000)]
    quick = [blocks(text) for text in texts]
    ends = [markdown._end_of_plain_list(text, 0) for text in texts]
    assert sum(end is not None for end in ends) > 50
    monkeypatch.setattr(markdown, "_end_of_plain_list", lambda text, start: None)
    assert quick == [blocks(text) for text in texts]
