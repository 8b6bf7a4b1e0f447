"""The checker's rules, one file each; a rule's docstring is its explain page."""

from __future__ import annotations

from prose_runtime.check.reading import READING
from prose_runtime.check.rule import Rule
from prose_runtime.check.rules import (
    bad_expectation,
    bad_persist,
    const_assigned,
    count_beyond_branches,
    foreign_reference,
    ignored_property,
    instance_binding,
    javascript_syntax,
    list_slot_called,
    loop_without_bound,
    misplaced_jump,
    missing_input,
    name_out_of_frame,
    published_twice,
    repeat_count,
    return_missing,
    test_expects_nothing,
    test_subject,
    undeclared_input,
    undefined_name,
    unknown_effect,
    unknown_fixture,
    unknown_function,
    unknown_input,
    unknown_output,
    unknown_spec,
    unknown_target,
    unreachable,
    unresolved_condition,
    unresolved_interpolation,
    unused_config,
    unused_input,
    unused_slot,
)

RULES: tuple[Rule, ...] = tuple(
    module.RULE
    for module in (
        bad_expectation,
        bad_persist,
        const_assigned,
        count_beyond_branches,
        foreign_reference,
        ignored_property,
        instance_binding,
        javascript_syntax,
        list_slot_called,
        loop_without_bound,
        misplaced_jump,
        missing_input,
        name_out_of_frame,
        published_twice,
        repeat_count,
        return_missing,
        test_expects_nothing,
        test_subject,
        undeclared_input,
        undefined_name,
        unknown_effect,
        unknown_fixture,
        unknown_function,
        unknown_input,
        unknown_output,
        unknown_spec,
        unknown_target,
        unreachable,
        unresolved_condition,
        unresolved_interpolation,
        unused_config,
        unused_input,
        unused_slot,
    )
)
"""All rules; a new one is a file of its own and a line here."""

EVERY_RULE: tuple[Rule, ...] = tuple(sorted((*RULES, *READING), key=lambda rule: rule.code))
"""All rules, and the pages of faults that are found while a file is read, by code."""

CODES: frozenset[str] = frozenset(rule.code for rule in EVERY_RULE)
"""All codes that a diagnostic can have."""
