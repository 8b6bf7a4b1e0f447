"""The durable record of runs: each answer from outside is kept before the program uses it (DESIGN.md section 6).

One SQLite file holds all runs of a folder. Answers are keyed by the step's place in the program, so that a resumed
run finds them again; a lock file per run admits one writer.
"""

from __future__ import annotations

from prose_runtime.journal.answers import Answer, RunRow
from prose_runtime.journal.record import RunRecord
from prose_runtime.journal.redaction import Redactor, protect, redact
from prose_runtime.journal.runs import Journal

__all__ = ["RECORD_FOLDER", "Answer", "Journal", "Redactor", "RunRecord", "RunRow", "protect", "redact"]

RECORD_FOLDER = ".prose"
"""The folder of the record, below the working directory."""
