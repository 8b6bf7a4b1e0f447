"""What a binding word means (DESIGN.md section 4): services of prose.yml, providers, function specs, instances."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.services import default, registry
from prose_runtime.services.api import Service
from prose_runtime.services.config import FILE_NAME, InstanceSettings, LimitSettings, ProseYml, find_config, load_config
from prose_runtime.services.fallback import FallbackService
from prose_runtime.services.settings import ServiceSettings

__all__ = [
    "Binding",
    "Bindings",
    "DefaultService",
    "InstanceSettings",
    "LimitSettings",
    "ProseYml",
    "ServiceSettings",
    "find_config",
    "load_config",
]

ADDRESSED = {"telegram": "chat"}
"""Providers whose word behind the colon is no model, and the key of prose.yml that it stands for."""

SPEC_SUFFIXES = (".md", ".prose")
"""Endings of spec files."""


def spoken(name: str) -> str:
    """A binding's name as the other roles hear of it: the number of somebody's chat is nobody else's."""
    provider, _, address = name.partition(":")
    return provider if provider in ADDRESSED and not address.startswith("@") else name


@dataclass(frozen=True, slots=True)
class Binding:
    """What a word is bound to.

    ``name`` is what the JSON output shows: a service's name, or the word as it was typed. A ``service`` has
    ``settings``; a ``spec`` the ``path`` of a function spec, to be answered by the default service; a ``pattern``
    the ``instance`` to be run, whose words count from ``folder``, the place of prose.yml.
    """

    name: str
    kind: Literal["service", "spec", "pattern"]
    settings: ServiceSettings | None = None
    path: Path | None = None
    instance: InstanceSettings | None = None
    folder: Path | None = None


class DefaultService(NamedTuple):
    """What answers where nothing is bound, and a sentence saying why and what would be better."""

    binding: Binding
    note: str


