"""A spec whose name is not that of its file.

What it does
    Reports a `name` in the frontmatter that differs from the file's name by more than capitals, `-` and `_`. Tests,
    and files called `index`, `main`, `readme` or `skill`, may be named otherwise.

Why
    A spec is called by its name, and people look for it by its file. When the two differ, both lead to it, and one of
    them surprises.

Example
    In `review.prose.md`:
    ```yaml
    name: revew
    kind: function
    ```

Use instead
    ```yaml
    name: review
    kind: function
    ```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prose_runtime.check.project import stem
from prose_runtime.check.rule import Facts, Finding, Rule

_ANY_NAME = frozenset({"stdin", "index", "main", "readme", "skill"})


def find(facts: Facts) -> Iterator[Finding]:
    """The name of a file's spec when it is another one."""
    spec = facts.spec
    if facts.enclosing is not None or spec.kind == "test" or spec.name_span.start == spec.name_span.end:
        return
    file = stem(Path(spec.source.path))
    if file.lower() in _ANY_NAME or _plain(file) == _plain(spec.name) or facts.text(spec.name_span) != spec.name:
        return
    fits = re.fullmatch(r"[^\W\d][\w -]*", file)
    help_ = f"write name: {file}" if fits else "give the file the name of the spec"
    yield Finding(spec.name_span, f"the spec is called `{spec.name}`, and its file {file}", help_)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")


RULE = Rule("name-differs-from-file", "warning", find, __doc__)
