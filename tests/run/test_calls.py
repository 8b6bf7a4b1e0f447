"""Calls: targets, inputs, modifiers, contracts, nested units, sessions. LANGUAGE.md sections 3 and 4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import CheckFailed, ContractError, RunFailed, UsageError
from prose_runtime.services.api import Request
from prose_runtime.services.prompt import render
from prose_runtime.testing import record, script
from tests.support.programs import pattern, run, targets

FORMS = [
    "call a\n  p: 1\n  q: [2]",
    "call a p: 1, q: [2]",
    "call a(1, [2])",
    "call a(p: 1, q: [2])",
    "call a with { p: 1, q: [2] }",
    "call a with given",
]


@pytest.mark.parametrize("form", FORMS)
def test_inputs_in_all_their_forms(tmp_path: Path, form: str) -> None:
    path = pattern(tmp_path, f"let given = {{ p: 1, q: [2] }}\nlet x = {form}\nreturn x")
    path.write_text(path.read_text().replace("- `a`", "- `a`\n  - requires: `p`, `q`"), encoding="utf-8")
    result = run(path, {"a": script("x")})
    assert result.calls[0]["inputs"] == {"p": 1, "q": [2]}


def test_modifiers_are_no_inputs_unless_declared(tmp_path: Path) -> None:
    body = 'let x = call a\n  n: 1\n  prompt: "do {n}"\n  model: "big"\nreturn x'
    body = "let n = 7\n" + body
    (tmp_path / "prose.yml").write_text("models: {big: big-1}\n", encoding="utf-8")
    service = record(script("x", "y"))
    path = pattern(tmp_path, body)
    run(path, {"a": service})
    request = service.requests[0]
    assert (dict(request.inputs), request.prompt, request.model) == ({"n": 1}, "do 7", "big-1")
    path.write_text(path.read_text().replace("- `a`", "- `a`\n  - requires: `n`, `model`"), encoding="utf-8")
    run(path, {"a": service})
    assert dict(service.requests[1].inputs) == {"n": 1, "model": "big"}


def test_references_are_values_that_print_as_their_name(tmp_path: Path) -> None:
    body = """
    let chosen = many[1]
    let x = call chosen
      n: 1
    return { x, chosen, all: many, same: chosen == many[1], text: "{chosen}" }
    """
    services: list[Any] = [script("p", name="one"), script("q", name="two")]
    result = run(pattern(tmp_path, body, slots="many[]"), {"many": services})
    assert result.value == {"x": "q", "chosen": "two", "all": ["one", "two"], "same": True, "text": "two"}
    assert [(c["target"], c["service"]) for c in result.calls] == [("many", "two")]


FUNCTION = """---
name: titled
kind: function
description: You give texts a title.
---

### Parameters

- `text`: what to title
- `tone`: (optional) how it sounds

### Returns

- `title`: at most five words

### Strategies

- Prefer verbs.

### Runtime

- `model`: small
"""


def test_a_function_is_one_model_call_with_its_text_as_job(tmp_path: Path) -> None:
    (tmp_path / "titled.prose.md").write_text(FUNCTION, encoding="utf-8")
    service = record(script({"title": "T"}, "U"))
    body = 'let x = call a\n  text: "t"\nlet y = call titled\n  text: "s"\nreturn [x, y, y.title]'
    path = pattern(tmp_path, body)
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices:\n  d: {provider: script, replies: [V]}\n", encoding="utf-8"
    )
    result = run(path, {"a": service})
    assert result.value == ['{"title": "T"}', "V", "V"]
    assert targets(result) == ["a", "titled"]


def test_a_spec_file_can_fill_a_slot_and_run_alone(tmp_path: Path) -> None:
    path = tmp_path / "titled.prose.md"
    path.write_text(FUNCTION, encoding="utf-8")
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices:\n  d: {provider: script, replies: [{title: V}], repeat: true}\n", encoding="utf-8"
    )
    result = run(pattern(tmp_path, 'let x = call a\n  text: "t"\nreturn x'), {"a": str(path)})
    assert result.value == "V"
    assert (result.calls[0]["target"], result.calls[0]["service"]) == ("a", "d")
    assert prose.run(path, {"text": "t"}).value == "V"
    with pytest.raises(UsageError, match="text"):
        prose.run(path)


INNER = """---
name: inner
kind: pattern
---

### Slots

- `w`

### Config

- `times` (integer, default: 1): how often

### Parameters

- Pattern instance receives:
    w: string
    topic: string

### Returns

- `result`: the last answer
- `count`: how many

### Delegation

