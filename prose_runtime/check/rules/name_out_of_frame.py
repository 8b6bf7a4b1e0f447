"""A name that is bound only in another frame.

What it does
    Reports a name that is read where no binding of it reaches: it is bound inside a parallel branch or iteration, a
    block or a pipeline body, and read outside of it.

Why
    Those bodies work on a copy of the names around them. What they bind stays inside, so the name is null here.

Example
    ```prose
    parallel:
      do:
        let plan = call planner
    return plan
    ```

Use instead
    ```prose
    parallel:
      let plan = call planner
    return plan
    ```
    A branch that is a `let` publishes its name; a block or iteration hands its value over with `return`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prose_runtime.check.rule import Facts, Finding, Rule
from prose_runtime.check.scope import Frame
from prose_runtime.diagnostics import Secondary

_PLACES = {
    "branch": "a parallel branch",
    "iteration": "a parallel iteration",
    "block": "a block",
    "stage": "a pipeline body",
    "delegation": "the program",
}


def find(facts: Facts) -> Iterator[Finding]:
    """Uses whose only bindings lie in frames that are not around them."""
    for use in facts.scopes.uses:
        name = use.name.id
        if use.kind not in ("expression", "interpolation") or name in facts.scopes.known_in(use.frame):
            continue
        binding = facts.scopes.bound_anywhere(name)
        if binding is not None:
            place = _PLACES[_frame_of(name, facts).kind]
            message = f"`{name}` is bound only inside {place} and has no value here"
            help_ = "hand it over: publish it with a `let` as the branch itself, or `return` it"
            yield Finding(use.name.span, message, help_, (Secondary(binding.span, "bound here"),))


def _frame_of(name: str, facts: Facts) -> Frame:
    return next(frame for frame in facts.scopes.all_frames if name in frame.bindings)


RULE = Rule("name-out-of-frame", "warning", find, __doc__)
