"""What the words of a run mean, settled once by a worker: names of services travel, their settings and keys do not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.nodes import PERSON
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.bindings import Binding, Bindings, DefaultService, ProseYml
from prose_runtime.services.config import InstanceSettings
from prose_runtime.services.settings import ServiceSettings

TOLD = ("provider", "model", "instructions", "persona", "language", "background")
"""The settings of a service that travel: what becomes part of a request, and nothing that could be a secret."""


class Noting(Bindings):
    """The bindings of a worker, noting what each word was found to mean."""

    def __init__(self, *args: Any, **more: Any):
        super().__init__(*args, **more)
        self.words: dict[str, dict[str, Any]] = {}

    def resolve(self, word: str, slot: str = "", *, base: Path | None = None) -> Binding:
        """As ``Bindings.resolve``."""
        binding = super().resolve(word, slot, base=base)
        self.words[word.strip()] = _binding_to(binding)
        return binding

    def table(self) -> dict[str, Any]:
        """All that was noted, as JSON."""
        default = self.default_service()
        for name in (*self.config.services, PERSON):
            self.resolve(name)
        return {
            "default": {**_binding_to(default.binding), "note": default.note},
            "judge": _binding_to(self.judge()),
            "words": self.words,
            "services": list(self.config.services),
            "models": dict(self.config.models),
            "limits": self.config.limits.model_dump(exclude_none=True, mode="json"),
        }


class Settled(Bindings):
    """Bindings read from such a table: they look at no file, environment or network."""

    def __init__(self, table: Mapping[str, Any]):
        self.table = table
        known = {name: table["words"][name] for name in table["services"]}
        services = {name: row.get("instance") or row["settings"] for name, row in known.items()}
        super().__init__(
            ProseYml.model_validate({"services": services, "models": table["models"], "limits": table["limits"]}),
            cwd=Path(),
            env={},
        )

    def resolve(self, word: str, slot: str = "", *, base: Path | None = None) -> Binding:
        """What the table says. Raises ``UsageError`` for a word that was not settled."""
        row = self.table["words"].get(word.strip())
        if row is None:
            raise UsageError(f"`{word}` was not known to the worker that began the run")
        return _binding_from(row)

    def default_service(self) -> DefaultService:
        """What answered where nothing is bound when the run began."""
        return DefaultService(_binding_from(self.table["default"]), self.table["default"]["note"])

    def judge(self) -> Binding:
        """What decided conditions when the run began."""
        return _binding_from(self.table["judge"])

    def service(self, binding: Binding) -> Service:
        """What stands for a service of the workers."""
        assert binding.settings is not None
        return Elsewhere(binding.name, person=binding.settings.provider == PERSON)


class Elsewhere:
    """Stands for a service that workers have. ``person``: no worker is needed, a signal brings the answer."""

    def __init__(self, name: str, *, person: bool = False):
        self.name = name
        self.person = person

    async def __call__(self, request: Request) -> Reply:
        """Nobody answers here. Raises ``ServiceError``."""
        raise ServiceError(f"{self.name} is asked by workers only", service=self.name)


def service_named(bindings: Bindings, name: str) -> Binding:
    """The binding of a worker that a name in a run means.

    Raises:
        UsageError: The worker does not know it.
    """
    for binding in (bindings.default_service().binding, bindings.judge()):
        if binding.name == name:
            return binding
    return bindings.resolve(name)


def _binding_to(binding: Binding) -> dict[str, Any]:
    row: dict[str, Any] = {"name": binding.name, "kind": binding.kind}
    if binding.settings is not None:
        row["settings"] = {key: value for key in TOLD if (value := getattr(binding.settings, key)) is not None}
    if binding.instance is not None:
        row["instance"] = binding.instance.model_dump(by_alias=True, mode="json")
        row["folder"] = str(binding.folder or Path())
    if binding.path is not None:
        row["path"] = str(binding.path)
    return row


def _binding_from(row: Mapping[str, Any]) -> Binding:
    return Binding(
        row["name"],
        row["kind"],
        settings=ServiceSettings.model_validate(row["settings"]) if "settings" in row else None,
        instance=InstanceSettings.model_validate(row["instance"]) if "instance" in row else None,
        folder=Path(row["folder"]) if "folder" in row else None,
        path=Path(row["path"]) if "path" in row else None,
    )
