"""Files to trees: reading, the outline, the program, and what is wrong with a file's structure."""

import os

import pytest

from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Spec, dump
from prose_runtime.syntax.parse import parse, read_source
from prose_runtime.text import Source

HEAD = "---\nname: t\nkind: {kind}\n---\n\n"
PROGRAM = "### Delegation\n\n```prose\nreturn 1\n```\n"

SPAR = """---
name: spar
kind: pattern
---

# Spar

Two sides.

### Slots

- `left` (primary)
  - requires: motion, reply of the other side (if any)
  - ensures: a case for the motion
- `right`
  - requires: motion

### Config

- `rounds` (integer, default: 2): how many exchanges

### Parameters

- Pattern instance receives:
    left: string      -- who argues for
    right: string     -- who argues against
    motion: string    -- what is argued
    rounds: number    -- (optional, default 2)

### Notes

Anything.

### Delegation

```prose
return 1
```
"""


def check(text, path="t.md"):
    spec, diagnostics = parse(Source(path, text))
    return spec, [(d.severity, d.code, tuple(d.start)) for d in diagnostics]


def body(text, kind="pattern"):
    return check(HEAD.format(kind=kind) + text)


# reading


def test_a_file_is_read_without_its_byte_order_mark(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbf" + SPAR.replace("\n", "\r\n").encode())
    source = read_source(path)
    assert source.path == str(path)
    spec, diagnostics = parse(source)
    assert diagnostics == []
    assert spec.name == "spar"


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\xff\xfe\x00a", "binary"), (b"a\x00b", "binary"), (b"caf\xe9", "UTF-8")]
)
def test_what_is_no_text_cannot_be_read(tmp_path, content, reason):
    (tmp_path / "a.md").write_bytes(content)
    with pytest.raises(UnreadableFile, match=reason):
        read_source(tmp_path / "a.md")


def test_missing_files_and_folders_cannot_be_read(tmp_path):
    with pytest.raises(UnreadableFile, match="no such file"):
        read_source(tmp_path / "none.md")
    with pytest.raises(UnreadableFile, match="folder"):
        read_source(str(tmp_path))
    with pytest.raises(UnreadableFile, match="null"):
        read_source("a\0b")


def test_a_file_that_is_not_permitted_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_text(SPAR)
    path.chmod(0)
    if os.access(path, os.R_OK):  # for the superuser nothing is forbidden, so the system's answer is played
        monkeypatch.setattr("pathlib.Path.read_bytes", _denied)
    with pytest.raises(UnreadableFile, match="permission"):
        read_source(path)


def _denied(path):
    raise PermissionError(13, "Permission denied", str(path))


# the tree


def test_the_tree_of_a_pattern():
    spec, diagnostics = check(SPAR, "folder/other.prose.md")
    assert diagnostics == []
    tree = dump(spec)
    tree.pop("sections")
    tree.pop("body")
    row = {"node": "Parameter", "name": "motion", "type": "string", "description": "what is argued"}
    assert tree == {
        "node": "Spec",
        "name": "spar",
        "kind": "pattern",
        "frontmatter": {"name": "spar", "kind": "pattern"},
        "title": "Spar",
        "preamble": "Two sides.",
        "slots": [
            {
                "node": "Slot",
                "name": "left",
                "description": "",
                "primary": True,
                "requires": [
                    {"node": "Requirement", "text": "motion", "name": "motion"},
                    {"node": "Requirement", "text": "reply of the other side (if any)", "optional": True},
                ],
                "ensures": [{"node": "Promise", "text": "a case for the motion"}],
            },
            {
                "node": "Slot",
                "name": "right",
                "description": "",
                "requires": [{"node": "Requirement", "text": "motion", "name": "motion"}],
            },
        ],
        "config": [
            {
                "node": "ConfigItem",
                "name": "rounds",
                "type": "number",
                "default": 2,
                "description": "how many exchanges",
            }
        ],
        "parameters": [row],
    }


def test_every_section_can_be_read_as_data():
    spec, _ = check(SPAR)
    assert [s.key for s in spec.sections] == ["slots", "config", "parameters", "notes", "delegation"]
    assert spec.text_of("notes") == "Anything."
    assert [b.text for b in spec.section("slots").bullets] == ["`left` (primary)", "`right`"]
    fence = spec.section("delegation").fences[0]
    assert (fence.label, spec.source.slice(fence.content)) == ("prose", "return 1\n")


def test_the_name_and_its_place():
    spec, _ = check('---\nkind: function\nname: "quoted"  # why\n---\n')
    assert (spec.name, spec.source.text[slice(*spec.name_span)]) == ("quoted", "quoted")
    spec, _ = check("---\nname: 2024-01-01\nkind: function\nwhen: 2024-01-01\nmore: no\n---\n")
    assert (spec.name, spec.frontmatter["when"], spec.frontmatter["more"]) == ("2024-01-01", "2024-01-01", "no")


