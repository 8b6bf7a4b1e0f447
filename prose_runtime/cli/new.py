"""``prose new``: a small spec with its test. Both pass ``prose check --strict`` and run at once, offline."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prose_runtime.cli.new_templates import TEMPLATES, TEST
from prose_runtime.errors import UsageError

if TYPE_CHECKING:
    from prose_runtime.check.tables import Analysis

KINDS = ("pattern", "function", "test")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_SUFFIX = ".prose.md"
_TEST = ".test"
_TRIES = {"pattern": 'prose run {file} "what is to be written"', "function": 'prose run {file} "the text"'}


@click.command(short_help="Write a small spec and its test to start from.")
@click.argument("kind", required=False, metavar="pattern|function|test")
@click.argument("name", required=False)
def new(kind: str | None, name: str | None) -> None:
    """Write NAME.prose.md and NAME.test.prose.md: a small spec and its test, as a start for your own.

    `test NAME` writes a test for a spec of that name. On a terminal, what is not given is asked for.
    """
    kind, name = _asked(kind, name)
    path = target(name, kind)
    if kind == "test":
        written = {path: _test_of(path)}
    else:
        own = path.name.removesuffix(_SUFFIX)
        spec, test = (text.replace("NAME", own) for text in TEMPLATES[kind])
        written = {path: spec, path.with_name(own + _TEST + _SUFFIX): test}
    write_new(written)
    for file in written:
        click.echo(f"wrote {file}")
    tries = [_TRIES[kind]] if kind in _TRIES else []
    for line in (*tries, "prose test {test}"):
        click.echo(f"try:  {line.format(file=path, test=list(written)[-1])}", err=True)


def _asked(kind: str | None, name: str | None) -> tuple[str, str]:
    """Kind and name, asked for on a terminal. Raises UsageError."""
    if name is None and not sys.stdin.isatty():
        what = "a kind and a name" if kind is None else "a NAME"
        raise UsageError(f"`prose new` needs {what}", help="write `prose new pattern NAME`, or function, or test")
    if kind is None:
        kind = click.prompt("Kind", type=click.Choice(KINDS), default=KINDS[0], err=True)
    if kind not in KINDS:
        from prose_runtime.diagnostics import did_you_mean

        raise UsageError(
            f"there is no kind `{kind}` to begin with",
            help=did_you_mean(kind, KINDS) or f"the kinds are {', '.join(KINDS)}",
        )
    return kind, _name(kind) if name is None else name


def _name(kind: str) -> str:
    """A name, asked for until it can be one."""

    def checked(text: str) -> str:
        try:
            _refuse(target(text, kind))
        except UsageError as error:
            raise click.UsageError(f"{error.message}; {error.help}") from None
        return text

    question = "Name of the spec to test" if kind == "test" else "Name"
    name: str = click.prompt(question, value_proc=checked, err=True)
    return name


def target(name: str, kind: str) -> Path:
    """The file to write. Raises UsageError when the name can be no spec's name."""
    path = Path(name)
    own = path.name.removesuffix(_SUFFIX).removesuffix(".md")
    if kind == "test":
        own = own.removesuffix(_TEST).removesuffix("-test")
    if not _NAME.fullmatch(own):
        raise UsageError(
            f"`{name}` is no name for a spec", help="use letters, digits, `-` and `_`, such as `code-review`"
        )
    return path.with_name(own + (_TEST if kind == "test" else "") + _SUFFIX)


def write_new(files: dict[Path, str]) -> None:
    """Write files, none of which exists yet: all of them or none. Raises UsageError."""
    for path in files:
        _refuse(path)
    for path, text in files.items():
        try:
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def _refuse(path: Path) -> None:
    if path.exists():
        raise UsageError(f"{path} exists already", help="choose another name, or remove the file first")


def _test_of(path: Path) -> str:
    """The text of a test for the spec that its name means, beside it, in the project or in the library."""
    from prose_runtime.check.checker import check_path
    from prose_runtime.check.project import Project

    subject = path.name.removesuffix(_SUFFIX).removesuffix(_TEST)
    project = Project.around(path)
    found = project.find(subject, path.absolute().parent)
    if found is None:
        raise UsageError(
            f"there is no spec `{subject}` to test", help=f"begin with it: `prose new pattern {subject}` writes both"
        )
    analysis = check_path(found, project)
    fixtures = "".join(f"- {line}\n" for line in _fixtures(analysis))
    text = TEST.replace("FIXTURES", f"### Fixtures\n\n{fixtures}\n" if fixtures else "")
    return text.replace("EXPECTS", f"- {_expectation(analysis)}").replace("NAME", subject)


def _fixtures(analysis: Analysis) -> list[str]:
    """A value for each input that has to be there, and for each slot a stand-in that needs no model."""
    from prose_runtime.syntax.config_values import read_type

    stand_in = "{provider: rehearsal}"
    values = {"array": '["one", "two"]', "integer": "2", "number": "2", "boolean": "true", "object": "{}"}
    rows = [row for row in analysis.inputs.values() if not row.optional and not row.has_default]
    lines = [f"`{row.name}`: {values.get(read_type(row.type).kind, _quoted(row.name))}" for row in rows]
    for slot in analysis.spec.slots:
        lines.append(f"`{slot.name}`: {f'[{stand_in}, {stand_in}]' if slot.is_list else stand_in}")
    return lines if analysis.spec.slots else [*lines, f"`default`: {stand_in}"]


def _quoted(name: str) -> str:
    return f'"a {name.replace("_", " ").replace("-", " ")}"'


def _expectation(analysis: Analysis) -> str:
    outputs = analysis.spec.returns.outputs if analysis.spec.returns else ()
    first = next((output for output in outputs if not output.optional), None)
    return f"`{first.name}`: is present" if first else "is present"
