"""The Anthropic provider against a server on this machine that speaks the wire format."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from prose_runtime.errors import ServiceError
from prose_runtime.services import retrying
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.registry import create
from prose_runtime.services.settings import Price, ServiceSettings
from services.fake_anthropic import block, error, message, streamed, text, tool
from services.fake_http import FakeServer, Turn, reset, silence

KEY = "sk-ant-secret-0123456789"
VERDICT = {
    "type": "object",
    "properties": {"accepted": {"type": "boolean"}, "why": {"type": "string"}},
    "required": ["accepted"],
}
CUT = streamed(message(("text", ["half an ans"]))[:4])


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("PROSE_LIVE", "forbid")
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.01)


def service(server: FakeServer, **settings: Any) -> Any:
    given = {"provider": "anthropic", "base_url": server.url, **settings}
    return create("claude", ServiceSettings(**given))


def ask(turns: Sequence[Turn], request: Request | None = None, **settings: Any) -> tuple[Reply, FakeServer]:
    """The reply of the provider to a server that answers by these turns."""

    async def main() -> tuple[Reply, FakeServer]:
        async with FakeServer(list(turns)) as server:
            asked = service(server, **settings)
            try:
                return await asked(request or Request(prompt="Argue.")), server
            finally:
                await asked.aclose()

    return asyncio.run(main())


def failure(turns: Sequence[Turn], request: Request | None = None, **settings: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        ask(turns, request, **settings)
    assert KEY not in str(caught.value) + str(caught.value.help)
    assert caught.value.service == "claude"
    return caught.value


def test_text_arrives_in_pieces_and_as_a_whole() -> None:
    pieces: list[str] = []
    reply, server = ask([text("Remote ", "work ", "helps.")], Request(prompt="Argue.", on_text=pieces.append))
    assert reply.value == "Remote work helps."
    assert pieces == ["Remote ", "work ", "helps."]
    assert reply.model == "claude-sonnet-5-5"
    assert KEY in str(server.received[0].headers)
    assert server.received[0].body["stream"] is True


def test_the_stable_part_of_the_prompt_is_marked_for_the_cache() -> None:
    _, server = ask([text("ok")], Request(job="Attack the claim.", inputs={"claim": "The moon is cheese."}))
    body = server.received[0].body
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "Attack the claim." in body["system"][0]["text"]
    assert "moon" not in body["system"][0]["text"]
    assert "The moon is cheese." in body["messages"][0]["content"]


def test_a_demanded_shape_is_filled_through_a_forced_tool() -> None:
    reply, server = ask([tool('{"accepted": tr', 'ue, "why": "sound"}')], Request(prompt="Judge.", schema=VERDICT))
    assert reply.value == {"accepted": True, "why": "sound"}
    body = server.received[0].body
    assert body["tools"][0]["input_schema"]["properties"] == VERDICT["properties"]
    assert body["tool_choice"]["name"] == body["tools"][0]["name"]


def test_a_shape_that_is_no_object_comes_back_bare() -> None:
    wanted = {"type": "array", "items": {"type": "string"}}
    reply, _ = ask([tool('{"value": ["a", "b"]}')], Request(prompt="List.", schema=wanted))
    assert reply.value == ["a", "b"]


def test_a_judge_is_held_to_a_verdict() -> None:
    reply, server = ask([tool('{"reason": "r", "verdict": false}')], Request(purpose="judge", prompt="It is sound"))
    assert reply.value == {"reason": "r", "verdict": False}
    assert "verdict" in server.received[0].body["tools"][0]["input_schema"]["properties"]


def test_a_reply_that_is_no_json_is_handed_back_as_text() -> None:
    reply, _ = ask([text("I accept it.")], Request(prompt="Judge.", schema=VERDICT))
    assert reply.value == "I accept it."
    broken, _ = ask([tool('{"accepted": tr')], Request(prompt="Judge.", schema=VERDICT))
    assert broken.value == '{"accepted": tr'


def test_thinking_is_no_part_of_the_value() -> None:
    pieces: list[str] = []
    turn = streamed(message(("thinking", ["They want ", "cheese."]), ("text", ["No."])))
    reply, _ = ask([turn], Request(prompt="Argue.", on_text=pieces.append))
    assert reply.value == "No."
    assert pieces == ["No."]


def test_a_model_that_takes_no_forced_tool_is_offered_it() -> None:
    no = error(400, "invalid_request_error", "Thinking may not be enabled when tool_choice forces tool use.")
    reply, server = ask([no, tool('{"accepted": true}')], Request(prompt="Judge.", schema=VERDICT))
    assert reply.value == {"accepted": True}
    assert [received.body["tool_choice"]["type"] for received in server.received] == ["tool", "auto"]


def test_usage_counts_cached_tokens_and_their_lower_price() -> None:
    reply, _ = ask([text("ok")], model="claude-sonnet-4-6")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (420, 50, 300)
    assert reply.usage.cost_usd == pytest.approx((100 * 3 + 20 * 3.75 + 300 * 0.3 + 50 * 15) / 1e6)


def test_the_cost_of_an_unknown_model_is_unknown_unless_it_is_given() -> None:
    start, *rest = message(("text", ["ok"]))
    unknown = [(start[0], {"message": {**start[1]["message"], "model": "claude-of-tomorrow"}}), *rest]
    assert ask([streamed(unknown)], model="claude-of-tomorrow")[0].usage.cost_usd is None
    # a gateway that says which model answered in place of the one that was asked for
    assert ask([text("ok")], model="any")[0].usage.cost_usd == pytest.approx(0.00078)
    prices = {"claude-of-tomorrow": Price(input=1, output=2, cached=0)}
    reply, _ = ask([text("ok")], model="claude-of-tomorrow", prices=prices)
    assert reply.usage.cost_usd == pytest.approx((120 * 1 + 50 * 2) / 1e6)


def test_settings_reach_the_server_and_a_call_may_name_its_model() -> None:
    _, server = ask([text("ok")], Request(prompt="p", model="claude-haiku-4-5"), max_tokens=77, temperature=0.5)
    body = server.received[0].body
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("claude-haiku-4-5", 77, 0.5)


def retried(turns: Sequence[Turn], **settings: Any) -> tuple[Reply, list[tuple[int, float, str]]]:
    waits: list[tuple[int, float, str]] = []

    def note(*wait: Any) -> None:
        waits.append(wait)

    reply, _ = ask(turns, Request(prompt="Argue.", on_retry=note), **settings)
    return reply, waits


def test_a_rate_limit_is_waited_for_as_long_as_the_server_asks() -> None:
    start = asyncio.new_event_loop()
    before = start.time()
    reply, waits = retried([error(429, "rate_limit_error", retry_after="0.3"), text("done")])
    assert reply.value == "done"
    assert start.time() - before >= 0.3
    start.close()
    assert waits[0][:2] == (1, 0.3)
    assert "rate" in waits[0][2]


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (error(529, "overloaded_error", retry_after="0"), "overloaded"),
        (error(500, "api_error", retry_after_ms="1"), "not available"),
        (streamed([("error", {"error": {"type": "overloaded_error", "message": "busy"}})]), "overloaded"),
        (reset, "reached"),
        (CUT, "broke off"),
        (streamed(message(("text", ["half"]))[:4], "cut"), "broke off"),
    ],
)
def test_what_passes_is_tried_again(turn: Turn, reason: str) -> None:
    reply, waits = retried([turn, turn, text("done")])
    assert reply.value == "done"
    assert [attempt for attempt, _, _ in waits] == [1, 2]
    assert reason in waits[0][2]


def test_retries_end() -> None:
    busy = error(529, "overloaded_error", retry_after="0")
    assert failure([busy, busy, busy, text("late")]).kind == "overloaded"
    assert failure([busy, text("late")], retries=0).kind == "overloaded"


def test_a_longer_pause_than_anyone_waits_for_fails_at_once_and_says_how_long() -> None:
    caught = failure([error(429, "rate_limit_error", retry_after="3600")])
    assert (caught.kind, caught.retry_after) == ("rate_limit", 3600)


@pytest.mark.parametrize(
    ("turn", "kind", "words"),
    [
        (error(401, "authentication_error", f"invalid x-api-key {KEY}"), "auth", "ANTHROPIC_API_KEY"),
        (error(403, "permission_error"), "auth", "key"),
        (error(404, "not_found_error", "model: nope"), "failed", "model"),
        (error(400, "invalid_request_error", "prompt is too long"), "length", "too long"),
        (error(400, "invalid_request_error", f"bad field, key {KEY}"), "failed", "bad field"),
        (streamed(message(("text", ["I"]), stop="refusal")), "refused", "refused"),
        (streamed(message(("text", ["I"]), stop="max_tokens")), "length", "tokens"),
    ],
)
def test_what_does_not_pass_is_told_at_once(turn: Turn, kind: str, words: str) -> None:
    caught = failure([turn, text("never asked for")])
    assert caught.kind == kind
    assert words in f"{caught.message} {caught.help}"


def test_a_missing_key_is_told_when_the_service_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    caught = failure([text("never asked for")])
    assert caught.kind == "auth"
    assert "ANTHROPIC_API_KEY" in str(caught.help)
    assert "MY_KEY" in str(failure([text("never asked for")], key_env="MY_KEY").help)


def test_another_variable_may_hold_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "the-other-key")
    _, server = ask([text("ok")], key_env="MY_KEY")
    assert "the-other-key" in str(server.received[0].headers)


def test_a_bearer_token_may_stand_in_for_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "the-token")
    _, server = ask([text("ok")])
    assert server.received[0].headers["authorization"] == "Bearer the-token"


def test_live_requests_can_be_forbidden() -> None:
    asked = create("claude", ServiceSettings(provider="anthropic", base_url="https://models.example"))
    with pytest.raises(ServiceError, match="forbidden"):
        asyncio.run(asked(Request(prompt="p")))  # type: ignore[arg-type]


def test_a_server_that_never_answers_is_left_in_time() -> None:
    assert failure([silence], timeout=0.2).kind == "timeout"


@pytest.mark.parametrize("turn", [silence, streamed(message(("text", ["on and "]))[:4], "open")])
def test_cancelling_closes_the_connection(turn: Turn) -> None:
    async def main() -> None:
        async with FakeServer([turn]) as server:
            task = asyncio.ensure_future(service(server)(Request(prompt="Argue.")))
            await asyncio.wait_for(server.begun.wait(), 5)
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.wait_for(server.left.wait(), 5)
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_ping_names_the_model_and_the_server() -> None:
    async def found(exchange: Any) -> None:
        assert exchange.received.method == "GET"
        body = {"id": "claude-haiku-4-5", "type": "model", "display_name": "H", "created_at": "2025-10-01T00:00:00Z"}
        await exchange.reply(200, body)

    async def main(turn: Callable[..., Awaitable[None]]) -> str:
        async with FakeServer([turn]) as server:
            asked = service(server, model="claude-haiku-4-5")
            try:
                return str(await asked.ping())
            finally:
                await asked.aclose()

    assert "claude-haiku-4-5" in asyncio.run(main(found))
    with pytest.raises(ServiceError, match="key"):
        asyncio.run(main(error(401, "authentication_error")))


def test_one_service_serves_one_event_loop_after_another() -> None:
    servers: list[FakeServer] = []

    async def main(asked: Any) -> Any:
        async with FakeServer([text("ok")]) as server:
            servers.append(server)
            asked = asked or service(server)
            asked._url = server.url
            await asked(Request(prompt="p"))
            await asked.aclose()
            return asked

    asyncio.run(main(asyncio.run(main(None))))
    assert [len(server.received) for server in servers] == [1, 1]


def test_loading_the_provider_does_not_load_the_client() -> None:
    code = "import prose_runtime.services.anthropic, sys; sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_several_text_blocks_are_one_answer() -> None:
    events = message(("text", ["One. "]), ("text", ["Two."]))
    assert block(0, "text", ["One. "])[1] in events
    assert ask([streamed(events)])[0].value == "One. Two."
