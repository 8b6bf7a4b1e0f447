"""Sections of functions at work: Errors, Environment, Tools, Skills, Runtime, Strategies, Execution."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import prose_runtime as prose
from prose_runtime.errors import CheckFailed, RunFailed, ServiceError, UsageError
from prose_runtime.runtime.jobs import function_job
from prose_runtime.services.api import Reply, Request
from prose_runtime.services.script import ScriptService
from support.oldest import program, run, scripted


def function(folder: Path, sections: str, *, name: str = "spec", kind: str = "function", **services: Any) -> Path:
    """Write a spec with these sections, and the prose.yml beside it."""
    program(folder, "", name="unused.prose", **services)
    path = folder / f"{name}.prose.md"
    path.write_text(f"---\nname: {name}\nkind: {kind}\n---\n{textwrap.dedent(sections)}", encoding="utf-8")
    return path


FETCH = """
## fetcher

### Errors

- `not_found`: nothing is there
- `too-many` - more than fits

### Parameters

- `url`: where

### Execution

EXECUTION
"""
CALLER = """
### Execution

```prose
try:
  let page = call fetcher
    url: "x"
  return page
catch as e:
  return { kind: e.kind, message: e.message }
```
"""


def caught(folder: Path, execution: str, *replies: Any) -> Any:
    """What a caller sees of a component with errors."""
    component = FETCH.replace("### Execution\n\nEXECUTION\n", execution)
    return run(function(folder, CALLER + component, m=scripted(*replies))).value


@pytest.mark.parametrize(
    ("reply", "want"),
    [
        ({"error": "404", "kind": "not_found"}, {"kind": "not_found", "message": "404"}),
        ({"reply": {"error": "not_found", "message": "no page"}}, {"kind": "not_found", "message": "no page"}),
        ({"reply": {"error": "too-many"}}, {"kind": "too-many", "message": "too-many"}),
        ('I am sorry. {"error": "not_found", "message": "gone"}', {"kind": "not_found", "message": "gone"}),
        ('```json\n{"error": "not_found"}\n```', {"kind": "not_found", "message": "not_found"}),
    ],
)
def test_a_declared_error_is_caught_by_its_name(tmp_path: Path, reply: Any, want: Any) -> None:
    assert caught(tmp_path, "", reply) == want


@pytest.mark.parametrize(
    "reply",
    ['{"error": "unheard_of"}', 'It says {"error": "not_found", "page": 3} there', "error: not_found"],
)
def test_other_replies_are_no_errors(tmp_path: Path, reply: str) -> None:
    assert caught(tmp_path, "", reply) == reply


@pytest.mark.parametrize(
    ("thrown", "kind"), [('throw "not_found"', "not_found"), ('throw "else"', "thrown"), ("throw 3", "thrown")]
)
def test_a_program_throws_a_declared_error_by_its_name(tmp_path: Path, thrown: str, kind: str) -> None:
    body = f"### Execution\n\n```prose\nif url is present:\n  {thrown}\nreturn url\n```\n"
    assert caught(tmp_path, body)["kind"] == kind


def test_a_declared_error_that_nobody_catches_ends_the_run(tmp_path: Path) -> None:
    text = "### Errors\n\n- `not_found`: nothing\n\n### Returns\n\n- `page`: text\n- `size`: number\n"
    path = function(tmp_path, text, m=scripted({"reply": {"error": "not_found", "message": "no page"}}))
    with pytest.raises(ServiceError, match="no page") as failed:
        run(path)
    assert failed.value.kind == "not_found"


def test_an_output_called_error_is_a_value(tmp_path: Path) -> None:
    text = "### Errors\n\n- `bad`: x\n\n### Returns\n\n- `error`: text\n- `size`: number\n"
    path = function(tmp_path, text, m=scripted({"reply": {"error": "bad", "size": 1}}))
    assert run(path).value == {"error": "bad", "size": 1}


def test_a_role_is_told_of_its_errors_and_strategies(tmp_path: Path) -> None:
    text = "### Errors\n\n- `not_found`: nothing is there\n\n### Strategies\n\n- Look twice.\n"
    job = function_job(prose.load(function(tmp_path, text)))
    assert [part for part in ("not_found: nothing is there", '{"error":', "Look twice.") if part not in job] == []


@pytest.mark.parametrize("row", ["- `model`: opus", "model: opus", "- model = opus"])
def test_the_model_of_runtime_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    models: list[str | None] = []

    async def note(_service: ScriptService, request: Request) -> Reply:
        models.append(request.model)
        return Reply("x")

    monkeypatch.setattr(ScriptService, "__call__", note)
    function(tmp_path, f"### Runtime\n\n{row}\n\n### Parameters\n\n- `n`: number (optional)\n", name="worker")
    call = "### Execution\n\n```prose\nlet a = call worker\nlet b = call worker\n  model: sonnet\nreturn [a, b]\n```\n"
    run(tmp_path / "worker.prose.md")
    run(function(tmp_path, call))
    assert models == ["opus", "opus", "sonnet"]


# what is needed from outside


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            "### Environment\n\n- `SOME_TOKEN_NAME`: the key of the shop\n- OTHER_NAME\n",
            ["SOME_TOKEN_NAME", "the key of the shop", "OTHER_NAME"],
        ),
        ("### Tools\n\n- `cli:surely-not-there`: does it\n", ["surely-not-there", "PATH"]),
        ("### Tools\n\n- mcp:github\n", ["github", "cannot configure MCP servers yet", "command"]),
        ("### Skills\n\n- `web-search`: finds\n", ["web-search", "skills/web-search/SKILL.md"]),
    ],
)
@pytest.mark.parametrize("where", ["itself", "component", "callee"])
def test_what_is_missing_is_said_before_the_first_call(
    tmp_path: Path, sections: str, words: list[str], where: str
) -> None:
    needing = f"{sections}\n### Returns\n\n- `text`: it\n"
    caller = '\n### Execution\n\n```prose\nlet a = session "Paid"\nlet b = call needing\nreturn [a, b]\n```\n'
    if where == "itself":
        path = function(tmp_path, needing)
    elif where == "component":
        path = function(tmp_path, f"{caller}\n## needing\n\n{needing}")
    else:
        function(tmp_path, needing, name="needing")
        path = function(tmp_path, caller)
    with pytest.raises(UsageError) as refused:
        run(path)
    said = f"{refused.value.message} {refused.value.help}"
    assert [word for word in words if word not in said] == []
    assert refused.value.exit_code == 2


def test_what_is_there_or_optional_lets_a_run_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_NAME", "the value of it")
    sections = """
    ### Environment

    - `SOME_NAME`: needed
    - `NOT_SET` (optional): not needed

    ### Tools

    - `cli:sh`
    - `cli:surely-not-there` (optional)
    - a sentence about tools
    - web_search

    ### Skills

    None.
    """
    result = run(function(tmp_path, sections, m=scripted("done")))
    assert result.value == "done"
    assert "the value of it" not in str(result.as_json())


def test_the_text_of_a_skill_is_told_to_the_role(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tidy\n---\n\n# Tidy\n\nSweep first.\n", encoding="utf-8")
    path = function(tmp_path, "### Skills\n\n- `tidy`\n", m={"provider": "rehearsal"})
    assert "Sweep first." in str(run(path).value)
    assert "name: tidy" not in str(run(path).value)


def test_a_skill_outside_of_the_project_does_not_count(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "skills").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (inside / "skills" / "x.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(UsageError, match="skill"):
        run(function(inside, "### Skills\n\n- `x`\n"))
    with pytest.raises(UsageError, match="skill"):
        run(function(inside, "### Skills\n\n- `../../secret`\n"))


# kinds that run like functions


@pytest.mark.parametrize("kind", ["responsibility", "gateway", "service", "program", "system"])
def test_an_execution_runs_from_requires_to_maintains(tmp_path: Path, kind: str) -> None:
    text = """
    ### Goal

    Keep it tidy.

    ### Requires

    - `topic`: what to keep

    ### Maintains

    - `state`: how it is
    - `note`: a remark

    ### Execution

    ```prose
    let state = session "Look at {topic}"
    return { state, note: "seen" }
    ```
    """
    path = function(tmp_path, text, kind=kind)
    assert run(path, {"topic": "tides"}).value == {"state": "Look at tides", "note": "seen"}
    with pytest.raises(UsageError, match="topic"):
        run(path)


def test_what_maintains_declares_is_due(tmp_path: Path) -> None:
    text = "### Maintains\n\n- `a`: x\n- `b`: y\n\n### Execution\n\n```prose\nreturn { a: 1 }\n```\n"
    with pytest.raises(RunFailed, match="`b`"):
        run(function(tmp_path, text, kind="responsibility"))


def test_a_function_is_used_by_its_path_only_inside_the_project(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "parts").mkdir(parents=True)
    function(inside / "parts", "### Execution\n\n```prose\nreturn 3\n```\n", name="three")
    text = '### Execution\n\n```prose\nuse "./parts/three.prose.md" as three\nlet x = call three\nreturn x\n```\n'
    assert run(function(inside, text)).value == 3
    (inside / "parts" / "three.prose.md").rename(tmp_path / "three.prose.md")
    (inside / "parts" / "three.prose.md").symlink_to(tmp_path / "three.prose.md")
    for reference in ("./parts/three.prose.md", "../three.prose.md", str(tmp_path / "three.prose.md")):
        with pytest.raises(CheckFailed):
            run(function(inside, text.replace("./parts/three.prose.md", reference)))
