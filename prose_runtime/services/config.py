"""Reads prose.yml: finding the file, its model, and faults told with their line (DESIGN.md section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, Discriminator, Field, Tag, ValidationError
from pydantic_core import ErrorDetails

from prose_runtime.diagnostics import near
from prose_runtime.errors import UnreadableFile, UsageError
from prose_runtime.journal.redaction import protect
from prose_runtime.resources import CONFIG_NAME, find_config, user_config
from prose_runtime.services.settings import (
    COMMON,
    INTERNAL,
    KEYS,
    Closed,
    Count,
    Dollars,
    Price,
    Seconds,
    ServiceSettings,
)
from prose_runtime.text import Where

__all__ = ["FILE_NAME", "InstanceSettings", "LimitSettings", "ProseYml", "find_config", "load_config", "user_config"]

FILE_NAME = CONFIG_NAME


class InstanceSettings(Closed):
    """A pattern instance that serves as a binding: the pattern's name or path, what fills its slots, its config.

    A slot takes the name of a binding, a list of them, or another instance.
    """

    pattern: str
    slots: dict[str, Any] = Field(default_factory=dict, alias="with")
    config: dict[str, Any] = Field(default_factory=dict)


class LimitSettings(Closed):
    """Bounds of a run; None where nothing is said. Times are in seconds, for one call and for the run.

    The last two hold for each service by itself, unless the service has its own.
    """

    max_calls: Count | None = None
    max_input_tokens: Count | None = None
    max_output_tokens: Count | None = None
    max_cost_usd: Dollars | None = None
    max_concurrency: Count | None = None
    call_timeout: Seconds | None = None
    run_timeout: Seconds | None = None
    max_concurrency_per_service: Count | None = None
    max_requests_per_minute: Count | None = None


class CheckSettings(Closed):
    """What ``prose check`` does where its command line says nothing. Codes may be the beginnings of codes."""

    select: list[str] = Field(default_factory=list)
    ignore: list[str] = Field(default_factory=list)
    strict: bool = False
    format: Literal["text", "agent", "json", "github", "sarif", "junit"] | None = None


def _kind_of(entry: Any) -> str:
    if isinstance(entry, InstanceSettings) or (isinstance(entry, Mapping) and "pattern" in entry):
        return "instance"
    return "service"


Entry = Annotated[
    Annotated[ServiceSettings, Tag("service")] | Annotated[InstanceSettings, Tag("instance")], Discriminator(_kind_of)
]
"""What may stand under a name of ``services``."""


class TemporalSettings(Closed):
    """An engine for many machines. ``lost_after``: seconds without a sign of life after which a worker counts as lost.

    ``longest_history``: events after which the history of a run is cut and begun anew.
    Keys and certificates come from the engine's own environment variables.
    """

    address: str | None = None
    namespace: str | None = None
    task_queue: str | None = None
    lost_after: Seconds | None = None
    longest_history: Count | None = None


class EngineSettings(Closed):
    """Where runs go that are sent to an engine."""

    temporal: TemporalSettings = TemporalSettings()


class ProseYml(Closed):
    """The whole file. ``models`` maps short names to model ids; ``prices`` are by model id."""

    default: str | None = None
    judge: str | None = None
    services: dict[str, Entry] = Field(default_factory=dict)
    models: dict[str, str] = Field(default_factory=dict)
    limits: LimitSettings = LimitSettings()
    prices: dict[str, Price] = Field(default_factory=dict)
    check: CheckSettings = CheckSettings()
    engine: EngineSettings = EngineSettings()


def load_config(path: Path) -> ProseYml:
    """Read a prose.yml. Raises ``UsageError`` that tells every fault with its line."""
    text = _read(path)
    lines: dict[tuple[str, ...], int] = {}
    faults: list[Fault] = []
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is not None:
            faults.extend(_walk(node, (), lines, set()))
        data = yaml.load(text, Loader=_Loader)  # a SafeLoader
    except yaml.YAMLError as error:
        raise _broken(path, error) from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply", where=Where(str(path), 1)) from None
    if data is not None and not isinstance(data, dict):
        fault = "prose.yml is a mapping with keys such as `default` and `services`"
        raise UsageError(f"{path}: {fault}", where=Where(str(path), 1))
    try:
        # A key with nothing behind it is as good as absent.
        config = ProseYml.model_validate({key: value for key, value in (data or {}).items() if value is not None})
        faults.extend(_strange_keys(config))
    except ValidationError as error:
        faults.extend(map(_fault, error.errors(include_url=False, include_input=False)))
    if faults:
        raise _told(path, faults, lines)
    _protect(config)
    return config


def _protect(config: ProseYml) -> None:
    """What belongs to any service is a secret also from the others: a command sees the whole environment."""
    for settings in config.services.values():
        if isinstance(settings, ServiceSettings):
            protect([settings.key_env] if settings.key_env else [], settings.base_url)


class Fault(NamedTuple):
    """What is wrong at a key of prose.yml, and what to write instead."""

    path: tuple[str, ...]
    message: str
    help: str | None = None


class _Loader(yaml.SafeLoader):
    """Plain data only. Dates stay text: JSON has none. Keys are texts: a service may be called ``no`` or ``2``."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys are the words that stand there."""
        self.flatten_mapping(node)
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    sign: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for sign, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFile(str(path), "it is not UTF-8 text") from None
    except OSError as error:
        raise UnreadableFile(str(path), error.strerror or str(error)) from None


