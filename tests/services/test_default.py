import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from prose_runtime.services import default, registry
from prose_runtime.services.bindings import Bindings, ProseYml

NOBODY = "127.0.0.1:1"


@contextmanager
def ollama(body, status=200):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/api/tags" else 404)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, *args):
            """Tests are quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def chosen(config=None, **env):
    return Bindings(ProseYml.model_validate(config or {}), env={"OLLAMA_HOST": NOBODY, **env}).default_service()


@pytest.fixture
def no_local(monkeypatch):
    monkeypatch.setitem(registry.EXTRAS, "local", "a_module_that_nobody_has")


def test_prose_yml_comes_first():
    config = {"default": "mine", "services": {"mine": {"provider": "echo"}}}
    binding, note = chosen(config, PROSE_DEFAULT="human", ANTHROPIC_API_KEY="k")
    assert (binding.name, binding.settings.provider) == ("mine", "echo")
    assert "prose.yml" in note


def test_then_the_variable():
    binding, note = chosen(PROSE_DEFAULT="openai:gpt", ANTHROPIC_API_KEY="k")
    assert (binding.name, binding.settings.model) == ("openai:gpt", "gpt")
    assert "PROSE_DEFAULT" in note


def test_then_anthropic_when_its_key_is_set_without_showing_it():
    binding, note = chosen(ANTHROPIC_API_KEY="sk-secret")
    assert binding.settings.provider == "anthropic"
    assert "ANTHROPIC_API_KEY" in note
    assert "secret" not in f"{binding!r} {note}"


def test_then_an_ollama_server_with_a_model_that_can_write():
    with ollama({"models": [{"name": "nomic-embed-text"}, {"name": "qwen3:8b"}, {"name": "other"}]}) as host:
        binding, note = chosen(OLLAMA_HOST=host)
    assert binding.settings.provider == "openai"
    assert binding.settings.base_url == f"http://{host}/v1"
    assert binding.settings.model == "qwen3:8b"
    assert "Ollama" in note
    assert "better" in note


@pytest.mark.parametrize("body", [b"junk", {"models": []}, {"models": None}, [], {"models": [{"name": 3}, 4]}])
def test_an_ollama_server_without_models_is_passed_over(body):
    with ollama(body) as host:
        assert chosen(OLLAMA_HOST=host)[0].name == "local"


def test_then_the_embedded_model_with_a_warning():
    binding, note = chosen()
    assert binding.settings.provider == "local"
    assert "small" in note
    assert "ANTHROPIC_API_KEY" in note


@pytest.mark.usefixtures("no_local")
def test_then_a_rehearsal_that_says_what_would_be_better():
    binding, note = chosen()
    assert binding.settings.provider == "rehearsal"
    for part in ("no model", "ANTHROPIC_API_KEY", "pip install 'prose-runtime[local]'"):
        assert part in note


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("localhost:99", "http://localhost:99"),
        ("https://box.example", "https://box.example:443"),
        ("[::1]:7", "http://[::1]:7"),
        ("localhost:port", "http://localhost:11434"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(given, url):
    assert default.ollama_url({"OLLAMA_HOST": given}) == url


def test_only_this_machine_is_probed():
    assert default.installed_models("http://192.0.2.1:11434") == []
