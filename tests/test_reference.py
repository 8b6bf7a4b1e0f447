"""The reference of the language: its generated parts are up to date, and its examples are right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import prose_runtime as prose
from prose_runtime.check.invariant_claims import Claim
from prose_runtime.check.invariant_forms import read
from prose_runtime.check.invariant_words import Vocabulary
from prose_runtime.lsp.reference import PARTS, pages, rendered
from prose_runtime.syntax.names import KINDS
from support.commands import ROOT, run
from support.readme import Snippet, console, shows, snippets

PAGE = ROOT / "grammar" / "LANGUAGE.md"
SNIPPETS = snippets(PAGE)
FILES = {snippet.file: snippet.text for snippet in SNIPPETS if snippet.file and snippet.label in ("markdown", "yaml")}
SHORT = [snippet for snippet in SNIPPETS if snippet.label == "prose"]
CONSOLES = [snippet for snippet in SNIPPETS if snippet.label == "console"]
GIVES = re.compile(r"^# gives (.*)$", re.M)
PROGRAM = re.compile(r"(?<=```prose\n).*?(?=```\n)", re.S)
STAND_INS = {"default": "extra", "services": {"extra": {"provider": "rehearsal"}}}


def named(snippet: Snippet) -> str:
    return snippet.heading.replace(" ", "-")


def framed(snippet: Snippet, folder: Path) -> Path:
    """The frame of the page with a short example as its program."""
    path = folder / "shown.prose.md"
    path.write_text(PROGRAM.sub(lambda _: snippet.text, FILES["shown.prose.md"], count=1), encoding="utf-8")
    return path


def section(heading: str) -> str:
    """The text below a heading of the page."""
    return re.split(r"^#+ ", PAGE.read_text(encoding="utf-8").split(f" {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_generated_parts_are_what_the_tool_writes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert rendered(text) == text, "run `python -m prose_runtime.lsp.reference`"


def test_every_part_stands_on_a_page() -> None:
    marks = re.findall(r"<!-- generated: (.+) -->", "".join(page.read_text(encoding="utf-8") for page in pages()))
    assert sorted(marks) == sorted(PARTS)


def test_a_part_that_is_out_of_date_is_made_anew() -> None:
    assert "| `let` |" in rendered("<!-- generated: words of statements -->\nold\n<!-- end -->\nkept\n")
    assert rendered("no parts\n") == "no parts\n"
    with pytest.raises(KeyError, match="unheard-of"):
        rendered("<!-- generated: unheard-of -->\n<!-- end -->")


def test_links_lead_somewhere() -> None:
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for file, anchor in re.findall(r"\]\(([\w./]*)(?:#([\w-]*))?\)", text):
            target = page.parent / file if file else page
            assert target.exists(), file
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.M)
            assert not anchor or anchor in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings]


def test_every_kind_is_described() -> None:
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .* \| .* \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"\w+", " ".join(cells))) >= set(KINDS)


@pytest.mark.parametrize("snippet", SHORT, ids=named)
def test_a_short_example_is_right_and_runs(snippet: Snippet, tmp_path: Path) -> None:
    path = framed(snippet, tmp_path)
    (tmp_path / "prose.yml").write_text(json.dumps(STAND_INS), encoding="utf-8")
    faults = [fault for fault in prose.check(path) if not fault.code.startswith("unused-")]
    assert [fault for fault in faults if snippet.file != "wider" or fault.severity == "error"] == []
    assert snippet.file != "wider" or faults, "the example is portable; it needs no mark"
    inputs = {"topic": "tides", "items": ["a", "b"]}
    done = prose.run(prose.load(path), inputs, bind={"writer": "extra", "critic": "extra", "panel": ["extra"]})
    gives = GIVES.search(snippet.text)
    if gives:
        assert done.value == json.loads(gives[1])


def test_the_whole_files_have_no_faults(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("prose check .", tmp_path, home=tmp_path)
    assert done.exit == 0, done.stdout
    assert "error" not in done.stdout


@pytest.mark.parametrize("snippet", CONSOLES, ids=named)
def test_the_commands_print_what_is_shown(snippet: Snippet, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command, shown in console(snippet.text):
        done = run(command, tmp_path, home=tmp_path)
        assert shows(shown, done.stdout), f"$ {command}\n{done.stdout}\n{done.stderr}"


def test_the_invariants_shown_are_understood_and_of_every_form() -> None:
    sentences = re.findall(r"^\| (.+?\.) \|", section("Invariants"), re.M)
    vocabulary = Vocabulary(
        "shown", ("writer", "critic", "panel"), frozenset({"panel"}), frozenset({"topic", "items", "rounds", "notes"})
    )
    claims: dict[str, list[Any]] = {sentence: read(sentence, vocabulary)[0] for sentence in sentences}
    assert [sentence for sentence, found in claims.items() if not found] == []
    assert {type(claim) for found in claims.values() for claim in found} == set(get_args(Claim))
