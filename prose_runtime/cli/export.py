"""``prose runs export``: a recorded run as a file to read or to work on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prose_runtime.errors import UsageError
from prose_runtime.journal import Journal

if TYPE_CHECKING:
    from prose_runtime.report.story import Recorded

FORMATS = ("markdown", "html", "json")
_SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json"}


def recorded_here(journal: Journal, run: str) -> Recorded:
    """What is recorded of a run in this folder. Raises UsageError when there is no such run."""
    from prose_runtime.report.story import Recorded

    run = journal.resolve(run)
    return Recorded(journal.show(run), journal.trace(run), journal.request(run), journal.answers(run))


def export_run(recorded: Recorded, form: str | None, output: str | None) -> None:
    """Write a run to a file, or print it. Raises UsageError when the file cannot be written."""
    to = None if output in (None, "-") else Path(str(output))
    form = form or (_SUFFIXES.get(to.suffix.lower()) if to else None) or FORMATS[0]
    text = _rendered(recorded, form)
    if to is None:
        click.echo(text, nl=False)
        return
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {to}: {(error.strerror or str(error)).lower()}") from error


def _rendered(recorded: Recorded, form: str) -> str:
    from prose_runtime.report.story import story_of
    from prose_runtime.report.story_sources import Sources

    if form == "json":
        return _json(recorded)
    base = Path(recorded.request.get("base", "."))
    story = story_of(recorded, Sources(recorded.trace, base, _spec_file(recorded, base)))
    if form == "html":
        from prose_runtime.report.html import render as render_html

        return render_html(story)
    from prose_runtime.report.markdown import render as render_markdown

    return render_markdown(story)


def _spec_file(recorded: Recorded, base: Path) -> str | None:
    from prose_runtime.check.locate import locate

    found = locate(recorded.request["spec"], base) if isinstance(recorded.request.get("spec"), str) else None
    return None if found is None else str(found)


def _json(recorded: Recorded) -> str:
    """The object of ``runs show --json`` and, beside its fields, when each call started and ended, and the trace.

    A call that was given a note by the person watching has it as ``note``.
    """
    from prose_runtime.report.run_json import dumps
    from prose_runtime.report.story import note_of, timeline

    times = [
        {"step": step, "started": start, "finished": end} for step, (start, end) in timeline(recorded.trace).items()
    ]
    notes = [(call, note_of(call["step"], recorded.answers)) for call in recorded.shown["calls"]]
    calls = [call if note is None else {**call, "note": note} for call, note in notes]
    exported: dict[str, Any] = {
        **recorded.shown, "calls": calls, "request": recorded.request, "timeline": times, "trace": recorded.trace
    }  # fmt: skip
    return dumps(exported) + "\n"
