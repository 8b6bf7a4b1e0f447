"""The catalogue of codes: complete, unique, explained."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import prose_runtime
from prose_runtime.check.rule import Rule
from prose_runtime.check.rules import CODES, EVERY_RULE, RULES

REPORTS = ("error", "warning", "_break", "_option_error")
PACKAGE = Path(prose_runtime.__file__).parent


def reported_codes() -> Iterator[str]:
    """The codes that the parser and the checker report, as their sources spell them."""
    for path in [*(PACKAGE / "syntax").rglob("*.py"), *(PACKAGE / "check").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                first = node.args[0]
                if node.func.attr in REPORTS and isinstance(first, ast.Constant):
                    text = str(first.value)
                    if re.fullmatch(r"[a-z]+(-[a-z]+)*", text):
                        yield text


def test_every_code_that_is_reported_has_a_page() -> None:
    assert set(reported_codes()) - CODES == set()


def test_codes_are_unique() -> None:
    assert len(CODES) == len(EVERY_RULE)


@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: rule.code)
def test_pages_have_their_parts(rule: Rule) -> None:
    page = rule.page or ""
    places = [page.find(f"\n{part}\n") for part in ("What it does", "Why", "Example", "Use instead")]
    assert -1 not in places
    assert places == sorted(places)
    assert rule.title


def test_a_rule_is_found_by_its_file_name() -> None:
    files = {path.stem.replace("_", "-") for path in (PACKAGE / "check" / "rules").glob("[a-z]*.py")}
    assert files == {rule.code for rule in RULES}
