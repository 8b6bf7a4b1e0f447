"""What a reference leads to, and which files of a folder are specs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prose_runtime.check.checker import all_diagnostics, check_path, check_paths, reachable
from prose_runtime.check.project import Project, library, walk
from prose_runtime.errors import UnreadableFile

FUNCTION = "---\nname: {name}\nkind: function\n---\n\n### Parameters\n\n- `topic`: what to write on\n"
CALLER = FUNCTION + "\n### Execution\n\n```prose\nreturn call {callee}\n  topic: topic\n```\n"


def write(root: Path, **files: str) -> None:
    """Functions by path; ``__`` in a key stands for a slash, the text is the name."""
    for key, name in files.items():
        path = root / (key.replace("__", "/") + ".prose.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FUNCTION.format(name=name), encoding="utf-8")


def found(project: Project, reference: str, beside: Path) -> str | None:
    path = project.find(reference, beside)
    return str(path.relative_to(project.root)) if path else None


def test_same_folder_before_project_before_library(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").touch()
    write(tmp_path, a__one="one", b__one="one", b__two="two", c__dialectic="dialectic")
    project = Project.around(tmp_path / "a" / "one.prose.md")
    assert project.root == tmp_path
    assert found(project, "one", tmp_path / "b") == "b/one.prose.md"
    assert found(project, "two", tmp_path / "a") == "b/two.prose.md"
    assert found(project, "dialectic", tmp_path / "a") == "c/dialectic.prose.md"
    assert project.find("worker-critic", tmp_path / "a") == library() / "worker-critic.prose.md"


def test_a_name_that_is_not_unique_in_the_project_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").touch()
    write(tmp_path, a__one="twin", b__one="twin", c__x="x")
    project = Project.around(tmp_path)
    assert project.find("twin", tmp_path / "c") is None
    assert len(project.candidates("twin", tmp_path / "c")) == 2


def test_the_nearest_marker_bounds_the_project(tmp_path: Path) -> None:
    (tmp_path / "prose.yml").touch()
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    write(tmp_path, outside="outside", inner__a__spec="spec", inner__b__other="other")
    project = Project.around(tmp_path / "inner" / "a" / "spec.prose.md")
    assert project.root == tmp_path / "inner"
    assert found(project, "other", tmp_path / "inner" / "a") == "b/other.prose.md"
    assert project.find("outside", tmp_path / "inner" / "a") is None
    assert project.find("../../outside", tmp_path / "inner" / "a") is None
    assert project.find(str(tmp_path / "outside.prose.md"), tmp_path / "inner" / "a") is None


def test_a_link_does_not_lead_out_of_the_project(tmp_path: Path) -> None:
    write(tmp_path, outside="outside", inner__spec="spec")
    (tmp_path / "inner" / "prose.yml").touch()
    (tmp_path / "inner" / "linked.prose.md").symlink_to(tmp_path / "outside.prose.md")
    assert Project.around(tmp_path / "inner").find("linked", tmp_path / "inner") is None


def test_without_a_marker_the_folder_is_all_there_is(tmp_path: Path) -> None:
    write(tmp_path, a__spec="spec", a__b__below="below", a__beside="beside")
    project = Project.around(tmp_path / "a" / "spec.prose.md")
    assert found(project, "beside", tmp_path / "a") == "beside.prose.md"
    assert project.find("below", tmp_path / "a") is None
    assert found(project, "b/below", tmp_path / "a") == "b/below.prose.md"


def test_walk_passes_over_pipes(tmp_path: Path) -> None:
    write(tmp_path, a="a")
    os.mkfifo(tmp_path / "b.prose.md")
    os.mkfifo(tmp_path / "c.md")
    assert [path.name for path in walk(tmp_path)] == ["a.prose.md"]


def test_walk_takes_specs_and_passes_over_the_rest(tmp_path: Path) -> None:
    write(tmp_path, one="one", sub__two="two", node_modules__no="no")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "no.prose.md").write_text("x", encoding="utf-8")
    (tmp_path / "old.md").write_bytes(b"\xef\xbb\xbf---\r\nname: old\r\nkind: 'Service' # older\r\n---\r\n")
    (tmp_path / "post.md").write_text("---\ntitle: x\nkind: post\n---\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("# kind: pattern\n", encoding="utf-8")
    names = [str(path.relative_to(tmp_path)) for path in walk(tmp_path)]
    assert names == ["old.md", "one.prose.md", "sub/two.prose.md"]


def test_callees_are_linked_in_circles_too(tmp_path: Path) -> None:
    for name, callee in (("ping", "pong"), ("pong", "ping")):
        text = CALLER.format(name=name, callee=callee)
        (tmp_path / f"{name}.prose.md").write_text(text, encoding="utf-8")
    analysis = check_path(tmp_path / "ping.prose.md")
    (pong,) = analysis.callees.values()
    assert pong.spec.name == "pong"
    assert list(pong.callees) == [analysis.spec]
    assert [found.spec.name for found in reachable(analysis)] == ["ping", "pong"]


def test_faults_of_a_callee_stand_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "ping.prose.md").write_text(CALLER.format(name="ping", callee="pong"), encoding="utf-8")
    (tmp_path / "pong.prose.md").write_text(CALLER.format(name="pong", callee="nobody"), encoding="utf-8")
    analysis = check_path(tmp_path / "ping.prose.md")
    assert not analysis.diagnostics
    assert [Path(d.source.path).name for d in all_diagnostics(analysis)] == ["pong.prose.md"]


def test_one_unreadable_file_does_not_stop_the_rest(tmp_path: Path) -> None:
    write(tmp_path, one="one")
    (tmp_path / "bad.prose.md").write_bytes(b"---\nname: \xff\n---\n")
    checked = check_paths([tmp_path, tmp_path / "nowhere.md", tmp_path / "one.prose.md"])
    assert (checked.files, len(checked.unreadable)) == (1, 2)
    assert not checked.failed


@pytest.mark.parametrize("name", ["closed.prose.md", "closed.md"])
def test_a_file_without_permission_is_reported(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_text(FUNCTION.format(name="closed"), encoding="utf-8")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the super-user may read anything, so the system's answer is stood in for
        refuse(monkeypatch, path)
    checked = check_paths([tmp_path])
    assert [error.path for error in checked.unreadable] == [str(path)]


def refuse(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    access, read = os.access, Path.read_bytes

    def read_bytes(self: Path) -> bytes:
        if self == path:
            raise PermissionError(13, "Permission denied")
        return read(self)

    monkeypatch.setattr(os, "access", lambda p, mode: False if Path(p) == path else access(p, mode))
    monkeypatch.setattr(Path, "read_bytes", read_bytes)


def test_a_folder_is_no_spec(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        check_path(tmp_path)
