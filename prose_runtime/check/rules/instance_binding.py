"""A pattern instance that fills what its pattern does not have.

What it does
    Reports names under `with:` that are no slots of the pattern, and names under `config:` that are none of its
    config items.

Why
    The entry has no effect; the slot or item that was meant keeps its default.

Example
    ```yaml
    - name: reviewed
      pattern: worker-critic
      with:
        wroker: scribe
    ```

Use instead
    ```yaml
    - name: reviewed
      pattern: worker-critic
      with:
        worker: scribe
    ```
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule, meant


def find(facts: Facts) -> Iterator[Finding]:
    """Unknown slots and config items of instances."""
    for instance, pattern in facts.resolution.patterns.items():
        slots, config = [slot.name for slot in pattern.slots], [item.name for item in pattern.config]
        inputs = [*facts.inputs_of(pattern)]
        for name in instance.bindings:
            if name not in slots and name not in inputs:
                span = facts.word(instance.span, name)
                help_, fix = meant(span, name, slots, _options("slots", slots))
                yield Finding(span, f"`{name}` is no slot of `{pattern.name}`", help_, fix=fix)
        for name in instance.config:
            if name not in config and name not in inputs:
                span = facts.word(instance.span, name)
                help_, fix = meant(span, name, config, _options("config items", config))
                yield Finding(span, f"`{name}` is no config item of `{pattern.name}`", help_, fix=fix)


def _options(what: str, names: list[str]) -> str:
    return f"its {what} are {', '.join(f'`{name}`' for name in names)}" if names else f"it has no {what}"


RULE = Rule("instance-binding", "error", find, __doc__)
