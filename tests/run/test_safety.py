"""Secrets stay secret and texts stay texts, whatever a service, a server or a spec says: CONTRIBUTING.md, "Safety"."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from prose_runtime.cli import main
from prose_runtime.services.api import Request
from prose_runtime.services.prompt import render
from services.fake_anthropic import error, text
from services.fake_http import FakeServer
from support.commands import clean_environment, prose
from support.programs import pattern

SECRETS = {
    "SOME_SERVICE_KEY": "sk-live-0123456789/+abc",
    "DATABASE": "postgres-pass-0123",
    "GIT_TOKEN": "ghp_0123456789abcdef",
    "SMTP_PASSWORD": "hunter2-hunter2",
    "OTHERS": "what-opens-another-door",
}
IN_THE_ADDRESS = ("user-pass-987", "query-key-654")

LEAKY = """---
name: leaky
kind: function
---

### Environment

- `DATABASE`: where things are

### Parameters

- `x`: anything

### Returns

- `said`: what it says
"""

BODY = """
let told = call a
  x: x
emit told
let shouted = call b
  x: told
try:
  call model
    x: told
catch as e:
  emit e.message
try:
  call down
    x: told
catch as e:
  emit e.message
if told is odd:
  emit "odd"
return { told, shouted, nested: [{ deep: told }] }
"""

NEEDS = "### Environment\n\n- `DATABASE`: where things are\n"

ECHOING = """
import json, os, sys
said = [value for name, value in os.environ.items() if name in %r]
print(json.dumps({"said": said, "in": json.load(sys.stdin)["inputs"]}))
"""


def leaked(folder: Path, *streams: str) -> list[str]:
    """Where a secret shows: in what was printed, or in any file below a folder that a run wrote."""
    forms = {form for secret in (*SECRETS.values(), *IN_THE_ADDRESS) for form in (secret, quote(secret, safe=""))}
    texts = {f"stream {i}": stream.encode() for i, stream in enumerate(streams)}
    written = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py",)]
    texts |= {str(path.relative_to(folder)): path.read_bytes() for path in written if path.name != "prose.yml"}
    return [name for name, data in texts.items() if any(form.encode() in data for form in forms)]


def test_a_run_full_of_secrets_writes_none_of_them_down(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHOING % (sorted(SECRETS),), encoding="utf-8")
    pattern(tmp_path, BODY, slots="a b model down", rows="x: string", extra=NEEDS)
    all_of_them = " ".join(SECRETS.values())

    async def main_() -> tuple[str, str]:
        turns = [text(f"The key is {all_of_them}"), error(400, "invalid_request_error", f"no {all_of_them}")]
        async with FakeServer(turns) as server:
            address = server.url.replace("http://", f"http://user:{IN_THE_ADDRESS[0]}@")
            (tmp_path / "prose.yml").write_text(
                "services:\n"
                "  echoing: {provider: command, command: [python3, echo.py]}\n"
                f"  claude: {{provider: anthropic, model: m, base_url: '{address}?key={IN_THE_ADDRESS[1]}', "
                "key_env: SOME_SERVICE_KEY}\n"
                "  gone: {provider: command, command: [sh, -c, 'echo $DATABASE $GIT_TOKEN $OTHERS >&2; exit 3']}\n"
                "  idle: {provider: anthropic, model: m, key_env: OTHERS}\n"
                "  jury: {provider: command, command: [sh, -c, "
                '\'echo {\\"verdict\\":true,\\"reason\\":\\"$GIT_TOKEN\\"}\']}\n'
                "judge: jury\n",
                encoding="utf-8",
            )
            words = [
                "--a", "echoing", "--b", "claude", "--model", "claude", "--down", "gone",
                "--x", "plain", "--json", "--record", "tape.yml",
            ]  # fmt: skip
            process = await asyncio.create_subprocess_exec(
                prose(), "run", "probe.prose.md", *words, cwd=tmp_path,
                env=clean_environment(tmp_path) | SECRETS, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            out, err = await process.communicate()
            return out.decode(), err.decode()

    out, err = asyncio.run(main_())
    shown = json.loads(out)
    assert shown["status"] == "completed", err
    assert "***" in out
    assert "***" in (tmp_path / "tape.yml").read_text(encoding="utf-8")
    exported = subprocess.run(
        [prose(), "runs", "export", "last"], cwd=tmp_path, env=clean_environment(tmp_path) | SECRETS,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert exported.returncode == 0, exported.stderr
    assert leaked(tmp_path, out, err, exported.stdout, exported.stderr) == []


def test_a_value_that_a_spec_names_under_environment_is_secret_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE", SECRETS["DATABASE"])
    (tmp_path / "leaky.prose.md").write_text(LEAKY, encoding="utf-8")
    (tmp_path / "prose.yml").write_text(
        f"default: telling\nservices:\n  telling: {{provider: script, replies: ['it is {SECRETS['DATABASE']}']}}\n"
    )
    assert main(["run", "leaky.prose.md", "x"]) == 0
    assert leaked(tmp_path, *capsys.readouterr()) == []


def test_control_characters_are_shown_and_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pattern(tmp_path, 'let x = call a\nemit x\nthrow "{x}"')
    (tmp_path / "prose.yml").write_text(
        'services:\n  evil: {provider: script, replies: ["\\e]0;owned\\a\\e[2Jred \\u202e"]}\n', encoding="utf-8"
    )
    assert main(["run", "probe.prose.md", "--a", "evil"]) == 1
    assert main(["runs", "show", "last"]) == 0
    shown = "".join(capsys.readouterr())
    assert "owned" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_texts_of_a_spec_are_no_templates_formats_or_tags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "{{ 7 * 7 }} {% raw %} {0.__class__} %s ${HOME} !!python/object:os.system"
    prompt = render(Request(job=evil, inputs={evil: evil}, prompt=evil, persona=evil))
    assert (prompt.system + prompt.user).count(evil) >= 4
    path = tmp_path / "evil.prose.md"
    path.write_text(f"---\nname: !!python/object/apply:os.mkdir ['{tmp_path / 'made'}']\nkind: function\n---\n")
    assert main(["check", str(path)]) == 1
    assert not (tmp_path / "made").exists()


def test_a_command_gets_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pattern(tmp_path, "return call a\n  x: x", rows="x: string")
    (tmp_path / "prose.yml").write_text(
        "services:\n  echo2: {provider: command, command: [echo, '$(touch made); `touch made`']}\n"
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["run", "probe.prose.md", "--a", "echo2", "--x", "; touch made #", "--quiet"]) == 0
    assert not (tmp_path / "made").exists()


def test_a_reference_leads_nowhere_outside_of_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / ".git").mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PROSE_DEFAULT", "echo")
    pattern(outside, "return call a\n  x: 1", name="stranger")
    (project / "link.prose.md").symlink_to(outside / "stranger.prose.md")
    (project / "folder").symlink_to(outside)
    for reference in ("../outside/stranger.prose.md", "folder/stranger.prose.md", "link", "./link.prose.md"):
        pattern(project, f'use "{reference}" as other\nreturn call other\n  x: 1', slots="a")
        assert main(["run", "probe.prose.md"]) == 1, reference
