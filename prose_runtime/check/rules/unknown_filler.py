"""A pattern instance whose slot is filled with nothing known.

What it does
    Reports a name under `with:` that is no slot, component or instance of the file, no service of prose.yml, and no
    spec of the folder, the project or the library.

Why
    Nobody answers for the slot, and a run stops when it comes to the instance.

Example
    ```yaml
    - name: reviewed
      pattern: worker-critic
      with:
        worker: scrib
    ```

Use instead
    ```yaml
    - name: reviewed
      pattern: worker-critic
      with:
        worker: scribe
    ```
    with a component `## scribe` below, or a service of that name in prose.yml.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.resolve import nested_instances
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.rules.instance_binding import key_span
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Fillers that nothing answers to."""
    beside = Path(facts.spec.source.path)
    known = _known(facts)
    for instance in _instances(facts.spec):
        pattern = facts.resolution.patterns.get(instance)
        inputs = frozenset(facts.inputs_of(pattern)) if pattern else frozenset()
        for slot, word in _fillers(instance):
            if slot in inputs or word in known or facts.project.candidates(word, beside):
                continue
            span = _place(instance, slot, word, facts)
            help_, fix = meant(span, word, known, "define it as a component, or as a service in prose.yml")
            yield Finding(span, f"`{word}` is no component, service or spec", help_, fix=fix)


def _known(facts: Facts) -> frozenset[str]:
    spec = facts.spec
    own = {slot.name for slot in spec.slots} | {component.name for component in spec.components}
    return frozenset(own | {instance.name for instance in spec.instances if instance.name}) | facts.project.configured(
        Path(spec.source.path)
    )


def _instances(spec: n.Spec) -> Iterator[n.Instance]:
    for instance in spec.instances:
        yield instance
        for nested in nested_instances(instance.bindings):
            yield nested
            yield from nested_instances(nested.bindings)


def _fillers(instance: n.Instance) -> Iterator[tuple[str, str]]:
    """Each slot with a name that fills it."""
    for slot, bound in instance.bindings.items():
        words: list[Any] = list(bound) if isinstance(bound, list | tuple) else [bound]
        yield from ((slot, word) for word in words if isinstance(word, str))


def _place(instance: n.Instance, slot: str, word: str, facts: Facts) -> Span:
    """Where the word stands, behind the slot's name."""
    after = key_span(instance, slot, facts)
    return facts.word(Span(after.end, instance.span.end), word)


RULE = Rule("unknown-filler", "warning", find, __doc__)
