"""The words behind ``prose run SPEC``: a spec's slots, config and inputs as options (DESIGN.md section 4)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from prose_runtime.check.tables import Analysis
from prose_runtime.cli.cassettes import NAMES as CASSETTE_NAMES
from prose_runtime.cli.cassettes import cassette_options, given_cassettes
from prose_runtime.cli.convert import Item, base_type, dashed, enum_labels, from_texts
from prose_runtime.cli.engine import NAMES as ENGINE_NAMES
from prose_runtime.cli.engine import engine_options, given_engine
from prose_runtime.cli.labels import Labels
from prose_runtime.cli.limits import NAMES as LIMIT_NAMES
from prose_runtime.cli.limits import given_limits, limit_options
from prose_runtime.cli.people import TELEGRAM, WITH_VALUE, people_options, read_people, with_chats
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.nodes import PERSON, ConfigItem, Parameter, Slot
from prose_runtime.values import clean_text

GENERAL_FLAGS = ("--json", "--quiet", "-q", "--no-record", "--help", "-h")
WITH_MORE = (*LIMIT_NAMES, *WITH_VALUE, *ENGINE_NAMES, *CASSETTE_NAMES)
GENERAL_WITH_VALUE = ("--input", "--inputs", *WITH_MORE, "--output", "-o", "--at-once")


@dataclass(frozen=True, slots=True)
class Verb:
    """A command that takes a spec.

    ``does`` says what it does with a SPEC. ``more`` are options that it has beside those of ``prose run``, ``without``
    those that it lacks.
    """

    name: str = "run"
    does: str = "Run SPEC."
    more: Sequence[click.Option] = ()
    without: Sequence[str] = ()

    def kept(self, known: Iterable[click.Option]) -> list[click.Option]:
        """Those of the options of ``prose run`` that this command has as well."""
        other = {*self.without, *(name for option in self.more for name in option.opts)}
        return [option for option in known if other.isdisjoint(option.opts)]


RUN = Verb()


@dataclass(slots=True)
class Words:
    """What a command line says, converted to values of the declared types."""

    json: bool = False
    quiet: bool = False
    record: bool = True
    limits: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    bind: dict[str, str | list[str]] = field(default_factory=dict)
    people: dict[str, Any] | None = None
    engine: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    cassettes: dict[str, Any] = field(default_factory=dict)

    def put(self, item: Item, value: Any) -> None:
        """Give an item its value. Raises UsageError when it has one already."""
        place: dict[str, Any] = {"slot": self.bind, "config": self.config, "input": self.inputs}[item.kind]
        if item.name in place:
            raise UsageError(f"`{item.name}` is given twice", help=f"keep one of `{item.option}`, INPUT and `--input`")
        place[item.name] = value


def items(analysis: Analysis) -> list[Item]:
    """What can be given to a spec, slots first; each name once."""
    from prose_runtime.runtime.inputs import missing_names

    spec = analysis.spec
    required = frozenset(missing_names(analysis, {}, {}))
    rows = {row.name: row for row in spec.parameters}
    jobs = {delegate.slot: delegate.job for delegate in spec.shape.delegates} if spec.shape else {}
    found = [_slot(slot, rows.get(slot.name), jobs.get(slot.name, "")) for slot in spec.slots]
    found += [_config(item, rows.get(item.name), item.name in required) for item in spec.config]
    taken = {item.name for item in found}
    return found + [_input(row, row.name in required) for row in analysis.inputs.values() if row.name not in taken]


def _slot(slot: Slot, row: Parameter | None, job: str) -> Item:
    text = slot.description or (row.description if row else "") or job.partition(". ")[0]
    default = PERSON if slot.person else None
    return Item("slot", slot.name, "service[]" if slot.is_list else "service", False, text, default)


def _config(item: ConfigItem, row: Parameter | None, required: bool) -> Item:
    kind = item.type or (row.type if row else None) or _type_of(item.default)
    text = item.description or (row.description if row else "")
    return Item("config", item.name, kind, required, text, item.default)


def _input(row: Parameter, required: bool) -> Item:
    return Item("input", row.name, row.type or _type_of(row.default), required, row.description, row.default)


def _type_of(default: Any) -> str | None:
    return next((name for kind, name in _JSON_TYPES if isinstance(default, kind)), None)


_JSON_TYPES = ((bool, "boolean"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object"))


# where the spec stands


def spec_word(words: Sequence[str], known: Callable[[str], bool]) -> int | None:
    """The index of SPEC: the first word that is no option, or, behind an option that we cannot know, a spec."""
    doubtful = []
    before = ""
    for index, word in enumerate(words):
        free = not before.startswith("--") or "=" in before or before in (*GENERAL_FLAGS, "--")
        if before in GENERAL_WITH_VALUE or (word.startswith("-") and word != "-"):
            before = word if word.startswith("-") else ""
            continue
        if free:
            return index
        doubtful.append(index)
        before = word
    return next((i for i in doubtful if known(words[i])), doubtful[-1] if doubtful else None)


def has_flag(words: Sequence[str], *flags: str) -> bool:
    """Whether a general flag stands anywhere before ``--``."""
    options = words[: words.index("--")] if "--" in words else words
    return any(word in flags for word in options)


# parsing


class SpecCommand(click.Command):
    """``prose run SPEC`` with the options of one spec, grouped for ``--help``."""

    def __init__(self, title: str, text: str, groups: Mapping[str, list[click.Option]], labels: Labels | None = None):
        self.groups = groups
        self.telegram = next((o.opts[0] for o in groups.get("People", ()) if o.name == "telegram"), TELEGRAM)
        self.labels = labels or Labels()
        argument = click.Argument(["given"], nargs=-1, metavar="[INPUT]", type=click.UNPROCESSED)
        options = [option for group in groups.values() for option in group]
        super().__init__(
            title,
            params=[argument, *options],
            help=text,
            add_help_option=False,
            context_settings={"token_normalize_func": dashed, "max_content_width": 110},
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list a group."""
        for title, options in self.groups.items():
            records = [record for option in options if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=36)


