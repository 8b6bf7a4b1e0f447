"""Runs one test: its subject with its fixtures, then each of its expectations (LANGUAGE.md section 1, ``test``).

What is plain is decided in code, the rest by the judge, whose reason is kept; an expectation without a verdict has
failed. A subject that ends with an error fails the test, unless the test expects that:

    - raises: timeout            an error of this kind, or with these words in its message
    - raises an error            any error
    - fails with `no reply`      the same in other words
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prose_runtime.check.checker import check_path
from prose_runtime.check.project import Project, walk
from prose_runtime.check.subjects import TEST_KIND, find_subject
from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import Diagnostic
from prose_runtime.errors import Cancelled, CheckFailed, ContractError, ProseError, UnreadableFile, UsageError
from prose_runtime.nodes import Expectation, Spec
from prose_runtime.runtime import judge
from prose_runtime.runtime.assertions import NoSuchOutput, decide, output, shown
from prose_runtime.runtime.core import Activation
from prose_runtime.runtime.fixtures import Given, read_given
from prose_runtime.runtime.frame import Frame
from prose_runtime.runtime.host import LocalHost
from prose_runtime.runtime.limits import Meter
from prose_runtime.runtime.session import Prepared, Result, RunRequest, execute, prepare, write_cassette
from prose_runtime.runtime.tape import TapeWords
from prose_runtime.runtime.unit import Run, Unit
from prose_runtime.runtime.wiring import LocalWiring
from prose_runtime.syntax.claims import LONGEST, BadClaim, Claim, Negation, Operand, literal, read_claim, words_of
from prose_runtime.syntax.config_values import BadValue, read_value
from prose_runtime.text import Where
from prose_runtime.values import Value

TEST_SUFFIX = ".test.prose.md"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of an expectation. ``got`` says what there was instead; ``reason`` is the judge's, if it was asked."""

    text: str
    where: Where
    passed: bool
    negated: bool = False
    judged: bool = False
    got: str = ""
    reason: str | None = None