def _broken(path: Path, error: yaml.YAMLError) -> UsageError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = Where(str(path), mark.line + 1, mark.column + 1) if mark else Where(str(path), 1)
        problem = error.problem or error.context or "it cannot be read"
    else:
        where, problem = Where(str(path), 1), str(error).splitlines()[0]
    return UsageError(f"{path}, line {where.line}: no valid YAML: {problem}", where=where)


def _walk(node: yaml.Node, path: tuple[str, ...], lines: dict[tuple[str, ...], int], seen: set[int]) -> Iterator[Fault]:
    """Note the line of each key, and report keys that occur twice. An aliased node is walked once."""
    lines.setdefault(path, node.start_mark.line + 1)
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, entry in enumerate(node.value):
            yield from _walk(entry, (*path, str(index)), lines, seen)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*path, str(key.value))
            if inner in lines:
                yield Fault(inner, f"the key {_named(inner)} occurs twice")
            lines[inner] = key.start_mark.line + 1
            yield from _walk(value, inner, lines, seen)


def _strange_keys(config: ProseYml) -> Iterator[Fault]:
    """Keys that are known, but mean nothing to the service's provider."""
    for name, entry in config.services.items():
        if not isinstance(entry, ServiceSettings):
            continue
        given = {_spelled(ServiceSettings, key) for key in entry.model_fields_set} | (entry.model_fields_set & INTERNAL)
        allowed = COMMON | KEYS.get(entry.provider, given - INTERNAL)
        for key in sorted(given - allowed):
            if key in INTERNAL:
                yield _unknown(("services", name, key), ServiceSettings)
            else:
                own = ", ".join(sorted(KEYS[entry.provider])) or "only the common keys"
                message = f"the provider `{entry.provider}` has no key `{key}`"
                yield Fault(("services", name, key), message, f"it takes {own}")


def _spelled(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].alias or name


_SENTENCES = {
    "missing": "{key} is missing",
    "string_type": "{key} is a text",
    "int_type": "{key} is a whole number",
    "int_parsing": "{key} is a whole number",
    "int_from_float": "{key} is a whole number",
    "float_type": "{key} is a number",
    "float_parsing": "{key} is a number",
    "finite_number": "{key} is a finite number",
    "bool_type": "{key} is true or false",
    "bool_parsing": "{key} is true or false",
    "list_type": "{key} is a list",
    "dict_type": "{key} is a mapping",
    "model_type": "{key} is a mapping",
    "model_attributes_type": "{key} is a mapping",
    "literal_error": "{key} is one of {expected}",
    "greater_than": "{key} is more than {gt:g}",
    "greater_than_equal": "{key} is at least {ge:g}",
}

_HELP = {
    "select": "write the codes as a list: [unused, portable]",
    "ignore": "write the codes as a list: [unused, portable]",
    "format": "the formats are text, agent, json, github, sarif, junit",
    "fallback": "write the names as a list: [other, local]",
    "command": 'write the program and its arguments as a list: ["python", "lint.py"]',
    "replies": 'write the replies as a list: ["first", "second"]',
    "rules": 'write the rules as a list: [{when: {input_name: "text"}, reply: "x"}]',
}