def general_options() -> list[click.Option]:
    """The options of ``prose run`` that every spec has."""
    return [
        click.Option(["--input", "given_inputs"], multiple=True, metavar="NAME=VALUE",
                     help="Give an input or config item by name; NAME=@FILE reads a file, NAME=@- standard input."),
        click.Option(["--inputs", "inputs_file"], metavar="FILE.json",
                     help="Read inputs and config from a JSON object; - is standard input."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object with everything that happened."),
        click.Option(["--quiet", "-q", "quiet"], is_flag=True, help="Show no progress."),
        click.Option(["--no-record", "no_record"], is_flag=True, help="Keep no record; the run cannot be resumed."),
        click.Option(["--help", "-h", "wants_help"], is_flag=True, help="Show this message and exit."),
    ]  # fmt: skip


def command(analysis: Analysis, spec: str, verb: Verb = RUN) -> tuple[SpecCommand, dict[str, Item]]:
    """The command of one spec, and its items by click's parameter name."""
    general = [*verb.more, *verb.kept(general_options())]
    taken = {name for option in general for name in option.opts}
    everything = items(analysis)
    people = people_options(taken | {item.option for item in everything})
    groups: dict[str, list[click.Option]] = {
        "Slots": [], "Config": [], "Inputs": [], "People": people, "General": general
    }  # fmt: skip
    known: dict[str, Item] = {}
    for index, item in enumerate(everything):
        names = [item.option, *([f"--no-{dashed(item.name)}"] if item.is_flag else [])]
        if taken.isdisjoint(names):  # a clash: the earlier one wins, --input still works
            taken.update(names)
            known[f"item{index}"] = item
    # The spec's own come first: what it calls `concurrency` is not ours.
    groups["Limits"] = [option for option in limit_options() if taken.isdisjoint(option.opts)]
    groups["Cassettes"] = [option for option in verb.kept(cassette_options()) if taken.isdisjoint(option.opts)]
    groups["Engine"] = [option for option in engine_options() if taken.isdisjoint(option.opts)]
    taken |= {
        name
        for title in ("People", "Limits", "Cassettes", "Engine")
        for option in groups[title]
        for name in option.opts
    }
    labels = Labels.of(everything, taken)
    for key, item in known.items():
        groups[item.kind.capitalize() + "s" * (item.kind != "config")].append(_option(key, item, labels.shown(item)))
    groups["General"] += labels.options()
    return SpecCommand(f"prose {verb.name} {spec}", _about(analysis, verb), groups, labels), known


def _option(key: str, item: Item, flags: str) -> click.Option:
    if item.is_flag:
        switch = f"{item.option}/--no-{dashed(item.name)}"
        return click.Option([switch, key], is_flag=True, default=None, help=_help(item))
    repeated = item.kind == "slot" and item.type == "service[]"
    metavar = "SERVICE[,...]" if repeated else "SERVICE" if item.kind == "slot" else _metavar(item.type)
    return click.Option([item.option, key], multiple=True, metavar=metavar, help=_help(item, flags))


def _metavar(type_: str | None) -> str:
    base = base_type(type_)
    if base in ("array", "object"):
        return "JSON"
    return (
        "[" + "|".join(enum_labels(type_)) + "]"
        if base == "enum"
        else (base or "TEXT").replace("string", "text").upper()
    )


def _help(item: Item, flags: str = "") -> str:
    """An item's line in the help; ``flags`` are the short ways to its values."""
    notes = []
    if item.kind == "slot" and not item.text:
        return "The default service when left out."
    if item.required:
        notes.append("required")
    elif item.default is not None:
        notes.append(f"default: {item.default if isinstance(item.default, str) else json.dumps(item.default)}")
    if item.kind != "slot" and (item.type or "").endswith("[]"):
        notes.append("repeat for more")
    if flags:
        notes.append(f"or just {flags}")
    text = item.text[:1].upper() + item.text[1:]
    return " ".join([text, f"[{'; '.join(notes)}]" if notes else ""]).strip()


def _about(analysis: Analysis, verb: Verb) -> str:
    spec = analysis.spec
    description = spec.frontmatter.get("description")
    text = description if isinstance(description, str) else spec.shape.own if spec.shape else ""
    does = verb.does.replace("SPEC", f"the {spec.kind} {spec.name}")
    return f"{does} {text[:1].upper()}{text[1:]}".strip()


def parse(analysis: Analysis, spec: str, words: Sequence[str], base: Path, verb: Verb = RUN) -> Words | str:
    """What the words behind SPEC say, or the help text when that is asked for.

    Raises UsageError: an unknown option, a value of the wrong type (all such at once), a file that cannot be read.
    """
    built, known = command(analysis, spec, verb)
    context = _context(built, words)
    given = context.params
    if given["wants_help"]:
        return built.get_help(context)
    reader = Reader(base)
    people = read_people(given, analysis, reader)
    said = Words(
        given.get("as_json", False),
        given["quiet"],
        not given.get("no_record"),
        given_limits(given),
        people=people,
        engine=given_engine(given),
        more={name: given[name] for option in verb.more if (name := option.name) is not None},
        cassettes=given_cassettes(given),
    )
    collected = Collected(said)
    for key, item in known.items():
        for value in _values(item, given[key]):
            collected.put(item, partial(_from_option, item, value, reader))
    for item, label in built.labels.given(given):
        collected.put(item, partial(str, label))
    everything = items(analysis)
    for text in given["given_inputs"]:
        item, value = _named(text, everything, reader)
        collected.put(item, partial(from_texts, item, [value]))
    _fill_first(collected, everything, [clean_text(text) for text in given["given"]], reader)
    collected.done()
    if given.get("inputs_file") is not None:
        _merge(said, reader.object(given["inputs_file"]), everything)
    return said


def _context(built: SpecCommand, words: Sequence[str]) -> click.Context:
    try:
        return built.make_context(built.name, with_chats(words, built.telegram))
    except click.NoSuchOption as error:
        could = built.labels.unclear.get(dashed(error.option_name))
        if could:
            raise UsageError(f"`{error.option_name}` is ambiguous", help=f"write `{'` or `'.join(could)}`") from None
        close = (
            f"did you mean {' or '.join(f'`{name}`' for name in error.possibilities)}?" if error.possibilities else None
        )
        listed = f"`{built.name} --help` lists the options"
        raise UsageError(f"there is no option `{error.option_name}`", help=close or listed) from None
    except click.UsageError as error:
        raise UsageError(error.format_message(), help=f"`{built.name} --help` lists the options") from None


class Collected:
    """Puts values into ``Words`` and gathers what is wrong with them, so that all of it is reported at once."""

    def __init__(self, said: Words):
        self.said = said
        self.faults: list[UsageError] = []

    def put(self, item: Item, make: Callable[[], Any]) -> None:
        """Give an item the value that ``make`` returns, or keep the fault that it raises."""
        try:
            self.said.put(item, make())
        except UsageError as error:
            self.faults.append(error)

    def done(self) -> None:
        """Raise one UsageError for all faults."""
        if self.faults:
            helps = dict.fromkeys(fault.help for fault in self.faults if fault.help)
            raise UsageError("; ".join(fault.message for fault in self.faults), help="; ".join(helps) or None)


def _values(item: Item, given: Any) -> Iterator[Any]:
    if item.is_flag:
        if given is not None:
            yield given
    elif given:
        yield [clean_text(text) for text in given]


def _from_option(item: Item, given: Any, reader: Reader) -> Any:
    if item.is_flag:
        return given
    if item.kind == "input":
        given = [reader.stdin() if text == "-" else text for text in given]
    return from_texts(item, given)


def _named(text: str, everything: list[Item], reader: Reader) -> tuple[Item, str]:
    name, equals, value = clean_text(text).partition("=")
    if not equals:
        raise UsageError(f"`--input {text}` gives no value", help="write `--input NAME=VALUE` or `--input NAME=@FILE`")
    item = _find(name.strip(), everything, "--input")
    return item, reader.text(value[1:]) if value.startswith("@") else value


def _find(name: str, everything: list[Item], place: str) -> Item:
    for item in everything:
        if dashed(item.name) == dashed(name):
            return item
    names = [item.name for item in everything]
    known = f"it has {', '.join(f'`{n}`' for n in names)}" if names else "it takes none"
    raise UsageError(f"{place}: the spec has no input `{name}`", help=did_you_mean(name, names) or known)


def _fill_first(collected: Collected, everything: list[Item], given: list[str], reader: Reader) -> None:
    if not given:
        return
    if len(given) > 1:
        raise UsageError(f"one INPUT is taken, {len(given)} are given", help="put a text of several words in quotes")
    texts = [item for item in everything if item.kind == "input" and item.is_text]
    required = [item for item in texts if item.required]
    open_ones = [item for item in required or texts if item.name not in collected.said.inputs]
    if not open_ones:
        why = "all of them are given by name" if texts else "the spec has none"
        raise UsageError(f"INPUT fills the first required text input, but {why}", help="leave it out")
    text = reader.stdin() if given[0] == "-" else given[0]
    collected.put(open_ones[0], lambda: text)


def _merge(said: Words, values: dict[str, Any], everything: list[Item]) -> None:
    for name, value in values.items():
        item = _find(name, everything, "--inputs")
        place: dict[str, Any] = {"slot": said.bind, "config": said.config, "input": said.inputs}[item.kind]
        if item.kind == "slot" and not _is_binding(value):
            raise UsageError(f"--inputs: the slot `{name}` takes the name of a service, or a list of names")
        place.setdefault(item.name, value)


def with_row(analysis: Analysis, said: Words, row: dict[str, Any], number: int) -> dict[str, Any]:
    """Inputs, config and bindings of the words with those of one row; what the words say holds for all rows.

    Raises UsageError: the row names what the spec does not take.
    """
    one = Words(inputs=dict(said.inputs), config=dict(said.config), bind=dict(said.bind))
    try:
        _merge(one, row, items(analysis))
    except UsageError as error:
        raise UsageError(f"row {number}: {error.message}", help=error.help) from None
    return {"inputs": one.inputs, "config": one.config, "bind": one.bind}


def _is_binding(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(word, str) for word in value))


