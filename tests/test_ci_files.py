"""What the project offers to CI servers: its commands run as the servers would run them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.commands import ROOT, Outcome, run
from support.readme import snippets

HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SHOWN = [
    yaml.safe_load(s.text) for s in snippets(ROOT / "README.md") if s.heading == "Checking in CI" and s.label == "yaml"
]

WRONG = ("call thesis", "call thesys")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a right and a wrong spec, and a page that is none."""
    right = (ROOT / "patterns" / "dialectic.prose.md").read_text(encoding="utf-8")
    (tmp_path / "right.prose.md").write_text(right, encoding="utf-8")
    (tmp_path / "wrong.prose.md").write_text(right.replace(*WRONG), encoding="utf-8")
    (tmp_path / "README.md").write_text("# A page\n", encoding="utf-8")
    (tmp_path / "old.prose").write_text('let a = session "Write."\n', encoding="utf-8")
    return tmp_path


def commit(hook: dict[str, Any], project: Path, *changed: str) -> Outcome:
    """What pre-commit does with a hook: its entry, with those of the changed files that its pattern selects."""
    chosen = [name for name in changed if re.search(hook["files"], name)]
    return run([*hook["entry"].split(), *chosen], project, home=project)


def test_hooks_are_installed_as_a_package() -> None:
    assert set(HOOKS) == {"prose-check", "prose-fmt"}
    for hook in HOOKS.values():
        assert hook["language"] == "python"
        assert {"name", "description", "entry", "files"} <= set(hook)


def test_hooks_see_specs_only(project: Path) -> None:
    for hook in HOOKS.values():
        assert re.search(hook["files"], "deep/down/a.test.prose.md")
        assert re.search(hook["files"], "old.prose")
        assert not re.search(hook["files"], "README.md")
        assert not re.search(hook["files"], "prose.md.bak")
    assert commit(HOOKS["prose-check"], project, "README.md", "right.prose.md", "old.prose").exit == 0


def test_the_check_hook_stops_a_wrong_commit(project: Path) -> None:
    done = commit(HOOKS["prose-check"], project, "right.prose.md", "wrong.prose.md")
    assert done.exit == 1
    assert "thesys" in done.stdout


def test_the_fmt_hook_changes_files(project: Path) -> None:
    path = project / "right.prose.md"
    tidy = path.read_text(encoding="utf-8")
    path.write_text(tidy.replace("let exchange = []", "let  exchange=[]"), encoding="utf-8")
    assert commit(HOOKS["prose-fmt"], project, "right.prose.md").exit == 0
    assert path.read_text(encoding="utf-8") == tidy


def act(project: Path, **inputs: str) -> Outcome:
    """The last step of the action, with its inputs filled in as GitHub does."""
    step = ACTION["runs"]["steps"][-1]
    given = {name: spec["default"] for name, spec in ACTION["inputs"].items()} | inputs
    return run(step["run"], project, home=project, **{key: filled(text, given) for key, text in step["env"].items()})


def filled(text: str, given: dict[str, str]) -> str:
    """An expression of the two kinds that the action uses."""
    plain = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
    if plain:
        return given[plain[1]]
    chosen = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) == '(\w+)' && '(\w+)' \|\| '' \}\}", text)
    assert chosen, text
    return chosen[3] if given[chosen[1]] == chosen[2] else ""


def test_the_action_shows_faults_beside_their_lines(project: Path) -> None:
    done = act(project)
    assert done.exit == 1
    assert re.search(r"^::error file=wrong\.prose\.md,line=\d+,", done.stdout, re.M)
    assert act(project, paths="right.prose.md old.prose").exit == 0


def test_the_action_can_be_strict(project: Path) -> None:
    text = (project / "right.prose.md").read_text(encoding="utf-8")
    unused = "- `rounds` (integer, default: 2)"
    (project / "right.prose.md").write_text(
        text.replace(unused, f"- `spare` (integer, default: 2): not used\n{unused}"), "utf-8"
    )
    assert act(project, paths="right.prose.md").exit == 0
    assert act(project, paths="right.prose.md", strict="true").exit == 1


def test_the_action_can_look_at_the_form(project: Path) -> None:
    path = project / "right.prose.md"
    path.write_text(path.read_text(encoding="utf-8").replace("let exchange = []", "let  exchange=[]"), encoding="utf-8")
    assert act(project, paths="right.prose.md").exit == 0
    assert act(project, paths="right.prose.md", format="true").exit == 1


def test_paths_are_not_read_as_commands(project: Path) -> None:
    done = act(project, paths="right.prose.md; touch made")
    assert done.exit == 2
    assert not (project / "made").exists()


def test_the_action_installs_this_checkout() -> None:
    setup, install, _ = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite"
    assert setup["uses"].startswith("actions/setup-python@")
    assert install["env"] == {"ACTION": "${{ github.action_path }}"}
    for name in re.findall(r"\$ACTION/([\w.]+)", install["run"]):
        assert (ROOT / name).is_file()
    assert all(step.get("shell") == "bash" for step in ACTION["runs"]["steps"] if "run" in step)


def test_the_readme_uses_inputs_and_hooks_that_exist() -> None:
    workflow, _, hooks = SHOWN
    (step,) = [step for step in workflow["jobs"]["prose"]["steps"] if "prose-runtime" in step["uses"]]
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert {hook["id"] for repo in hooks["repos"] for hook in repo["hooks"]} == set(HOOKS)


def test_the_job_for_gitlab_gives_a_report(project: Path) -> None:
    job = SHOWN[1]["prose"]
    install, *script = job["script"]
    assert install.startswith("pip install")
    done = run(" && ".join(script), project, home=project)
    assert done.exit == 1
    report = (project / job["artifacts"]["reports"]["junit"]).read_text(encoding="utf-8")
    assert report.startswith("<?xml")
    assert "thesys" in report
