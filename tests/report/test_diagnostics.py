"""One set of diagnostics, every renderer; the texts expected stand in files beside this one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft4Validator

from prose_runtime.diagnostics import Diagnostic, Edit, Fix, Secondary
from prose_runtime.errors import UnreadableFile
from prose_runtime.report import agent, github, junit_check, sarif, text
from prose_runtime.report import json as json_report
from prose_runtime.text import Source, Span

EXPECTED = Path(__file__).parent / "diagnostics"
SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))

SOURCE = Source(
    "specs/a, b.prose.md",
    "let a = topik\r\n"
    "let 好 = 好好 + naïve\n"
    "\tcall writter  # 100%\n"
    "return {\n"
    "  a: 1\n"
    "}\n"
    "let view = 1\n"
    "let view = 2\n" + "x" * 300 + " bad " + "y" * 300 + "\n"
    "emit '🙂' + naïf\n",
)


def span(words: str, nth: int = 0) -> Span:
    at = -1
    for _ in range(nth + 1):
        at = SOURCE.text.index(words, at + 1)
    return Span(at, at + len(words))


def diagnostics() -> list[Diagnostic]:
    lines = Span(SOURCE.text.index("{"), SOURCE.text.index("}") + 1)
    first = Secondary(span("view"), "the first one")
    quotes = Fix("Write double quotes", (Edit(span("'"), '"'), Edit(span("'", 1), '"')))
    guess = Fix("Write `naïve`", (Edit(span("naïf"), "naïve"),), safe=False)
    return [
        Diagnostic("undefined-name", "error", "`topik` is not defined", SOURCE, span("topik"), "did you mean `topic`?"),
        Diagnostic("undefined-name", "error", "`naïve` is not defined", SOURCE, span("naïve")),
        Diagnostic("unknown-target", "error", "100% wrong: \x1b[31mred", SOURCE, span("writter"), "one\ntwo"),
        Diagnostic("return-missing", "warning", "over several lines", SOURCE, lines),
        Diagnostic("published-twice", "error", "`view` again", SOURCE, span("view", 1), secondary=(first,)),
        Diagnostic("unknown-target", "info", "far to the right", SOURCE, span("bad")),
        Diagnostic("single-quotes", "warning", "strings stand in double quotes", SOURCE, span("'🙂'"), fix=quotes),
        Diagnostic("undefined-name", "error", "`naïf` is not defined", SOURCE, span("naïf"), fix=guess),
    ]


def without_pages(shown: str) -> str:
    """A SARIF log without what a new version or a better page changes."""
    log = json.loads(shown)
    driver = log["runs"][0]["tool"]["driver"]
    assert driver.pop("version")
    assert all(rule.pop("help")["text"].startswith(rule["shortDescription"]["text"]) for rule in driver["rules"])
    return json.dumps(log, ensure_ascii=False, indent=2)


UNREADABLE = [UnreadableFile("specs/x:y.prose.md", "permission denied")]


@pytest.mark.parametrize(
    ("name", "have"),
    [
        ("text.txt", text.render(diagnostics(), UNREADABLE, files=3)),
        ("github.txt", github.render(diagnostics(), UNREADABLE)),
        ("json.json", json_report.render(diagnostics(), UNREADABLE)),
        ("agent.txt", agent.render(diagnostics(), UNREADABLE, files=3)),
        ("sarif.json", without_pages(sarif.render(diagnostics(), UNREADABLE))),
        ("junit.xml", junit_check.render(diagnostics(), UNREADABLE, paths=["good.prose.md"]).rstrip()),
    ],
)
def test_rendered_as_expected(name: str, have: str) -> None:
    assert have + "\n" == (EXPECTED / name).read_text(encoding="utf-8")


def test_carets_stand_below_what_is_wrong() -> None:
    first, second, *_ = text.render(diagnostics()).split("\n\n")
    _, line, carets, _ = first.split("\n")
    assert line.index("topik") == carets.index("^^^^^")
    _, line, carets = second.split("\n")
    assert text.width(line[: line.index("naïve")]) == carets.index("^^^^^")


@pytest.mark.parametrize(
    ("written", "cells"),
    [("naïve", 5), ("e\u0301", 1), ("好", 2), ("🙂", 2), ("👩\u200d👧", 4), ("ก\u0e31", 1), ("⚔\ufe0f", 2)],
)
def test_marks_take_no_cell_and_wide_signs_two(written: str, cells: int) -> None:
    assert text.width(written) == cells


def test_colour_adds_nothing_but_colour() -> None:
    coloured = text.render(diagnostics(), colour=True)
    assert coloured != text.render(diagnostics())
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text.render(diagnostics())


def test_a_file_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in text.render(diagnostics())


def test_summary_counts() -> None:
    assert text.summary(diagnostics(), files=1) == "Found 5 errors and 2 warnings in 1 file; `--fix` mends 1."
    assert text.summary([], files=2) == "No faults found in 2 files."
    assert "1 file could not be read" in text.summary([], UNREADABLE, 0)


def test_json_has_the_fields_of_the_format_and_no_others() -> None:
    shown = json.loads(json_report.render(diagnostics()))
    assert list(shown) == ["diagnostics"]
    assert list(shown["diagnostics"][0]) == [
        "file", "line", "column", "end_line", "end_column", "code", "severity", "message", "help",
    ]  # fmt: skip
    assert shown["diagnostics"][3]["end_line"] == 6


def test_github_commands_stay_on_one_line_each() -> None:
    assert len(github.render(diagnostics(), UNREADABLE).splitlines()) == 9
    assert github.render([]) == ""


def test_sarif_is_valid() -> None:
    for shown in (sarif.render(diagnostics(), UNREADABLE), sarif.render([])):
        faults = [error.message for error in Draft4Validator(SCHEMA).iter_errors(json.loads(shown))]
        assert faults == []


def test_sarif_counts_columns_in_utf16_code_units() -> None:
    run = json.loads(sarif.render(diagnostics()))["runs"][0]
    assert run["columnKind"] == "utf16CodeUnits"
    region = run["results"][-1]["locations"][0]["physicalLocation"]["region"]
    line = SOURCE.text.split("\n")[region["startLine"] - 1].encode("utf-16-le")
    cut = line[(region["startColumn"] - 1) * 2 : (region["endColumn"] - 1) * 2]
    assert cut.decode("utf-16-le") == "naïf"


def test_sarif_holds_safe_fixes_only() -> None:
    results = json.loads(sarif.render(diagnostics()))["runs"][0]["results"]
    assert [result["ruleId"] for result in results if "fixes" in result] == ["single-quotes"]


def test_agents_get_a_line_for_each_fault_and_its_fix() -> None:
    lines = agent.render(diagnostics(), UNREADABLE, files=3).splitlines()
    assert len(lines) == len(diagnostics()) + len(UNREADABLE) + 1
    quotes, guess = lines[-4], lines[-3]
    assert quotes.endswith(r"""fix: 10:6-7 "'" -> "\""; 10:8-9 "'" -> "\"" """.strip())
    assert 'maybe: 10:12-16 "naïf" -> "naïve"' in guess


def test_junit_counts_and_passes_files_without_faults() -> None:
    root = ET.fromstring(junit_check.render(diagnostics(), UNREADABLE, paths=["good.prose.md"]))
    suites = {suite.get("name"): suite for suite in root}
    assert [len(suite.findall("testcase/failure")) for suite in suites.values()] == [0, 5, 0]
    assert all(int(suite.get("tests") or 0) == len(suite) for suite in root)
    assert suites["specs/x:y.prose.md"].get("errors") == "1"
