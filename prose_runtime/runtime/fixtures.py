"""What a test gives to its subject: inputs and config by type, and what answers in its slots.

An input or config item takes a value as Config spells it: ``"text"``, bare text, numbers, JSON, YAML in a fence, or
nested bullets. A slot, and the words ``default`` and ``judge`` for the services of these names, takes:

    - `writer`: scribe                          a service of prose.yml, a provider, the path of a function spec
    - `writer`: "always this"                   a quoted text or an object: this reply to every call
    - `writer`: ["first", "second"]             scripted replies in the order of the calls
    - `writer`: replies: ["first", {error: "busy", kind: overloaded}]    a script as in prose.yml: replies, rules, else
    - `writer`: {provider: command, command: [python, write.py]}         any service, as in prose.yml
    - `stages`: [scribe, editor]                a list slot: one service each
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.nodes import Fixture, Slot, Spec
from prose_runtime.services import registry
from prose_runtime.services.bindings import SPEC_SUFFIXES, Bindings, InstanceSettings, ServiceSettings
from prose_runtime.services.script import INSTRUCTION
from prose_runtime.syntax import fixture_values
from prose_runtime.syntax.config_values import BadValue, read_value
from prose_runtime.syntax.phrases import Phrase

SERVICES = ("default", "judge")
"""Fixture names that stand for services of prose.yml, unless the subject has an input or slot of that name."""

_SCRIPT = frozenset({"replies", "repeat", "rules", "else"})
_INSTANCE = frozenset({"pattern", "with", "config"})


@dataclass(slots=True)
class Given:
    """What a test's fixtures come to.

    Attributes:
        folder: Where the test stands; paths in fixtures count from there.
        inputs, config: Values by name.
        bind: For each slot a word or a list of words.
        services: Services that the fixtures define, under names of their own.
        words: What stands in for ``default`` and ``judge`` of prose.yml.
    """

    folder: Path
    inputs: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    bind: dict[str, Any] = field(default_factory=dict)
    services: dict[str, ServiceSettings | InstanceSettings] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)

    def bindings(self, test: Path) -> Bindings:
        """The bindings of the prose.yml that holds for a test, with the services of its fixtures.

        Raises:
            UsageError: prose.yml has faults.
        """
        loaded = Bindings.load(test)
        changed = {"services": {**loaded.config.services, **self.services}, **self.words}
        return Bindings(loaded.config.model_copy(update=changed), loaded.path)


def read_given(test: Spec, subject: Analysis) -> Given:
    """Sort the fixtures into inputs, config and slots of the subject, each value by its declared type.

    Raises:
        UsageError: A name that the subject does not have, or a value that is none of its type; with its place.
    """
    given = Given(Path(test.source.path).parent)
    slots = {slot.name: slot for slot in subject.spec.slots}
    config = {entry.name: entry.type for entry in subject.spec.config}
    inputs = {name: parameter.type for name, parameter in subject.inputs.items()}
    for fixture in test.fixtures:
        try:
            if fixture.name in slots:
                given.bind[fixture.name] = _binding(fixture, slots[fixture.name], given)
            elif fixture.name in config:
                given.config[fixture.name] = fixture_values.value_of(fixture, config[fixture.name])
            elif fixture.name in inputs:
                given.inputs[fixture.name] = fixture_values.value_of(fixture, inputs[fixture.name])
            elif fixture.name in SERVICES:
                given.words[fixture.name] = _service(_raw(fixture), fixture, given)
            else:
                raise _unknown(fixture, subject.spec, [*slots, *config, *inputs])
        except BadValue as fault:
            raise UsageError(str(fault), where=test.source.where(fixture.name_span)) from None
        except UsageError as error:
            error.where = error.where or test.source.where(fixture.name_span)
            raise
    return given


def _unknown(fixture: Fixture, subject: Spec, known: list[str]) -> UsageError:
    listed = f"it has {', '.join(f'`{name}`' for name in known)}" if known else "it takes none"
    message = f"{subject.name} has no input, config item or slot `{fixture.name}`"
    return UsageError(message, help=did_you_mean(fixture.name, known) or listed)


def _binding(fixture: Fixture, slot: Slot, given: Given) -> str | list[str]:
    raw = _raw(fixture)
    if not slot.is_list:
        return _service(raw, fixture, given)
    if isinstance(raw, str) and not isinstance(raw, _Quoted):
        return [_word(part.unwrapped().text, given) for part in Phrase(raw, ((0, 0),)).split()]
    entries = raw if isinstance(raw, list) else [raw]
    return [_service(entry, fixture, given) for entry in entries]


class _Quoted(str):
    """A text in quotes: a reply, where a bare word names a service."""

    __slots__ = ()


def _raw(fixture: Fixture) -> Any:
    """What a fixture of a service spells: a word, a quoted text, a list or a mapping.

    Raises:
        UsageError: It is no YAML where YAML is due.
    """
    try:
        if fixture.text:
            return _raw_inline(fixture.text)
        if fixture.block is not None:
            return fixture_values.read_yaml(fixture.block)
        if not fixture.bullets:
            raise UsageError(f"the fixture `{fixture.name}` says nothing", help=_HELP)
        return fixture_values.from_bullets(fixture.bullets, None)
    except BadValue as error:
        why = f": {error}" if str(error) else ""
        raise UsageError(f"the fixture `{fixture.name}` is no YAML{why}", help=_HELP) from None


_HELP = 'write the name of a service, a text in quotes, or replies: ["first", "second"]'


def _raw_inline(text: str) -> Any:
    bare = Phrase(text, ((0, 0),)).unwrapped().text
    if bare[:1] in ("[", "{"):
        return read_value(bare)
    key = bare.partition(":")[0].strip().strip("`")
    if bare != key and key in (*_SCRIPT, *INSTRUCTION):
        return fixture_values.read_yaml(bare)
    value = read_value(bare, "string")
    return _Quoted(value) if value != bare else bare


def _service(raw: Any, fixture: Fixture, given: Given) -> str:
    """The word for what answers: the word itself, or the name under which a new service is put."""
    if isinstance(raw, str) and not isinstance(raw, _Quoted):
        return _word(raw, given)
    name = "fixture" if not given.services else f"fixture {len(given.services) + 1}"
    given.services[name] = _settings(raw, fixture)
    return name


def _word(text: str, given: Given) -> str:
    """A word as it would be written at the command line: paths count from the working directory there."""
    path = given.folder / text
    return str(path) if text.endswith(SPEC_SUFFIXES) and path.is_file() else text


def _settings(raw: Any, fixture: Fixture) -> ServiceSettings | InstanceSettings:
    """A script of replies, unless a mapping spells the settings of another service or a pattern instance."""
    kind = raw if isinstance(raw, Mapping) else {}
    try:
        if "pattern" in kind and kind.keys() <= _INSTANCE:
            return InstanceSettings.model_validate(dict(kind))
        if kind.get("provider") in registry.known_providers():
            return ServiceSettings.model_validate(dict(kind))
        return ServiceSettings.model_validate({"provider": "script", **_script(raw)})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(map(str, first["loc"]))
        message = f"the fixture `{fixture.name}` defines no service: `{key}`: {first['msg'].lower()}"
        raise UsageError(message, help=_HELP) from None


def _script(raw: Any) -> dict[str, Any]:
    if isinstance(raw, list):
        return {"replies": raw}
    if isinstance(raw, Mapping) and raw and raw.keys() <= _SCRIPT:
        return dict(raw)
    return {"replies": [str(raw) if isinstance(raw, _Quoted) else raw], "repeat": True}
