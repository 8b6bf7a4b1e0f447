"""The words of Contract Markdown: kinds, section titles and fence labels (LANGUAGE.md section 1)."""

from __future__ import annotations

KINDS = ("pattern", "composite", "function", "test", "responsibility", "gateway")
"""The kinds that a spec may name in its frontmatter."""

RETIRED_KINDS = {
    "service": "function",
    "role": "function",
    "agent": "function",
    "block": "function",
    "control": "composite",
    "program": "program",
    "program-node": "program",
    "workflow": "program",
    "system": "program",
}
"""Older kinds, and the kind that each is read as; ``program`` stands for all that have no modern form of their own."""

MODERN_KIND = {"composite": "pattern", "program": "function"}
"""What to write instead of a kind that is only read for the sake of older files."""

SECTIONS = frozenset(
    {
        "slots",
        "config",
        "parameters",
        "requires",
        "inputs",
        "returns",
        "ensures",
        "maintains",
        "invariants",
        "shape",
        "patterns",
        "delegation",
        "delegation loop",
        "execution",
        "errors",
        "strategies",
        "runtime",
        "fixtures",
        "expects",
        "expects not",
        "goal",
        "continuity",
    }
)
"""Titles of sections that mean something; all others are documentation."""

MAIN_SECTIONS = SECTIONS - {"errors", "strategies", "runtime", "goal", "continuity", "patterns", "shape"}
"""Titles that are taken for a section even one heading level too high; the others may well name a component."""

SPEC_SECTIONS = frozenset(
    {"slots", "config", "delegation", "delegation loop", "invariants", "fixtures", "expects", "expects not"}
)
"""Sections that only a file has, never an inline component."""

LABELLED_SECTIONS = SECTIONS - {"delegation", "delegation loop", "execution", "fixtures", "expects", "expects not"}
"""Sections of lists, which older files begin with ``requires:`` in place of a heading."""

EXECUTABLE_SECTIONS = frozenset({"delegation", "delegation loop", "execution"})
"""Sections whose fence is a program."""

PROSE_LABELS = frozenset({"", "prose", "prosescript", "none"})
"""Fence labels of ProseScript."""

LOOSE_LABELS = frozenset({"prose", "prosescript"})
"""Labels that mark a program wherever it stands."""

JAVASCRIPT_LABELS = frozenset({"javascript", "js"})
"""Fence labels of a composite's loop."""


def section_key(title: str) -> str:
    """A section's title as it is looked up: lower case, single blanks, no marks around it."""
    return " ".join(title.strip().strip("`*:# ").lower().split())
