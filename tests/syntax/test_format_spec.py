"""Spec files in canonical form: what is laid out anew, what stays byte for byte, and what is refused."""

import pytest

from prose_runtime.errors import CheckFailed
from prose_runtime.nodes import dump
from prose_runtime.syntax import format as formatting
from prose_runtime.syntax.format import FormatFault, format_spec
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source

UNTIDY = """

---
name:    spar
# who wrote it
kind: pattern\x20\x20
description:   Two  sides
tags:
    - a

---
# Spar  ##
Two sides\x20\x20
argue.


Twice.
### Slots
* `left` (primary)
    * requires: motion, reply of the other side
         (if any)
    * ensures: a case   for it


* `right`

  + requires: motion
###   Config ###
 -   `rounds` (integer, default: 2): how many
     exchanges
### Parameters



- Pattern instance receives:
  left: string      -- who argues for
  right: string     -- who argues against
  motion: string    -- what is argued
### Strategies
*  be   kind


```text
x
```
### Delegation
The  program:
```   prose
let log=[]


repeat   rounds as round:

      let said = call left
          motion : motion
      record {round,said}in log
return {result:log}

```
What it does.


"""

TIDY = """---
name: spar
# who wrote it
kind: pattern
description: Two  sides
tags:
    - a
---

# Spar

Two sides\x20\x20
argue.


Twice.

### Slots

- `left` (primary)
  - requires: motion, reply of the other side
    (if any)
  - ensures: a case   for it

- `right`

  - requires: motion

### Config

- `rounds` (integer, default: 2): how many
  exchanges

### Parameters

- Pattern instance receives:
    left: string      -- who argues for
    right: string     -- who argues against
    motion: string    -- what is argued

### Strategies

*  be   kind


```text
x
```

### Delegation

The  program:

```prose
let log = []

repeat rounds as round:
  let said = call left
    motion: motion
  record { round, said } in log
return { result: log }
```

What it does.
"""

HEAD = "---\nname: t\nkind: {kind}\n---\n\n"
PROGRAM = "### Delegation\n\n```prose\nreturn 1\n```\n"


def formatted(text, path="t.prose.md"):
    source = Source(path, text)
    after = format_spec(source)
    assert repr(dump(parse(Source(path, after))[0])) == repr(dump(parse(source)[0]))
    assert format_spec(Source(path, after)) == after
    return after


def body(text, kind="pattern"):
    head = HEAD.format(kind=kind)
    after = formatted(head + text)
    assert after.startswith(head)
    return after.removeprefix(head)


def test_an_untidy_file_becomes_tidy():
    assert formatted(UNTIDY) == TIDY


def test_a_tidy_file_stays_as_it_is():
    assert formatted(TIDY) == TIDY


def test_line_breaks_are_those_of_the_file():
    assert formatted(UNTIDY.replace("\n", "\r\n")) == TIDY.replace("\n", "\r\n")


def test_a_file_ends_with_one_line_break():
    assert formatted(TIDY.rstrip("\n")) == TIDY
    assert formatted(TIDY + "\n\n  \n") == TIDY


def test_the_text_of_a_function_is_told_as_it_stands():
    text = "# Title\n\nOne  line\n\n\n    code\n- a\n* b\n~~~\nx\n~~~\nend  \n"
    assert body(text, "function") == text


def test_inline_components_are_formatted_like_the_file():
    text = "## helper\nDo  it.\n### Parameters\n* `x`: y\n### Execution\n```\nreturn   x\n```\n"
    assert body(PROGRAM + "\n" + text).removeprefix(PROGRAM + "\n") == (
        "## helper\n\nDo  it.\n\n### Parameters\n\n- `x`: y\n\n### Execution\n\n```\nreturn x\n```\n"
    )


def test_sections_that_only_people_read_stay_as_they_are():
    text = "### Notes\n\n*  a\n   *  b\n\n\n#### Deep ##\nx\n"
    assert body(text + "\n" + PROGRAM) == text + "\n" + PROGRAM


def test_a_comment_before_a_fence_or_a_heading_keeps_its_place():
    text = "### Slots\n\n- `a`\n<!-- prose: ignore unused-slot x -->\n\n### Delegation\n\n<!-- prose: ignore a b -->\n"
    assert body(text + "```prose\nreturn 1\n```\n") == text + "\n```prose\nreturn 1\n```\n"


