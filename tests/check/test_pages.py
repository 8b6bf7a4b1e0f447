"""What `prose explain` shows is true: an example has the fault that its page is about, and what to write has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.check.checker import check_paths
from prose_runtime.check.rule import Rule
from prose_runtime.check.rules import EVERY_RULE
from support.pages import SUBJECT, examples, placed

ON_DEMAND = {"call-bound", "condition-rungs"}
RULES = [rule for rule in EVERY_RULE if rule.code not in ON_DEMAND]


def codes(rule: Rule, example: str, folder: Path) -> set[str]:
    (folder / "summary.prose.md").write_text(SUBJECT, encoding="utf-8")
    services = "services: {escalate: {provider: echo}}\n" if rule.code == "portable-effect" else ""
    (folder / "prose.yml").write_text(services, encoding="utf-8")
    path = folder / ("review.prose.md" if rule.code == "name-differs-from-file" else "page.prose.md")
    path.write_text(placed(rule, example), encoding="utf-8")
    return {found.code for found in check_paths([path]).diagnostics}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_example_has_the_fault(rule: Rule, tmp_path: Path) -> None:
    assert rule.code in codes(rule, examples(rule)[0], tmp_path)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_what_to_write_instead_has_not(rule: Rule, tmp_path: Path) -> None:
    assert rule.code not in codes(rule, examples(rule)[1], tmp_path)
