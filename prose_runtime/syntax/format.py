"""The canonical form of files, and of trees as text.

``format_spec`` works on a file's own text, so that comments, prose and the author's line breaks stay;
``print_block`` and ``print_expression`` print trees that need not come from any file.
"""

from __future__ import annotations

import re

from prose_runtime.errors import CheckFailed, ProseError
from prose_runtime.nodes import dump
from prose_runtime.syntax.format_program import print_block, print_expression
from prose_runtime.syntax.format_spec import lay_out, source_of
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source

__all__ = ["FormatFault", "format_spec", "print_block", "print_expression"]

_NEWLINE = re.compile(r"\r\n|\r|\n")


class FormatFault(ProseError):
    """What a file means would not have stayed the same: a fault of this program, found before anything was written."""

    kind = "bug"


def format_spec(source: Source) -> str:
    """The canonical form of a spec file: frontmatter, blank lines, lists and programs; its meaning stays the same.

    The sections keep their order, and prose and comments their words. The text has the line breaks of the file's first
    line, ends with one, and has no byte order mark. Formatting it again changes nothing.

    Raises:
        CheckFailed: The file has errors that keep it from being read; it holds all diagnostics of the parser.
        FormatFault: The canonical form would be read differently, which is a bug.
    """
    spec, diagnostics = parse(source)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise CheckFailed(diagnostics)
    plain = source_of(source)
    text = lay_out(spec if plain.raw == source.raw else parse(plain)[0])
    newline = _NEWLINE.search(source.raw)
    if newline and newline[0] != "\n":
        text = text.replace("\n", newline[0])
    if text != source.raw and repr(dump(parse(Source(source.path, text))[0])) != repr(dump(spec)):
        raise FormatFault(f"{source.path} would not mean the same after formatting, so it was left as it is")
    return text
