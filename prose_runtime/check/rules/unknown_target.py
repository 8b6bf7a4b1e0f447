"""A call of something that cannot be called.

What it does
    Reports a `call` whose target is no slot, reference, component, instance, block, alias, or spec of the folder, the
    project or the library; a `do` of no block; a `session` of no agent.

Why
    Nobody would answer. A run would stop at this line.

Example
    ```prose
    let text = call writter
      topic: topic
    ```

Use instead
    ```prose
    let text = call writer
      topic: topic
    ```
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prose_runtime import nodes as n
from prose_runtime.check.resolve import FOREIGN, Unresolved
from prose_runtime.check.rule import Facts, Finding, Rule, meant
from prose_runtime.check.rules.unknown_function import looks_like_function
from prose_runtime.diagnostics import did_you_mean


def find(facts: Facts) -> Iterator[Finding]:
    """Targets that lead nowhere."""
    for missing in facts.resolution.unresolved:
        if looks_like_function(missing, facts):
            continue
        if missing.wanted in ("target", "block", "agent") and missing.reason != "list":
            message, help_ = _text(missing, facts)
            close, fix = meant(missing.span, missing.name, missing.known)
            if missing.wanted == "target" and missing.name in facts.project.configured(Path(facts.spec.source.path)):
                help_ = "it is a service of prose.yml: declare a slot of that name, which it then fills"
            if missing.wanted == "target" and isinstance(facts.scopes.start.get(missing.name), n.Agent):
                message, help_ = f"`{missing.name}` is an agent", f"write `session: {missing.name}`"
            yield Finding(missing.span, message, help_, fix=fix if help_ == close else None)


def _text(missing: Unresolved, facts: Facts) -> tuple[str, str | None]:
    name = missing.name
    if missing.reason == "ambiguous":
        return f"`{name}` can mean several specs: {missing.detail}", 'say which: `use "path" as name`'
    if missing.reason == "unreadable":
        return f"`{name}` cannot be called: {missing.detail}", None
    if missing.reason == "block":
        return f"`{name}` is a {missing.detail}, no block", f"write `call {name}`"
    if missing.reason == "foreign":
        return f"`{name}` stands for {missing.detail}, which is not in this project", _bring(missing.detail)
    message = f"there is nothing called `{name}` to call"
    if missing.reason == "value":
        message = f"`{name}` holds a plain value, nothing that can be called"
    elif missing.wanted != "target":
        message = f"there is no {missing.wanted} `{name}`"
    return message, did_you_mean(name, missing.known) or _options(missing, facts)


def _bring(reference: str) -> str:
    if FOREIGN.match(reference):
        return "only files of the project can be called: put a copy into it and name its path"
    return "it is a folder; name the file of a spec"


def _options(missing: Unresolved, facts: Facts) -> str:
    """What can be named instead, the names of the file before those of other specs."""
    if missing.wanted != "target":
        return f"define it: `{missing.wanted} {missing.name}:`"
    own = [name for name in facts.scopes.start if name in missing.known]
    others = sorted(set(missing.known).difference(own))
    known = ", ".join(f"`{name}`" for name in [*own, *others][:8])
    return f"what can be called here: {known}" if known else "declare a slot of that name under Slots"


RULE = Rule("unknown-target", "error", find, __doc__)
