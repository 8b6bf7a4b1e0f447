"""The flow analysis: what reaches whom, as data and by decisions, with the lines on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose_runtime.check.checker import check_path
from prose_runtime.check.flow import WHETHER, Findings, flow_of
from prose_runtime.check.flow_matrix import Matrix, matrix
from prose_runtime.check.project import Project
from prose_runtime.nodes import Spec
from support.commands import ROOT
from support.programs import line_of, pattern

LIBRARY = sorted((ROOT / "patterns").glob("*.prose.md"))


def walked(path: Path) -> tuple[Spec, Findings]:
    project = Project.around(path)
    spec = check_path(path, project).spec
    found = flow_of(spec, project)
    assert found is not None
    return spec, found


def table(path: Path) -> Matrix:
    return matrix(*walked(path))


def sources(path: Path, role: str, *, mark: str = "data") -> set[str]:
    """What reaches a role: ``x`` for an input or config item, ``x!`` for what a role says."""
    entries = [entry for entry in table(path).entries if entry.receiver == role and entry.mark == mark]
    return {entry.source.name + ("!" if entry.source.kind == "output" else "") for entry in entries}


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("let x = call a\ncall b\n  x: x", {"a!"}),
        ("let x = call a\nlet y = x\nlet x = 1\ncall b\n  x: y", {"a!"}),
        ("let x = call a\nlet x = 1\ncall b\n  x: x", set()),
        ('let x = call a\ncall b\n  x: "they said {x.text}"', {"a!"}),
        ("let x = call a\nlet o = { one: x, two: topic }\ncall b\n  x: o.two", {"topic"}),
        ('let x = call a\nlet o = { one: x, two: topic }\ncall b\n  x: o["one"]', {"a!"}),
        ("let x = call a\nlet o = { one: x, two: topic }\ncall b\n  x: o", {"a!", "topic"}),
        ("let x = call a\nlet o = { two: 1 }\nlet p = o\np.one = x\ncall b\n  x: o", {"a!"}),
        ("let xs = []\nlet ys = xs\nrecord (call a) in ys\ncall b\n  x: xs", {"a!"}),
        ("let xs = [topic]\ncall b\n  x: xs\nrecord (call a) in xs", {"topic"}),
        ("let { one, two } = call a\ncall b\n  x: two", {"a!"}),
        ("let xs = [call a, topic]\nfor x in xs:\n  call b\n    x: x", {"a!", "topic"}),
        ("let xs = [call a, topic]\ncall b\n  x: xs.length", set()),
        ("let xs = parallel repeat 2:\n  call a\ncall b\n  x: xs", {"a!"}),
        ("let xs = [topic] | map: call a\ncall b\n  x: xs", {"a!"}),
        ("let xs = [call a] | map: topic\ncall b\n  x: xs", {"topic"}),
        ("let xs = [call a, topic]\nlet s = xs | reduce(sum, x): sum + x\ncall b\n  x: s", {"a!", "topic"}),
        ("let x = call a\nlet y = topic or x\ncall b\n  x: y", {"a!", "topic"}),
        ('let x = call a\nlet y = join([x, "!"], " ")\ncall b\n  x: y', {"a!"}),
        ("let x = null\ntry:\n  x = call a\ncatch as e:\n  x = topic\ncall b\n  x: x", {"a!", "topic"}),
        ("parallel:\n  let x = call a\n  let y = 1\ncall b\n  x: x", {"a!"}),
        ("parallel:\n  let x = call a\n  let y = 1\ncall b\n  x: y", set()),
        ("let x = 1\nparallel:\n  do:\n    x = call a\n  do:\n    x = 2\ncall b\n  x: x", set()),
        ("block say(x):\n  return { x }\nlet o = do say(call a)\ncall b\n  x: o.x", {"a!"}),
        ("block say(x):\n  return topic\nlet o = do say(call a)\ncall b\n  x: o", {"topic"}),
        ("let x = call a\nif topic:\n  x = 1\nelse:\n  x = 2\ncall b\n  x: x", set()),
        ("let who = a\nlet x = call who\ncall b\n  x: x", {"a!"}),
        ("let x = topic\nloop until x == 1 (max: 3):\n  call b\n    x: x\n  x = call a", {"a!", "topic"}),
        ("let x = if topic then call a else 1\ncall b\n  x: x", {"a!"}),
        ("let grouped = group([call a] by kind)\nfor key in keys(grouped):\n  call b\n    x: grouped[key]", {"a!"}),
    ],
)
def test_what_reaches_a_role_as_data(tmp_path: Path, body: str, seen: set[str]) -> None:
    path = pattern(tmp_path, body, slots="a b", rows="topic: string")
    assert sources(path, "b") == seen


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("let x = call a\nif x.good:\n  call b", {"a!"}),
        ("let x = call a\nif x.bad:\n  return 1\ncall b", {"a!"}),
        ("let x = call a\nif x.bad:\n  emit 1\ncall b", set()),
        ("let x = call a\nlet y = 1\nif x.bad:\n  y = 2\ncall b\n  x: y", {"a!"}),
        ("let xs = call a\nfor x in xs:\n  call b", {"a!"}),
        ("repeat 3:\n  call b\n  let x = call a\n  if x.done:\n    break", {"a!"}),
        ("repeat 2:\n  let x = call a\n  if x.done:\n    break\ncall b", set()),
        ('let x = call a\nlet y = "one" if x.good else "two"\ncall b\n  x: y', {"a!"}),
        ("let x = call a\nif **x is good**:\n  call b", {"a!"}),
    ],
)
def test_decisions_are_told_apart_from_data(tmp_path: Path, body: str, seen: set[str]) -> None:
    path = pattern(tmp_path, body, slots="a b", rows="topic: string")
    assert sources(path, "b", mark="control") == seen
    assert "a!" not in sources(path, "b") or "for x in xs" in body


def test_the_lines_on_the_way(tmp_path: Path) -> None:
    body = "let x = call a\nlet kept = []\nrecord { it: x } in kept\nlet last = kept[0]\ncall b\n  x: last.it"
    path = pattern(tmp_path, body, slots="a b")
    (entry,) = [entry for entry in table(path).entries if entry.receiver == "b" and entry.mark == "data"]
    places = ["let x = call", "record {", "x: last.it"]
    assert entry.lines == tuple(line_of(path, text) for text in places)
    assert entry.input == "x"


def test_the_result_by_its_fields(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\nreturn { one: x, two: topic }", rows="topic: string")
    found = {entry.input: entry.source.name for entry in table(path).entries if entry.receiver == "result"}
    assert found == {"one": "a", "two": "topic"}


def test_earlier_answers_are_marked(tmp_path: Path) -> None:
    body = "let x = null\nrepeat 2:\n  call b\n    x: x\n  x = call a"
    (entry,) = [entry for entry in table(pattern(tmp_path, body, slots="a b")).entries if entry.mark == "data"]
    assert entry.earlier


def test_what_a_role_inside_a_spec_gets(tmp_path: Path) -> None:
    inner = "let one = call left\n  x: topic\nreturn call right\n  x: one"
    pattern(tmp_path, inner, slots="left right", rows="topic: string", name="inner")
    text = (
        "---\nname: outer\nkind: function\n---\n\n### Parameters\n\n- `subject`: what\n\n### Patterns\n\n"
        "```yaml\n- name: both\n  pattern: inner\n  with:\n    left: first\n    right: second\n```\n\n"
        "### Execution\n\n```prose\nlet x = call both\n  topic: subject\nreturn call third\n  x: x\n```\n\n"
        "## first\n\nA.\n\n## second\n\nB.\n\n## third\n\nC.\n"
    )
    path = tmp_path / "outer.prose.md"
    path.write_text(text, encoding="utf-8")
    assert sources(path, "first") == {"subject"}
    assert sources(path, "second") == {"first!"}
    assert sources(path, "third") == {"second!"}
    assert all(entry.sure for entry in table(path).entries)


def test_a_spec_that_cannot_be_looked_into_lets_everything_through(tmp_path: Path) -> None:
    (tmp_path / "duel.md").write_text((ROOT / "examples" / "duel" / "duel.md").read_text(encoding="utf-8"))
    body = "let x = call a\nlet y = call duel\n  question: x\ncall b\n  x: y"
    path = pattern(tmp_path, body, slots="a b")
    entries = [entry for entry in table(path).entries if entry.receiver == "b" and entry.mark == "data"]
    assert "a" in {entry.source.name for entry in entries}
    assert not any(entry.sure for entry in entries)


def test_a_spec_that_calls_itself_is_followed_to_an_end(tmp_path: Path) -> None:
    body = "let x = call a\nif x.more:\n  return call probe\n    topic: x\nreturn x"
    path = pattern(tmp_path, body, rows="topic: string")
    _, found = walked(path)
    assert "a" in found.received


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name.partition(".")[0])
def test_every_role_of_the_library_is_reached(path: Path) -> None:
    spec, found = walked(path)
    assert {slot.name for slot in spec.slots} <= set(found.received)
    assert all(WHETHER in inputs for inputs in found.received.values())


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name.partition(".")[0])
def test_every_invariant_of_the_library_is_proved(path: Path) -> None:
    verdicts = check_path(path).verdicts
    assert verdicts
    assert [verdict.invariant.text for verdict in verdicts if verdict.status != "proved"] == []


SWAPS = [
    ("guard", "call target\n  task_brief: task_brief", "call target\n  task_brief: decision", "never sees"),
    ("guard", "if decision does not explicitly proceed:", "if decision does explicitly proceed:", "runs only when"),
    ("worker-critic", "work: work\n", "work: review\n", "sees only"),
    ("oversight", "report: report\n", "report: output\n", "never sees"),
    ("dialectic", "repeat rounds as round:", "repeat 9 as round:", "at most"),
    ("refine", "repeat max_iterations as iteration:", "loop as iteration:", "at most"),
    ("pipeline", "previous_result: last", "previous_result: trail", "sees only"),
    ("blind-review", "artifact: artifact\n", 'prompt: "This is a blind review."\n', "aware"),
    ("fan-out", "task_brief: piece\n", "task_brief: answers\n", ""),
    ("map-reduce", "let results = parallel for chunk in chunks:", "let results = for chunk in chunks:", ""),
    ("ensemble-synthesizer", "parallel repeat ensemble_size as member:", "parallel repeat 7 as member:", "exactly"),
]


@pytest.mark.parametrize(("name", "old", "new", "claim"), SWAPS, ids=[f"{swap[0]}: {swap[2]}" for swap in SWAPS])
def test_a_slip_in_a_pattern_breaks_its_invariant(tmp_path: Path, name: str, old: str, new: str, claim: str) -> None:
    text = (ROOT / "patterns" / f"{name}.prose.md").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / f"{name}.prose.md"
    path.write_text(text.replace(old, new), encoding="utf-8")
    refuted = [v.invariant.text for v in check_path(path).verdicts if v.status == "refuted"]
    assert any(claim in one for one in refuted) if claim else refuted == []


def test_the_way_of_a_broken_isolation(tmp_path: Path) -> None:
    text = (ROOT / "patterns" / "oversight.prose.md").read_text(encoding="utf-8")
    path = tmp_path / "oversight.prose.md"
    path.write_text(text.replace("report: report\n", 'report: "see: {output}"\n'), encoding="utf-8")
    (fault,) = [d for d in check_path(path).diagnostics if d.code == "invariant-refuted"]
    lines = [fault.source.place(second.span.start).line for second in fault.secondary]
    assert lines == [line_of(path, "let output = call actor"), line_of(path, 'report: "see:')]
    assert fault.start.line == line_of(path, "`arbiter` never sees")


def test_a_program_too_large_to_be_followed_is_watched_not_proved(tmp_path: Path) -> None:
    steps = "".join(f"let v{i} = call a\n  x: [topic, [topic, [topic, topic]]]\n" for i in range(1500))
    extra = "### Invariants\n\n- `b` never sees the output of `a`.\n\n"
    path = pattern(tmp_path, f"{steps}return v1", slots="a b", rows="topic: string", extra=extra)
    (verdict,) = check_path(path).verdicts
    assert verdict.status == "watched"
    assert "too large" in verdict.how


@pytest.mark.parametrize(
    ("sentence", "body"),
    [
        (
            "`b` never sees the output of `a`.",
            "block f(n, v):\n  if n == 0:\n    return call b(v)\n  let x = call a(topic)\n  return do f(n - 1, x)\n"
            'let z = do f(2, "none")\nreturn z',
        ),
        (
            "`a` is called at most 2 times.",
            "let xs = [1, 2]\nlet ys = xs\nappend 3 to ys\nfor x in xs:\n  call a(x)\nreturn 1",
        ),
        ("`log` only grows.", "let log = [1]\nlet other = log\nother[0] = 2\nreturn log"),
        ("`log` only grows.", "let log = []\nlet { log } = { log: [] }\nrecord 1 in log\nreturn log"),
        ("`log` only grows.", "let log = []\nparallel:\n  let log = call a(topic)\n  call b(topic)\nreturn log"),
        (
            "`b` never sees the output of `a`.",
            "let o = {}\nlet x = call a(topic)\no[x] = 1\nlet z = call b(keys(o))\nreturn z",
        ),
    ],
)
def test_what_is_not_followed_is_not_proved(tmp_path: Path, sentence: str, body: str) -> None:
    path = pattern(tmp_path, body, slots="a b", rows="topic: string", extra=f"### Invariants\n\n- {sentence}\n\n")
    (verdict,) = check_path(path).verdicts
    assert verdict.status != "proved"


ISOLATED = "`b` never sees the output of `a`."
MUTUAL = "No `ps` sees the output of another `ps`."


def status(folder: Path, body: str, sentence: str, slots: str = "a b ps[]") -> str:
    path = pattern(folder, body, slots=slots, rows="topic: string", extra=f"### Invariants\n\n- {sentence}\n")
    (verdict,) = check_path(path).verdicts
    return verdict.status


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("let x = call a\nlet xs = [topic, x]\ncall b\n  x: xs[0]", ISOLATED),
        ("let x = call a\nlet y = topic or x\ncall b\n  x: y", ISOLATED),
        ("let x = topic\nlet v = call a\nif v.ok:\n  x = v\nif not v.ok:\n  call b\n    x: x", ISOLATED),
        ("let x = call a\nlet o = { f: x }\no.f = 1\ncall b\n  x: o.f", ISOLATED),
        ("let xs = [call a, topic] | filter: item == topic\ncall b\n  x: xs", ISOLATED),
        ("for p in ps:\n  let q = call p\n  call p\n    q: q", MUTUAL),
        ("let xs = for p in ps:\n  call p\nfor p, i in ps:\n  call p\n    q: xs[i]", MUTUAL),
        ("loop while topic == 1 (max: 2):\n  call a\ncall b", "`a` runs before `b`."),
        ("repeat 2:\n  if topic:\n    break\n  call a\ncall b", "`a` runs before `b`."),
        ("try:\n  call b\n  call a\ncatch:\n  emit 1\ncall ps[0]", "`a` runs before `ps`."),
        ("try:\n  let xs = repeat 2:\n    call a\ncatch:\n  emit 1", "`a` runs at least 2 times."),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_watched(tmp_path: Path, body: str, sentence: str) -> None:
    assert status(tmp_path, body, sentence) == "watched"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("let x = call a\nif x.ok:\n  call b\n    x: x", ISOLATED),
        ("let x = null\nrepeat 2:\n  call b\n    x: x\n  x = call a", ISOLATED),
        ("let xs = for p in ps:\n  call p\nfor p in ps:\n  call p\n    q: xs", MUTUAL),
        ("let last = null\nfor p in ps:\n  last = call p\n    q: last", MUTUAL),
        ("call b\ncall a", "`a` runs before `b`."),
    ],
)  # fmt: skip
def test_what_runs_can_break_is_refuted(tmp_path: Path, body: str, sentence: str) -> None:
    assert status(tmp_path, body, sentence) == "refuted"
