"""What functions need from outside (Environment, Tools, Skills), looked at before anything is called."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from prose_runtime.check.declared import needed_names
from prose_runtime.errors import UsageError
from prose_runtime.journal import protect
from prose_runtime.nodes import Spec

SKILL_PLACES = ("skills/{}/SKILL.md", "skills/{}.md", ".claude/skills/{}/SKILL.md", ".agents/skills/{}/SKILL.md")
"""Where the text of a skill can stand in a project."""


def check_needs(specs: Iterable[Spec], root: Path, environment: Mapping[str, str] | None = None) -> None:
    """Look whether all is there that specs declare to need; ``root`` is the folder of the project.

    Of an environment variable only its presence is looked at; its value is hidden wherever it shows.

    Raises:
        UsageError: Something is missing; all of it is named.
    """
    specs = list(specs)
    _protect(specs)
    _tell([fault for spec in specs for fault in (*_of_machine(spec, environment), *_skills(spec, root))])


def check_machine(specs: Iterable[Spec]) -> None:
    """The part of ``check_needs`` that concerns this machine: its environment and commands."""
    specs = list(specs)
    _protect(specs)
    _tell([fault for spec in specs for fault in _of_machine(spec, None)])


def check_skills(specs: Iterable[Spec], root: Path) -> None:
    """The part of ``check_needs`` that concerns the project: the texts of skills."""
    _tell([fault for spec in specs for fault in _skills(spec, root)])


def _protect(specs: Iterable[Spec]) -> None:
    protect(name for spec in specs for name in needed_names(spec, "environment"))


def _tell(faults: list[tuple[str, str]]) -> None:
    if faults:
        faults = list(dict.fromkeys(faults))
        raise UsageError(
            "; ".join(fault for fault, _ in faults), help="; ".join(dict.fromkeys(help_ for _, help_ in faults))
        )


def _of_machine(spec: Spec, environment: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    given = os.environ if environment is None else environment
    for name, text in needed_names(spec, "environment").items():
        if not given.get(name):
            what = f" ({text})" if text else ""
            yield f"{spec.name} needs the environment variable {name}{what}", f"set it: export {name}=..."
    for tool in needed_names(spec, "tools"):
        kind, _, name = tool.partition(":")
        if kind == "cli" and shutil.which(name.strip()) is None:
            yield f"{spec.name} needs the command `{name}`", f"install `{name}`, or put it on the PATH"
        elif kind == "mcp":
            yield (
                f"{spec.name} needs the MCP server `{name}`, and prose.yml cannot configure MCP servers yet",
                f"let a service of kind `command` do what `{name}` does, or take it out of Tools",
            )


def _skills(spec: Spec, root: Path) -> Iterator[tuple[str, str]]:
    for skill in needed_names(spec, "skills"):
        if skill_file(root, skill) is None:
            places = " or ".join(place.format(skill) for place in SKILL_PLACES[:2])
            yield f"{spec.name} needs the skill `{skill}`", f"put its text into {places}"


def skill_file(root: Path, name: str) -> Path | None:
    """The file of a skill in a project; nothing outside of it is looked at."""
    for place in SKILL_PLACES:
        path = root / place.format(name)
        if path.is_file() and path.resolve().is_relative_to(root.resolve()):
            return path
    return None


def skill_texts(spec: Spec, root: Path) -> str:
    """The texts of the skills that a function declares, without frontmatter: part of what its role is told."""
    texts = []
    for name in needed_names(spec, "skills"):
        path = skill_file(root, name)
        if path is not None:
            texts.append(_body(path.read_text(encoding="utf-8", errors="replace")))
    return "\n\n".join(text for text in texts if text)


def _body(text: str) -> str:
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    if text.startswith("---\n"):
        _, closed, rest = text[4:].partition("\n---\n")
        text = rest if closed else text
    return text.strip()
