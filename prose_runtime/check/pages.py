"""How the page of a code without a rule of its own is made."""

from __future__ import annotations

import textwrap

from prose_runtime.check.rule import Rule
from prose_runtime.diagnostics import Severity


def page(
    code: str, severity: Severity, title: str, *, does: str, why: str, example: str, instead: str, firm: bool = False
) -> tuple[Rule, bool]:
    """A code that is reported while a file is read; ``firm`` ones cannot be silenced by a comment."""
    does, why = (textwrap.fill(text, 110) for text in (does, why))
    parts = [title + "."]
    for heading, text in (("What it does", does), ("Why", why), ("Example", example), ("Use instead", instead)):
        parts.append(heading + "\n" + textwrap.indent(text, "    "))
    return Rule(code, severity, None, "\n\n".join(parts)), firm