class Reader:
    """Reads files and standard input; the latter once."""

    def __init__(self, base: Path):
        self.base = base
        self._used = False

    def text(self, path: str) -> str:
        """A file's text without its last newline; ``-`` is standard input."""
        if path == "-":
            return self.stdin()
        try:
            return _decoded((self.base / path).read_bytes(), path)
        except OSError as error:
            raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None

    def stdin(self) -> str:
        """All of standard input without its last newline."""
        if self._used:
            raise UsageError("standard input (`-`) can fill one input only")
        self._used = True
        return _decoded(sys.stdin.buffer.read(), "standard input")

    def object(self, path: str) -> dict[str, Any]:
        """A JSON object."""
        try:
            value = json.loads(self.text(path))
        except ValueError as error:
            raise UsageError(f"--inputs {path} is no JSON: {error}") from None
        if not isinstance(value, dict):
            raise UsageError(f"--inputs {path} is no JSON object", help='write {"input name": value, ...}')
        return value


def _decoded(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {name}: it is not UTF-8 text (byte {error.start})") from None
    return text.removesuffix("\n").removesuffix("\r")


def general_help(library: Sequence[str], verb: Verb = RUN) -> str:
    """The help of a command without a spec."""
    text = (
        f"{verb.does} SPEC is a file, or the name of a spec of this project or of the library; its slots, config and "
        f"inputs are options, and `prose {verb.name} SPEC --help` lists them. INPUT fills the first required text "
        "input; - is standard input.\n\n"
        "A SERVICE is a name of prose.yml, a provider such as echo, human or local, provider:model, "
        "or a function spec, by its path or by its name (a role of the library, such as critic).\n\n"
        f"Library: {', '.join(library)}"
    )
    groups = {
        "People": people_options(()),
        "General": [*verb.more, *verb.kept(general_options())],
        "Limits": limit_options(),
        "Cassettes": verb.kept(cassette_options()),
        "Engine": engine_options(),
    }
    title = f"prose {verb.name} SPEC"
    built = SpecCommand(title, text, groups)
    return built.get_help(click.Context(built, info_name=title))
