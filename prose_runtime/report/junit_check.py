"""Diagnostics as JUnit XML: a suite for each file, a case for each fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from xml.etree import ElementTree as ET

from prose_runtime.diagnostics import Diagnostic
from prose_runtime.errors import UnreadableFile
from prose_runtime.report.xml import allowed, document


def render(
    diagnostics: Sequence[Diagnostic], unreadable: Sequence[UnreadableFile] = (), *, paths: Iterable[str] = ()
) -> str:
    """A suite for each of the ``paths`` that were checked; one without faults has one case that passed.

    Errors are failures, warnings cases that passed with a note, and files that could not be read errors.
    """
    by_file: dict[str, list[Diagnostic]] = {path: [] for path in paths}
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.source.path, []).append(diagnostic)
    root = ET.Element("testsuites", {"name": "prose check"})
    for path, found in by_file.items():
        _suite(root, path, found)
    for error in unreadable:
        case = _case(_counted(root, error.path, 1, 0, 1), error.path, "readable", 1)
        ET.SubElement(case, "error", {"type": "unreadable", "message": allowed(error.message)})
    return document(root)


def _suite(root: ET.Element, path: str, found: Sequence[Diagnostic]) -> None:
    failed = sum(diagnostic.severity == "error" for diagnostic in found)
    suite = _counted(root, path, max(1, len(found)), failed, 0)
    if not found:
        _case(suite, path, "no faults", 1)
    for diagnostic in found:
        _fault(suite, path, diagnostic)


def _counted(root: ET.Element, path: str, tests: int, failures: int, errors: int) -> ET.Element:
    counts = {"tests": str(tests), "failures": str(failures), "errors": str(errors), "skipped": "0"}
    return ET.SubElement(root, "testsuite", {"name": allowed(path), **counts})


def _case(suite: ET.Element, path: str, name: str, line: int) -> ET.Element:
    classname = ".".join(PurePath(path).with_suffix("").parts)
    places = {"classname": allowed(classname), "name": name, "file": allowed(path), "line": str(line)}
    return ET.SubElement(suite, "testcase", places)


def _fault(suite: ET.Element, path: str, diagnostic: Diagnostic) -> None:
    place = diagnostic.start
    case = _case(suite, path, f"{diagnostic.code} {place.line}:{place.column}", place.line)
    text = f"{diagnostic.where}: {diagnostic.severity}[{diagnostic.code}] {diagnostic.message}"
    text += f"\n{diagnostic.help}" if diagnostic.help else ""
    if diagnostic.severity == "error":
        told = ET.SubElement(case, "failure", {"type": diagnostic.code, "message": allowed(diagnostic.message)})
    else:
        told = ET.SubElement(case, "system-out")
    told.text = allowed(text)
