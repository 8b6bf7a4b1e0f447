import pytest

from prose_runtime.errors import ServiceError
from prose_runtime.services.live import ensure_live_allowed


@pytest.mark.parametrize(
    "base_url", [None, "https://api.anthropic.com", "http://10.0.0.1/v1", "http://localhost.evil.com"]
)
def test_live_requests_are_forbidden_in_this_suite(base_url):
    with pytest.raises(ServiceError, match="PROSE_LIVE") as caught:
        ensure_live_allowed("anthropic", base_url)
    assert caught.value.kind == "forbidden"
    assert not caught.value.retryable


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1234/v1", "http://localhost:11434", "http://[::1]:80/"])
def test_this_machine_is_allowed(base_url):
    ensure_live_allowed("openai", base_url)


def test_without_the_switch_everything_is_allowed(monkeypatch):
    monkeypatch.delenv("PROSE_LIVE")
    ensure_live_allowed("anthropic", None)