def test_numbered_lists_keep_their_numbers_and_nested_text_its_place():
    text = "### Invariants\n\n 1.  one\n      two\n 2. three\n     - four\n\n       five\n"
    assert body(text + "\n" + PROGRAM).startswith(
        "### Invariants\n\n1. one\n   two\n2. three\n   - four\n\n     five\n"
    )


def test_fixtures_keep_the_inside_of_their_blocks():
    text = (
        '### Fixtures\n\n*   `a`:\n    ```json\n    {\n        "x": 1  \n\n\n    }\n    ```\n*   `b`: 2\n\n'
        "### Expects\n\n* `a`: contains `x`\n"
    )
    assert body(text, "test") == (
        '### Fixtures\n\n- `a`:\n  ```json\n  {\n      "x": 1  \n\n\n  }\n  ```\n- `b`: 2\n\n'
        "### Expects\n\n- `a`: contains `x`\n"
    )


def test_blanks_that_do_not_break_stay_where_they_begin_no_bullet():
    prose = "### Notes\n\n-\u00a0one\n \u00a0- two\u00a0\n"
    value = "### Fixtures\n\n- `a`:\n  ```yaml\n  \u00a0 - x\n  ```\n\n### Expects\n\n-{}`a`: contains `\u00a0`\n"
    assert body(value.format("\u00a0") + "\n" + prose, "test") == value.format(" ") + "\n" + prose


def test_comments_behind_headings_stay():
    text = (
        "### Slots   <!-- why -->  \n\n- `a`\n\n### Delegation <!-- one --> <!-- two -->\n\n```prose\nreturn 1\n```\n"
    )
    assert body(text) == text.replace("Slots   <!-- why -->  ", "Slots <!-- why -->")


def test_a_line_straight_below_the_frontmatter_underlines_nothing():
    text = "---\nname: a\nkind: function\n---\n{}===\n\nSay it.\n"
    assert formatted(text.format("")) == text.format("\n")


def test_the_javascript_of_a_composite_stays_as_it_is():
    text = "### Delegation Loop\n\n```javascript\nconst x=1;\n\n\n return(  x );\n```\n"
    assert body(text, "composite") == text


def test_a_program_of_the_oldest_dialect_is_formatted_whole():
    assert formatted("\n\nlet x=1\n\n\noutput  y=x", "old.prose") == "let x = 1\n\noutput y = x\n"
    assert formatted("# nothing\n", "old.prose") == "# nothing\n"


def test_a_fence_keeps_its_mark_and_label():
    text = "### Delegation\n\n~~~~   prosescript\nreturn   1\n~~~~~\n"
    assert body(text) == "### Delegation\n\n~~~~prosescript\nreturn 1\n~~~~\n"


def test_fences_in_strings_end_no_program():
    text = '### Delegation\n\n```prose\nlet x="""\n```json\n{}\n```\n"""\nreturn   x\n```\n'
    assert body(text) == '### Delegation\n\n```prose\nlet x = """\n```json\n{}\n```\n"""\nreturn x\n```\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no frontmatter\n",
        HEAD.format(kind="pattern"),
        HEAD.format(kind="pattern") + "### Delegation\n\n```\nlet =\n```\n",
    ],
)
def test_a_file_with_errors_is_refused_with_all_of_them(text):
    with pytest.raises(CheckFailed) as refused:
        format_spec(Source("t.md", text))
    assert refused.value.diagnostics


def test_a_change_of_meaning_is_a_fault_of_the_formatter(monkeypatch):
    monkeypatch.setattr(formatting, "lay_out", lambda spec: TIDY.replace("record", "append"))
    with pytest.raises(FormatFault, match="would not mean the same"):
        format_spec(Source("t.md", UNTIDY))


@pytest.mark.parametrize(
    ("written", "tidy"),
    [
        ("if the topic says “good”:\n  emit 1\n", 'if the topic says "good":\n  emit 1\n'),
        ("choice what is “best”:\n  option “a”:\n    emit 1\n", 'choice what is "best":\n  option "a":\n    emit 1\n'),
        ("agent w:\n  note: see “x”\u00a0y\n", 'agent w:\n  note: see "x" y\n'),
        ("agent w:\n  tools: “read” more\n", 'agent w:\n  tools: "read" more\n'),
        ("if **it is “x”**:\n  emit 1\n", "if **it is “x”**:\n  emit 1\n"),
    ],
)
def test_printed_quotes_and_blanks_in_english_are_plain_ones(written, tidy):
    program = "### Delegation\n\n```prose\n{}return 1\n```\n"
    assert body(program.format(written)) == program.format(tidy)
