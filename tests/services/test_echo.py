import asyncio

import pytest

from prose_runtime.services import registry
from prose_runtime.services.api import Request
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.values import ServiceRef


@pytest.mark.parametrize(
    ("request_", "value"),
    [
        (Request(inputs={"a": "x"}, prompt="p"), "x"),
        (Request(inputs={"a": [1], "b": None}), {"a": [1], "b": None}),
        (Request(inputs={"who": ServiceRef("claude")}), "claude"),
        (Request(prompt="p"), "p"),
        (Request(), {}),
    ],
)
def test_echo_answers_with_its_inputs(request_, value):
    service = registry.create("e", ServiceSettings(provider="echo"))
    assert asyncio.run(service(request_)).value == value
