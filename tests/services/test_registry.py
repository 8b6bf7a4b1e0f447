import asyncio

import pytest

from prose_runtime.errors import RunFailed, ServiceError, UsageError
from prose_runtime.services import registry
from prose_runtime.services.api import Reply, Request, Service
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.values import Usage


def ask(service, **request):
    return asyncio.run(service(Request(**request)))


def test_an_installed_provider_makes_a_service_of_that_name():
    service = registry.create("parrot", ServiceSettings(provider="echo"))
    assert isinstance(service, Service)
    assert service.name == "parrot"
    assert ask(service, inputs={"a": "x"}).value == "x"


def test_an_unknown_provider_lists_the_known_ones():
    with pytest.raises(UsageError) as caught:
        registry.create("x", ServiceSettings(provider="anthropc"))
    assert "anthropc" in caught.value.message
    assert "script" in caught.value.message
    assert "human" in caught.value.message
    assert "anthropic" in caught.value.help


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(registry.EXTRAS, "local", "a_module_that_nobody_has")
    with pytest.raises(UsageError) as caught:
        registry.create("x", ServiceSettings(provider="local"))
    assert "pip install 'prose-runtime[local]'" in caught.value.help


def test_a_plain_function_is_a_service():
    async def shout(request):
        return request.inputs["text"].upper()

    assert ask(registry.adapt("shout", shout), inputs={"text": "hi"}) == Reply("HI")


def test_a_function_may_reply_with_its_usage():
    async def paid(request):
        return Reply([1], Usage(3, 4), "m")

    assert ask(registry.adapt("paid", paid)) == Reply([1], Usage(3, 4), "m")


def test_what_a_function_raises_is_a_failed_call():
    async def broken(request):
        raise KeyError("nothing there")

    async def busy(request):
        raise ServiceError("later", kind="overloaded")

    with pytest.raises(ServiceError, match="nothing there") as caught:
        ask(registry.adapt("broken", broken))
    assert (caught.value.kind, caught.value.service) == ("failed", "broken")
    with pytest.raises(RunFailed) as caught:
        ask(registry.adapt("busy", busy))
    assert caught.value.kind == "overloaded"


@pytest.mark.parametrize("answer", [object(), {"x": {1, 2}}, float("nan"), {1: "x"}])
def test_an_answer_that_is_no_json_value_is_a_failed_call(answer):
    async def odd(request):
        return answer

    with pytest.raises(ServiceError, match="no JSON"):
        ask(registry.adapt("odd", odd))


def test_what_cannot_be_called_is_no_service():
    with pytest.raises(UsageError, match="thesis"):
        registry.adapt("thesis", 3)


def test_a_timeout_ends_the_call():
    settings = ServiceSettings(provider="script", replies=[{"delay": 30, "reply": "late"}, "soon"], timeout=0.05)
    service = registry.create("slow", settings)
    with pytest.raises(ServiceError) as caught:
        ask(service)
    assert caught.value.kind == "timeout"
    assert "0.05" in caught.value.message
    assert ask(service).value == "soon"
