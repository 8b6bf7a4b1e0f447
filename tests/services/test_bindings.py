import asyncio

import pytest

from prose_runtime.errors import UsageError
from prose_runtime.services.api import Request
from prose_runtime.services.bindings import Bindings, ProseYml
from prose_runtime.services.settings import ServiceSettings

CONFIG = """
judge: haiku
services:
  claude: {provider: anthropic, model: opus, instructions: "Be brief."}
  canned: {provider: script, replies: [one, two]}
  echo: {provider: script, replies: [mine]}
  panel: {pattern: ensemble-synthesizer, with: {ensemble_member: [claude, canned]}, config: {ensemble_size: 5}}
models: {opus: claude-opus-x, haiku: claude-haiku-x, fast: "openai:tiny", odd: llama}
prices: {claude-opus-x: {input: 5, output: 25}}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "prose.yml").write_text(CONFIG)
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "critic.prose.md").write_text("---\nname: critic\nkind: function\n---\n")
    (tmp_path / "notes.txt").write_text("x")
    return tmp_path


@pytest.fixture
def bindings(folder):
    return Bindings.load(None, folder)


def configured(folder, **config):
    return Bindings(ProseYml.model_validate(config), folder / "prose.yml", cwd=folder, env={})


def test_a_service_of_prose_yml(bindings):
    binding = bindings.resolve("claude", "left")
    assert (binding.name, binding.kind) == ("claude", "service")
    assert (binding.settings.provider, binding.settings.instructions) == ("anthropic", "Be brief.")


def test_aliases_of_models_are_replaced_and_prices_handed_on(bindings):
    settings = bindings.resolve("claude").settings
    assert settings.model == "claude-opus-x"
    assert settings.price("claude-opus-x").output == 25
    assert bindings.resolve("anthropic:opus").settings.model == "claude-opus-x"
    assert bindings.model_id("haiku") == "claude-haiku-x"
    assert bindings.model_id("claude-sonnet-4-5") == "claude-sonnet-4-5"


def test_a_service_goes_before_a_provider_of_the_same_name(bindings):
    assert bindings.resolve("echo").settings.provider == "script"
    assert bindings.resolve("echo:x").settings.provider == "echo"


@pytest.mark.parametrize(
    ("word", "provider", "model"),
    [
        ("human", "human", None),
        ("anthropic", "anthropic", None),
        ("anthropic:claude-x", "anthropic", "claude-x"),
        ("local:/models/a:b.gguf", "local", "/models/a:b.gguf"),
    ],
)
def test_a_provider_with_or_without_a_model(bindings, word, provider, model):
    binding = bindings.resolve(word, "left")
    assert (binding.name, binding.kind) == (word, "service")
    assert (binding.settings.provider, binding.settings.model) == (provider, model)


def test_the_path_of_a_spec(bindings, folder):
    binding = bindings.resolve("roles/critic.prose.md", "critic")
    assert (binding.name, binding.kind) == ("roles/critic.prose.md", "spec")
    assert binding.path == folder / "roles" / "critic.prose.md"
    assert bindings.resolve("critic.prose.md", base=folder / "roles").path == binding.path
    assert bindings.resolve(str(binding.path)).path == binding.path


def test_an_instance_of_a_pattern(bindings, folder):
    binding = bindings.resolve("panel", "left")
    assert (binding.name, binding.kind, binding.folder) == ("panel", "pattern", folder)
    assert binding.instance.pattern == "ensemble-synthesizer"
    assert binding.instance.slots == {"ensemble_member": ["claude", "canned"]}
    assert binding.instance.config == {"ensemble_size": 5}


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("claud", r"left.*`claud`"),
        ("anthropc:x", r"no provider `anthropc`"),
        ("anthropic:", r"no model"),
        ("roles/none.md", r"no such file"),
        ("roles/", r"no file"),
        ("./notes.txt", r"no spec"),
        ("", r"left"),
    ],
)
def test_anything_else_is_an_error(bindings, word, says):
    with pytest.raises(UsageError, match=says) as caught:
        bindings.resolve(word, "left")
    assert caught.value.exit_code == 2


def test_the_error_lists_what_exists_and_shows_how_to_define_it(bindings):
    with pytest.raises(UsageError) as caught:
        bindings.resolve("claud", "left")
    for part in ("did you mean `claude`", "canned", "panel", "anthropic", "human", "script", "services: {"):
        assert part in caught.value.help


def test_without_a_prose_yml_the_error_says_so(tmp_path):
    with pytest.raises(UsageError) as caught:
        Bindings(cwd=tmp_path).resolve("x", "left")
    assert "none" in caught.value.help


def test_the_judge(bindings, folder):
    judge = bindings.judge()
    assert (judge.name, judge.settings.provider, judge.settings.model) == ("haiku", "anthropic", "claude-haiku-x")
    services = {"j": {"provider": "script", "replies": []}}
    assert configured(folder, judge="j", services=services).judge().settings.provider == "script"
    assert configured(folder, judge="fast", models={"fast": "openai:tiny"}).judge().settings.provider == "openai"
    assert configured(folder, default="j", services=services).judge().name == "j"
    with pytest.raises(UsageError, match="llama"):
        configured(folder, judge="odd", models={"odd": "llama"}).judge()


def test_words_of_prose_yml_count_from_its_folder(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    config = ProseYml.model_validate({"default": "roles/critic.prose.md"})
    bindings = Bindings(config, folder / "prose.yml", cwd=elsewhere, env={})
    assert bindings.default_service().binding.path == folder / "roles" / "critic.prose.md"


def test_an_unknown_default_is_an_error(folder):
    with pytest.raises(UsageError, match=r"default.*`nobody`"):
        configured(folder, default="nobody").default_service()


def test_a_service_is_made_once(bindings):
    one = bindings.service(bindings.resolve("canned", "left"))
    other = bindings.service(bindings.resolve("canned", "right"))
    assert one is other
    assert [asyncio.run(service(Request())).value for service in (one, other)] == ["one", "two"]


def test_a_spec_is_no_service(bindings):
    with pytest.raises(UsageError, match="spec"):
        bindings.service(bindings.resolve("roles/critic.prose.md"))


def test_a_secret_in_a_command_is_not_shown(folder):
    services = {"c": {"provider": "command", "command": ["curl", "sk-topsy"], "key_env": "NAME"}}
    bindings = configured(folder, services=services)
    assert "topsy" not in repr(bindings.resolve("c"))
    with pytest.raises(UsageError) as caught:
        bindings.resolve("d")
    assert "topsy" not in f"{caught.value.message} {caught.value.help}"


class Closing:
    def __init__(self, name, closed, fails=False):
        self.name, self.closed, self.fails = name, closed, fails

    async def __call__(self, request):
        raise NotImplementedError

    async def aclose(self):
        self.closed.append(self.name)
        if self.fails:
            raise OSError(self.name)


def test_all_services_are_closed_even_when_one_fails_to(monkeypatch, bindings):
    closed = []
    monkeypatch.setattr(
        "prose_runtime.services.registry.create", lambda name, settings: Closing(name, closed, fails=name == "claude")
    )
    for word in ("claude", "canned", "human"):
        bindings.service(bindings.resolve(word))
    with pytest.raises(OSError, match="claude"):
        asyncio.run(bindings.aclose())
    assert closed == ["claude", "canned", "human"]
    asyncio.run(bindings.aclose())


def test_services_without_anything_to_close_are_left_alone(bindings):
    bindings.service(bindings.resolve("canned"))
    asyncio.run(bindings.aclose())


def test_settings_show_only_what_is_no_secret():
    shown = repr(ServiceSettings(provider="openai", model="m", base_url="https://user:pw@host/v1"))
    assert "openai" in shown
    assert "pw" not in shown
