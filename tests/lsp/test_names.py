"""From a name to where it is declared and used, and to another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import ROOT, run
from support.editor import Editor, Json, Refusal, applied, selected
from support.editorial import EDITORIAL


@pytest.fixture
def uri(editor: Editor, folder: Path) -> str:
    path = folder / "editorial.prose.md"
    path.write_text(EDITORIAL, encoding="utf-8")
    return editor.open(path)


def line_at(text: str, where: Json) -> str:
    """The line of a range."""
    return text.splitlines()[where["start"]["line"]]


@pytest.mark.parametrize(
    ("marker", "inside", "declared"),
    [
        ("topic: topic\nlet text", 8, "- `topic`: what to write about"),
        ("{tone}", 2, "- `tone` (optional): how it shall sound"),
        ("repeat passes", 9, "- `passes` (integer, default: 2): how often it is improved"),
        ("{config.passes}", 10, "- `passes` (integer, default: 2): how often it is improved"),
        ("round >= 1", 1, "repeat passes as round:"),
        ("if verdict accepted", 5, "  let verdict = call critic"),
        ("plan.outline", 1, "let plan = call outliner"),
        ("call outliner", 6, "## outliner"),
        ("antithesis: critic}", 13, "## critic"),
        ("call argued", 6, "- name: argued"),
        ("do polish", 4, "block polish(draft):"),
        ("trim(draft)", 6, "block polish(draft):"),
        ("call critic\n    text:", 17, "- `text`: what to judge"),
    ],
)
def test_definition_in_the_file(editor: Editor, uri: str, marker: str, inside: int, declared: str) -> None:
    found = editor.ask("definition", uri, marker, inside)
    assert found["uri"] == uri
    assert line_at(editor.texts[uri], found["range"]) == declared


@pytest.mark.parametrize(
    ("marker", "inside"), [("call debate", 6), ('use "dialectic"', 7), ("pattern: dialectic", 12), ("as debate", 4)]
)
def test_definition_in_another_file(editor: Editor, uri: str, folder: Path, marker: str, inside: int) -> None:
    found = editor.ask("definition", uri, marker, inside)
    assert found["uri"] == (folder / "dialectic.prose.md").as_uri()
    assert found["range"]["start"]["line"] == 1


def test_the_subject_of_a_test_leads_to_its_file(editor: Editor, folder: Path) -> None:
    text = "---\nname: t\nkind: test\nsubject: dialectic\n---\n\n### Expects\n\n- `result`: is present\n"
    found = editor.ask("definition", editor.open(folder / "t.test.prose.md", text), "subject: dialectic", 12)
    assert found["uri"] == (folder / "dialectic.prose.md").as_uri()


def test_an_argument_leads_to_the_input_of_a_pattern(editor: Editor, uri: str, folder: Path) -> None:
    found = editor.ask("definition", uri, "task_brief: topic", 3)
    assert found["uri"] == (folder / "dialectic.prose.md").as_uri()
    text = (folder / "dialectic.prose.md").read_text(encoding="utf-8")
    assert selected(text, found["range"]) == "task_brief"


def places(editor: Editor, uri: str, marker: str, inside: int, declaration: bool = True) -> list[str]:
    """The lines of all references."""
    found = editor.ask("references", uri, marker, inside, context={"includeDeclaration": declaration})
    return [line_at(editor.texts[uri], one["range"]).strip() for one in found]


def test_references_are_those_of_one_thing(editor: Editor, uri: str) -> None:
    everywhere = places(editor, uri, "repeat passes", 9)
    assert everywhere == [
        "- `passes` (integer, default: 2): how often it is improved",
        "repeat passes as round:",
        'emit "round {round} of {config.passes}"',
        'let text = "{item} of {passes}"',
    ]
    assert places(editor, uri, "repeat passes", 9, declaration=False) == everywhere[1:]
    assert places(editor, uri, "- `topic`: what it is about", 4) == ["- `topic`: what it is about"]


def test_a_name_bound_inside_a_branch_is_the_one_around_it(editor: Editor, uri: str) -> None:
    lines = places(editor, uri, "let text = plan", 5)
    assert "text" in lines
    assert 'let text = "{item} of {passes}"' in lines


def renamed(editor: Editor, uri: str, marker: str, inside: int, name: str) -> str:
    """The text after a renaming."""
    changes = editor.ask("rename", uri, marker, inside, newName=name)["changes"]
    assert list(changes) == [uri]
    return applied(editor.texts[uri], changes[uri])


def test_renaming_a_slot_reaches_every_section(editor: Editor, folder: Path) -> None:
    path = folder / "dialectic.prose.md"
    uri = editor.open(path)
    text = renamed(editor, uri, "call thesis", 6, "advocate")
    changed = [line.strip()[:30] for line in text.splitlines() if line not in editor.texts[uri].splitlines()]
    assert changed == [
        "- `advocate` (primary): argues",
        "advocate: string       -- argu",
        "- Neither `advocate` nor `anti",
        "- `antithesis` speaks after `a",
        "- `advocate` is called at most",
        "- `advocate`: Write an argumen",
        "let case_for = call advocate",
    ]
    path.write_text(text, encoding="utf-8")
    assert run("prose check --strict dialectic.prose.md", folder, home=folder).exit == 0


@pytest.mark.parametrize(
    ("marker", "inside", "name"),
    [
        ("repeat passes", 8, "tries"),
        ("let plan", 4, "sketch"),
        ("let text", 4, "body-text"),
        ("as round", 4, "turn"),
        ("let verdict", 5, "opinion"),
        ("- `tone`", 3, "voice"),
        ("block polish", 7, "smooth"),
        ("polish(draft)", 8, "rough"),
        ("for item", 5, "entry"),
        ("call outliner", 6, "planner"),
        ("as debate", 4, "dispute"),
        ("- `topic`: what to write", 4, "subject-matter"),
    ],
)
def test_a_renamed_spec_is_as_right_as_before(
    editor: Editor, uri: str, folder: Path, marker: str, inside: int, name: str
) -> None:
    before = [one["code"] for one in editor.diagnostics(uri)]
    where = editor.ask("prepareRename", uri, marker, inside)
    old = where["placeholder"]
    assert selected(editor.texts[uri], where["range"]) == old
    text = renamed(editor, uri, marker, inside, name)
    editor.change(uri, text)
    assert [one["code"] for one in editor.diagnostics(uri)] == before
    assert editor.ask("prepareRename", uri, marker.replace(old, name), inside)["placeholder"] == name


def test_a_shorthand_keeps_its_key(editor: Editor, uri: str) -> None:
    text = renamed(editor, uri, "let rounds", 5, "turns")
    assert "return { article: polished, rounds: turns }" in text
    assert "- `rounds`: how many passes it took" in text
    assert "config: {rounds: 1}" in text


def test_offsets_behind_emoji_are_right(editor: Editor, uri: str) -> None:
    text = renamed(editor, uri, "{tone}", 2, "voice")
    assert '"🖋🖋 {topic} in {voice}: {text}"' in text


def test_a_condition_in_english_follows(editor: Editor, uri: str) -> None:
    text = renamed(editor, uri, "let verdict", 5, "opinion")
    assert "if opinion accepted and round >= 1:" in text


@pytest.mark.parametrize(
    ("marker", "inside", "name", "why"),
    [
        ("repeat passes", 8, "topic", "already"),
        ("repeat passes", 8, "1st", "no name"),
        ("repeat passes", 8, "return", "no name"),
        ("let plan", 4, "accepted", "condition"),
        ("- `article`", 4, "essay", "callers"),
        ("call argued", 6, "disputed", "instance"),
        ("Writes and", 2, "anything", "no name"),
    ],
)
def test_what_cannot_be_renamed_says_why(
    editor: Editor, uri: str, marker: str, inside: int, name: str, why: str
) -> None:
    with pytest.raises(Refusal, match=why):
        editor.ask("rename", uri, marker, inside, newName=name)


def test_names_that_are_fields_stay(editor: Editor, folder: Path) -> None:
    head = "---\nname: s\nkind: pattern\n---\n\n### Slots\n\n- `writer`: writes\n\n### Delegation\n\n```prose\n"
    body = "let { title, text } = call writer\nreturn [title, text]\n"
    uri = editor.open(folder / "s.prose.md", head + body + "```\n")
    with pytest.raises(Refusal, match="field"):
        editor.ask("rename", uri, "[title", 1, newName="heading")


def test_undeclared_inputs_have_to_be_declared_first(editor: Editor, folder: Path) -> None:
    head = "---\nname: s\nkind: pattern\n---\n\n### Slots\n\n- `writer`: writes\n  - requires: `brief`\n\n"
    body = "### Delegation\n\n```prose\nreturn call writer\n  brief: brief\n```\n"
    uri = editor.open(folder / "s.prose.md", head + body)
    with pytest.raises(Refusal, match="declare it"):
        editor.ask("rename", uri, ": brief\n`", 3, newName="order")


def test_names_of_javascript_stay(editor: Editor, folder: Path) -> None:
    path = next((ROOT / "tests" / "conformance" / "composite-in-javascript").glob("*.md"))
    uri = editor.open(folder / path.name, path.read_text(encoding="utf-8"))
    text = editor.texts[uri]
    at = text.index("- `", text.index("### Slots")) + 3
    name = text[at : text.index("`", at)]
    with pytest.raises(Refusal, match="JavaScript"):
        editor.ask("rename", uri, f"- `{name}`", 4, newName="other")
