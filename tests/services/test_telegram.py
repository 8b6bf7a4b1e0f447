"""Somebody on Telegram as a service, over HTTP against a server that speaks the Bot API."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.cli import main
from prose_runtime.errors import Paused, ServiceError, UsageError
from prose_runtime.services import registry
from prose_runtime.services.api import Request, Service
from prose_runtime.services.settings import ServiceSettings
from prose_runtime.services.telegram_text import parts, units
from prose_runtime.services.telegram_token import find_token
from services.fake_telegram import TOKEN, FakeTelegram, served

CHAT = 55
FORM = {"properties": {"text": {"type": "string"}, "score": {"type": "number"}}, "required": ["text", "score"]}
QUESTION = Request(job="Weigh it", inputs={"case": "tabs"}, target="contra", line=9)


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with served() as state:
        yield state


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROSE_TELEGRAM_TOKEN", TOKEN)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("TELEGRAM_BOT_TOKEN", "PROSE_TELEGRAM_CHAT", "PROSE_TELEGRAM_URL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROSE_LIVE", "forbid")
    monkeypatch.setattr(sys, "stdin", io.StringIO())


def service(telegram: FakeTelegram, chat: int | str = CHAT, **more: Any) -> Service:
    return registry.create("phone", ServiceSettings(provider="telegram", chat=chat, base_url=telegram.url, **more))


def ask(telegram: FakeTelegram, person: Callable[[], None], *requests: Request, **more: Any) -> list[Any]:
    """Ask all requests at once while a person does something in a thread; returns the values."""

    async def work() -> list[Any]:
        asked = service(telegram, **more)
        try:
            return [reply.value for reply in await asyncio.gather(*map(asked, requests or (QUESTION,)))]
        finally:
            await asked.aclose()  # type: ignore[attr-defined]

    acting = threading.Thread(target=person)
    acting.start()
    try:
        return asyncio.run(work())
    finally:
        acting.join()


def nobody() -> None:
    """Does nothing."""


def test_the_reply_to_the_question_is_the_answer(telegram: FakeTelegram) -> None:
    def person() -> None:
        telegram.write(CHAT, "first line\n\n  second ä 🟢", to=telegram.wait_for(1)["number"])

    assert ask(telegram, person) == ["first line\n\n  second ä 🟢"]
    (question,) = telegram.sent
    for part in ("contra (line 9)", "Weigh it", "case: tabs"):
        assert part in question["text"]
    assert question["markup"]["force_reply"] is True
    assert "parse_mode" not in question


@pytest.mark.parametrize("slow", [0.0, 0.3])
def test_what_is_no_text_reply_to_the_question_in_its_chat_does_not_count(telegram: FakeTelegram, slow: float) -> None:
    telegram.slow = slow  # then all is written before we know the number of the question
    telegram.write(CHAT, "old", to=101)

    def person() -> None:
        number = telegram.wait_for(1)["number"]
        telegram.write(CHAT, "just so")
        telegram.write(CHAT, "to another message", to=number + 500)
        telegram.write(CHAT, None, to=number)
        telegram.write(66, "from another chat", to=number)
        assert "Reply" in telegram.wait_for(2)["text"]
        telegram.write(CHAT, "this", to=number)

    assert ask(telegram, person) == ["this"]
    assert [message["chat"] for message in telegram.sent] == [CHAT, CHAT]


def test_who_replies_before_we_know_the_number_of_the_question_is_heard_and_told_nothing(
    telegram: FakeTelegram,
) -> None:
    telegram.slow = 0.3
    telegram.failures.append(
        (502, {"description": "Bad Gateway"})
    )  # so that one question stands before the other comes

    def person() -> None:
        telegram.write(CHAT, "two", to=telegram.wait_for(2)["number"])
        telegram.write(CHAT, "one", to=telegram.sent[0]["number"])

    requests = (Request(prompt="1?", target="a"), Request(prompt="2?", target="b"))
    assert sorted(ask(telegram, person, *requests)) == ["one", "two"]
    assert len(telegram.sent) == 2


def test_updates_from_before_are_passed_over(telegram: FakeTelegram) -> None:
    for number in range(102, 120):  # the question will have one of these
        telegram.write(CHAT, "old", to=number)

    def person() -> None:
        telegram.write(CHAT, "new", to=telegram.wait_for(1)["number"])

    assert ask(telegram, person) == ["new"]
    assert telegram.sent[0]["number"] == 119


def test_a_long_question_comes_in_parts_and_each_may_be_replied_to(telegram: FakeTelegram) -> None:
    case = "\n".join(f"line {i} 🟢 " + "x" * 60 for i in range(150))

    def person() -> None:
        telegram.wait_for(3)
        telegram.write(CHAT, "mine", to=telegram.sent[1]["number"])

    assert ask(telegram, person, Request(inputs={"case": case}, target="x")) == ["mine"]
    assert len(telegram.sent) >= 3
    assert all(units(message["text"]) < 4096 for message in telegram.sent)
    assert [bool(message["markup"]) for message in telegram.sent] == [False] * (len(telegram.sent) - 1) + [True]
    assert case.splitlines()[-1] in "".join(message["text"] for message in telegram.sent)


def test_the_fields_that_are_needed_are_asked_for_afterwards(telegram: FakeTelegram) -> None:
    def person() -> None:
        telegram.write(CHAT, "well argued", to=telegram.wait_for(1)["number"])
        field = telegram.wait_for(2)
        assert field["text"].startswith("score (a number)")
        telegram.write(CHAT, "much", to=field["number"])
        assert "number" in telegram.wait_for(3)["text"]
        telegram.write(CHAT, "3.5", to=telegram.wait_for(4)["number"])

    assert ask(telegram, person, QUESTION.with_(schema=FORM)) == [{"text": "well argued", "score": 3.5}]


def test_who_takes_over_in_the_middle_of_a_turn_is_asked_for_what_is_missing(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    ours, theirs = os.openpty()

    def person() -> None:
        telegram.write(CHAT, "well argued", to=telegram.wait_for(1)["number"])
        for wanted, typed in (("take over: ", "t\n"), ("score (a number): ", "3\n")):
            shown = ""
            while wanted not in shown:
                shown += capfd.readouterr().err
            os.write(ours, typed.encode())
        assert "well argued" in shown
        assert "Your answer" not in shown

    with contextlib.ExitStack() as stack:
        terminal = stack.enter_context(open(theirs, encoding="utf-8"))  # noqa: PTH123
        stack.callback(os.close, ours)
        monkeypatch.setattr(sys, "stdin", terminal)
        told = QUESTION.with_(schema=FORM, briefing="You take part")
        assert ask(telegram, person, told, timeout=0.5) == [{"text": "well argued", "score": 3}]


def test_several_slots_share_one_poller_and_answer_in_any_order(telegram: FakeTelegram) -> None:
    def person() -> None:
        telegram.wait_for(2)
        first, second = sorted(telegram.sent, key=lambda message: str(message["text"]))
        telegram.write(CHAT, "two", to=second["number"])
        telegram.write(CHAT, "one", to=first["number"])

    requests = (Request(prompt="1?", target="a"), Request(prompt="2?", target="b"))
    assert ask(telegram, person, *requests) == ["one", "two"]
    assert telegram.asked.count("getMe") == 1


def test_without_a_reply_and_a_terminal_the_run_pauses(telegram: FakeTelegram) -> None:
    with pytest.raises(Paused, match=r"Telegram for 0\.2 s"):
        ask(telegram, nobody, timeout=0.2)
    assert "closed" in telegram.sent[-1]["text"]


def test_an_invitation_counts_once_for_who_presents_its_nonce(telegram: FakeTelegram, capfd: Any) -> None:
    shown = ""

    def person() -> None:
        nonlocal shown
        while not (link := re.search(r"https://t\.me/prose_test_bot\?start=([\w-]{16,64})", shown)):
            shown += capfd.readouterr().err
        telegram.write(66, "/start wrong")
        telegram.write(66, link[1])
        telegram.write(77, f"/start {link[1]}")
        number = telegram.wait_for(1)["number"]
        telegram.write(88, f"/start {link[1]}")
        telegram.write(88, "not I", to=number)
        telegram.write(77, "I", to=number)

    assert ask(telegram, person, chat="new") == ["I"]
    assert {message["chat"] for message in telegram.sent} == {77}
    assert "contra" in shown


def test_nobody_comes_by_the_link(telegram: FakeTelegram) -> None:
    with pytest.raises(Paused, match="link"):
        ask(telegram, nobody, chat="new", timeout=0.2)


@pytest.mark.parametrize(
    ("conflict", "says", "helps"),
    [
        (
            "terminated by other getUpdates request",
            "another program",
            "stop",
        ),
        ("can't use getUpdates method while webhook is active", "webhook", "deleteWebhook"),
    ],
)
def test_a_second_poller_and_a_webhook_are_explained(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch, conflict: str, says: str, helps: str
) -> None:
    monkeypatch.setattr("prose_runtime.services.telegram_hub.TRIES", 2)
    telegram.conflict = conflict
    with pytest.raises(ServiceError, match=says) as caught:
        ask(telegram, nobody)
    assert helps in str(caught.value.help)
    assert TOKEN not in caught.value.message


def test_a_poller_that_starts_later_is_noticed(telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prose_runtime.services.telegram_hub.TRIES", 2)

    def person() -> None:
        telegram.wait_for(1)
        telegram.conflict = "terminated by other getUpdates request"
        telegram.write(66, "so that the poll returns")

    with pytest.raises(ServiceError, match="another program"):
        ask(telegram, person)


@pytest.mark.parametrize(
    ("status", "said", "kind", "helps"),
    [
        (400, "Bad Request: chat not found", "failed", "write to the bot first"),
        (403, "Forbidden: bot was blocked by the user", "refused", "unblock"),
    ],
)
def test_a_chat_that_cannot_be_written_to_is_explained(
    telegram: FakeTelegram, status: int, said: str, kind: str, helps: str
) -> None:
    telegram.failures.append((status, {"description": said}))
    with pytest.raises(ServiceError) as caught:
        ask(telegram, nobody)
    assert caught.value.kind == kind
    assert helps in str(caught.value.help)


def test_flood_control_is_waited_for(telegram: FakeTelegram) -> None:
    limit = {"description": "Too Many Requests: retry after 1", "parameters": {"retry_after": 1}}
    telegram.failures.append((429, limit))

    def person() -> None:
        telegram.write(CHAT, "now", to=telegram.wait_for(1)["number"])

    assert ask(telegram, person) == ["now"]


def test_a_server_that_is_away_for_a_while_is_waited_for(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prose_runtime.services.telegram_hub.TRIES", 1)
    monkeypatch.setattr("prose_runtime.services.telegram_hub.PAUSE", 0.05)
    telegram.away = 3

    def person() -> None:
        number = telegram.wait_for(1)["number"]
        while telegram.away:
            time.sleep(0.01)
        telegram.write(CHAT, "still here", to=number)

    assert ask(telegram, person) == ["still here"]


def test_a_wrong_token_is_told_and_not_shown(telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = TOKEN.replace("AAE", "XXX")
    monkeypatch.setenv("PROSE_TELEGRAM_TOKEN", wrong)
    with pytest.raises(ServiceError, match="token") as caught:
        ask(telegram, nobody)
    assert caught.value.kind == "auth"
    assert wrong not in caught.value.message


def test_the_network_is_not_used_where_that_is_forbidden() -> None:
    with pytest.raises(ServiceError, match="forbidden"):
        asyncio.run(registry.create("x", ServiceSettings(provider="telegram", chat=1))(QUESTION))


def test_ping_names_the_bot_and_a_webhook(telegram: FakeTelegram) -> None:
    async def pinged() -> str:
        asked: Any = service(telegram)
        try:
            return str(await asked.ping())
        finally:
            await asked.aclose()

    assert asyncio.run(pinged()) == "@prose_test_bot"
    telegram.conflict = "webhook"
    assert "deleteWebhook" in asyncio.run(pinged())


# the token


def test_the_token_comes_from_the_environment_then_from_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "prose" / "telegram-token"
    file.parent.mkdir()
    file.write_text(f"{TOKEN}9\n")
    file.chmod(0o644)
    assert find_token() == TOKEN
    monkeypatch.delenv("PROSE_TELEGRAM_TOKEN")
    with pytest.raises(UsageError, match="others can read") as caught:
        find_token()
    assert "chmod 600" in str(caught.value.help)
    file.chmod(0o600)
    assert find_token() == f"{TOKEN}9"
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", f"{TOKEN}8")
    assert find_token() == f"{TOKEN}8"
    with pytest.raises(UsageError, match="no token"):
        find_token("MY_BOT")
    monkeypatch.setenv("MY_BOT", "hunter2")
    with pytest.raises(UsageError, match="MY_BOT") as caught:
        find_token("MY_BOT")
    assert "hunter2" not in caught.value.message


def test_the_list_of_services_says_whether_there_is_a_token(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def listed() -> str:
        assert main(["services"]) == 0
        lines = capsys.readouterr().out.splitlines()
        return next(line for line in lines if line.split()[:1] == ["telegram"])

    assert "ready" in listed()
    monkeypatch.delenv("PROSE_TELEGRAM_TOKEN")
    assert "no token" in listed()


def test_a_chat_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="chat"):
        registry.create("x", ServiceSettings(provider="telegram"))
    monkeypatch.setenv("PROSE_TELEGRAM_CHAT", "5")
    registry.create("x", ServiceSettings(provider="telegram"))


@pytest.mark.parametrize("text", ["x" * 9000, "🟢" * 5000, "word " * 3000, "a\n\n" + "b " * 4000, "short"])
def test_parts_hold_the_whole_text(text: str) -> None:
    cut = parts(text)
    assert all(0 < units(part) <= 4000 for part in cut)
    assert re.sub(r"\s", "", "".join(cut)) == re.sub(r"\s", "", text)


# the person at the terminal


@pytest.mark.parametrize(
    ("typed", "value"),
    [("s\n", ""), ("t\nmine\n.\n", "mine"), ("x\nw\n", "late")],
)
def test_after_the_time_the_person_at_the_terminal_decides(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch, capfd: Any, typed: str, value: str
) -> None:
    ours, theirs = os.openpty()
    shown = ""

    def person() -> None:
        nonlocal shown
        for line in typed.splitlines(keepends=True):
            wanted = "take over: " if line[0] in "stxw" else "Your answer"
            while wanted not in shown:
                shown += capfd.readouterr().err
            shown = shown.partition(wanted)[2] if line != "mine\n" else shown
            os.write(ours, line.encode())
        if typed.endswith("w\n"):
            telegram.write(CHAT, "late", to=telegram.sent[0]["number"])

    with contextlib.ExitStack() as stack:
        terminal = stack.enter_context(open(theirs, encoding="utf-8"))  # noqa: PTH123
        stack.callback(os.close, ours)
        monkeypatch.setattr(sys, "stdin", terminal)
        assert ask(telegram, person, timeout=0.5) == [value]
    assert ("closed" in telegram.sent[-1]["text"]) is (value != "late")