@dataclass(slots=True)
class Outcome:
    """What came of a test. ``error`` is what ended it, or its subject, unexpectedly; ``seconds`` is wall time.

    ``note`` says which service answered where nothing was bound, and why; ``warnings`` are those of the test's file.
    """

    name: str
    where: Where
    subject: str | None = None
    judgements: list[Judgement] = field(default_factory=list)
    error: ProseError | None = None
    seconds: float = 0.0
    note: str = ""
    calls: int = 0
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether it ran to its end and every expectation held."""
        return self.error is None and all(judgement.passed for judgement in self.judgements)

    def as_json(self) -> dict[str, Any]:
        """The test as ``prose test --json`` shows it."""
        return {
            "name": self.name,
            "file": self.where.file,
            "line": self.where.line,
            "subject": self.subject,
            "passed": self.passed,
            "seconds": round(self.seconds, 3),
            "calls": self.calls,
            "error": self.error.as_json() if self.error else None,
            "expectations": [_as_json(judgement) for judgement in self.judgements],
        }


def _as_json(judgement: Judgement) -> dict[str, Any]:
    return {
        "text": judgement.text,
        "line": judgement.where.line,
        "negated": judgement.negated,
        "passed": judgement.passed,
        "judged": judgement.judged,
        "got": judgement.got,
        "reason": judgement.reason,
    }


def find_tests(paths: Iterable[Path]) -> tuple[list[Path], list[UnreadableFile]]:
    """The tests among files, and in folders and below, each once; and what could not be read.

    Raises:
        UsageError: A file that is named is no test.
    """
    found: dict[Path, Path] = {}
    unreadable: list[UnreadableFile] = []
    for path in paths:
        if path.is_dir():
            project = Project.around(path)
            tests = [p for p in walk(path, unreadable.append) if _is_test(p, project)]
        elif not path.exists():
            tests = []
            unreadable.append(UnreadableFile(str(path), "there is no such file"))
        elif _is_test(path, Project.around(path)):
            tests = [path]
        else:
            raise UsageError(f"{path} is no test", help="a test says `kind: test` in its frontmatter")
        for test in tests:
            found.setdefault(test.resolve(), test)
    return list(found.values()), unreadable


def _is_test(path: Path, project: Project) -> bool:
    return path.name.endswith(TEST_SUFFIX) or project.front(path).kind == TEST_KIND


async def run_test(path: Path, *, record: bool = False) -> Outcome:
    """Run the test of a file, with services of its own. Whatever goes wrong in it is in the outcome.

    ``record``: where the test names a cassette, ask for what is not on it, and write it.

    Raises:
        UnreadableFile: The file cannot be read.
    """
    start = time.monotonic()
    project = Project.around(path)
    analysis = check_path(path, project)
    spec = analysis.spec
    outcome = Outcome(spec.name, spec.source.where(spec.name_span))
    try:
        await _run(analysis, project, outcome, record)
    except ProseError as error:
        outcome.error = error
    outcome.seconds = time.monotonic() - start
    return outcome


async def _run(test: Analysis, project: Project, outcome: Outcome, record: bool) -> None:
    spec = test.spec
    if any(d.severity == "error" for d in test.diagnostics):
        raise CheckFailed(test.diagnostics)
    outcome.warnings = [d for d in test.diagnostics if d.severity == "warning"]
    subject = find_subject(spec, project)
    if spec.kind != TEST_KIND or subject.path is None:
        raise UsageError(subject.problem or f"{spec.name} is no test", help=subject.help)
    outcome.subject = subject.name
    path = _near(subject.path)
    given = read_given(spec, check_path(path, project))
    try:
        prepared = _prepared(spec, path, given, _cassette(spec, project, record))
    except ProseError as error:
        if not _expected(error, spec.expectations):
            raise
        outcome.judgements = [_of_run(e, error, None, spec) for e in spec.expectations]
        return
    outcome.note = "" if "default" in given.words else prepared.note
    await _execute(spec, prepared, outcome)


def _near(path: Path) -> Path:
    """The path as a person at this place would write it."""
    path = Path(os.path.normpath(path))
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _prepared(spec: Spec, path: Path, given: Given, cassettes: TapeWords) -> Prepared:
    bindings = given.bindings(Path(spec.source.path))
    request = RunRequest(
        path, given.inputs, given.config, given.bind, record=False, cassettes=cassettes, bindings=bindings
    )
    prepared = prepare(request)
    return replace(prepared, wiring=_Kept(bindings, prepared.wiring.project))


def _cassette(spec: Spec, project: Project, record: bool) -> TapeWords:
    """The cassette that the frontmatter of a test names, beside the test and inside its project."""
    name = spec.frontmatter.get("cassette")
    if name is None:
        return TapeWords()
    path = Path(spec.source.path).parent / str(name)
    if not path.resolve().is_relative_to(project.root.resolve()):
        raise UsageError(f"the cassette `{name}` stands outside of the project", help="put it beside the test")
    if record:
        return TapeWords(path if path.exists() else None, path, "ask")
    if not path.exists():
        raise UsageError(f"there is no cassette `{name}`", help="record it with `prose test --record`")
    return TapeWords(path)


class _Kept(LocalWiring):
    """Wiring whose services outlive the subject's run: the judge of the expectations goes on where it was."""

    async def aclose(self) -> None:
        """Nothing yet: ``close`` lets go of the services."""

    async def close(self) -> None:
        """Let go of the services."""
        await super().aclose()


async def _execute(spec: Spec, prepared: Prepared, outcome: Outcome) -> None:
    wiring = prepared.wiring
    assert isinstance(wiring, _Kept)
    try:
        result = await execute(prepared)
        outcome.calls = len(result.calls)
        if isinstance(result.error, Cancelled):
            raise asyncio.CancelledError
        if result.error is not None and not _expected(result.error, spec.expectations):
            outcome.error = result.error
        broken = [entry for entry in result.invariants if entry["status"] == "broken"]
        if outcome.error is None and broken:
            outcome.error = _broken(broken[0], prepared)
        judging = _Judging(spec, prepared, result)
        for number, expectation in enumerate(spec.expectations, 1):
            # What the subject did not come to is nothing to expect anything of.
            if outcome.error is None or expected_error(expectation) is not None:
                outcome.judgements.append(await judging.of(expectation, number))
        write_cassette(prepared, result)
    finally:
        await wiring.close()


