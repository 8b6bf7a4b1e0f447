"""The OpenAI provider against a server on this machine that speaks the wire format."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from prose_runtime.errors import ServiceError
from prose_runtime.services import retrying
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.registry import create
from prose_runtime.services.settings import Price, ServiceSettings
from prose_runtime.services.shaping import ThoughtFilter, without_thoughts
from services.fake_http import FakeServer, Turn, reset, silence
from services.fake_openai import chunk, completion, error, models, streamed, text

KEY = "sk-secret-0123456789"
SCORE = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PROSE_LIVE", "forbid")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.01)


def service(url: str, **settings: Any) -> Any:
    return create("vllm", ServiceSettings(**{"provider": "openai", "base_url": url, "model": "m", **settings}))


def ask(turns: Sequence[Turn], request: Request | None = None, **settings: Any) -> tuple[Reply, FakeServer]:
    """The reply of the provider to a server that answers by these turns."""

    async def main() -> tuple[Reply, FakeServer]:
        async with FakeServer(list(turns)) as server:
            asked = service(server.url + "/v1", **settings)
            try:
                return await asked(request or Request(prompt="Argue.")), server
            finally:
                await asked.aclose()

    return asyncio.run(main())


def failure(turns: Sequence[Turn], request: Request | None = None, **settings: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        ask(turns, request, **settings)
    assert KEY not in str(caught.value) + str(caught.value.help)
    return caught.value


def test_text_arrives_in_pieces_and_as_a_whole() -> None:
    pieces: list[str] = []
    reply, server = ask([text("Remote ", "work.")], Request(prompt="Argue.", on_text=pieces.append), seed=7)
    assert reply.value == "Remote work."
    assert pieces == ["Remote ", "work."]
    assert server.received[0].path == "/v1/chat/completions"
    assert KEY in server.received[0].headers["authorization"]
    body = server.received[0].body
    assert (body["model"], body["seed"], body["stream_options"]) == ("m", 7, {"include_usage": True})


def test_a_demanded_shape_goes_along_as_a_schema() -> None:
    reply, server = ask([text('{"score"', ": 0.4}")], Request(prompt="Rate.", schema=SCORE))
    assert reply.value == {"score": 0.4}
    sent = server.received[0].body["response_format"]["json_schema"]["schema"]
    assert sent["properties"] == SCORE["properties"]


def test_a_shape_that_is_no_object_comes_back_bare() -> None:
    wanted = {"type": "array", "items": {"type": "string"}}
    assert ask([text('{"value": ["a"]}')], Request(prompt="List.", schema=wanted))[0].value == ["a"]


def test_a_server_without_schemas_is_asked_in_words() -> None:
    no = error(400, None, "Unknown parameter: 'response_format'.")
    reply, server = ask([no, text('{"score": 1}')], Request(prompt="Rate.", schema=SCORE))
    assert reply.value == {"score": 1}
    assert ["response_format" in received.body for received in server.received] == [True, False]
    assert "score" in server.received[1].body["messages"][1]["content"]


def test_a_reply_that_is_no_json_is_handed_back_as_text() -> None:
    assert ask([text("about half")], Request(prompt="Rate.", schema=SCORE))[0].value == "about half"


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_content": "They want"}, {"reasoning": " cheese."}, {"content": "No."}],
        [{"content": "<thi"}, {"content": "nk>They want cheese.</th"}, {"content": "ink>\n\nN"}, {"content": "o."}],
    ],
)
def test_reasoning_is_no_part_of_the_value(deltas: list[dict[str, Any]]) -> None:
    pieces: list[str] = []
    reply, _ = ask([streamed(completion(*deltas))], Request(prompt="Argue.", on_text=pieces.append))
    assert reply.value == "No."
    assert "".join(pieces) == "No."


def test_only_reasoning_at_the_start_is_taken_out() -> None:
    assert without_thoughts("They want cheese.</think>No.") == "No."
    assert without_thoughts("<think>cut in the mid") == ""
    for kept in ("Write <think>x</think> around it.", "1 < 2", "<thanks>", "<"):
        shown = ThoughtFilter()
        assert "".join(map(shown.feed, kept)) + shown.finish() == kept
        assert without_thoughts(kept) == kept


def test_usage_and_cost() -> None:
    reply, _ = ask([text("ok")], model="gpt-5-mini-2025-08-07")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (400, 50, 300)
    assert reply.usage.cost_usd == pytest.approx((100 * 0.25 + 300 * 0.025 + 50 * 2) / 1e6)
    home_made = streamed([{**chunk, "model": "home-made"} for chunk in completion({"content": "ok"})])
    assert ask([home_made], model="home-made")[0].usage.cost_usd is None
    priced, _ = ask([text("ok")], model="home-made", prices={"home-made": Price(input=1, output=2)})
    assert priced.usage.cost_usd == pytest.approx((400 + 100) / 1e6)
    # a server that says which model answered in place of the one that was asked for
    routed, _ = ask([text("ok")], model="any", prices={str(reply.model): Price(input=1, output=2)})
    assert routed.usage.cost_usd == pytest.approx((400 + 100) / 1e6)


def test_a_server_that_counts_nothing_leaves_the_usage_unknown() -> None:
    usage = ask([streamed(completion({"content": "ok"})[:-1])])[0].usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (error(429, "rate_limit_exceeded", retry_after="0"), "rate"),
        (error(529, None, retry_after="0"), "overloaded"),
        (error(503, None), "not available"),
        (reset, "reached"),
        (streamed(completion({"content": "half"})[:2]), "broke off"),
        (streamed(completion({"content": "half"})[:2], "cut"), "broke off"),
        (streamed([chunk({"content": "half"}), {"error": {"message": "busy", "code": 502}}]), "not available"),
    ],
)
def test_what_passes_is_tried_again(turn: Turn, reason: str) -> None:
    waits: list[tuple[int, str]] = []
    request = Request(prompt="Argue.", on_retry=lambda attempt, _, why: waits.append((attempt, why)))
    assert ask([turn, turn, text("done")], request)[0].value == "done"
    assert [attempt for attempt, _ in waits] == [1, 2]
    assert reason in waits[0][1]


@pytest.mark.parametrize(
    ("turn", "kind", "words"),
    [
        (error(401, "invalid_api_key", f"Incorrect API key provided: {KEY}"), "auth", "OPENAI_API_KEY"),
        (error(404, "model_not_found"), "failed", "model"),
        (error(429, "insufficient_quota"), "exhausted", "credit"),
        (error(400, "context_length_exceeded"), "length", "shorten"),
        (error(400, None, f"bad temperature {KEY}"), "failed", "bad temperature"),
        (text("I", stop="length"), "length", "cut off"),
        (text("I", stop="content_filter"), "refused", "refused"),
        (streamed(completion({"refusal": "I will not."})), "refused", "I will not."),
    ],
)
def test_what_does_not_pass_is_told_at_once(turn: Turn, kind: str, words: str) -> None:
    caught = failure([turn, text("never asked for")])
    assert caught.kind == kind
    assert words in f"{caught.message} {caught.help}"


def test_a_server_on_this_machine_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask([text("ok")])[0].value == "ok"
    assert failure([text("never asked for")], key_env="VLLM_KEY").kind == "auth"


def test_a_server_elsewhere_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("PROSE_LIVE")
    with pytest.raises(ServiceError) as caught:
        asyncio.run(service("https://models.example/v1")(Request(prompt="p")))
    assert caught.value.kind == "auth"
    assert "OPENAI_API_KEY" in str(caught.value.help)


def test_live_requests_can_be_forbidden() -> None:
    with pytest.raises(ServiceError, match="forbidden"):
        asyncio.run(service("https://models.example/v1")(Request(prompt="p")))


def test_without_a_model_the_server_is_asked_what_it_has() -> None:
    _, server = ask([models("llama", "qwen"), text("ok")], model=None)
    assert server.received[1].body["model"] == "llama"
    assert "no model" in failure([models()], model=None).message


def test_nobody_listening_says_where() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://user:pass@127.0.0.1:{taken.getsockname()[1]}/v1"
    with pytest.raises(ServiceError) as caught:
        asyncio.run(service(url, retries=0)(Request(prompt="p")))
    assert caught.value.kind == "unavailable"
    assert "127.0.0.1" in caught.value.message
    assert "pass" not in caught.value.message


def test_a_server_that_never_answers_is_left_in_time() -> None:
    assert failure([silence], timeout=0.2).kind == "timeout"


@pytest.mark.parametrize("turn", [silence, streamed(completion({"content": "on and "})[:2], "open")])
def test_cancelling_closes_the_connection(turn: Turn) -> None:
    async def main() -> None:
        async with FakeServer([turn]) as server:
            task = asyncio.ensure_future(service(server.url)(Request(prompt="Argue.")))
            await asyncio.wait_for(server.begun.wait(), 5)
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.wait_for(server.left.wait(), 5)
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_ping_lists_what_the_server_has() -> None:
    async def main(turn: Turn) -> str:
        async with FakeServer([turn]) as server:
            asked = service(server.url, model="qwen")
            try:
                return str(await asked.ping())
            finally:
                await asked.aclose()

    assert "qwen" in asyncio.run(main(models("llama", "qwen")))
    with pytest.raises(ServiceError, match="model"):
        asyncio.run(main(models("llama")))


def test_loading_the_provider_does_not_load_the_client() -> None:
    code = "import prose_runtime.services.openai, sys; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