class Bindings:
    """The words that a run can use, and the services behind them, each made once, when it is first needed.

    ``path`` is the file that ``config`` was read from; paths that stand in it count from its folder, those of the
    command line from ``cwd``. ``env`` is the environment that decides the default service.
    """

    def __init__(
        self,
        config: ProseYml | None = None,
        path: Path | None = None,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ):
        self.config = config or ProseYml()
        self.path = path
        self.folder = path.absolute().parent if path else None
        self._cwd = cwd or Path.cwd()
        self._env = os.environ if env is None else env
        self._services: dict[str, Service] = {}
        self._covered: dict[str, FallbackService] = {}
        self._default: DefaultService | None = None

    @classmethod
    def load(cls, spec_path: Path | None = None, cwd: Path | None = None) -> Bindings:
        """The bindings of the prose.yml that holds for a spec. Raises ``UsageError`` when that file has faults."""
        cwd = cwd or Path.cwd()
        path = find_config(spec_path, cwd)
        return cls(load_config(path) if path else None, path, cwd=cwd)

    def resolve(self, word: str, slot: str = "", *, base: Path | None = None) -> Binding:
        """What a word means for ``slot``; relative paths count from ``base``, else from the working directory.

        Raises ``UsageError`` that lists what exists when the word means nothing.
        """
        word = word.strip()
        found = self._entry(word) or self._provider(word) or self._spec(word, slot, base or self._cwd)
        if found is None:
            raise self._nothing(word, slot)
        return found

    def default_service(self) -> DefaultService:
        """What answers where nothing is bound, in the order of DESIGN.md; found once."""
        if self._default is None:
            self._default = self._find_default()
        return self._default

    def judge(self) -> Binding:
        """What decides conditions: ``judge`` of prose.yml, else the default service."""
        word = self.config.judge
        return self._configured(word, "judge") if word else self.default_service().binding

    def model_id(self, name: str) -> str:
        """The model that an alias of ``models`` stands for; any other name is an id already."""
        return self.config.models.get(name, name)

    def service(self, binding: Binding) -> Service:
        """The service of a binding of kind ``service``; the same object for the same name."""
        if binding.settings is None:
            raise UsageError(f"`{binding.name}` is no service but a {binding.kind}")
        others = [self._stand_in(word, binding.name) for word in binding.settings.fallback or ()]
        if not others:
            return self._made(binding.name, binding.settings)
        if binding.name not in self._covered:
            self._covered[binding.name] = FallbackService(self._made(binding.name, binding.settings), others)
        return self._covered[binding.name]

    def _made(self, name: str, settings: ServiceSettings) -> Service:
        made = self._services.get(name)
        if made is None:
            made = self._services[name] = registry.create(name, settings)
        return made

    def _stand_in(self, word: str, name: str) -> Service:
        """A service of some ``fallback``; those that it has itself are not asked."""
        found = self.resolve(word, f"fallback of {name}", base=self.folder)
        if found.settings is None:
            raise UsageError(f"`fallback` of {name} names `{word}`, which is no service but a {found.kind}")
        return self._made(found.name, found.settings)

    async def aclose(self) -> None:
        """Close all services that were made, each even when another one fails to."""
        made, self._services = list(self._services.values()), {}
        errors = []
        for service in made:
            close = getattr(service, "aclose", None)
            try:
                if close is not None:
                    await close()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _entry(self, word: str) -> Binding | None:
        entry = self.config.services.get(word)
        if isinstance(entry, InstanceSettings):
            return Binding(word, "pattern", instance=entry, folder=self.folder)
        return None if entry is None else Binding(word, "service", settings=self._complete(entry))

    def _provider(self, word: str) -> Binding | None:
        provider, colon, model = word.partition(":")
        if provider not in registry.known_providers():
            return None
        what = ADDRESSED.get(provider, "model")
        if colon and not model:
            raise UsageError(f"`{word}` names no {what}", help=f"write `{provider}` or `{provider}:{what.upper()}`")
        if colon and what != "model":
            return Binding(word, "service", settings=self._addressed(provider, {what: model}))
        settings = ServiceSettings(provider=provider, model=model or None)
        return Binding(word, "service", settings=self._complete(settings))

    def _addressed(self, provider: str, address: dict[str, str]) -> ServiceSettings:
        """An address of a provider, with what prose.yml says of the service that is called as the provider."""
        entry = self.config.services.get(provider)
        same = isinstance(entry, ServiceSettings) and entry.provider == provider
        settings = entry if same and isinstance(entry, ServiceSettings) else ServiceSettings(provider=provider)
        return self._complete(settings.model_copy(update=address))

    def _spec(self, word: str, slot: str, base: Path) -> Binding | None:
        looks = word.endswith(SPEC_SUFFIXES) or "/" in word or os.sep in word
        if not looks:
            return None
        path = base / Path(word).expanduser()
        wrong = None
        if not path.exists():
            wrong = "there is no such file"
        elif not path.is_file():
            wrong = "it is no file"
        elif not word.endswith(SPEC_SUFFIXES):
            wrong = "it is no spec: a spec's name ends in .md"
        if wrong:
            raise UsageError(f"cannot bind{_to(slot)} `{word}`: {wrong}", help=self._known())
        return Binding(word, "spec", path=path)

    def _complete(self, settings: ServiceSettings) -> ServiceSettings:
        """The settings with the model's alias replaced, and what stands elsewhere in prose.yml."""
        model = None if settings.model is None else self.model_id(settings.model)
        more: dict[str, Any] = {"model": model, "folder": self.folder, "prices": self.config.prices}
        return settings.model_copy(update=more)

    def _find_default(self) -> DefaultService:
        if self.config.default:
            binding = self._configured(self.config.default, "default")
            return DefaultService(binding, f"{binding.name}, because {self.path or FILE_NAME} says so")
        word = self._env.get("PROSE_DEFAULT")
        if word:
            return DefaultService(self.resolve(word, "PROSE_DEFAULT"), f"{word}, because PROSE_DEFAULT says so")
        choice = default.choose(self._env)
        settings = self._complete(choice.settings)
        return DefaultService(Binding(choice.name, "service", settings=settings), choice.note)

    def _configured(self, word: str, key: str) -> Binding:
        """What a word of prose.yml itself means: there the alias of a model will do as well."""
        if word in self.config.models and word not in self.config.services:
            return self._alias(word, key)
        return self.resolve(word, key, base=self.folder)

    def _alias(self, word: str, key: str) -> Binding:
        model = self.model_id(word)
        if model.startswith("claude"):
            return Binding(word, "service", settings=self._complete(ServiceSettings(provider="anthropic", model=model)))
        whole = self._provider(model)
        if whole is not None:
            return Binding(word, "service", settings=whole.settings)
        raise UsageError(
            f"`{key}: {word}` names the model {model} and no service that runs it",
            help=f"define a service with that model in {FILE_NAME}, or write `{key}: provider:{word}`",
        )

    def _nothing(self, word: str, slot: str) -> UsageError:
        close = did_you_mean(word, [*self.config.services, *registry.known_providers()])
        if ":" in word:
            provider = word.partition(":")[0]
            close = did_you_mean(provider, registry.known_providers())
            message = f"cannot bind{_to(slot)} `{word}`: there is no provider `{provider}`"
        else:
            message = f"cannot bind{_to(slot)} `{word}`: it is no service, provider or spec file"
        return UsageError(message, help="\n".join(part for part in (close, self._known()) if part))

    def _known(self) -> str:
        where = self.path or f"{FILE_NAME} (there is none yet)"
        return (
            f"services in {where}: {_listed(self.config.services)}\n"
            f"providers: {_listed(registry.known_providers())} (also as provider:model)\n"
            f"or a function spec: its path, or the name of one of the project or the library, such as critic\n"
            f"to define a service, write in {FILE_NAME}: "
            "services: {critic: {provider: anthropic, model: claude-sonnet-4-5}}"
        )


def _to(slot: str) -> str:
    return f" {slot} to" if slot else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