```prose
let last = null
repeat times:
  last = call w
    topic: topic
return { result: last, count: times }
```
"""

OUTER = """---
name: outer
kind: function
---

### Parameters

- `topic`: what it is about

### Patterns

```yaml
- name: twice
  pattern: inner
  with: {w: helper}
  config: {times: 2}
- name: deep
  pattern: inner
  with:
    w: {pattern: inner, with: {w: helper}, config: {times: 3}}
```

### Execution

```prose
let x = call twice
  topic: topic
let y = call deep
  topic: topic
let z = call twice
  settings: { topic: "other", times: 1 }
return { x, y, z }
```

## helper

### Parameters

- `topic`: what to write on
"""


def test_instances_nest_and_their_calls_are_the_runs(tmp_path: Path) -> None:
    (tmp_path / "inner.prose.md").write_text(INNER, encoding="utf-8")
    path = tmp_path / "outer.prose.md"
    path.write_text(OUTER, encoding="utf-8")
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices:\n  d: {provider: script, replies: [a, b, c, d, e, f]}\n", encoding="utf-8"
    )
    result = prose.run(path, {"topic": "t"})
    assert result.value == {
        "x": {"result": "b", "count": 2}, "y": {"result": "e", "count": 1}, "z": {"result": "f", "count": 1},
    }  # fmt: skip
    assert targets(result) == ["w"] * 6
    assert result.calls[-1]["inputs"] == {"topic": "other"}
    assert len({call["step"] for call in result.calls}) == 6


def test_a_pattern_instance_of_prose_yml_fills_a_slot(tmp_path: Path) -> None:
    (tmp_path / "inner.prose.md").write_text(INNER, encoding="utf-8")
    (tmp_path / "prose.yml").write_text(
        "services:\n  s: {provider: script, replies: [a, b]}\n"
        "  twice: {pattern: inner, with: {w: s}, config: {times: 2}}\n",
        encoding="utf-8",
    )
    result = run(pattern(tmp_path, 'let x = call a\n  topic: "t"\nreturn x'), {"a": "twice"})
    assert result.value == "b"


def test_required_inputs_of_a_callee_are_a_contract(tmp_path: Path) -> None:
    (tmp_path / "inner.prose.md").write_text(INNER, encoding="utf-8")
    (tmp_path / "prose.yml").write_text("default: s\nservices:\n  s: {provider: echo}\n", encoding="utf-8")
    body = "let none = null\nlet x = call inner\n  topic: none\nreturn x"
    with pytest.raises(ContractError, match="topic"):
        run(pattern(tmp_path, body), {"a": script()})


def test_declared_structure_is_asked_for_and_repaired_once(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let x = call a\n  n: 1\nreturn x")
    path.write_text(path.read_text().replace("- `a`", "- `a`\n  - ensures: `score`, `why`"), encoding="utf-8")
    service = record(script("no", {"score": 1, "why": "w"}))
    result = run(path, {"a": service})
    assert result.value == {"score": 1, "why": "w"}
    assert service.requests[0].schema is not None
    assert service.requests[1].rejected == "no"
    assert "score" in str(service.requests[1].fault)
    with pytest.raises(ContractError, match="why") as caught:
        run(path, {"a": script("no", {"score": 1})})
    assert caught.value.kind == "contract"


def test_a_declared_output_that_no_return_delivers_is_a_breach(tmp_path: Path) -> None:
    path = pattern(tmp_path, "if n > 1:\n  return { one: 1 }\nreturn { one: 1, two: 2 }", rows="n: number")
    text = path.read_text().replace(
        "### Delegation", "### Returns\n\n- `one`: first\n- `two`: second\n\n### Delegation"
    )
    path.write_text(text, encoding="utf-8")
    assert run(path, {"a": script()}, {"n": 5}).value == {"one": 1}
    path.write_text(text.replace("two: 2", "tw: 2"), encoding="utf-8")
    with pytest.raises(ContractError, match="two") as caught:
        run(path, {"a": script()}, {"n": 5})
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    "body", ["return call probe", "if topic:\n  try:\n    let x = call other\n  finally:\n    emit topic"]
)
def test_specs_that_call_each_other_without_end_are_told_with_the_place(tmp_path: Path, body: str) -> None:
    pattern(tmp_path, "return call probe\n  topic: topic", rows="topic: string", name="other")
    path = pattern(tmp_path, body.replace("call other", "call other\n      topic: topic"), rows="topic: string")
    path.write_text(
        path.read_text().replace("return call probe", "return call probe\n  topic: topic"), encoding="utf-8"
    )
    with pytest.raises(RunFailed, match="calls itself") as told:
        run(path, inputs={"topic": "t"})
    assert told.value.where is not None
    assert told.value.where.line > 1
    assert "call" in Path(told.value.where.file).read_text().splitlines()[told.value.where.line - 1]


def test_a_spec_may_call_itself_as_long_as_that_ends(tmp_path: Path) -> None:
    body = "if n == 0:\n  return 0\nlet less = call probe\n  n: n - 1\nreturn less + 1"
    assert run(pattern(tmp_path, body, rows="n: integer"), inputs={"n": 60}).value == 60


def test_sessions_get_their_prompt_and_context_and_nothing_else(tmp_path: Path) -> None:
    service = "default: d\nservices:\n  d: {provider: script, replies: [F, G, H]}\n"
    (tmp_path / "prose.yml").write_text(service, encoding="utf-8")
    body = """
    agent finder:
      model: sonnet
      prompt: "You find facts."
    let topic = "tides"
    let one = session: finder
      prompt: "Find facts on {topic}"
    let two = session "Check them"
      context: one
    let three = session "Sum up"
      context: { one, two }
    return three
    """
    result = run(pattern(tmp_path, body), {"a": script()})
    assert result.value == "H"
    assert [(c["target"], c["inputs"], c["prompt"]) for c in result.calls] == [
        ("finder", {}, "Find facts on tides"),
        ("session", {"one": "F"}, "Check them"),
        ("session", {"one": "F", "two": "G"}, "Sum up"),
    ]


def test_a_role_is_told_its_job_and_its_inputs_and_nothing_else(tmp_path: Path) -> None:
    extra = """
    ### Shape

    - `self`: runs the duel
    - `delegates`:
      - `proposer`: You argue for the motion. — never seen
      - `opposer`: You answer the argument.

    """
    body = """
    let secret = "hidden-by-nobody"
    let one = call proposer
      motion: motion
    let two = call opposer
      argument: one
    return { one, two, secret }
    """
    seen: list[Request] = []

    async def answer(request: Request) -> str:
        seen.append(request)
        return f"answer-{len(seen)}"

    path = pattern(tmp_path, body, slots="proposer opposer", rows="motion: string", extra=extra, name="duelling")
    run(path, {"proposer": answer, "opposer": answer}, {"motion": "cats-rule"})
    prompts = [render(request) for request in seen]
    texts = [prompt.system + prompt.user for prompt in prompts]
    assert "You argue for the motion." in texts[0]
    assert "cats-rule" in texts[0]
    assert "answer-1" in texts[1]
    for text in texts:
        assert not any(word in text for word in ("duelling", "proposer", "opposer", "hidden-by-nobody", "never seen"))
    assert "cats-rule" not in texts[1]
    assert "You argue" not in texts[1]


@pytest.mark.parametrize(
    ("bind", "words"),
    [({"b": "x"}, "slot `b`"), ({"a": ["x", "y"]}, "one binding"), ({"a": "nobody"}, "nobody"), ({"a": 5}, "int")],
)
def test_wrong_bindings_are_told_before_anything_runs(tmp_path: Path, bind: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(pattern(tmp_path, "return call a n: 1"), bind)


def test_all_missing_and_wrong_inputs_are_told_at_once(tmp_path: Path) -> None:
    path = pattern(tmp_path, "return [p, q, n]", rows="p: string\nq: string", config="- `n` (integer, default: 1): x")
    with pytest.raises(UsageError, match="`p`, `q`"):
        run(path, {"a": script()})
    with pytest.raises(UsageError, match=r"integer.*nope|nope.*integer"):
        run(path, {"a": script()}, {"p": "x", "q": "y", "nope": 1}, config={"n": "many"})


def test_a_faulty_spec_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed) as caught:
        run(pattern(tmp_path, "let x = call b\n  n: 1\nreturn y"), {"a": script()})
    assert len([d for d in caught.value.diagnostics if d.severity == "error"]) == 2


def test_what_a_slot_ensures_as_optional_may_be_missing(tmp_path: Path) -> None:
    path = pattern(tmp_path, "let v = call a\n  n: 1\nreturn { score: v.score, why: v.why }")
    path.write_text(path.read_text().replace("- `a`", "- `a`\n  - ensures: `score`, optional `why`"), encoding="utf-8")
    result = run(path, {"a": script({"score": 1})})
    assert (result.value, len(result.calls)) == ({"score": 1, "why": None}, 1)


def test_a_word_counts_from_where_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prose.yml").write_text("services:\n  s: {provider: echo}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="duel"):
        prose.run("dialectic", {"task_brief": "t"}, bind={"thesis": "duel", "antithesis": "s"})
