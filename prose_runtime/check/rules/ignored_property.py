"""A property of an agent or session that has no effect.

What it does
    Reports a property such as `permissions`, `tools` or `provider` of an agent, a session or a question. It is kept,
    as data, and changes nothing.

Why
    The runtime knows what a role is told, which model answers and what is tried again. What a service may do
    besides, and which service it is, is for prose.yml to say: a spec can grant itself nothing.

Example
    ```prose
    agent writer:
      provider: anthropic
      tools: [read, write]
    ```

Use instead
    ```prose
    agent writer:
      model: sonnet
      prompt: "You write plainly."
    ```
    with the service in prose.yml. Values for a session stand in its `context`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.syntax.properties import AGENT, ASK, SESSION

_KINDS: tuple[tuple[type[n.Node], str, frozenset[str]], ...] = (
    (n.Agent, "an agent", AGENT),
    (n.Session, "a session", SESSION),
    (n.Ask, "a question", ASK),
)
_HELP = {
    "permissions": "nothing is permitted beyond answering: a service does what prose.yml lets it do",
    "provider": "say in prose.yml which service answers: `default: NAME`",
    "env": "a command's environment is that of the process; say in prose.yml what a service needs",
    "tools": "a model is given no tools; let a service of prose.yml do what they do, and call it",
    "skills": "write what the skill says into the `prompt`, or call it as a spec of the project",
}


def find(facts: Facts) -> Iterator[Finding]:
    """Properties that nobody reads."""
    for kind, what, known in _KINDS:
        for node in facts.all(kind):
            for argument in node.args:
                if argument.name is not None and argument.name not in known:
                    yield _finding(argument, what, known)


def _finding(argument: n.Argument, what: str, known: frozenset[str]) -> Finding:
    name = argument.name or ""
    listed = ", ".join(f"`{word}`" for word in sorted(known))
    help_ = _HELP.get(name) or did_you_mean(name, known) or f"{what} knows {listed}; values stand in `context`"
    return Finding(argument.name_span or argument.span, f"`{name}` has no effect on {what}", help_)


RULE = Rule("ignored-property", "warning", find, __doc__)
