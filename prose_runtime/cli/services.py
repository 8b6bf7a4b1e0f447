"""``prose services``: who can answer here, and which of them does when nothing is said."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prose_runtime.errors import ProseError

if TYPE_CHECKING:
    from prose_runtime.services.bindings import Binding, Bindings

_PING_SECONDS = 20
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""The variable that holds a provider's key when its service names no other."""


@click.command(short_help="List the services, and try whether they answer.")
@click.option("--ping", is_flag=True, help="Ask each service whether it can answer.")
def services(ping: bool) -> int:
    """List the services of prose.yml, the default, the judge and the known providers."""
    from prose_runtime.services.bindings import Bindings

    bindings = Bindings.load(None, Path.cwd())
    default = bindings.default_service()
    click.echo(f"default:  {default.note}")
    click.echo(f"judge:    {bindings.judge().name}")
    click.echo()
    _print_services(bindings)
    click.echo()
    click.echo("providers:")
    for line in _aligned(_provider_rows()):
        click.echo(f"  {line}")
    return _ping_all(bindings) if ping else 0


def _print_services(bindings: Bindings) -> None:
    if not bindings.config.services:
        where = bindings.path or "no prose.yml is found from here upward"
        click.echo(f"services: none ({where})")
        return
    click.echo(f"services of {bindings.path}:")
    rows = [(name, *_kind(bindings.resolve(name))) for name in bindings.config.services]
    for line in _aligned(rows):
        click.echo(f"  {line}")


def _kind(binding: Binding) -> tuple[str, str]:
    if binding.instance is not None:
        return "pattern", binding.instance.pattern
    settings = binding.settings
    if settings is None:
        return binding.kind, str(binding.path)
    key = settings.key_env or (None if settings.base_url else _KEYS.get(settings.provider))
    missing = f"({key} is not set)" if key and not os.environ.get(key) else ""
    return settings.provider, " ".join(filter(None, (settings.model, missing)))


def _provider_rows() -> Iterator[tuple[str, str]]:
    from prose_runtime.services.registry import known_providers, missing_extra

    for provider in known_providers():
        command, key = missing_extra(provider), _KEYS.get(provider)
        if command:
            yield provider, f"not installed: {command}"
        elif provider == "telegram":
            yield provider, _bot()
        elif key:
            yield provider, f"{key} is {'set' if os.environ.get(key) else 'not set'}"
        else:
            yield provider, "ready"


def _bot() -> str:
    """Whether there is a bot to ask with."""
    from prose_runtime.errors import UsageError
    from prose_runtime.services.telegram_token import find_token

    try:
        find_token()
    except UsageError as error:
        return error.message
    return "ready"


def _aligned(rows: Iterator[tuple[str, ...]] | list[tuple[str, str, str]]) -> list[str]:
    cells = [tuple(row) for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]


# asking them


def _ping_all(bindings: Bindings) -> int:
    """Ask every configured service and the default; returns 1 when one of them cannot answer."""
    asked = {name: bindings.resolve(name) for name in bindings.config.services}
    for binding in (bindings.default_service().binding, bindings.judge()):
        asked.setdefault(binding.name, binding)
    click.echo()
    click.echo("answers:")
    healthy = asyncio.run(_ping_together(bindings, [b for b in asked.values() if b.kind == "service"]))
    return 0 if healthy else 1


async def _ping_together(bindings: Bindings, asked: list[Binding]) -> bool:
    try:
        answers = await asyncio.gather(*(_ping(bindings, binding) for binding in asked))
    finally:
        await bindings.aclose()
    for line in _aligned(
        [(b.name, "ok" if ok else "fail", said) for b, (ok, said) in zip(asked, answers, strict=True)]
    ):
        click.echo(f"  {line}")
    return all(ok for ok, _ in answers)


async def _ping(bindings: Bindings, binding: Binding) -> tuple[bool, str]:
    try:
        service = bindings.service(binding)
        ask = getattr(service, "ping", None)
        if ask is None:
            return True, "nothing to ask"
        async with asyncio.timeout(_PING_SECONDS):
            return True, await ask()
    except TimeoutError:
        return False, f"no answer within {_PING_SECONDS} s"
    except ProseError as error:
        return False, error.message
