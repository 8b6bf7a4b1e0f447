from pathlib import Path

import pytest

from prose_runtime import resources
from prose_runtime.errors import UnreadableFile, UsageError
from prose_runtime.services.bindings import find_config, load_config


def load(tmp_path, text):
    path = tmp_path / "prose.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(path)


EVERYTHING = """
default: claude
judge: haiku
services:
  claude:  {provider: anthropic, model: claude-sonnet-4-5, timeout: 60, max_tokens: 500, temperature: 0}
  skeptic: {provider: anthropic, model: opus, instructions: "Doubt.", persona: p, language: l, background: b}
  vllm:    {provider: openai, base_url: "http://localhost:8000/v1", model: m, key_env: VLLM_KEY, seed: 1}
  linter:  {provider: command, command: ["python", "lint.py"], timeout: 60}
  me:      {provider: human}
  canned:  {provider: script, replies: ["first", {score: 0.4}, {error: "overloaded", kind: overloaded}], repeat: false}
  routed:  {provider: script, rules: [{when: {task_brief: "/regex/"}, reply: "x"}], else: {echo: true}}
  panel:   {pattern: ensemble-synthesizer, with: {ensemble_member: claude}, config: {ensemble_size: 5}}
  foreign: {provider: pager, options: {chat: 5}}
models: {opus: claude-a, sonnet: claude-b}
limits: {max_calls: 200, max_cost_usd: 2.0, max_concurrency: 8, call_timeout: 300, run_timeout: 3600}
prices: {m: {input: 1, output: 2.5, cached: 0.1}}
"""


def test_every_key_is_read(tmp_path):
    read = load(tmp_path, EVERYTHING)
    assert (read.default, read.judge) == ("claude", "haiku")
    assert read.services["claude"].timeout == 60
    assert read.services["linter"].command == ["python", "lint.py"]
    assert read.services["canned"].replies[1] == {"score": 0.4}
    assert read.services["routed"].otherwise == {"echo": True}
    assert read.services["panel"].pattern == "ensemble-synthesizer"
    assert read.services["foreign"].options == {"chat": 5}
    assert (read.limits.max_calls, read.limits.max_cost_usd, read.limits.run_timeout) == (200, 2.0, 3600)
    assert read.prices["m"].cached == 0.1


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "services:\nlimits:\n", "\ufeffjudge:\n"])
def test_an_empty_file_is_fine(tmp_path, text):
    read = load(tmp_path, text)
    assert (read.default, read.services, read.limits.max_calls) == (None, {}, None)


def test_keys_are_the_words_that_stand_there(tmp_path):
    (tmp_path / "prose.yml").write_text(
        "services:\n  no: {provider: echo}\n  2: {provider: echo}\n  <<: {null: {provider: echo}}\n", encoding="utf-8"
    )
    assert sorted(load_config(tmp_path / "prose.yml").services) == ["2", "no", "null"]


