"""``script``: canned replies and rules, for tests, examples and trying things out (DESIGN.md section 4)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.echo import echoed
from prose_runtime.services.searching import is_in
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.values import strange, to_json, to_text

INSTRUCTION = frozenset({"error", "kind", "delay", "reply", "echo"})
"""A mapping whose keys are all among these says what to do; any other value is the reply itself."""


def provider(settings: ServiceSettings) -> Service:
    """Make a script of the settings ``replies``, ``repeat``, ``rules`` and ``else``."""
    given = settings.model_fields_set
    if not given & {"replies", "rules", "otherwise"}:
        raise UsageError(
            f"service `{settings.name}` is a script without replies",
            help=f'in prose.yml: services: {{{settings.name}: {{provider: script, replies: ["first", "second"]}}}}',
        )
    return ScriptService(
        settings.name,
        settings.replies or (),
        repeat=settings.repeat,
        rules=settings.rules or (),
        otherwise=[settings.otherwise] if "otherwise" in given else (),
    )


@dataclass(frozen=True, slots=True)
class Action:
    """What a script does for one call: wait ``delay`` seconds, then fail, echo or reply."""

    reply: Any = None
    echo: bool = False
    error: str | None = None
    kind: str = "failed"
    delay: float = 0.0

    def came_to(self, answer: Reply | ServiceError) -> bool:
        """Whether this action gives that answer."""
        if isinstance(answer, ServiceError):
            return self.error == answer.message
        return self.error is None and (self.echo or bool(self.reply == answer.value))

    async def carry_out(self, service: str, request: Request) -> Reply:
        """Answer the request, or raise the ``ServiceError`` asked for."""
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.error is not None:
            raise ServiceError(self.error, kind=self.kind, service=service)
        return Reply(echoed(request) if self.echo else self.reply)


@dataclass(frozen=True, slots=True)
class Rule:
    """An action for the calls whose inputs and prompt are as ``when`` says; without ``when`` for all."""

    when: Mapping[str, Any]
    action: Action

    def matches(self, request: Request) -> bool:
        """Whether every part of ``when`` holds. Raises ServiceError when a regular expression takes too long."""
        try:
            return all(_matches(want, _part(request, key)) for key, want in self.when.items())
        except TimeoutError as error:
            raise ServiceError(str(error)) from None


class ScriptService:
    """Rules first, then replies in the order of the calls, then what ``otherwise`` holds (nothing or one action)."""

    def __init__(
        self,
        name: str,
        replies: Sequence[Any] = (),
        *,
        repeat: bool = False,
        rules: Sequence[Mapping[str, Any]] = (),
        otherwise: Sequence[Any] = (),
    ):
        self.name = name
        self._replies = [_action(name, reply) for reply in replies]
        self._rules = [_rule(name, rule) for rule in rules]
        self._otherwise = [_action(name, reply) for reply in otherwise]
        self._repeat = repeat
        self._taken = 0

    async def __call__(self, request: Request) -> Reply:
        """Answer as scripted. Raises ``ServiceError`` of kind ``exhausted`` when the replies have run out."""
        return await self._next(request).carry_out(self.name, request)

    async def ping(self) -> str:
        """Say how many replies are left."""
        return "ready" if self._repeat or not self._replies else f"{len(self._replies) - self._taken} replies left"

    def skip(self, request: Request, answer: Reply | ServiceError | None = None) -> None:
        """Take the reply to a request, if there is one, without giving it: a resumed run has it already.

        ``answer``: the request will be made again, for this is what came of it. A reply that has been mended since is
        not passed over.
        """
        taken = self._taken
        with suppress(ServiceError):
            action = self._next(request)
            if answer is not None and not action.came_to(answer):
                self._taken = taken

    def _next(self, request: Request) -> Action:
        for rule in self._rules:
            if rule.matches(request):
                return rule.action
        taken = self._taken
        if self._replies and (self._repeat or taken < len(self._replies)):
            self._taken += 1
            return self._replies[taken % len(self._replies)]
        if self._otherwise:
            return self._otherwise[0]
        if self._replies or not self._rules:
            count = len(self._replies)
            raise ServiceError(
                f"the script `{self.name}` has no reply left: all {count} were given",
                kind="exhausted",
                service=self.name,
                help="add replies in prose.yml, or `repeat: true` to start again",
            )
        names = ", ".join(request.inputs) or "none"
        raise ServiceError(
            f"no rule of the script `{self.name}` matches this call (inputs: {names})",
            service=self.name,
            help="add a rule, or an `else` for all other calls",
        )


def _action(service: str, item: Any) -> Action:
    if not _is_instruction(item):
        return Action(reply=_as_value(service, item))
    error, delay = item.get("error"), item.get("delay", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0 <= delay < float("inf"):
        raise UsageError(f"service `{service}`: `delay` is a number of seconds, not {delay!r}")
    ways = [error is not None, bool(item.get("echo")), "reply" in item]
    if sum(ways) != 1:
        raise UsageError(
            f"service `{service}`: a scripted answer has exactly one of `reply`, `echo: true` and `error`",
            help='write {reply: "text"}, {echo: true} or {error: "what happened", kind: overloaded}',
        )
    return Action(
        reply=_as_value(service, item.get("reply")),
        echo=bool(item.get("echo")),
        error=None if error is None else to_text(error),
        kind=str(item.get("kind") or "failed"),
        delay=float(delay),
    )


def _is_instruction(item: Any) -> bool:
    return isinstance(item, Mapping) and bool(item) and item.keys() <= INSTRUCTION


def _as_value(service: str, item: Any) -> Any:
    if isinstance(item, Mapping):
        return {str(key): _as_value(service, entry) for key, entry in item.items()}
    if isinstance(item, list | tuple):
        return [_as_value(service, entry) for entry in item]
    found = strange(item)
    if found:
        raise UsageError(f"service `{service}`: a reply holds {found}, which is no JSON value")
    return item


def _rule(service: str, item: Mapping[str, Any]) -> Rule:
    rest = {key: value for key, value in item.items() if key != "when"}
    if _is_instruction(rest.get("reply")):  # `reply` is how a rule answers, so what it holds may be an instruction
        rest = {key: value for key, value in rest.items() if key != "reply"} | rest["reply"]
    unknown = sorted(map(str, rest.keys() - INSTRUCTION))
    when = item.get("when") or {}
    fault = ""
    if unknown:
        fault = f"unknown key `{unknown[0]}` in a rule"
    elif not rest:
        fault = "a rule says nothing to answer"
    elif not isinstance(when, Mapping):
        fault = "`when` is a mapping from input names to texts"
    if fault:
        example = 'a rule is {when: {input_name: "text or /regex/"}, reply: "x"}'
        raise UsageError(f"service `{service}`: {fault}", help=example)
    return Rule({str(key): _pattern(service, want) for key, want in when.items()}, _action(service, rest))


def _pattern(service: str, want: Any) -> Any:
    if not isinstance(want, str) or len(want) < 3 or want[0] != "/" or want[-1] != "/":
        return want
    try:
        return re.compile(want[1:-1])
    except re.error as error:
        raise UsageError(f"service `{service}`: {want} is no regular expression: {error}") from error


_ABSENT = object()


def _part(request: Request, key: str) -> Any:
    if key == "prompt" and request.prompt is not None:
        return request.prompt
    return request.inputs.get(key, _ABSENT)


def _matches(want: Any, have: Any) -> bool:
    if isinstance(want, re.Pattern):
        return have is not _ABSENT and is_in(want, to_text(have))
    if want is None:
        return have is _ABSENT or have is None
    if isinstance(want, str):
        return have is not _ABSENT and have is not None and to_text(have) == want
    return have is not _ABSENT and isinstance(want, bool) == isinstance(have, bool) and want == to_json(have)
