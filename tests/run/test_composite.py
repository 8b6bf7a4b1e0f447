"""Composites: state, calls, replies, results and errors, as LANGUAGE.md section 5 says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import CheckFailed, ContractError, LimitExceeded, RunFailed, ServiceError, UsageError
from prose_runtime.runtime.failures import Thrown
from prose_runtime.runtime.result import Result
from tests.support.composites import Talker, composite
from tests.support.programs import pattern, targets


def run(path: Path, inputs: dict[str, Any] | None = None, bind: dict[str, Any] | None = None, **more: Any) -> Result:
    return prose.run(path, inputs or {}, bind=bind or {"one": Talker("x"), "two": Talker("y")}, **more)


def value(folder: Path, body: str, inputs: dict[str, Any] | None = None, **more: Any) -> Any:
    return run(composite(folder, body, **more), inputs).value


def fails(path: Path, **bind: Any) -> RunFailed:
    with pytest.raises(RunFailed) as caught:
        run(path, bind=bind or None)
    return caught.value


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


# state


def test_the_state_holds_config_inputs_and_slots(tmp_path: Path) -> None:
    config = "- `rounds` (integer, default: 2): how many\n- `bar` (string, default: none): quality"
    body = "const { rounds, bar = 'fine', topic, one, many } = __compositeState; return [rounds, bar, topic, one, many]"
    path = composite(tmp_path, body, slots="one many[]", rows="topic: string -- what", config=config)
    bind = {"one": Talker("x"), "many": [Talker("p"), Talker("q")]}
    assert run(path, {"topic": "t"}, bind).value == {"result": [2, "fine", "t", "x", ["p", "q"]]}


def test_both_names_of_the_state_are_the_same_object(tmp_path: Path) -> None:
    body = "__controlState.a = 1; return __compositeState.a + (__compositeState === __controlState ? 1 : 0)"
    assert value(tmp_path, body) == {"a": 1, "result": 2}


def test_a_state_that_is_replaced_counts(tmp_path: Path) -> None:
    assert value(tmp_path, "__compositeState = { result: 1, b: 2 }") == {"b": 2, "result": 1}


def test_what_a_program_reads_without_a_declaration_is_an_input(tmp_path: Path) -> None:
    body = """
    const { one, task_brief, artifact = 'none', rest } = __compositeState;
    const state = __controlState;
    state.log = state.notes ?? 'no notes';
    return [task_brief, artifact, rest];
    """
    path = composite(tmp_path, body, slots="one")
    slot = "  - requires: artifact, notes (if any)\n"
    path.write_text(path.read_text(encoding="utf-8").replace("  - requires: brief\n", slot), encoding="utf-8")
    bind = {"one": Talker("x")}
    with pytest.raises(UsageError, match=r"missing: `task_brief`$"):
        run(path, bind=bind)
    assert run(path, {"task_brief": "t"}, bind).value == {"result": ["t", "none", None], "log": "no notes"}
    given = {"task_brief": "t", "artifact": "a", "notes": "n"}
    assert run(path, given, bind).value == {"result": ["t", "a", None], "log": "n"}
    warned = [d for d in prose.check(path) if d.code == "undeclared-input"]
    assert [path.read_text(encoding="utf-8")[slice(*d.span)] for d in warned] == ["task_brief", "artifact", "notes"]


def test_only_fields_that_the_program_wrote_are_in_the_result(tmp_path: Path) -> None:
    body = """
    const state = __compositeState;
    state.log = [1];
    state._private = 2;
    state.topic = state.topic;
    state.list.push(3);
    """
    rows = "topic: string -- what\nlist: array -- some"
    found = value(tmp_path, body, {"topic": "t", "list": [1]}, rows=rows)
    assert found == {"log": [1], "list": [1, 3], "result": None}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return(5)", 5),
        ("return(null)", None),
        ("return ({ a: [1, 'b', true, null, 1.5] })", {"a": [1, "b", True, None, 1.5]}),
        ("__compositeState.result = 7", 7),
        ("__compositeState.result = 7;\nreturn(8)", 8),
        ("__compositeState.result = 7;\nreturn", 7),
        ("if (false) return 1", None),
        ("return [undefined, NaN, () => 1]", [None, None, None]),
        ("return [1, 2].map(x => { return(x * 2) })", [2, 4]),
        ("// a comment at the end", None),
        ("return new Date(0)", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_what_is_returned(tmp_path: Path, body: str, expected: Any) -> None:
    assert value(tmp_path, body) == {"result": expected}


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    one = Talker("x")
    path = composite(tmp_path, "await rlm('a\\ud800', { '\\udc00': '\\ud83d' }, { use: one() }); return '\\ud800!'")
    path.write_text(path.read_text(encoding="utf-8").replace("one()", "__compositeState.one"), encoding="utf-8")
    assert run(path, bind={"one": one, "two": Talker("y")}).value == {"result": "\N{REPLACEMENT CHARACTER}!"}
    assert (one.asked[0].prompt, dict(one.asked[0].inputs)) == ("a\ufffd", {"\ufffd": "\ufffd"})


@pytest.mark.parametrize(("body", "word"), [("const a = {}; a.a = a; return a", "circular"), ("return 1n", "BigInt")])
def test_a_result_that_is_no_json_is_an_error(tmp_path: Path, body: str, word: str) -> None:
    error = fails(composite(tmp_path, body))
    assert error.kind == "javascript"
    assert word in error.message


# calls


def test_brief_is_the_prompt_and_context_the_inputs(tmp_path: Path) -> None:
    one = Talker("x")
    body = """
    const { one } = __compositeState;
    await rlm("first", { a: 1, b: null, c: undefined }, { use: one });
    await rlm("second", "text", { use: one, model: "big" });
    await rlm("third", [1, 2], { use: one });
    await rlm(null, null, { use: one });
    """
    run(composite(tmp_path, body), bind={"one": one, "two": Talker("y")})
    assert [(r.prompt, dict(r.inputs), r.model) for r in one.asked] == [
        ("first", {"a": 1, "b": None}, None),
        ("second", {"context": "text"}, "big"),
        ("third", {"context": [1, 2]}, None),
        (None, {}, None),
    ]


def test_a_call_of_a_slot_is_told_its_job(tmp_path: Path) -> None:
    path = composite(tmp_path, "return await rlm('q', null, { use: __compositeState.two })")
    text = path.read_text(encoding="utf-8").replace("- `two`\n", "- `two`: pick holes\n  - ensures: a list of flaws\n")
    path.write_text(text, encoding="utf-8")
    two = Talker("y")
    result = run(path, bind={"one": Talker("x"), "two": two})
    assert (result.calls[0]["target"], result.calls[0]["service"]) == ("two", "y")
    assert "pick holes" in two.asked[0].job
    assert "flaws" in two.asked[0].job


def test_slots_with_the_same_binding_are_told_apart(tmp_path: Path) -> None:
    body = """
    const { one, two, many } = __compositeState;
    const said = [];
    for (const use of [one, two, many[0], many[1]]) said.push(await rlm(`for ${use}`, { use }, { use }));
    return [said, two == one, `${one}${two}`, JSON.stringify(two)];
    """
    path = composite(tmp_path, body, slots="one two many[]")
    same = Talker("x")
    result = run(path, bind={"one": same, "two": same, "many": [same, same]})
    assert targets(result) == ["one", "two", "many", "many"]
    assert result.calls[1]["inputs"] == {"use": "x"}
    assert result.value["result"] == [["x:for x"] * 4, True, "xx", '"x"']


def test_use_takes_a_configured_service_and_nothing_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices:\n  d: {provider: script, replies: [dee], repeat: true}\n"
        "  other: {provider: script, replies: [oh]}\n",
        encoding="utf-8",
    )
    result = run(composite(tmp_path, "return [await rlm('a'), await rlm('b', null, { use: 'other' })]"))
    assert result.value == {"result": ["dee", "oh"]}
    assert [(call["target"], call["service"]) for call in result.calls] == [("session", "d"), ("other", "other")]


def test_an_unknown_use_says_what_is_known(tmp_path: Path) -> None:
    path = composite(tmp_path, "let x = 1;\nreturn await rlm('a', null, { use: 'onne' })")
    error = fails(path)
    assert error.kind == "javascript"
    assert "onne" in error.message and "one, two" in error.message
    assert error.where is not None and error.where.line == line_of(path, "onne")
    body = "try { await rlm('a', null, { use: 'zzz' }) } catch (e) { return e.name }"
    assert value(tmp_path, body) == {"result": "TypeError"}


@pytest.mark.parametrize("use", ["5", "['x']", "{}", "{ '&slot': ['nowhere', 0] }", "{ '&slot': 3 }", "() => 1"])
def test_a_use_that_is_no_name_is_the_programs_fault(tmp_path: Path, use: str) -> None:
    assert fails(composite(tmp_path, f"return await rlm('a', null, {{ use: {use} }})")).kind == "javascript"


def test_a_context_that_is_no_json_is_the_programs_fault(tmp_path: Path) -> None:
    body = "try { await rlm('a', { n: 1n }) } catch (e) { return e.message.includes('BigInt') }"
    assert value(tmp_path, body) == {"result": True}


# replies


def test_a_reply_that_is_one_json_object_is_an_object_that_prints_as_json(tmp_path: Path) -> None:
    replies = {"o": {"a": 1, "in": {"b": [2]}}, "t": ' {"a": 2}\n', "l": [1], "p": 'see {"a": 3}', "s": {"toString": 1}}
    body = """
    const ask = word => rlm(word, null, { use: __compositeState.one });
    const o = await ask('o'), t = await ask('t'), s = await ask('s');
    const l = await ask('l'), p = await ask('p');
    return [o.a, t.a, String(o), `${t}`, '' + o.in, typeof l, p, `${s}`, Object.keys(o), { ...o }];
    """
    path = composite(tmp_path, body)
    assert run(path, bind={"one": Talker("x", replies), "two": Talker("y")}).value["result"] == [
        1, 2, '{"a":1,"in":{"b":[2]}}', '{"a":2}', '{"b":[2]}', "string", 'see {"a": 3}', '{"toString":1}',
        ["a", "in"], {"a": 1, "in": {"b": [2]}},
    ]  # fmt: skip


def test_what_a_slot_declares_is_asked_for(tmp_path: Path) -> None:
    path = composite(tmp_path, "const v = await rlm('q', null, { use: __compositeState.one });\nreturn v.score")
    text = path.read_text(encoding="utf-8").replace("  - requires: brief", "  - ensures: `score`, `notes`", 1)
    path.write_text(text, encoding="utf-8")
    good = Talker("x", {"q": 'Here: {"score": 3, "notes": "n"}'})
    assert run(path, bind={"one": good, "two": Talker("y")}).value == {"result": 3}
    assert set(good.asked[0].schema["properties"]) == {"score", "notes"}
    with pytest.raises(ContractError, match="score"):
        run(path, bind={"one": Talker("x"), "two": Talker("y")})


# errors


def down() -> Talker:
    return Talker("x", {"q": ServiceError("no power", kind="unavailable")})


def test_a_failing_call_can_be_caught(tmp_path: Path) -> None:
    body = """
    try { await rlm('q', null, { use: __compositeState.one }); }
    catch (e) { return [e.message, e.kind, e.name, e.service, e instanceof Error, String(e)]; }
    """
    path = composite(tmp_path, body)
    result = run(path, bind={"one": down(), "two": Talker("y")})
    assert result.value["result"] == ["no power", "unavailable", "unavailable", "x", True, "unavailable: no power"]


def test_a_failing_call_that_nothing_catches_ends_the_run(tmp_path: Path) -> None:
    path = composite(tmp_path, "const { one } = __compositeState;\nawait rlm('q', null, { use: one });")
    error = fails(path, one=down(), two=Talker("y"))
    assert isinstance(error, ServiceError)
    assert (error.kind, error.service) == ("unavailable", "x")
    assert error.where is not None and error.where.line == line_of(path, "await rlm")


def test_limits_cannot_be_caught(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").write_text("limits: {max_calls: 1}\n", encoding="utf-8")
    body = """
    const { one } = __compositeState;
    try { await rlm('a', null, { use: one }); await rlm('b', null, { use: one }); } catch (e) { return 'caught'; }
    """
    assert isinstance(fails(composite(tmp_path, body)), LimitExceeded)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("code", "words", "column"),
    [
        ("null.nothing", "TypeError", 1),
        ("  missing()", "missing.*not defined", 3),
        ("throw new Error('no consensus')", "no consensus", None),
        ("await 0; await rlm('q'); JSON.parse('{')", "SyntaxError", None),
        ("[1].map(x => x.y.z)", "TypeError", None),
    ],
)
def test_an_error_of_the_program_names_its_line(
    tmp_path: Path, ending: str, code: str, words: str, column: int | None
) -> None:
    path = composite(tmp_path, f"const a = 1;\nconst b = `two\nlines`;\n{code}\nconst c = 3;")
    path.write_bytes(path.read_bytes().replace(b"\n", ending.encode()))
    (tmp_path / "prose.yml").write_text("default: d\nservices: {d: {provider: echo}}\n", encoding="utf-8")
    with pytest.raises(RunFailed, match=words) as caught:
        run(path)
    where = caught.value.where
    assert caught.value.kind == "javascript"
    assert where is not None and where.line == line_of(path, code)
    assert column in (None, where.column)


def test_an_error_keeps_the_line_at_which_it_was_made(tmp_path: Path) -> None:
    path = composite(tmp_path, "const fail = () => {\n  throw new TypeError('deep')\n};\nawait 0;\nfail();")
    error = fails(path)
    assert error.where is not None and error.where.line == line_of(path, "deep")


def test_what_is_no_error_can_be_thrown(tmp_path: Path) -> None:
    assert "'" not in fails(composite(tmp_path, "throw 'just text'")).message
    assert "null" in fails(composite(tmp_path, "throw null")).message
    assert "code" in fails(composite(tmp_path, "throw { code: 5 }")).message


def test_an_error_thrown_by_a_forgotten_promise_does_no_harm(tmp_path: Path) -> None:
    assert value(tmp_path, "Promise.reject(new Error('x')); return 1") == {"result": 1}


def test_a_promise_that_nothing_settles_is_an_error(tmp_path: Path) -> None:
    assert "await" in fails(composite(tmp_path, "await new Promise(() => {})")).message


@pytest.mark.parametrize(
    ("body", "offset"),
    [("let a = 1;\nlet b = ;", 1), ("let a = 1;\nlet a = 2;", 1), ("foo(1", 0), ("if (true) {\n  rlm('a')\n", 1)],
)
def test_a_fault_of_syntax_is_found_before_anything_is_asked(tmp_path: Path, body: str, offset: int) -> None:
    path = composite(tmp_path, body)
    found = [d for d in prose.check(str(path)) if d.severity == "error"]
    assert [(d.code, d.where.line) for d in found] == [
        ("javascript-syntax", line_of(path, "```javascript") + 1 + offset)
    ]
    asked = Talker("x")
    with pytest.raises(CheckFailed):
        run(path, bind={"one": asked, "two": asked})
    assert asked.asked == []


def test_a_good_composite_has_no_errors(tmp_path: Path) -> None:
    path = composite(tmp_path, "for await (const x of [rlm('a')]) __compositeState.last = x ?? null;\nreturn(1)")
    assert [d for d in prose.check(str(path)) if d.severity == "error"] == []


def test_console_is_for_the_person_watching(tmp_path: Path) -> None:
    result = run(composite(tmp_path, "console.log('round', 1, { a: 2 }); console.error('\\ud800'); return 0"))
    assert result.emitted == ['round 1 {"a":2}', "\ufffd"]


# nesting


def test_a_composite_fills_a_slot_of_a_pattern(tmp_path: Path) -> None:
    inner = (
        "__compositeState.extra = 1; return `${await rlm('q ' + __compositeState.topic, null, { use: 'echo-like' })}!`"
    )
    composite(tmp_path, inner, slots="one", rows="topic: string -- what", name="inner")
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices:\n  d: {provider: script, replies: [d], repeat: true}\n"
        "  echo-like: {provider: script, replies: [e], repeat: true}\n"
        "  both: {pattern: inner, with: {one: d}}\n",
        encoding="utf-8",
    )
    outer = pattern(tmp_path, "let x = call a\n  topic: 't'\nreturn { x }".replace("'", '"'), name="outer")
    result = prose.run(outer, {}, bind={"a": "both"})
    assert result.value == {"x": "e!"}
    assert [call["target"] for call in result.calls] == ["echo-like"]
    assert result.calls[0]["step"].startswith("call a/rlm[")


def test_a_composite_is_called_by_its_name(tmp_path: Path) -> None:
    composite(tmp_path, "__compositeState.extra = 1; return __compositeState.topic", slots="one",
              rows="topic: string -- what", name="inner")  # fmt: skip
    outer = pattern(tmp_path, 'let x = call inner\n  topic: "t"\nreturn x', name="outer")
    assert prose.run(outer, {}, bind={"a": Talker("x")}).value == {"result": "t", "extra": 1}


def test_a_pattern_catches_what_a_composite_throws_but_not_its_faults(tmp_path: Path) -> None:
    body = "if (__compositeState.how === 'throw') throw new Error('no luck'); null.x"
    composite(tmp_path, body, slots="one", rows="how: string -- how", name="inner")
    program = "try:\n  call inner\n    how: how\ncatch as e:\n  return e.message"
    outer = pattern(tmp_path, program, rows="how: string", name="outer")
    assert prose.run(outer, {"how": "throw"}, bind={"a": Talker("x")}).value == "no luck"
    with pytest.raises(RunFailed, match="TypeError") as caught:
        prose.run(outer, {"how": "fault"}, bind={"a": Talker("x")})
    assert not isinstance(caught.value, Thrown)


def test_a_pattern_fills_a_slot_of_a_composite(tmp_path: Path) -> None:
    pattern(tmp_path, 'let x = call a\n  text: task_brief\nreturn { result: [x], more: 1 }', name="inner",
            rows="task_brief: string")  # fmt: skip
    (tmp_path / "prose.yml").write_text(
        "services:\n  s: {provider: script, rules: [{when: {text: write}, reply: w}]}\n"
        "  nested: {pattern: inner, with: {a: s}}\n",
        encoding="utf-8",
    )
    path = composite(tmp_path, "return await rlm('write', null, { use: __compositeState.one })")
    assert run(path, bind={"one": "nested", "two": Talker("y")}).value == {"result": ["w"]}


def test_a_composite_passes_its_state_on(tmp_path: Path) -> None:
    inner = "const { first, topic } = __compositeState; return await rlm(`on ${topic}`, null, { use: first })"
    composite(tmp_path, inner, slots="first", rows="topic: string -- what", name="inner")
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices:\n  d: {provider: script, replies: [d]}\n  nested: {pattern: inner}\n", encoding="utf-8"
    )
    body = """
    const { one, two } = __compositeState;
    return await rlm('', null, { use: 'nested', compositeState: { first: two, topic: `t for ${one}` } });
    """
    same = Talker("x")
    result = run(composite(tmp_path, body), bind={"one": same, "two": same})
    assert result.value == {"result": "x:on t for x"}
    assert targets(result) == ["first"]


ROLE = """---
name: scorer
kind: function
---