def test_a_word_that_yaml_takes_for_a_truth_value_is_put_in_quotes(tmp_path):
    (tmp_path / "prose.yml").write_text("default: no\nservices:\n  no: {provider: echo}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="`default` is a text") as caught:
        load_config(tmp_path / "prose.yml")
    assert "quotes" in f"{caught.value} {caught.value.help}"


def test_dates_stay_text(tmp_path):
    assert load(tmp_path, "services: {s: {provider: script, replies: [2024-01-31]}}").services["s"].replies == [
        "2024-01-31"
    ]


@pytest.mark.parametrize(
    ("text", "line", "says", "helps"),
    [
        ("\ndefualt: x\n", 2, "`defualt`", "`default`"),
        ("services:\n  a:\n    provider: echo\n    modle: x\n", 4, "`modle`.*services.a", "`model`"),
        ("services:\n  a: {pattern: x, slots: {}}\n", 2, "`slots`", "with"),
        ("limits:\n  max_call: 3\n", 2, "`max_call`", "`max_calls`"),
        ("limits:\n  max_calls: many\n", 2, "max_calls.*whole number", None),
        ("limits:\n  max_calls: '3'\n", 2, "max_calls.*whole number", None),
        ("limits:\n  max_calls: 0\n", 2, "max_calls.*more than 0", None),
        ("limits:\n  call_timeout: .inf\n", 2, "call_timeout.*finite", None),
        ("services:\n  a:\n    model: x\n", 2, "services.a.*provider", "provider:"),
        ("services:\n  a: echo\n", 2, "services.a.*mapping", None),
        ("services: [a]\n", 1, "services.*mapping", None),
        ("services:\n  a:\n    provider: command\n    command: python x.py\n", 4, "command.*list", '"python"'),
        (
            "services:\n  a:\n    provider: script\n    repeat: often\n",
            4,
            "repeat.*true or false",
            None,
        ),
        ("services:\n  a:\n    provider: anthropic\n    replies: [x]\n", 4, "anthropic.*replies", "max_tokens"),
        ("services:\n  a:\n    provider: echo\n    folder: x\n", 4, "`folder`", None),
        ("services:\n  a:\n    provider: openai\n    api_key: sk-secret\n", 4, "`api_key`", "key_env"),
        ("default: a\njudge: b\ndefault: c\n", 3, "`default`.*twice", None),
        ("services:\n  a: {provider: echo}\n  a: {provider: human}\n", 3, "services.a.*twice", None),
        ("services:\n  a: [\n", 3, "YAML", None),
        ("services:\n\ta: 1\n", 2, "YAML", None),
        ("default: !!python/object/apply:os.system [ls]\n", 1, "YAML", None),
        ("- a\n", 1, "mapping", None),
        ("prices: {m: {input: 1}}\n", 1, "prices.m.output.*missing", None),
    ],
)
def test_a_fault_is_told_with_file_line_and_what_to_write(tmp_path, text, line, says, helps):
    with pytest.raises(UsageError, match=says) as caught:
        load(tmp_path, text)
    error = caught.value
    assert error.exit_code == 2
    assert (error.where.file, error.where.line) == (str(tmp_path / "prose.yml"), line)
    assert "prose.yml" in error.message
    assert helps is None or helps in error.help
    assert "secret" not in f"{error.message} {error.help}"


def test_all_faults_are_told_at_once(tmp_path):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, "judg: x\nlimits: {max_calls: -1}\nservices:\n  a: {provider: echo, replies: []}\n  a: 3\n")
    for part in ("line 1", "judg", "line 2", "max_calls", "line 5", "twice"):
        assert part in caught.value.message
    assert caught.value.where.line == 1


def test_aliases_of_yaml_are_read_and_a_bomb_of_them_does_no_harm(tmp_path):
    shared = "services:\n  a: &a {provider: echo}\n  b: *a\n"
    assert load(tmp_path, shared).services["b"].provider == "echo"
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    with pytest.raises(UsageError, match="a11"):
        load(tmp_path, bomb)


@pytest.mark.parametrize("text", [b"\xff\xfe\x00", b"a: \xe4\n"])
def test_a_file_that_is_no_text(tmp_path, text):
    with pytest.raises(UnreadableFile, match="UTF-8"):
        load(tmp_path, text)


def test_a_file_that_is_a_folder_or_gone(tmp_path):
    with pytest.raises(UnreadableFile):
        load_config(tmp_path)
    with pytest.raises(UnreadableFile):
        load_config(tmp_path / "prose.yml")


@pytest.fixture
def own(tmp_path, monkeypatch):
    path = tmp_path / "own" / "prose.yml"
    monkeypatch.setattr(resources, "user_config", lambda: path)
    return path


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_the_nearest_file_upward_from_the_spec_holds(tmp_path, own):
    work, specs = tmp_path / "work", tmp_path / "specs" / "a" / "b"
    specs.mkdir(parents=True)
    work.mkdir()
    spec = specs / "x.prose.md"
    assert find_config(spec, work) is None
    users = put(own)
    assert find_config(spec, work) == users
    here = put(work / "prose.yml")
    assert find_config(spec, work) == here
    near = put(tmp_path / "specs" / "prose.yml")
    assert find_config(spec, work) == near
    nearer = put(specs / "prose.yml")
    assert find_config(spec, work) == nearer
    assert find_config(None, work) == here


def test_relative_paths_work(tmp_path, own, monkeypatch):
    put(tmp_path / "prose.yml")
    monkeypatch.chdir(tmp_path)
    assert find_config(Path("sub/x.prose.md"), Path()) == tmp_path / "prose.yml"


def test_settings_of_check_are_closed(tmp_path):
    found = load(tmp_path, "check: {select: [unused], ignore: [portable], strict: true, format: agent}").check
    assert (found.select, found.ignore, found.strict, found.format) == (["unused"], ["portable"], True, "agent")
    for text, said in (
        ("check: {fromat: text}", "format"),
        ("check: {format: xml}", "sarif"),
        ("check: {strict: 3}", "true"),
    ):
        with pytest.raises(UsageError) as caught:
            load(tmp_path, text)
        assert said in f"{caught.value.message} {caught.value.help}"


def test_a_folder_of_settings_that_cannot_be_looked_at_holds_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ("x" * 300)))
    monkeypatch.setenv("HOME", str(tmp_path / ("x" * 300)))
    assert find_config(None, tmp_path) is None