Settings = TypeVar("Settings", bound=BaseModel)


def settings_from(model: type[Settings], given: Mapping[str, Any], what: str) -> Settings:
    """Settings that are given as data, not in a file; ``what`` names them in the sentence.

    Raises:
        UsageError: They are not what prose.yml could say.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    faults = [_fault_of(row, tuple(map(str, row["loc"])), model) for row in found]
    raise UsageError(f"{what}: {'; '.join(fault.message for fault in faults)}", help=faults[0].help)


def _fault(error: ErrorDetails) -> Fault:
    return _fault_of(error, *_place(error))


def _fault_of(error: ErrorDetails, path: tuple[str, ...], model: type[BaseModel]) -> Fault:
    kind = error["type"]
    if kind == "extra_forbidden" or (model is ServiceSettings and path[2:] and path[2] in INTERNAL):
        return _unknown(path, model)
    if kind == "missing" and path[:1] == ("services",) and path[-1] == "provider":
        message = f"{_named(path[:-1])} has no `provider` and no `pattern`"
        return Fault(path[:-1], message, f"write {path[-2]}: {{provider: anthropic, model: ...}}")
    sentence = _SENTENCES.get(kind)
    if sentence is None:
        return Fault(path, f"{_named(path)}: {error['msg'][:1].lower()}{error['msg'][1:]}")
    otherwise = "put it in quotes" if kind == "string_type" else None
    help_ = _HELP.get(path[-1] if path else "", otherwise)
    return Fault(path, sentence.format(key=_named(path), **error.get("ctx", {})), help_)


def _place(error: ErrorDetails) -> tuple[tuple[str, ...], type[BaseModel]]:
    """The key's path without the tags of the union, and the model that it belongs to."""
    parts = [str(part) for part in error["loc"]]
    models: dict[str, type[BaseModel]] = {
        "limits": LimitSettings,
        "prices": Price,
        "check": CheckSettings,
        "engine": EngineSettings,
    }
    model: type[BaseModel] = models.get(parts[0], ProseYml) if len(parts) > 1 else ProseYml
    if parts[:1] == ["services"] and len(parts) > 2:
        model = ServiceSettings if parts[2] == "service" else InstanceSettings
        del parts[2]
    if parts[:2] == ["engine", "temporal"] and len(parts) > 2:
        model = TemporalSettings
    return tuple(parts), model


_KEY_HELP = "a key has no place in a file: put it into an environment variable and name that as `key_env: NAME`"


def _unknown(path: tuple[str, ...], model: type[BaseModel]) -> Fault:
    known = [_spelled(model, name) for name in model.model_fields]
    known = [name for name in known if model is not ServiceSettings or name not in INTERNAL]
    close = near(path[-1], known, 1)
    help_ = f"did you mean `{close[0]}`?" if close else "known are " + ", ".join(sorted(known))
    if path[-1] in ("key", "api_key", "apikey", "token"):
        help_ = _KEY_HELP
    inside = f" in {_named(path[:-1])}" if path[:-1] else ""
    return Fault(path, f"unknown key `{path[-1]}`{inside}", help_)


def _named(path: tuple[str, ...]) -> str:
    return f"`{'.'.join(path)}`"


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    fault: Fault


def _told(path: Path, faults: list[Fault], lines: Mapping[tuple[str, ...], int]) -> UsageError:
    rows = sorted((_Row(_line(fault.path, lines), fault) for fault in faults), key=lambda row: row.line)
    where = Where(str(path), rows[0].line)
    if len(rows) == 1:
        fault = rows[0].fault
        return UsageError(f"{path}, line {rows[0].line}: {fault.message}", help=fault.help, where=where)
    told = [f"line {row.line}: {row.fault.message}{f' ({row.fault.help})' if row.fault.help else ''}" for row in rows]
    return UsageError(f"{path} has {len(rows)} faults\n  " + "\n  ".join(told), where=where)


def _line(path: tuple[str, ...], lines: Mapping[tuple[str, ...], int]) -> int:
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
