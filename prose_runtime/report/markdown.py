"""A run as a transcript in Markdown, to read or to paste."""

from __future__ import annotations

import re
from typing import Any

from prose_runtime.report.reading import environment, text
from prose_runtime.report.run_text import value_text
from prose_runtime.report.story import Story


def render(story: Story) -> str:
    """The transcript. What was said stands in quotes, so that its own headings do not mix with those around it."""
    made = environment(html=False)
    made.filters.update(quoted=quoted, inline=inline, fenced=fenced)
    return made.get_template("run.md.jinja2").render(story=story).strip() + "\n"


def quoted(value: Any) -> str:
    """A value as a block quote. Tags and links that run something are kept from working."""
    shown = _harmless(text(value_text(value)))
    return "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))


def inline(value: Any) -> str:
    """Text on one line, in which nothing is markup."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text(value).split()))


def fenced(code: str) -> str:
    """Code on one line, as it stands."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    marks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{marks}{pad}{text(code)}{pad}{marks}"


_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SCRIPT = re.compile(r"\]\((?=\s*(?:javascript|data|vbscript)\s*:)", re.IGNORECASE)


def _harmless(shown: str) -> str:
    return _SCRIPT.sub(r"]\\(", _TAG.sub(r"\\<", shown))