### Description

Judge how clear a text is.

### Parameters

- `text`: (optional) the text

### Returns

- `score`: from 0 to 9
- `why`: the reason
"""


def test_a_role_fills_a_slot_of_a_composite(tmp_path: Path) -> None:
    (tmp_path / "scorer.prose.md").write_text(ROLE, encoding="utf-8")
    (tmp_path / "prose.yml").write_text(
        'default: d\nservices: {d: {provider: script, replies: [\'{"score": 7, "why": "w"}\']}}\n', encoding="utf-8"
    )
    body = "const v = await rlm('q', { text: 't' }, { use: __compositeState.one }); return v.score + v.why"
    path = composite(tmp_path, body, slots="one")
    result = prose.run(path, bind={"one": str(tmp_path / "scorer.prose.md")})
    assert result.value == {"result": "7w"}
    assert (result.calls[0]["target"], result.calls[0]["service"]) == ("one", "d")


def test_a_function_calls_an_instance_of_a_composite(tmp_path: Path) -> None:
    body = """
    const { rounds, topic, one } = __compositeState;
    __compositeState.times = rounds;
    return await rlm(topic, null, { use: one });
    """
    composite(tmp_path, body, slots="one", rows="topic: string -- what", config="- `rounds`: 1", name="inner")
    (tmp_path / "prose.yml").write_text(
        "default: d\nservices: {d: {provider: script, replies: [d]}}\n", encoding="utf-8"
    )
    text = (
        "---\nname: outer\nkind: function\n---\n\n### Parameters\n\n- `topic`: what\n\n### Returns\n\n"
        "- `result`: said\n- `times`: how often\n\n### Patterns\n\n```yaml\n- name: asked\n  pattern: inner\n"
        "  with:\n    one: helper\n  config:\n    rounds: 4\n```\n\n### Execution\n\n```prose\n"
        "let got = call asked\n  topic: topic\nreturn { result: got.result, times: got.times }\n```\n\n"
        "## helper\n\n### Description\n\nHelps.\n"
    )
    path = tmp_path / "outer.prose.md"
    path.write_text(text, encoding="utf-8")
    result = prose.run(path, {"topic": "t"})
    assert result.value == {"result": "d", "times": 4}
    assert [call["step"] for call in result.calls] == ["call asked/rlm[1]"]


def test_declared_outputs_that_the_program_never_writes_are_a_breach(tmp_path: Path) -> None:
    path = composite(tmp_path, "if (__compositeState.one === 'x') return 1;\n__compositeState.log = []")
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("### Delegation", "### Returns\n\n- `result`: r\n- `log`: l\n\n### Delegation"), encoding="utf-8"
    )
    assert run(path).value == {"result": 1}
    path.write_text(path.read_text(encoding="utf-8").replace("`log`", "`logs`"), encoding="utf-8")
    with pytest.raises(ContractError, match="logs"):
        run(path)
