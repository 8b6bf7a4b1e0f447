"""``prose show``: what is known of a spec without running it."""

from __future__ import annotations

import json
from pathlib import Path

from support.commands import ROOT, prose, run
from support.programs import line_of, pattern


def show(*words: str, folder: Path) -> tuple[int, str, str]:
    done = run([prose(), "show", *words], folder, home=folder)
    return done.exit, done.stdout, done.stderr


def test_the_flow_of_a_library_pattern_as_a_table(tmp_path: Path) -> None:
    code, out, _ = show("guard", "--flow", folder=tmp_path)
    assert code == 0
    head, guard, target, *_ = out.splitlines()
    assert head.split() == ["task_brief", "policy", "guard", "says", "target", "says"]
    assert guard.split() == ["guard", "D", "D", ".", "."]
    assert target.split() == ["target", "D", ".", "c", "."]
    assert "target gets" in out
    assert "proved: `target` runs only when `guard` explicitly approves." in out


def test_the_flow_with_lines_as_json(tmp_path: Path) -> None:
    body = "let x = call a\nlet y = x.text\ncall b\n  said: y"
    path = pattern(tmp_path, body, slots="a b", extra="### Invariants\n\n- `b` never sees the output of `a`.\n")
    code, out, _ = show(path.name, "--flow", "--json", folder=tmp_path)
    shown = json.loads(out)
    assert code == 0
    (flow,) = [flow for flow in shown["flows"] if flow["receiver"] == "b"]
    assert flow["source"] == {"kind": "output", "name": "a"}
    assert (flow["mark"], flow["input"], flow["sure"]) == ("data", "said", True)
    assert flow["lines"] == [line_of(path, text) for text in ("let x", "let y", "said: y")]
    (invariant,) = shown["invariants"]
    assert invariant["status"] == "refuted"
    assert invariant["line"] == line_of(path, "never sees")


def test_a_spec_with_errors_is_not_followed(tmp_path: Path) -> None:
    path = pattern(tmp_path, "call aa")
    code, out, err = show(path.name, folder=tmp_path)
    assert (code, out) == (1, "")
    assert "unknown-target" in err


def test_a_composite_is_watched(tmp_path: Path) -> None:
    code, out, _ = show(str(ROOT / "examples" / "duel" / "duel.md"), folder=tmp_path)
    assert code == 0
    assert "watched" in out


def test_the_tree(tmp_path: Path) -> None:
    path = pattern(tmp_path, "repeat 2 as i:\n  call a")
    code, out, _ = show(path.name, "--ast", folder=tmp_path)
    assert code == 0
    assert "Repeat" in out
    assert 'var: Name id="i"' in out
    tree = json.loads(show(path.name, "--ast", "--json", folder=tmp_path)[1])
    assert tree["node"] == "Spec"
    assert tree["body"]["statements"][0]["value"]["node"] == "Repeat"


def test_an_unknown_spec_is_a_mistake_of_usage(tmp_path: Path) -> None:
    code, _, err = show("gaurd", folder=tmp_path)
    assert code == 2
    assert "did you mean `guard`" in err


def test_the_program_as_a_diagram(tmp_path: Path) -> None:
    code, out, _ = show("guard", "--diagram", folder=tmp_path)
    assert code == 0
    assert out.startswith("sequenceDiagram\n  participant run as guard\n")
    code, again, _ = show("guard", "--diagram", "--json", folder=tmp_path)
    assert (code, json.loads(again)["mermaid"]) == (0, out)