def test_components_have_sections_of_their_own():
    spec, diagnostics = body(
        "### Parameters\n\n- a\n\n## scribe\n\nYou write.\n\n### Parameters\n\n- b\n\n## `editor`\n\n"
        "### Returns\n\n- c\n\n### Execution\n\n```prose\nreturn 2\n```\n",
        "function",
    )
    assert diagnostics == []
    scribe, editor = spec.components
    assert [p.name for p in spec.parameters] == ["a"]
    assert (scribe.name, scribe.kind, scribe.preamble) == ("scribe", "function", "You write.")
    assert [p.name for p in scribe.parameters] == ["b"]
    assert (editor.name, [o.name for o in editor.returns.outputs]) == ("editor", ["c"])
    assert editor.body is not None
    assert scribe.body is spec.body is None
    assert spec.source.text[slice(*scribe.name_span)] == "scribe"


def test_a_second_level_heading_may_be_documentation():
    spec, diagnostics = body(
        f"# T\n\nhi\n\n## How it works\n\nbla\n\n## Overview\n\nbla\n\n### Slots\n\n- `a`\n\n{PROGRAM}"
    )
    assert diagnostics == []
    assert ([s.name for s in spec.slots], spec.components) == (["a"], ())


def test_a_section_one_level_too_high_is_read_with_a_warning():
    spec, diagnostics = body("## Parameters\n\n- a\n", "function")
    assert diagnostics == [("warning", "section-level", (6, 4))]
    assert [p.name for p in spec.parameters] == ["a"]


@pytest.mark.parametrize("fence", ["```prose", "```prosescript", "```none", "```", "~~~", "~~~ prose", "````prose"])
@pytest.mark.parametrize("heading", ["Delegation", "delegation", "Execution"])
def test_fences_of_a_program(fence, heading):
    mark = fence.split("p")[0].split("n")[0].strip()
    spec, diagnostics = body(f"### {heading}  \n\n{fence}  \nreturn 1\n{mark}", "function")
    assert diagnostics == []
    assert spec.body is not None


@pytest.mark.parametrize("label", ["javascript", "js", ""])
def test_the_loop_of_a_composite(label):
    spec, diagnostics = body(
        f"### Delegation Loop\n\n```{label}\nconst {{ a }} = __compositeState;\n```\n", "composite"
    )
    assert diagnostics == []
    assert spec.body is None
    assert spec.source.slice(spec.javascript.content).startswith("const")


def test_the_oldest_dialect_is_one_program():
    spec, _ = check("# two\nreturn 1\n", "dir/note.prose")
    assert (spec.name, spec.kind) == ("note", "program")
    assert spec.body is not None


# faults


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("empty-file", (1, 1))),
        (" \n\n", ("empty-file", (1, 1))),
        ("# hello\n\n### Slots\n", ("missing-frontmatter", (1, 1))),
        ("---\nname: x\nkind: function\n\n# T\n\n- a\n", ("unclosed-frontmatter", (1, 1))),
        ("---\nname: x\nkind: function\n### Slots\n---\n", ("unclosed-frontmatter", (1, 1))),
        ("---\n- a\n- b\n---\n", ("bad-frontmatter", (2, 1))),
        ("---\nname: [x\nkind: function\n---\n", ("bad-frontmatter", (3, 5))),
        ("---\nname: x\nkind: function\nmore: 'x\n---\n", ("bad-frontmatter", (4, 7))),
        ("---\nname: x\nkind: function\nmore: !!python/object:os.x {}\n---\n", None),
        ("---\nname: x\nname: y\nkind: function\n---\n", ("duplicate-key", (3, 1))),
        ("---\nname: x\nkind: function\nmore:\n\ta: 1\n---\n", ("tab-indentation", (5, 1))),
        ("---\nname: x\n---\n", ("missing-kind", (1, 1))),
        ("---\nname: x\nkind:\n---\n", ("missing-kind", (3, 1))),
        ("---\nkind: function\n---\n", ("missing-name", (1, 1))),
        ("---\nname: x\nkind: patern\n---\n", ("unknown-kind", (3, 7))),
        ("---\nname: x\nkind: [a]\n---\n", ("unknown-kind", (3, 7))),
    ],
)
def test_faults_of_the_head(text, expected):
    _, diagnostics = check(text)
    assert diagnostics == ([] if expected is None else [("error", *expected)])


def test_an_unknown_kind_lists_the_kinds():
    _, diagnostics = parse(Source("t.md", "---\nname: x\nkind: patern\n---\n"))
    assert "did you mean `pattern`" in diagnostics[0].help
    assert "gateway" in diagnostics[0].help


