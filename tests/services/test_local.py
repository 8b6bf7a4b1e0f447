"""The embedded model itself, on a few short requests. Its weights are fetched once into the user's cache."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.errors import ServiceError, UsageError
from prose_runtime.services import weights
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.registry import create
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.small import shortened, small_schema, whole_sentences

ARGUE = Request(job="argue for the claim", inputs={"claim": "Remote work saves time."})
RATING = {
    "type": "object",
    "properties": {
        "why": {"type": "string"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "accepted": {"type": "boolean"},
        "flaw": {"type": ["string", "null"]},
    },
    "required": ["score"],
}


@pytest.fixture(scope="module", autouse=True)
def _fetched() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROSE_LIVE", raising=False)
        weights.ensure(threading.Event())
    yield


def service(**settings: Any) -> Any:
    return create("mini", ServiceSettings(**{"provider": "local", **settings}))


def ask(request: Request, **settings: Any) -> Reply:
    reply = asyncio.run(service(**settings)(request))
    assert isinstance(reply, Reply)
    return reply


def test_text_streams_and_is_the_same_each_time(capfd: pytest.CaptureFixture[str]) -> None:
    pieces: list[str] = []
    first = ask(ARGUE.with_(on_text=pieces.append), max_tokens=60)
    ask(Request(job="say hello"), max_tokens=8)
    again = ask(ARGUE, max_tokens=60)
    assert first.value == again.value
    assert len(pieces) > 5
    assert "".join(pieces).strip().startswith(first.value.removesuffix("..."))
    assert first.value.endswith((".", "!", "?"))
    assert first.usage.input_tokens > 20
    assert 0 < first.usage.output_tokens <= 60
    assert first.usage.cost_usd == 0
    assert "SmolLM2" in str(first.model)
    assert capfd.readouterr() == ("", "")


def test_a_demanded_shape_is_filled() -> None:
    value = ask(Request(job="rate the argument", inputs={"argument": "It saves time."}, schema=RATING)).value
    assert set(value) == {"why", "score", "accepted", "flaw"}
    assert 0 <= value["score"] <= 1
    assert isinstance(value["accepted"], bool)
    assert isinstance(value["why"], str)


def test_a_judge_gives_a_verdict_and_a_choice_one_of_the_labels() -> None:
    verdict = ask(Request(purpose="judge", prompt="the critic is content", inputs={"critique": "Well done."}))
    assert isinstance(verdict.value["verdict"], bool)
    choice = ask(Request(purpose="choice", prompt="the quicker one", options=("walk", "fly")))
    assert choice.value["option"] in ("walk", "fly")


def test_a_structured_answer_that_was_cut_off_is_asked_for_again_with_more_room() -> None:
    heard: list[str] = []
    request = Request(job="rate", schema=RATING, on_retry=lambda _, __, reason: heard.append(reason))
    assert ask(request, max_tokens=5).value["score"] >= 0
    assert "cut off" in heard[0]


def test_inputs_that_are_too_long_are_shortened_visibly() -> None:
    heard: list[str] = []
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    request = Request(job="judge", schema=schema, inputs={"doc": "The cat sat on the mat. " * 100})
    reply = ask(request.with_(on_retry=lambda _, __, reason: heard.append(reason)), max_tokens=3900)
    assert isinstance(reply.value["ok"], bool)
    assert reply.usage.input_tokens <= 196
    assert "shortened" in heard[-1]


def test_a_prompt_that_cannot_be_shortened_is_told() -> None:
    with pytest.raises(ServiceError) as caught:
        ask(Request(job="summarise", inputs={"doc": ["The cat sat on the mat."] * 1500}))
    assert caught.value.kind == "length"
    assert "tokens" in caught.value.message


def test_cancelling_stops_the_model_and_leaves_it_usable() -> None:
    async def main() -> float:
        began = asyncio.Event()
        mini = service(max_tokens=2000)
        story = Request(job="write a long story about a fox", on_text=lambda _: began.set())
        task = asyncio.ensure_future(mini(story))
        waiting = asyncio.ensure_future(mini(story))
        await began.wait()
        task.cancel()
        waiting.cancel()
        start = time.monotonic()
        await asyncio.gather(task, waiting, return_exceptions=True)
        await service(max_tokens=3)(Request(job="say hello"))
        return time.monotonic() - start

    assert asyncio.run(main()) < 5


def test_interrupting_ends_the_process_at_once_and_in_silence(tmp_path: Path) -> None:
    script = tmp_path / "story.py"
    script.write_text(
        "import asyncio\n"
        "from prose_runtime.services.api import Request\n"
        "from prose_runtime.services.registry import create\n"
        "from prose_runtime.services.settings import ServiceSettings\n"
        "asked = create('mini', ServiceSettings(provider='local', max_tokens=3000))\n"
        "request = Request(job='write a long story', on_text=lambda piece: print('piece', flush=True))\n"
        "try:\n"
        "    asyncio.run(asked(request))\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "piece\n"
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=10)
    assert (process.returncode, stderr) == (0, "")
    assert set(stdout.split()) <= {"piece"}


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as missing:
        service(model=str(tmp_path / "none.gguf"))
    assert "none.gguf" in missing.value.message
    junk = tmp_path / "junk.gguf"
    junk.write_text("junk")
    with pytest.raises(ServiceError, match="loaded") as caught:
        ask(ARGUE, model=str(junk))
    assert "GGUF" in str(caught.value.help)


def test_another_model_may_be_named_by_its_path() -> None:
    path = weights.present()
    assert ask(Request(job="say hello"), model=str(path), max_tokens=3).model == path.name  # type: ignore[union-attr]


def test_weights_that_cannot_be_fetched_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"XDG_CACHE_HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PROSE_LIVE", "forbid")
    with pytest.raises(ServiceError, match="forbidden"):
        weights.ensure(threading.Event())
    monkeypatch.delenv("PROSE_LIVE")
    with pytest.raises(ServiceError, match="cannot be fetched") as caught:
        weights.ensure(threading.Event())
    assert re.search(r"pip3? download", str(caught.value.help))
    assert [path.suffix for path in weights.folder().iterdir()] == [".lock"]


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError, match="cannot be kept") as caught:
        weights.ensure(threading.Event())
    assert "XDG_CACHE_HOME" in str(caught.value.help)


def test_ping_loads_nothing() -> None:
    assert "SmolLM2" in asyncio.run(service().ping())


def test_a_small_schema_leaves_nothing_open() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {"anyOf": [{"type": "null"}]}}}
    small = small_schema(schema)
    assert small["additionalProperties"] is False
    assert small["required"] == ["a", "b", "c"]
    assert small["properties"]["a"]["maxLength"] > 0
    assert small["properties"]["b"]["maxItems"] > 0
    assert small_schema({"type": "number", "minimum": 0, "maximum": 10})["enum"][-1] == 10


def test_texts_are_cut_where_a_sentence_ends() -> None:
    assert whole_sentences("One. Two! Thr") == "One. Two!"
    assert whole_sentences('He said "no." And th') == 'He said "no."'
    assert whole_sentences("no end in si") == "no end in..."
    cut = shortened({"a": "x" * 1000, "b": ["short"]}, 100)
    assert cut["b"] == ["short"]
    assert len(cut["a"]) < 200
    assert "left out" in cut["a"]


def test_loading_the_provider_does_not_load_llama() -> None:
    code = "import prose_runtime.services.local, sys; sys.exit('xllamacpp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=dict(os.environ)).returncode == 0
