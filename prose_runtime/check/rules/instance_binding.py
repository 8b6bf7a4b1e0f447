"""A pattern instance that fills what its pattern does not have.

What it does
    Reports names under `with:` that are no slots of the pattern, names under `config:` that are none of its config
    items, values that are not of a config item's type, and several names for a slot that takes one.

Why
    The entry has no effect, or ends the run; the slot or item that was meant keeps its default.

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

import json
import re
from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.syntax.config_values import BadValue, describe, fits, read_value
from prose_runtime.text import Span


def find(facts: Facts) -> Iterator[Finding]:
    """Unknown slots and config items of instances."""
    for instance, pattern in facts.resolution.patterns.items():
        slots, config = [slot.name for slot in pattern.slots], [item.name for item in pattern.config]
        inputs = [*facts.inputs_of(pattern)]
        for name in instance.bindings:
            if name not in slots and name not in inputs:
                span = key_span(instance, name, facts)
                help_, fix = meant(span, name, slots, _options("slots", slots))
                yield Finding(span, f"`{name}` is no slot of `{pattern.name}`", help_, fix=fix)
        for name in instance.config:
            if name not in config and name not in inputs:
                span = key_span(instance, name, facts)
                help_, fix = meant(span, name, config, _options("config items", config))
                yield Finding(span, f"`{name}` is no config item of `{pattern.name}`", help_, fix=fix)
        yield from _values(instance, pattern, facts)


def key_span(instance: n.Instance, name: str, facts: Facts) -> Span:
    """Where a key of an instance stands."""
    key = re.compile(rf"(?<![\w-]){re.escape(name)}(?=[\"']?\s*:)")
    match = key.search(facts.spec.source.text, *instance.span)
    return Span(*match.span()) if match else facts.word(instance.span, name)


def _values(instance: n.Instance, pattern: n.Spec, facts: Facts) -> Iterator[Finding]:
    """Config of another type than the item's, and lists for slots that take one binding."""
    for slot in pattern.slots:
        bound = instance.bindings.get(slot.name)
        if not slot.is_list and isinstance(bound, list | tuple) and len(bound) != 1:
            message = f"the slot `{slot.name}` takes one binding, not {len(bound)}"
            yield Finding(key_span(instance, slot.name, facts), message, "name one component, service or pattern")
    for item in pattern.config:
        value = instance.config.get(item.name)
        if value is not None and not _fits(value, item.type):
            message = f"`{item.name}` must be {describe(item.type)}, and this is {_told(value)}"
            yield Finding(key_span(instance, item.name, facts), message, f"{pattern.name} declares it so")


def _fits(value: object, spelling: str | None) -> bool:
    if fits(value, spelling):
        return True
    try:
        return isinstance(value, str) and fits(read_value(value, spelling), spelling)
    except BadValue:
        return False


def _told(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else "a longer value"


def _options(what: str, names: list[str]) -> str:
    return f"its {what} are {', '.join(f'`{name}`' for name in names)}" if names else f"it has no {what}"


RULE = Rule("instance-binding", "error", find, __doc__)