def _broken(entry: dict[str, Any], prepared: Prepared) -> ProseError:
    where = Where(prepared.program.source.path, entry["line"])
    how = f" ({entry['how']})" if entry.get("how") else ""
    return ContractError(f"broken invariant: {entry['text']}{how}", kind="invariant", where=where)


# errors that are expected

_RAISES = re.compile(
    r"(?:it\s+)?(?P<verb>raises|throws|fails|error)\b\s*(?P<with>with\b)?\s*(?P<colon>:)?\s*"
    r"(?:an?\s+error\b|any\s+error\b|anything\b)?\s*(?P<kind>(?:with|of\s+kind)\b)?\s*:?\s*(?P<rest>.*)",
    re.I,
)
_RAISES_NOTHING = re.compile(
    r"(?:it\s+)?(?:(?:raises|throws)\s+(?:nothing|no\s+errors?)|completes|succeeds|"
    r"(?:does\s+not|doesn't|never)\s+(?:(?:raises?|throws?)(?:\s+(?:an|any)\s+errors?)?|fails?))",
    re.I,
)
_KINDS = frozenset(
    "overloaded rate_limit unavailable timeout format auth refused length exhausted failed thrown judge value contract "
    "shape invariant limit paused check usage".split()
)


@dataclass(frozen=True, slots=True)
class Raises:
    """What an expectation says of an error: its kind or words of its message, "" for any; ``denied``: there is none."""

    words: str
    denied: bool = False

    def fits(self, error: ProseError) -> bool:
        """Whether an error is of that kind, or its message has these words."""
        said = self.words.casefold()
        return not said or said == error.kind.casefold() or said in error.message.casefold()


def expected_error(expectation: Expectation) -> Raises | None:
    """What an expectation says of an error; None when it is about the result."""
    if expectation.path is not None or len(expectation.text) > LONGEST:
        return None
    text = " ".join(expectation.text.split()).rstrip(" .")
    if _RAISES_NOTHING.fullmatch(text):
        return Raises("", denied=not expectation.negated)
    match = _RAISES.fullmatch(text)
    if match is None:
        return None
    found = literal(match["rest"])
    spelled = found.text if found else match["rest"].strip()
    # "raises concerns" and "fails to convince" are about the text, not about an error.
    marked = match["colon"] or match["with"] or match["kind"]
    firm = not spelled or marked or (found is not None and not found.word) or spelled.lower() in _KINDS
    return Raises(spelled, expectation.negated) if firm else None


def _expected(error: ProseError, expectations: Iterable[Expectation]) -> bool:
    return any(raises.fits(error) for e in expectations if (raises := expected_error(e)) and not raises.denied)


def _of_run(expectation: Expectation, error: ProseError | None, result: Value, spec: Spec) -> Judgement:
    """What comes of an expectation about an error, or about the result of a run that has none."""
    where = spec.source.where(expectation.span)
    raises = expected_error(expectation)
    if raises is None:
        got = f"no result: {error.message}" if error else ""
        return Judgement(expectation.text, where, False, expectation.negated, got=got)
    raised = error is not None and raises.fits(error)
    got = f"an error of kind {error.kind}: {error.message}" if error else f"no error, but {shown(result)}"
    return Judgement(expectation.text, where, raised != raises.denied, expectation.negated, got=got)


# expectations of the result


def claim_of(expectation: Expectation) -> Claim | None:
    """The plain claim of an expectation, negated where it stands under Expects Not; None when it is for the judge.

    Raises:
        UsageError: It holds a regular expression that is none.
    """
    try:
        claim = read_claim(expectation.claim, _operand(expectation))
    except BadClaim as error:
        raise UsageError(str(error)) from None
    return Negation(claim) if claim and expectation.negated else claim


