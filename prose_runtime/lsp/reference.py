"""The parts of the pages in ``grammar/`` that are made from the grammar and the rules, so that they cannot drift.

``python -m prose_runtime.lsp.reference`` writes them anew. A part stands between ``<!-- generated: NAME -->`` and
``<!-- end -->``; the texts on words, sections and functions are those that editors show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from pathlib import Path

from prose_runtime.check.arguments import MODIFIERS
from prose_runtime.check.rule import Rule
from prose_runtime.check.rules import EVERY_RULE
from prose_runtime.lsp.grammar_forms import rules
from prose_runtime.lsp.words import FUNCTION_HELP, HELP, MODIFIER_HELP, SECTION_HELP, words
from prose_runtime.resources import resource
from prose_runtime.runtime.functions import FUNCTIONS
from prose_runtime.syntax import tables
from prose_runtime.syntax.names import KINDS, MODERN_KIND, RETIRED_KINDS, SECTIONS

_PART = re.compile(r"(?P<open><!-- generated: (?P<name>[^\n]+?) -->\n).*?(?P<close><!-- end -->)", re.DOTALL)
_FENCE = re.compile(r"```\w+\n(?P<text>.*?)```", re.DOTALL)


def pages() -> list[Path]:
    """The pages of the reference."""
    return sorted(resource("grammar").glob("*.md"))


def rendered(text: str) -> str:
    """A page with all of its generated parts made anew.

    Raises:
        KeyError: A part has a name that nothing makes, or a word or section has no text.
    """
    return _PART.sub(lambda match: f"{match['open']}{PARTS[match['name']]()}\n{match['close']}", text)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _words(group: str) -> str:
    return _table(("word", "meaning"), ((f"`{word}`", HELP[word]) for word in words()[group]))


def _forms(*names: str, without: tuple[str, ...] = ("E", "place", "atom")) -> str:
    lines = [form for name in names for form in rules()[name] if form not in without]
    return "\n".join(["```text", *lines, "```"])


def _kinds() -> str:
    read = {kind: [old for old, as_ in RETIRED_KINDS.items() if as_ == kind] for kind in (*KINDS, "program")}
    rows = ((", ".join(f"`{old}`" for old in older), kind, MODERN_KIND.get(kind, kind)) for kind, older in read.items())
    return _table(("older kind", "is read as", "write today"), (row for row in rows if row[0]))


def _sections() -> str:
    return _table(("section", "what it says"), ((key.capitalize(), SECTION_HELP[key]) for key in sorted(SECTIONS)))


def _functions() -> str:
    return "\n".join(f"- {FUNCTION_HELP[name]}" for name in (*FUNCTIONS, "group"))


def _modifiers() -> str:
    return _table(("modifier", "meaning"), ((f"`{name}`", MODIFIER_HELP[name]) for name in sorted(MODIFIERS)))


def _codes() -> str:
    rows = ((f"`{rule.code}`", rule.severity, rule.title) for rule in EVERY_RULE)
    return _table(("code", "severity", "what it reports"), rows)


def _portable() -> str:
    """What is read here beside what to write for other readers, from the pages of the rules of portability."""
    pairs = [(rule, *_examples(rule)) for rule in EVERY_RULE if rule.code.startswith("portable-")]
    width = max(len(line) for _, here, _ in pairs for line in here) + 4
    parts = []
    for rule, here, instead in pairs:
        beside = zip_longest(here, instead, fillvalue="")
        lines = (f"{left:{width}}{right}".rstrip() for left, right in beside)
        parts.append("\n".join([f"# {rule.code}", *lines]))
    return "```text\n" + "\n\n".join(parts) + "\n```"


def _examples(rule: Rule) -> tuple[list[str], list[str]]:
    """The lines of a page's two examples: the fault, and what to write instead."""
    text = "\n".join(line.removeprefix("    ") for line in (rule.page or "").splitlines())
    fault, instead = (match["text"].splitlines() for match in _FENCE.finditer(text))
    return fault, instead


PARTS: Mapping[str, Callable[[], str]] = {
    "kinds": _kinds,
    "sections": _sections,
    "statements": lambda: _forms("statement"),
    "constructs": lambda: _forms("construct"),
    "options": lambda: _forms("part", "setting"),
    "values": lambda: _forms("atom", "postfix", "expr"),
    "calls": lambda: _forms("primary", "inputs"),
    "predicates": lambda: _forms("comparison"),
    "words of statements": lambda: _words("statement"),
    "words of constructs": lambda: _words("construct"),
    "words in the middle": lambda: _words("connective"),
    "operators": lambda: _words("operator"),
    "functions": _functions,
    "modifiers": _modifiers,
    "portable": _portable,
    "codes": _codes,
}
"""What makes each part, by the name in its mark."""


def main() -> None:
    """Write the generated parts of all pages anew, and the tables of the grammar."""
    tables.write()
    for page in pages():
        page.write_text(rendered(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
