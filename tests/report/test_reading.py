"""``prose runs export``: a run to read, as a page, a transcript or data. What the page looks like, a browser tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from support.commands import prose, run

HOSTILE = (
    "A <script>document.title='pwned'</script> [link](javascript:alert(1)) </style></textarea>\n"
    "{{7*7}} {% raw %} <img src=x onerror=alert(1)> \x1b[31m" + "wide" * 60
)

SPEC = """---
name: duel
kind: pattern
---

### Slots

- `pro`: speaks for the motion
- `contra`: speaks against it
- `umpire`: weighs both, without regard to who speaks, how long, how loudly or in which of the many possible orders
  - ensures: winner, reasons

### Parameters

- Pattern instance receives:
    pro: string
    contra: string
    umpire: string
    motion: string  -- what is argued about

### Invariants

- The umpire is called at most once.
- Everybody stays polite, names what was said before, and answers in the language in which the motion was put.

### Delegation

```prose
parallel:
  let p = call pro
    motion: motion
  let c = call contra
    motion: motion
emit "both <b>have</b> spoken"
if they have moved towards each other:
  emit "they agree"
try:
  call contra
    heard: p
    prompt: "One last thing."
catch as e:
  emit e.message
let verdict = call umpire
  pro: "It said: {p}"
  contra: c
return { winner: verdict.winner, reasons: verdict.reasons }
```
"""

SERVICES = {
    "a": {"provider": "script", "replies": [{"delay": 0.3, "reply": HOSTILE}]},
    "b": {
        "provider": "script",
        "replies": [{"delay": 0.5, "reply": "An objection that is long enough."}, {"error": "has gone home"}],
    },
    "u": {"provider": "script", "replies": [{"winner": "pro", "reasons": ["first reason", "second reason"]}]},
    "down": {"provider": "script", "replies": [{"error": "out of order"}]},
    "j": {"provider": "script", "replies": [{"verdict": False, "reason": "Neither <i>moved</i>."}]},
    "me": {"provider": "human"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("duel")
    (folder / "duel.prose.md").write_text(SPEC)
    (folder / "prose.yml").write_text(json.dumps({"judge": "j", "services": SERVICES}))
    return folder


def perform(folder: Path, umpire: str = "u") -> int:
    words = ["run", "duel.prose.md", "Remote work pays", "--pro", "a", "--contra", "b", "--umpire", umpire, "--quiet"]
    return run([prose(), *words], folder, folder).exit


def export(folder: Path, *words: str) -> str:
    done = run([prose(), "runs", "export", "last", *words], folder, folder)
    assert (done.exit, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def page_file(folder: Path) -> Path:
    assert perform(folder) == 0
    export(folder, "-o", "run.html")
    return folder / "run.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    switches = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    switches += ["--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path="/usr/bin/chromium", args=switches)
        yield browser
        browser.close()


@pytest.fixture(params=[("light", 390), ("dark", 1300)], ids=["phone, light", "desk, dark"])
def page(browser: Browser, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    scheme, width = request.param
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith("file:") else complaints.append(asked.url))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(page_file.as_uri())
    yield page
    assert complaints == []
    page.close()


# Of every text the colour and what it stands on, with the ratio that the eye has to tell them apart (WCAG 2.2).
CONTRAST = """() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parse(colour).slice(0, 3).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if ((parse(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || node.closest("svg") || node.matches("title")) continue;
    const [one, two] = [light(getComputedStyle(node).color), light(behind(node))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < 4.5) poor.push([node.className, node.textContent.slice(0, 30), ratio]);
  }
  return poor;
}"""


def test_the_page_is_readable_and_hostile_text_stays_text(page: Page) -> None:
    assert page.title() == "duel, completed"
    assert page.locator("script, img, iframe, [onerror]").count() == 0
    assert page.locator("a:not([href^='#'])").count() == 0
    said = page.locator("#call-1 .said").inner_text()
    assert all(text in said for text in ("<script>document", "(javascript:alert(1))", "{{7*7}}", "</style>", "<img"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CONTRAST) == []


def test_everything_that_happened_is_there(page: Page) -> None:
    assert page.locator("article.turn h3").all_inner_texts() == ["1 pro", "2 contra", "3 contra", "4 umpire"]
    assert "alongside 2" in page.locator("#call-1 .about").inner_text()
    assert "has gone home" in page.locator("#call-3 .failure").inner_text()
    assert "both <b>have</b> spoken" in page.locator("main").inner_text()
    assert "Neither <i>moved</i>." in page.locator("#condition-1").inner_text()
    origins = page.locator("#call-4 .origin").evaluate_all("(links) => links.map((link) => link.hash)")
    assert origins == ["#call-1", "#call-2"]
    assert page.locator("#call-2 .origin").evaluate_all("(links) => links.map((link) => link.hash)") == ["#inputs"]
    bars = page.locator(".timeline .bar").evaluate_all("(bars) => bars.map((bar) => bar.getBoundingClientRect())")
    one, two = bars[0], bars[1]
    assert one["x"] < two["x"] + two["width"]
    assert two["x"] < one["x"] + one["width"]
    assert page.locator(".cost tbody tr").count() == 4
    assert page.locator(".invariants .proved").count() == 1


def test_the_keyboard_reaches_what_can_be_used(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.closest('nav, svg, summary, .line, .origin, aside')?.tagName")
        )
    assert {"NAV", "svg", "SUMMARY", "A", "ASIDE"} <= reached
    page.locator("#call-2 summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#call-2 .given").is_visible()


def test_an_event_leads_to_its_line_of_the_spec(page: Page) -> None:
    link = page.locator("#call-4 a.line")
    assert "let verdict = call umpire" in link.inner_text()
    link.focus()
    page.keyboard.press("Enter")
    line = page.locator("aside li:target")
    assert line.inner_text() == "let verdict = call umpire"
    box = line.bounding_box()
    assert box is not None
    assert 0 <= box["y"] <= 844 - box["height"]


def test_an_edited_spec_is_shown_as_the_run_read_it(folder: Path, page_file: Path) -> None:
    assert "has changed" not in page_file.read_text()
    path = folder / "duel.prose.md"
    try:
        path.write_text(SPEC.replace("spoken", "been silent"))
        changed = export(folder, "--format", "html")
        path.unlink()
        gone = export(folder, "--format", "html")
    finally:
        path.write_text(SPEC)
    assert "has changed since" in changed
    assert "have&lt;/b&gt; spoken" in changed
    assert "no longer there" in gone


def test_a_transcript_quotes_what_was_said(folder: Path, page_file: Path) -> None:
    text = export(folder)
    assert text.startswith("# duel: completed\n")
    assert "### 1. pro" in text
    assert ">   - first reason" in text
    assert "at the same time as 2" in text
    assert "from pro (1)" in text
    assert "**Failed:** has gone home" in text
    assert "Neither \\<i\\>moved" in text
    outside = [line for line in text.splitlines() if not line.startswith(">")]
    assert not re.search(r"(?<!\\)<", "\n".join(outside))
    assert "\\<script>" in text
    assert "](javascript" not in text
    assert "\n\n\n" not in text


def test_the_data_has_the_fixed_fields_and_times_beside_them(folder: Path, page_file: Path) -> None:
    data: dict[str, Any] = json.loads(export(folder, "--format", "json"))
    shown = json.loads(run([prose(), "runs", "show", "last", "--json"], folder, folder).stdout)
    assert {name: data[name] for name in shown} == shown
    times = data["timeline"]
    assert len(times) == 4
    assert times[0]["started"] < times[1]["finished"]
    assert 0.25 < times[0]["finished"] - times[0]["started"] < 20


def test_a_run_that_failed_or_waits_has_a_page_too(folder: Path) -> None:
    assert perform(folder, "down") == 1
    failed = export(folder, "--format", "html")
    assert "What went wrong" in failed
    assert "out of order" in failed
    assert perform(folder, "me") == 5
    paused = export(folder, "--format", "html")
    assert "Waiting for umpire" in paused
    assert "Paused" in export(folder) or "## Stopped" in export(folder)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nothing"], "no recorded run"), (["last", "-o", "no/such/folder.html"], "cannot write")],
)
def test_what_cannot_be_exported_is_told(folder: Path, page_file: Path, words: list[str], said: str) -> None:
    done = run([prose(), "runs", "export", *words], folder, folder)
    assert done.exit == 2
    assert said in done.stderr