@pytest.mark.parametrize(
    ("kind", "read_as", "modern"), [("service", "function", "function"), ("program", "program", "function")]
)
def test_retired_kinds_are_read_with_a_warning(kind, read_as, modern):
    spec, diagnostics = parse(Source("t.md", HEAD.format(kind=kind)))
    assert [(d.severity, d.code) for d in diagnostics] == [("warning", "retired-kind")]
    assert modern in diagnostics[0].help
    assert (spec.kind, spec.frontmatter["kind"]) == (read_as, kind)


def test_the_file_gives_the_name_that_the_head_lacks():
    assert check("---\nkind: function\n---\n", "a/my-thing.prose.md")[0].name == "my-thing"
    assert check("", "a/b.md")[0].name == "b"


@pytest.mark.parametrize("text", ["---\n", "---\n---\n", "---\nname: t\nkind: function\n---\n", "\n\n", "#"])
def test_a_file_without_a_body_has_a_tree(text):
    spec, _ = parse(Source("t.md", text))
    assert spec.name == "t"


def test_a_broken_head_does_not_hide_the_rest():
    spec, diagnostics = check(SPAR.replace("kind: pattern", "kind: pattern\nmore: [x"))
    assert [code for _, code, _ in diagnostics] == ["bad-frontmatter"]
    assert (spec.name, spec.kind, len(spec.slots)) == ("spar", "pattern", 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROGRAM + "\n### delegation\n\ntext\n", ("duplicate-section", (12, 5))),
        (PROGRAM + "\n```\nreturn 2\n```\n", ("two-fences", (12, 1))),
        ("### Slots\n\n- `a`\n", ("missing-delegation", (2, 7))),
        ("### Delegation\n\ntext\n", ("empty-delegation", (6, 5))),
        ("### Delegation\n\n```prose\n\n# only this\n```\n", ("empty-delegation", (8, 1))),
        ("### Delegation\n\n```python\nx\n```\n", ("empty-delegation", (6, 5))),
        ("### Delegation\n\n```prose\nreturn 1\n", ("unclosed-fence", (8, 1))),
        ("### Delegation\n\n```prose\nreturn 1\n\n### Notes\n", ("unclosed-fence", (8, 1))),
        (PROGRAM + "\n### Notes\n\n~~~\nx\n```\n", ("unclosed-fence", (14, 1))),
        (PROGRAM + "\n- a\n\t- b\n\t- c\n", ("tab-indentation", (13, 1))),
        (PROGRAM + "\n<!-- open\n", ("unclosed-comment", (12, 1))),
        ("### Slots\n\n- `a`\n- `a`\n\n" + PROGRAM, ("duplicate-name", (9, 4))),
        ("### Slots\n\n- `a`\n\n### Config\n\n- `a`: 1\n\n" + PROGRAM, ("duplicate-name", (12, 4))),
    ],
)
def test_faults_of_the_structure(text, expected):
    _, diagnostics = body(text)
    assert diagnostics == [("error", *expected)]


def test_a_duplicate_points_at_the_first():
    _, diagnostics = parse(
        Source("t.md", HEAD.format(kind="function") + "### Notes\n\n### Returns\n\n- a\n\n### Returns\n")
    )
    (fault,) = diagnostics
    assert fault.source.place(fault.secondary[0].span.start) == (8, 5)


def test_what_is_tolerated_is_no_fault():
    text = PROGRAM + "\n### Notes\n\n```\n\tcode\n```\n\n### Notes\n\n```json\n{}\n```\n\n### Delegation of power\n"
    assert body(text)[1] == []


def test_an_unclosed_program_does_not_hide_the_next_sections():
    spec, diagnostics = body(
        "### Delegation\n\n```prose\nreturn 1\n\n### Invariants\n\n- One.\n\n### Config\n\n- `a`: integer, default x\n"
    )
    assert [code for _, code, _ in diagnostics] == ["unclosed-fence", "config-type"]
    assert [i.text for i in spec.invariants] == ["One."]


@pytest.mark.parametrize(
    ("title", "meant"), [("Parameter", "parameters"), ("Delegatoin", "delegation"), ("Retruns", "returns")]
)
def test_a_misspelt_section_is_named(title, meant):
    _, diagnostics = parse(Source("t.md", HEAD.format(kind="function") + f"### {title}\n\n- a\n"))
    assert [(d.code, d.severity) for d in diagnostics] == [("unknown-section", "warning")]
    assert meant in diagnostics[0].help


def test_all_faults_come_in_one_pass_by_place():
    _, diagnostics = body(
        "### Config\n\n- `a` (integer, default: x)\n- `b` (boolean, default: y)\n\n### Config\n\n### Delegation\n"
    )
    assert [(code, place[0]) for _, code, place in diagnostics] == [
        ("config-type", 8),
        ("config-type", 9),
        ("duplicate-section", 11),
        ("empty-delegation", 13),
    ]


