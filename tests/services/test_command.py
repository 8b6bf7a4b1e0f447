import asyncio
import json
import sys
import time

import pytest

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.services import command, registry
from prose_runtime.services.api import Request
from prose_runtime.services.settings import ServiceSettings


def made(code, folder=None, timeout=None):
    settings = ServiceSettings(provider="command", command=[sys.executable, "-c", code], timeout=timeout, folder=folder)
    return registry.create("linter", settings)


def ask(service, **request):
    return asyncio.run(service(Request(**request))).value


def test_it_reads_one_json_object():
    question = ask(
        made("import sys; print(sys.stdin.read())"),
        job="find faults",
        inputs={"draft": "ä\ud800", "n": None},
        prompt="P",
        instructions="be strict",
        schema={"type": "object"},
        target="slot",
        line=3,
    )
    assert question.keys() == {"inputs", "prompt", "instructions", "schema"}
    assert question["inputs"] == {"draft": "ä\N{REPLACEMENT CHARACTER}", "n": None}
    assert (question["prompt"], question["schema"]) == ("P", {"type": "object"})
    assert "find faults" in question["instructions"]
    assert "be strict" in question["instructions"]
    assert "slot" not in json.dumps(question)


def test_a_repair_shows_the_fault():
    question = ask(made("import sys; print(sys.stdin.read())"), rejected="nice", fault="there is no score")
    assert "there is no score" in question["instructions"]


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ('{"score": 1}', {"score": 1}),
        ("[1, 2]\n", [1, 2]),
        ("plain text\nof two lines\n", "plain text\nof two lines"),
        ('{"cut": ', '{"cut": '),
        ("NaN", "NaN"),
        ("", ""),
    ],
)
def test_it_prints_json_or_text(printed, value):
    assert ask(made(f"import sys; sys.stdout.write({printed!r})")) == value


def test_a_program_need_not_read_its_question():
    assert ask(made("print('done')"), inputs={"big": "x" * 3_000_000}) == "done"


def test_another_exit_code_is_a_failed_call_with_the_last_lines_of_stderr():
    code = "import sys; [print('line', n, file=sys.stderr) for n in range(50)]; sys.exit(3)"
    with pytest.raises(ServiceError) as caught:
        ask(made(code))
    assert (caught.value.kind, caught.value.service) == ("failed", "linter")
    assert "exit code 3" in caught.value.message
    assert "line 49" in caught.value.message
    assert "line 10\n" not in caught.value.message


def test_a_program_that_was_killed_names_the_signal():
    with pytest.raises(ServiceError, match="SIGTERM"):
        ask(made("import os, signal; os.kill(os.getpid(), signal.SIGTERM)"))


def test_bytes_that_are_no_text_are_a_fault_of_format():
    with pytest.raises(ServiceError, match="UTF-8") as caught:
        ask(made(r"import sys; sys.stdout.buffer.write(b'\xff\xfe')"))
    assert caught.value.kind == "format"


def test_a_program_that_never_stops_printing_is_stopped(monkeypatch):
    monkeypatch.setattr(command, "LARGEST_OUTPUT", 1_000_000)
    with pytest.raises(ServiceError, match="more than 1 MB"):
        ask(made("while True: print('x' * 1000)"))


BEAT = "import time\nwhile True:\n    open('beat', 'a').write('x')\n    time.sleep(0.02)"
SPAWN = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {BEAT!r}]); time.sleep(60)"


def still(path):
    """Whether nobody writes to the file any more."""
    size = path.stat().st_size
    time.sleep(0.3)
    return path.stat().st_size == size


async def until(path):
    while not (path.exists() and path.read_text()):
        await asyncio.sleep(0.01)


def test_cancelling_ends_the_program_and_what_it_started(tmp_path):
    async def cancel():
        task = asyncio.ensure_future(made(SPAWN, folder=tmp_path)(Request()))
        await until(tmp_path / "beat")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert still(tmp_path / "beat")


def test_a_timeout_ends_the_program_and_what_it_started(tmp_path):
    with pytest.raises(ServiceError) as caught:
        ask(made(SPAWN, folder=tmp_path, timeout=1))
    assert caught.value.kind == "timeout"
    assert still(tmp_path / "beat")


def test_it_runs_in_the_folder_of_prose_yml_without_a_shell(tmp_path):
    (tmp_path / "lint.py").write_text("import sys; print(sys.argv[1])")
    settings = ServiceSettings(provider="command", command=[sys.executable, "lint.py", "$HOME; ls"], folder=tmp_path)
    assert ask(registry.create("linter", settings)) == "$HOME; ls"


@pytest.mark.parametrize("program", ["no-such-program-here", "/tmp"])
def test_a_program_that_cannot_be_started(program):
    service = registry.create("linter", ServiceSettings(provider="command", command=[program, "--token", "secret"]))
    with pytest.raises(ServiceError) as caught:
        ask(service)
    assert "linter" in caught.value.message
    assert program in caught.value.message
    assert "secret" not in f"{caught.value.message} {caught.value.help} {service!r}"
    assert not caught.value.retryable


def test_a_ping_finds_the_program_without_running_it():
    found = registry.create("linter", ServiceSettings(provider="command", command=[sys.executable, "-c", "1/0"]))
    assert sys.executable in asyncio.run(found.ping())
    lost = registry.create("linter", ServiceSettings(provider="command", command=["no-such-program-here"]))
    with pytest.raises(ServiceError, match="not found"):
        asyncio.run(lost.ping())


def test_a_command_is_needed():
    with pytest.raises(UsageError, match="no command") as caught:
        registry.create("linter", ServiceSettings(provider="command"))
    assert "prose.yml" in caught.value.help


def test_a_question_that_nobody_reads_is_no_trouble_when_time_is_up(capfd):
    service = made("import time; time.sleep(30)", timeout=0.3)
    for size in (100_000, 120_000):
        with pytest.raises(ServiceError) as caught:
            ask(service, inputs={"text": "a" * size})
        assert caught.value.kind == "timeout"
    assert capfd.readouterr().err == ""