def _operand(expectation: Expectation) -> Operand | None:
    block = expectation.block
    if block is None:
        return None
    if expectation.label in ("json", "yaml", "yml"):
        from prose_runtime.syntax.fixture_values import read_yaml

        try:
            return Operand(block, read_yaml(block))
        except BadValue as error:
            raise UsageError(f"the block below `{expectation.text}` is no {expectation.label}: {error}") from None
    try:
        structured = block.lstrip()[:1] in ("[", "{") and expectation.label is None
        return Operand(block, read_value(block) if structured else block)
    except BadValue:
        return Operand(block, block)


class _Judging:
    """Decides the expectations of a test about one result."""

    def __init__(self, spec: Spec, prepared: Prepared, result: Result):
        self.spec = spec
        self.result = result
        self.given = {**prepared.request.inputs}
        returns = prepared.analysis.spec.returns
        self.declared = tuple(entry.name for entry in returns.outputs) if returns else ()
        host = LocalHost(None, Meter(prepared.limits), [], tape=prepared.tape)
        self.unit = Unit(Run(host, prepared.wiring), prepared.program, {}, {})

    async def of(self, expectation: Expectation, number: int) -> Judgement:
        """What comes of one expectation; ``number`` is its place in the test."""
        where = self.spec.source.where(expectation.span)
        if self.result.error is not None or expected_error(expectation) is not None:
            return _of_run(expectation, self.result.error, self.result.value, self.spec)
        claim = claim_of(expectation)
        path, value, missing = self._value(expectation, claim)
        if missing:
            return Judgement(expectation.text, where, False, expectation.negated, got=missing)
        try:
            held = decide(claim, value) if claim else None
        except TimeoutError as slow:
            return Judgement(expectation.text, where, False, expectation.negated, got=str(slow))
        if held is not None:
            return Judgement(expectation.text, where, held, expectation.negated, got=shown(value))
        return await self._asked(expectation, claim, path, value, number)

    def _value(self, expectation: Expectation, claim: Claim | None) -> tuple[str | None, Value, str]:
        """The name of the value that is meant, the value, and what to say when there is none of that name."""
        path, result = expectation.path, self.result.value
        if path is None:
            return None, result, ""
        try:
            return path, output(path, result, self.declared), ""
        except NoSuchOutput as error:
            if not expectation.ticked and claim is None:
                return None, result, ""
            held = str(error)
            what = f"it has {held}" if held else f"it is {shown(result)}"
            return path, None, f"the result has no `{path}`; {what}"

    async def _asked(
        self, expectation: Expectation, claim: Claim | None, path: str | None, value: Value, number: int
    ) -> Judgement:
        where = self.spec.source.where(expectation.span)
        act = Activation(self.unit, Frame({}), f"expects[{number}]")
        try:
            verdict, reason = await judge.verdict(expectation.text, self._shown(path, value), act, where)
        except ProseError as error:
            return Judgement(
                expectation.text, where, False, expectation.negated, True, shown(value), _no_verdict(error, claim)
            )
        passed = verdict != expectation.negated
        return Judgement(expectation.text, where, passed, expectation.negated, True, shown(value), reason)

    def _shown(self, path: str | None, value: Value) -> dict[str, Value]:
        """What the judge gets to see: the value that is meant, or all outputs, and what the subject was given."""
        if path is not None:
            meant = {path: value}
        elif isinstance(value, dict) and value:
            meant = dict(value)
        else:
            meant = {self.declared[0] if len(self.declared) == 1 else "result": value}
        return {**meant, **{name: entry for name, entry in self.given.items() if name not in meant}}


def _no_verdict(error: ProseError, claim: Claim | None) -> str:
    words = sorted(set(words_of(claim))) if claim else []
    quoted = ", ".join(f"`{word}`" for word in words)
    return (
        f"{error.message}; to have a word compared as it stands, put it in backticks: {quoted}"
        if words
        else error.message
    )
