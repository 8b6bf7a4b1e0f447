"""The pytest plugin ``prose``: collects ``*.test.prose.md``, each a test of its own.

pytest patterns/                 runs the tests below, beside those in Python
pytest sum.test.prose.md
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prose_runtime.runtime.testrun import Outcome

SUFFIX = ".test.prose.md"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the files that are tests by their name."""
    return ProseFile.from_parent(parent, path=file_path) if file_path.name.endswith(SUFFIX) else None


class ProseFile(pytest.File):
    """A spec of kind test."""

    def collect(self) -> Iterator[pytest.Item]:
        """The one test of the file, by the name in its frontmatter."""
        from prose_runtime.check.project import peek

        yield ProseItem.from_parent(self, name=peek(self.path).name or self.path.name.removesuffix(SUFFIX))


class FailedTest(Exception):
    """A test of ours failed; the outcome says why."""

    def __init__(self, outcome: Outcome):
        super().__init__(outcome.name)
        self.outcome = outcome


class ProseItem(pytest.Item):
    """A test that pytest can run."""

    def runtest(self) -> None:
        """Run it.

        Raises:
            FailedTest: An expectation did not hold, or its subject ended with an error.
        """
        from prose_runtime.runtime.testrun import run_test

        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        outcome = asyncio.run(run_test(path))
        if not outcome.passed:
            raise FailedTest(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What failed and what was there instead; a file that cannot be read in one sentence."""
        from prose_runtime.errors import ProseError
        from prose_runtime.report.outcomes import failures

        if isinstance(excinfo.value, FailedTest):
            return failures(excinfo.value.outcome)
        if isinstance(excinfo.value, ProseError):
            return f"error: {excinfo.value.message}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test stands, for pytest's reports; its line counts from 0."""
        return self.path, 0, self.name
