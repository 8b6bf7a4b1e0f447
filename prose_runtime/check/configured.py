"""The names of services that prose.yml configures, as far as checking a spec needs them."""

from __future__ import annotations

from pathlib import Path

from prose_runtime.resources import find_config


def configured_services(spec_path: Path) -> frozenset[str]:
    """The keys under ``services`` of the prose.yml that holds for a spec.

    Faults of that file are not reported here: a run reports them when it reads the file as a whole.
    """
    path = find_config(spec_path, Path.cwd())
    if path is None:
        return frozenset()
    import yaml

    try:
        found = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # keys are words
    except (OSError, ValueError, yaml.YAMLError):
        return frozenset()
    services = found.get("services") if isinstance(found, dict) else None
    return frozenset(services) if isinstance(services, dict) else frozenset()