@pytest.mark.parametrize(
    "change", [lambda t: t.replace("\n", "\r\n"), lambda t: t.rstrip(), lambda t: t.replace("\n", "  \n")]
)
def test_line_ends_do_not_change_the_tree(change):
    plain, changed = check(SPAR)[0], check(change(SPAR))[0]
    assert changed.name == "spar"
    assert dump(changed) == dump(plain)


def test_large_files_are_read_in_a_moment():
    rows = "".join(f'- `a{i}`: what (it, "is\n' for i in range(5000))
    for text in (
        f"### Parameters\n\n{rows}",
        "### Notes\n\n" + "word (`" * 150_000,
        "### Slots\n\n- `a`: " + "(" * 100_000,
    ):
        spec, _ = body(text, "function")
        assert spec.sections


def loose(kind: str, text: str) -> tuple[Spec, list[tuple[str, str]]]:
    spec, found = parse(Source("p.prose.md", f"---\nname: p\nkind: {kind}\n---\n\n# P\n\n{text}"))
    return spec, [(d.severity, d.code) for d in found if d.code != "retired-kind"]


LOOSE = "```prose\noutput x = 1\n```\n"


@pytest.mark.parametrize("kind", ["program", "system", "program-node", "pattern", "function", "responsibility"])
@pytest.mark.parametrize("before", ["", "### Requires\n\n- `topic`: t\n\n### Program\n\n"])
def test_a_program_in_no_section_is_run_and_told_of(kind: str, before: str) -> None:
    spec, found = loose(kind, before + LOOSE)
    if kind in ("function", "responsibility") and before:
        assert spec.body is None
    else:
        assert spec.body is not None
    assert found == [("warning", "loose-program")]


def test_a_fence_in_the_text_of_a_function_is_an_example_and_told_of() -> None:
    spec, found = loose("function", f"Write programs like this one.\n\n{LOOSE}")
    assert spec.body is None
    assert found == [("warning", "loose-program")]
    assert loose("function", "Write it.\n\n```text\nx = 1\n```\n")[1] == []


def test_the_fix_of_a_loose_program_gives_it_its_heading() -> None:
    text = f"---\nname: p\nkind: program\n---\n\n# P\n\n{LOOSE}"
    (found,) = [d for d in parse(Source("p.prose.md", text))[1] if d.code == "loose-program"]
    assert found.fix is not None
    (edit,) = found.fix.edits
    moved = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert "### Execution\n\n```prose" in moved
    assert [d.code for d in parse(Source("p.prose.md", moved))[1]] == ["retired-kind"]


def test_two_loose_programs_are_one_too_many_and_an_empty_one_too_little() -> None:
    assert ("error", "two-fences") in loose("program", LOOSE + "\n" + LOOSE)[1]
    assert ("error", "empty-delegation") in loose("program", "```prose\n# later\n```\n")[1]


def test_a_loose_program_holds_fences_in_its_strings() -> None:
    text = '```prose\nagent a:\n  prompt: """\n    ```json\n    {"a": 1}\n    ```\n  """\noutput x = session: a\n```\n'
    spec, found = loose("program", text)
    assert found == [("warning", "loose-program")]
    assert spec.body is not None
    assert len(spec.body.statements) == 2


@pytest.mark.parametrize("kind", ["program", "system"])
def test_the_program_of_an_older_file_may_stand_under_a_heading_of_its_own(kind: str) -> None:
    spec, found = loose(kind, f"## Program\n\n{LOOSE}\n## helper\n\nHelp.\n")
    assert spec.body is not None
    assert [component.name for component in spec.components] == ["helper"]
    assert found == [("warning", "loose-program")]


@pytest.mark.parametrize("label", ["requires:", "**requires:**", "__Requires__:", "Requires:"])
def test_labels_above_lists_begin_sections_as_headings_do(label: str) -> None:
    text = (
        f"Look things up.\n\n{label}\n- `topic`: what\n\nensures:\n\n- `facts`: the facts\n\nstrategies:\n- be brief\n"
    )
    spec, found = loose("service", text)
    assert [p.name for p in spec.parameters] == ["topic"]
    assert spec.returns is not None
    assert [o.name for o in spec.returns.outputs] == ["facts"]
    assert spec.preamble == "Look things up."
    assert found == [("warning", "section-label")] * 3


def test_labels_in_a_section_or_above_no_list_are_text() -> None:
    spec, found = loose("function", "requires: nothing\n\nensures:\n\nnothing\n\n### Notes\n\nrequires:\n- `x`: y\n")
    assert spec.parameters == ()
    assert spec.returns is None
    assert found == []
