import asyncio
import time

import pytest

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.services import registry
from prose_runtime.services.api import Request
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.testing import record, script


def made(**settings):
    return registry.create("s", ServiceSettings.model_validate({"provider": "script", **settings}))


def ask(service, prompt=None, **inputs):
    return asyncio.run(service(Request(prompt=prompt, inputs=inputs))).value


def test_replies_come_in_the_order_of_the_calls_and_then_run_out():
    service = made(replies=["first", {"score": 0.4}, ["a"], None])
    assert [ask(service) for _ in range(4)] == ["first", {"score": 0.4}, ["a"], None]
    with pytest.raises(ServiceError, match=r"`s`.*4") as caught:
        ask(service)
    assert caught.value.kind == "exhausted"
    assert "repeat" in caught.value.help


def test_repeat_starts_again():
    service = made(replies=["a", "b"], repeat=True)
    assert [ask(service) for _ in range(5)] == ["a", "b", "a", "b", "a"]


def test_an_instruction_may_fail_or_echo():
    service = made(
        replies=[
            {"error": "busy", "kind": "overloaded"},
            {"error": "down"},
            {"echo": True},
            {"echo": True},
            {"reply": {"error": "as data"}},
            {"error": "as data too", "code": 7},
        ]
    )
    with pytest.raises(ServiceError) as caught:
        ask(service)
    assert (caught.value.message, caught.value.kind, caught.value.service) == ("busy", "overloaded", "s")
    with pytest.raises(ServiceError) as caught:
        ask(service)
    assert caught.value.kind == "failed"
    assert ask(service, task="t") == "t"
    assert ask(service, a=1, b="x") == {"a": 1, "b": "x"}
    assert ask(service) == {"error": "as data"}
    assert ask(service) == {"error": "as data too", "code": 7}


def test_a_delay_is_in_seconds_and_can_be_cancelled():
    service = made(replies=[{"delay": 0.05, "reply": "late"}, {"delay": 30, "reply": "never"}, "next"])
    start = time.monotonic()
    assert ask(service) == "late"
    assert time.monotonic() - start >= 0.05

    async def impatient():
        async with asyncio.timeout(0.05):
            await service(Request())

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert ask(service) == "next"


def test_calls_at_the_same_time_share_one_sequence():
    service = made(replies=[{"delay": 0.05, "reply": "a"}, "b", "c"])

    async def three():
        return await asyncio.gather(*(service(Request()) for _ in range(3)))

    assert [reply.value for reply in asyncio.run(three())] == ["a", "b", "c"]


def test_the_first_rule_that_matches_answers():
    service = made(
        rules=[
            {"when": {"task": "tea"}, "reply": "exactly"},
            {"when": {"task": "/t.a/", "size": 3}, "reply": "both"},
            {"when": {"task": "/t.a/"}, "reply": "regex"},
            {"when": {"prompt": "/^Find/"}, "reply": "prompted"},
            {"when": {"gone": None}, "error": "no luck", "kind": "refused"},
        ],
        **{"else": {"echo": True}},
    )
    assert ask(service, task="tea") == "exactly"
    assert ask(service, task="steam", size=3) == "both"
    assert ask(service, task="steam", size=4) == "regex"
    assert ask(service, prompt="Find it", task="coffee") == "prompted"
    assert ask(service, task="coffee", gone="x") == {"task": "coffee", "gone": "x"}
    with pytest.raises(ServiceError, match="no luck"):
        ask(service, task="coffee")


def test_a_rule_sees_values_that_are_no_text():
    service = made(rules=[{"when": {"ok": True}, "reply": "bool"}, {"when": {"n": "/^.1, 2.$/"}, "reply": "list"}])
    assert ask(service, ok=True) == "bool"
    assert ask(service, n=[1, 2]) == "list"
    with pytest.raises(ServiceError, match="no rule"):
        ask(service, ok=1)


def test_calls_that_no_rule_matches_take_the_replies_and_then_the_else():
    service = made(rules=[{"when": {"a": "1"}, "reply": "rule"}], replies=["one"], **{"else": "rest"})
    assert [ask(service), ask(service, a="1"), ask(service), ask(service)] == ["one", "rule", "rest", "rest"]


def test_else_alone_answers_always_even_with_null():
    assert ask(made(rules=[], **{"else": "ok"})) == "ok"
    assert ask(made(**{"else": None})) is None


def test_a_resumed_run_skips_what_it_has():
    service = made(rules=[{"when": {"x": "1"}, "reply": "rule"}], replies=["a", "b"])
    service.skip(Request(inputs={"x": "1"}))
    service.skip(Request(inputs={"x": "2"}))
    assert ask(service) == "b"


def test_a_resumed_run_passes_over_a_failure_unless_it_was_mended():
    failure = ServiceError("down")
    for replies in (["a", {"error": "down"}, "b"], ["a", "b"]):
        service = made(replies=replies)
        service.skip(Request())
        service.skip(Request(), failure)
        assert ask(service) == "b"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "without replies"),
        ({"replies": [{"delay": "soon", "reply": 1}]}, "delay"),
        ({"replies": [{"reply": 1, "error": "x"}]}, "exactly one"),
        ({"rules": [{"when": {"a": "/(/"}, "reply": 1}]}, "regular expression"),
        ({"rules": [{"wenn": {"a": "b"}, "reply": 1}]}, "wenn"),
        ({"rules": [{"when": {"a": "b"}}]}, "nothing to answer"),
        ({"rules": [{"when": "a", "reply": 1}]}, "mapping"),
        ({"replies": [{"a": {1, 2}}]}, "no JSON value"),
    ],
)
def test_a_script_with_a_fault_is_refused(settings, says):
    with pytest.raises(UsageError, match=says) as caught:
        made(**settings)
    assert "`s`" in caught.value.message


def test_doubles_for_tests_of_patterns():
    critic = record(script({"accepted": False}, "fine"))
    assert ask(critic, draft="d1") == {"accepted": False}
    assert ask(critic, draft="d2") == "fine"
    assert [request.inputs["draft"] for request in critic.requests] == ["d1", "d2"]
    assert critic.replies[1].value == "fine"


def test_a_recorded_function_keeps_what_it_was_asked():
    async def answer(request):
        return 42

    recorded = record(answer, name="deep")
    assert (recorded.name, ask(recorded, q="?")) == ("deep", 42)
    assert recorded.requests[0].inputs == {"q": "?"}


def test_a_reply_may_itself_be_an_instruction():
    service = made(rules=[{"when": {"x": "1"}, "reply": {"error": "ill", "kind": "overloaded"}}], replies=["a"])
    with pytest.raises(ServiceError) as caught:
        ask(service, x="1")
    assert caught.value.kind == "overloaded"
    assert ask(service) == "a"
