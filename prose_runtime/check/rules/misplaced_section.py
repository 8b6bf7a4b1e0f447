"""A section that has no place in a spec of this kind.

What it does
    Reports sections that mean something elsewhere: Fixtures and Expects outside a test, everything else that declares
    in a test, Slots and Delegation in a function, Execution in a pattern, Patterns outside functions and
    responsibilities, Delegation Loop outside a composite, Goal and Continuity outside a responsibility.

Why
    Readers expect the section of the kind, and other tools pass over this one.

Example
    ```markdown
    ---
    name: sum
    kind: function
    ---

    ### Delegation
    ```

Use instead
    ```markdown
    ### Execution
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import Edit, Fix
from prose_runtime.nodes import Section

_TESTING = ("fixtures", "expects", "expects not")
_STANDING = ("goal", "continuity")
_DECLARING = ("slots", "config", "parameters", "requires", "inputs", "returns", "ensures", "maintains", "invariants")
_PROGRAM = ("delegation", "delegation loop", "execution")

_MISPLACED: dict[str, frozenset[str]] = {
    "pattern": frozenset({*_TESTING, *_STANDING, "execution", "delegation loop", "patterns"}),
    "composite": frozenset({*_TESTING, *_STANDING, "execution", "patterns"}),
    "function": frozenset({*_TESTING, *_STANDING, "slots", "delegation", "delegation loop", "invariants"}),
    "test": frozenset({*_DECLARING, *_PROGRAM, *_STANDING, "patterns", "shape"}),
    "responsibility": frozenset({*_TESTING, "slots", "delegation", "delegation loop"}),
    "gateway": frozenset({*_TESTING, "slots", "delegation", "delegation loop"}),
}
_HOME = {
    "slots": "a pattern",
    "invariants": "a pattern",
    "delegation": "a pattern",
    "execution": "a function",
    "delegation loop": "a composite",
    "patterns": "a function",
    **dict.fromkeys(_TESTING, "a test"),
    **dict.fromkeys(_STANDING, "a responsibility"),
    **dict.fromkeys((*_DECLARING[1:8], "shape"), "the spec that is tested"),
}
_PROGRAM_OF = {
    "pattern": "Delegation",
    "composite": "Delegation Loop",
    "function": "Execution",
    "responsibility": "Execution",
    "gateway": "Execution",
}


def find(facts: Facts) -> Iterator[Finding]:
    """Sections of other kinds."""
    kind = facts.spec.kind
    misplaced = _MISPLACED.get(kind, frozenset())
    programs = [section for section in facts.spec.sections if section.key in _PROGRAM]
    for section in facts.spec.sections:
        if section in programs and len(programs) > 1:
            continue  # a second program is a fault of its own
        if section.key in misplaced:
            title = facts.text(section.title_span)
            message = f"a {kind} has no section `{title}`"
            yield Finding(section.title_span, message, *_instead(section, facts))


def _instead(section: Section, facts: Facts) -> tuple[str, tuple[()], Fix | None]:
    program = _PROGRAM_OF.get(facts.spec.kind)
    if section.key in ("delegation", "execution") and program and program != "Delegation Loop":
        fix = Fix(f"Call it {program}", (Edit(section.title_span, program),))
        return f"its program stands under ### {program}", (), fix
    home = _HOME.get(section.key, "another kind of spec")
    if home == "a pattern":
        return "write kind: pattern when roles are left open", (), None
    return f"it belongs to {home}; leave it out here", (), None


RULE = Rule("misplaced-section", "warning", find, __doc__)
