"""Programs of the oldest dialect, run as they are: sessions, agents and their memory, people, effects, imports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import CheckFailed, Paused, ProseError, RunFailed, UsageError
from prose_runtime.journal import Journal
from support.oldest import asked, faults, program, run, scripted

# sessions and their context


@pytest.mark.parametrize(
    ("session", "prompt", "inputs"),
    [
        ('session "Go"', "Go", {}),
        ('session """\n  Go\n  on\n"""', "Go\non", {}),
        ('session "Go"\n  context: x', "Go", {"x": 1}),
        ('session "Go" with context: x', "Go", {"x": 1}),
        ('session "Go" context: x', "Go", {"x": 1}),
        ('session "Go" (context: [x, y])', "Go", {"x": 1, "y": [2]}),
        ('session "Go"\n  context: { x, last: y[0] }', "Go", {"x": 1, "last": 2}),
        ('session "Go"\n  context: {\n    x,\n    y\n  }', "Go", {"x": 1, "y": [2]}),
        ('session "Go"\n  context:\n    - x\n    - y', "Go", {"x": 1, "y": [2]}),
        ('session "Go"\n  context: []', "Go", {}),
        ('session "Go"\n  context: "plain"', "Go", {"context_1": "plain"}),
        ('session: writer\n  prompt: "Go"', "Go", {}),
        ('session: writer "Go"', "Go", {}),
        ('session writer "Go"\n  context: x', "Go", {"x": 1}),
        ('session draft: writer\n  prompt: "Go {x}"', "Go 1", {}),
        ('resume: writer\n  prompt: "Go"', "Go", {}),
    ],
)
def test_a_session_is_told_its_prompt_and_context(
    tmp_path: Path, session: str, prompt: str, inputs: dict[str, Any]
) -> None:
    text = f'agent writer:\n  prompt: "You write."\nlet x = 1\nlet y = [2]\n{session}\n'
    result = run(program(tmp_path, text))
    assert asked(result) == [("writer" if "writer" in session else "session", prompt, inputs)]


def test_a_named_session_binds_its_name(tmp_path: Path) -> None:
    text = 'agent writer:\n  prompt: "W"\nsession draft: writer\n  prompt: "Go"\noutput r = draft\n'
    assert run(program(tmp_path, text, m=scripted("text"))).value == {"r": "text"}


@pytest.mark.parametrize("right", ["do second", "do second()", "call second"])
def test_the_left_of_an_arrow_is_carried_out_though_the_right_takes_nothing(tmp_path: Path, right: str) -> None:
    text = f"""
    block first:
      session "One"
    block second:
      session "Two"
    do first -> {right}
    """
    result = run(program(tmp_path, text))
    assert [prompt for _, prompt, _ in asked(result)] == ["One", "Two"]


def test_an_arrow_hands_the_left_result_on(tmp_path: Path) -> None:
    text = """
    agent b:
      prompt: "B"
    block last(x):
      let r = session "Last"
        context: x
      output out = r
    let end = session "One"
      -> session: b
           prompt: "Two"
           context: "more"
    let other = session "Three" -> do last
    output r = [end, other]
    """
    result = run(program(tmp_path, text, m=scripted("1", "2", "3", "4")))
    assert asked(result) == [
        ("session", "One", {}),
        ("b", "Two", {"context_1": "1", "context_2": "more"}),
        ("session", "Three", {}),
        ("session", "Last", {"x": "3"}),
    ]
    assert result.value == {"r": ["2", "4"]}


def test_a_property_that_nobody_knows_is_warned_about_once_a_place(tmp_path: Path) -> None:
    text = """\
    agent writer:
      model: opus
      provider: anthropic
      tools: [read, write]
      permissions:
        bash: deny
        read: *.md
        write: ["**/*.txt"]
      skills:
        - one
        - two words: here
      env:
        A: b-c
    repeat 3:
      session: writer
        timeout: 30s
        prompt: "Go"
    """
    path = program(tmp_path, text)
    found = faults(path)
    assert {(severity, code) for _, severity, code, _ in found} == {("warning", "ignored-property")}
    assert [line for line, *_ in found] == [3, 4, 5, 9, 12, 16]
    assert asked(run(path)) == [("writer", "Go", {})] * 3


# programs that people wrote


PROMPT = '''
You are careful. Answer like this:

```json
{"verdict": "go" | "no-go", "why": "{reason}", "n": {}}
```

    for f in *.py; do echo "${f}: ${#f} $((1+1))" | awk '{print $1}'; done

~~~yaml
key: [a, {b: c}]
~~~
Use {{topic}} and `{x}` and \\\\n, # no remark, ** no mark, """
'''.strip().removesuffix(' """')


def test_a_prompt_full_of_code_is_told_unharmed(tmp_path: Path) -> None:
    indented = "\n".join(f"    {line}" if line else "" for line in PROMPT.split("\n"))
    text = f'agent a:\n  prompt: """\n{indented}\n    """\nsession: a\n  prompt: """\n{indented}\n    """\n'
    path = program(tmp_path, text)
    assert faults(path) == []
    told = PROMPT.replace("{{topic}}", "{topic}").replace("\\\\n", "\\n")
    assert asked(run(path)) == [("a", told, {})]


def test_such_a_prompt_stands_in_a_fence_too(tmp_path: Path) -> None:
    body = 'let x = session """\n  ```bash\n  echo "${X}"\n  ```\n  {"a": 1}\n  """\nreturn x'
    text = f"---\nname: spec\nkind: function\n---\n\n### Execution\n\n```prose\n{body}\n```\n"
    program(tmp_path, "")
    path = tmp_path / "spec.prose.md"
    path.write_text(text, encoding="utf-8")
    assert asked(run(path)) == [("session", '```bash\necho "${X}"\n```\n{"a": 1}', {})]


def test_a_long_program_of_many_constructs(tmp_path: Path) -> None:
    text = """
    # The captain's chair
    use "@someone/research" as deep-research
    agent captain:
      model: opus
      persist: true
      prompt: "You lead."
    agent scout:
      model: "haiku"
      permissions:
        network: allow
    input task: "What to do"
    input place: "Where (optional)"

    let plan = session: captain
      prompt: "Plan {task}"
      context: { task }
    parallel (on-fail: "continue"):
      maps = session: scout
        prompt: "Look"
        context: plan
      doubts = session "Doubt" with context: plan
    let whole = resume: captain
      prompt: "Join"
      context: [maps, doubts]
    if **the plan is sound and
        nobody objects**:
      session "Proceed"
    else:
      throw "no plan"
    loop until ***
      all is done
    *** (max: 3) as attempt:
      session: captain
        prompt: "Try {attempt}"
    try:
      session "Risk"
    catch as err:
      session "Mend"
        context: err
    finally:
      session "Tidy"
    choice **the way on**:
      option "Ship":
        session "Ship it"
      option "Wait":
        session "Wait"
    let notes = ["a", "b"]
      | pmap:
          session "Note {item}"
      | filter:
          item is not empty
    block sum(items, depth):
      output total = join(items) + depth
    let total = do sum:
      items: notes
      depth: "!"
    const place_or_not = place or "nowhere"
    output end = { total, place_or_not }
    """
    result = run(program(tmp_path, text), {"task": "sail"})
    assert result.value == {"end": {"total": "Note a, Note b!", "place_or_not": "nowhere"}}
    assert [prompt for _, prompt, _ in asked(result)] == [
        "Plan sail", "Look", "Doubt", "Join", "Proceed", "Try 1", "Risk", "Tidy", "Ship it", "Note a", "Note b",
    ]  # fmt: skip


# memory


MEMORY = """
agent a:
  prompt: "A"
  persist: KEPT
session: a
  prompt: "One"
session: a
  prompt: "Two"
"""


def test_an_agent_starts_fresh_unless_it_persists_or_is_resumed(tmp_path: Path) -> None:
    text = """
    agent a:
      prompt: "A"
    session: a
      prompt: "One"
    session: a
      prompt: "Two"
    resume: a
      prompt: "Three"
    """
    result = run(program(tmp_path, text, m=scripted("1", "2", "3")))
    memory = [{"prompt": "One", "reply": "1"}, {"prompt": "Two", "reply": "2"}]
    assert [inputs for *_, inputs in asked(result)] == [{}, {}, {"memory": memory}]


def test_memory_of_a_run_ends_with_it(tmp_path: Path) -> None:
    path = program(tmp_path, MEMORY.replace("KEPT", "true"), m=scripted("1", "2"))
    for _ in range(2):
        assert [inputs for *_, inputs in asked(run(path))] == [{}, {"memory": [{"prompt": "One", "reply": "1"}]}]
    assert not (tmp_path / ".prose").exists()


@pytest.mark.parametrize(("kept", "file"), [("project", "a"), ('"shared"', "shared")])
def test_memory_of_a_project_goes_on_in_the_next_run(tmp_path: Path, kept: str, file: str) -> None:
    path = program(tmp_path, MEMORY.replace("KEPT", kept), m=scripted("1", "2"))
    run(path)
    again = asked(run(path))
    before = [{"prompt": "One", "reply": "1"}, {"prompt": "Two", "reply": "2"}]
    assert again[0][2] == {"memory": before}
    lines = (tmp_path / ".prose" / "agents" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["prompt"] for line in lines] == ["One", "Two", "One", "Two"]


def test_memory_of_a_user_lies_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    run(program(tmp_path / "here", MEMORY.replace("KEPT", "user"), m=scripted("1", "2")))
    assert len(list((tmp_path / "data").rglob("a.jsonl"))) == 1
    assert not (tmp_path / "here" / ".prose").exists()


def test_a_branch_adds_to_memory_at_the_join(tmp_path: Path) -> None:
    text = """
    agent a:
      persist: true
    parallel for x in ["p", "q"]:
      session: a
        prompt: "{x}"
      session: a
        prompt: "{x}{x}"
    session: a
      prompt: "end"
    """
    seen = {p: [e["prompt"] for e in i.get("memory", [])] for _, p, i in asked(run(program(tmp_path, text)))}
    assert seen == {"p": [], "q": [], "pp": ["p"], "qq": ["q"], "end": ["p", "pp", "q", "qq"]}


def test_a_block_shares_the_memory_of_its_caller(tmp_path: Path) -> None:
    text = """
    agent a:
      persist: true
    block one(x):
      session: a
        prompt: x
    do one("p")
    do one("q")
    """
    told = [inputs for *_, inputs in asked(run(program(tmp_path, text, m=scripted("1", "2"))))]
    assert told == [{}, {"memory": [{"prompt": "p", "reply": "1"}]}]


def test_secrets_do_not_reach_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    run(program(tmp_path, MEMORY.replace("KEPT", "project"), m=scripted("it is sk-very-secret", "2")))
    assert "very-secret" not in (tmp_path / ".prose" / "agents" / "a.jsonl").read_text(encoding="utf-8")


def test_a_resumed_run_reads_and_writes_no_memory_twice(tmp_path: Path) -> None:
    """What the agents remembered at the start is part of the record, whatever other runs add meanwhile."""
    broken = {"error": "down", "kind": "unavailable"}
    path = program(tmp_path, MEMORY.replace("KEPT", "project"), m=scripted("0", broken))
    journal = Journal(tmp_path / "record")
    record = journal.create("old", {})
    with pytest.raises(RunFailed):
        run(path, record=record)
    record.close()
    file = tmp_path / ".prose" / "agents" / "a.jsonl"
    file.write_text(file.read_text() + '{"prompt": "Else", "reply": "e", "key": "other"}\n', encoding="utf-8")
    program(tmp_path, MEMORY.replace("KEPT", "project"), m=scripted("0", "2"))
    record = journal.open(record.run)
    result = run(path, record=record)
    record.close()
    assert [inputs for *_, inputs in asked(result)] == [{}, {"memory": [{"prompt": "One", "reply": "0"}]}]
    prompts = [json.loads(line)["prompt"] for line in file.read_text(encoding="utf-8").splitlines()]
    assert prompts == ["One", "Else", "Two"]


def test_only_the_latest_exchanges_are_told(tmp_path: Path) -> None:
    text = 'agent a:\n  persist: true\nrepeat 23 as i:\n  session: a\n    prompt: "p{i}"\n'
    last = asked(run(program(tmp_path, text, m=scripted("r", repeat=True))))[-1][2]["memory"]
    assert [exchange["prompt"] for exchange in last] == [f"p{i}" for i in range(3, 23)]


@pytest.mark.parametrize(
    "damage", ['no json\n[1]\n{"prompt": "P", "reply": "R"}', '{"prompt": "P", "reply": "R"}\n{"pro']
)
def test_a_damaged_memory_gives_what_can_be_read(tmp_path: Path, damage: str) -> None:
    path = program(tmp_path, MEMORY.replace("KEPT", "project"), m=scripted("1", "2"))
    file = tmp_path / ".prose" / "agents" / "a.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(damage, encoding="utf-8")
    assert asked(run(path))[0][2] == {"memory": [{"prompt": "P", "reply": "R"}]}
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[-1])["prompt"] == "Two"


def test_a_memory_that_cannot_be_kept_is_named(tmp_path: Path) -> None:
    path = program(tmp_path, MEMORY.replace("KEPT", "project"), m=scripted("1", "2"))
    (tmp_path / ".prose").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(ProseError, match=r"memory .*a\.jsonl cannot be"):
        run(path)


# people and effects


def test_questions_go_to_the_service_called_human(tmp_path: Path) -> None:
    text = """
    input topic: "what"
    let name = ask "Who writes on {topic}?"
    gate approve: "Go on?"
      options: [yes, no]
      context: topic
    if approve is "yes":
      emit "on, {name}"
    """
    result = run(program(tmp_path, text, human=scripted("Ann", "yes")), {"topic": "tides"})
    assert asked(result) == [
        ("human", "Who writes on tides?", {}),
        ("human", "Go on?", {"topic": "tides", "options": ["yes", "no"]}),
    ]
    assert result.emitted == ["on, Ann"]


@pytest.mark.parametrize(
    ("answer", "passed"), [("yes", True), ("No, wait.", False), ("rejected", False), ("now", True)]
)
def test_a_gate_that_nothing_reads_stops_on_a_refusal(tmp_path: Path, answer: str, passed: bool) -> None:
    text = 'gate release: "Release?"\nsession "Release it"\n'
    path = program(tmp_path, text, human=scripted(answer))
    if passed:
        assert [target for target, *_ in asked(run(path))] == ["human", "session"]
        return
    with pytest.raises(RunFailed, match="release") as caught:
        run(path)
    assert caught.value.kind == "refused"


def test_a_refused_gate_can_be_caught(tmp_path: Path) -> None:
    text = 'try:\n  gate go: "Go?"\ncatch as e:\n  output why = e.kind\n'
    assert run(program(tmp_path, text, human=scripted("no"))).value == {"why": "refused"}


def test_without_a_person_the_run_pauses(tmp_path: Path) -> None:
    with pytest.raises(Paused, match="Who"):
        run(program(tmp_path, 'let name = ask "Who?"\noutput n = name\n'))


def test_an_effect_calls_the_service_of_its_name(tmp_path: Path) -> None:
    text = """
    let draft = { text: "long" }
    let owner = "Ann"
    escalate draft to {owner} now
    revert draft with reason "too long"
      urgency: 2
    notify "it is over"
    """
    services = {name: scripted("done") for name in ("escalate", "revert", "notify")}
    result = run(program(tmp_path, text, **services))
    assert asked(result) == [
        ("escalate", "escalate draft to Ann now", {"draft": {"text": "long"}, "owner": "Ann"}),
        ("revert", 'revert draft with reason "too long"', {"draft": {"text": "long"}, "urgency": 2}),
        ("notify", 'notify "it is over"', {}),
    ]


def test_an_effect_without_a_handler_is_explained(tmp_path: Path) -> None:
    path = program(tmp_path, 'let d = 1\napply d to the "system"\n')
    assert [(line, code) for line, _, code, _ in faults(path)] == [(2, "unknown-effect")]
    assert "services: {apply:" in faults(path)[0][3]
    with pytest.raises(CheckFailed):
        run(path)


# other files


def test_files_of_the_project_are_imported(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "helper.prose").write_text(
        'input topic: "t"\nlet x = session "Help {topic}"\noutput found = x\n', encoding="utf-8"
    )
    text = """
    use "./parts/helper.prose" as helper
    import "beside" from "beside.prose"
    let a = call helper(topic: "tides")
    let b = helper(topic: "moons")
    let c = call beside
      n: 3
    output r = [a.found, b.found, c]
    """
    (tmp_path / "beside.prose").write_text('input n: "n"\noutput double = n * 2\n', encoding="utf-8")
    path = program(tmp_path, text)
    assert faults(path) == []
    assert run(path).value == {"r": ["Help tides", "Help moons", {"double": 6}]}


def test_what_lies_elsewhere_is_an_error_only_when_called(tmp_path: Path) -> None:
    text = 'import "web-search" from "github:a/b"\nagent a:\n  prompt: "A"\nsession: a\n  prompt: "Go"\n'
    path = program(tmp_path, text)
    assert [(line, severity, code) for line, severity, code, _ in faults(path)] == [(1, "warning", "foreign-reference")]
    assert len(run(path).calls) == 1
    path = program(tmp_path, text + "call web-search\n")
    assert (6, "error", "unknown-target") in [row[:3] for row in faults(path)]


@pytest.mark.parametrize("how", ["../outside.prose", "./link.prose", "linked/outside.prose"])
def test_nothing_outside_of_the_project_is_used(tmp_path: Path, how: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.prose").write_text("output x = 1\n", encoding="utf-8")
    (inside / "link.prose").symlink_to(tmp_path / "outside.prose")
    (inside / "linked").symlink_to(tmp_path, target_is_directory=True)
    path = program(inside, f'use "{how}" as it\nlet x = call it\noutput x = x\n')
    assert [(line, severity, code) for line, severity, code, _ in faults(path)] == [(1, "error", "unknown-spec")]


def test_a_folder_of_a_skill_can_be_named_and_not_called(tmp_path: Path) -> None:
    (tmp_path / "skills" / "search").mkdir(parents=True)
    path = program(tmp_path, 'import "search" from "./skills/search"\nemit "x"\n')
    assert [(severity, code) for _, severity, code, _ in faults(path)] == [("warning", "foreign-reference")]


# inputs and outputs


def test_inputs_and_outputs(tmp_path: Path) -> None:
    text = """
    input topic: "what"
    input more
    input note: "a remark (optional)"
    output first = topic
    output more
    output third = note or "none"
    """
    path = program(tmp_path, text)
    assert run(path, {"topic": "t", "more": [1]}).value == {"first": "t", "more": [1], "third": "none"}
    with pytest.raises(UsageError, match="more"):
        run(path, {"topic": "t"})


def test_output_in_a_block_returns(tmp_path: Path) -> None:
    text = """
    block pick(xs):
      for x in xs:
        if x > 1:
          output found = x
      output found = 0
    output r = [do pick([1, 2, 3]), do pick([0])]
    """
    assert run(program(tmp_path, text)).value == {"r": [2, 0]}


def test_the_dialect_is_named_once(tmp_path: Path) -> None:
    path = program(tmp_path, '# remark\nsession "x"\nsession "y"\n')
    found = [d for d in prose.check(path) if d.code == "retired-kind"]
    assert [(d.start.line, d.severity) for d in found] == [(2, "warning")]
    assert "Execution" in str(found[0].help)
