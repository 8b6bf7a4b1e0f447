"""Files checked in several processes: the same faults in the same order, and one Ctrl-C ends them all."""

from __future__ import annotations

import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from prose_runtime.check.project import library
from prose_runtime.cli import main

SPAWNED = """
import multiprocessing, sys
from prose_runtime.cli import main

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    sys.exit(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files right and wrong, calling each other, and some that cannot be read."""
    for number in range(2):
        part = tmp_path / f"part-{number}"
        shutil.copytree(library(), part)
        dialectic = part / "dialectic.prose.md"
        dialectic.write_text(dialectic.read_text(encoding="utf-8").replace("call thesis", "call nobody", 1))
        (part / "binary.prose.md").write_bytes(b"---\nkind: pattern\n---\n\xff\xfe")
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return main(["check", *words]), *capsys.readouterr()


REFUSING = """
import multiprocessing.process, sys
from prose_runtime.cli import main

started, start = [], multiprocessing.process.BaseProcess.start

def refuse(self):
    if started:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    started.append(self)
    start(self)

if __name__ == "__main__":
    multiprocessing.process.BaseProcess.start = refuse
    sys.exit(main())
"""


def test_one_process_that_is_to_be_had_does_not_wait_for_the_others(folder: Path) -> None:
    script = folder / "refusing.py"
    script.write_text(REFUSING, encoding="utf-8")
    command = [sys.executable, script, "check", str(folder), "-j", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "nobody" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_goes_by_the_path_that_is_given_whoever_refers_to_it(
    jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    caller = "---\nname: a\nkind: pattern\n---\n\n### Delegation\n\n```prose\ncall b\n```\n"
    called = "---\nname: b\nkind: function\n---\n\n### Delegation\n\n```prose\nreturn nothing_here\n```\n"
    for number in range(20):  # more than one process takes at a time
        Path(f"a{number}.prose.md").write_text(caller.replace("name: a", f"name: a{number}"), encoding="utf-8")
    Path("b.prose.md").write_text(called, encoding="utf-8")
    assert main(["check", ".", "-j", jobs, "--format", "github"]) == 1
    assert "file=b.prose.md,line=9" in capsys.readouterr().out


def test_the_number_of_processes_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (str(folder), str(folder / "nowhere.md"), "--format", "json", "--verbose", "--max-calls", "4")
    alone = checked(capsys, *words, "--jobs", "1")
    assert alone[0] == 2
    assert alone[2].count("binary.prose.md") == 2
    assert checked(capsys, *words, "-j", "3") == alone


def test_processes_that_share_no_memory(folder: Path) -> None:
    script = folder / "spawned.py"
    script.write_text(SPAWNED, encoding="utf-8")
    words = ["check", str(folder), "--format", "json", "--max-calls", "4"]
    done = subprocess.run([sys.executable, script, *words, "-j", "2"], capture_output=True, text=True, check=False)
    alone = subprocess.run([sys.executable, script, *words, "-j", "1"], capture_output=True, text=True, check=False)
    assert "nobody" in alone.stdout
    assert (done.returncode, json.loads(done.stdout)) == (alone.returncode, json.loads(alone.stdout))


@pytest.mark.parametrize("fault", [OSError("no semaphores"), BrokenProcessPool("a process was killed")])
def test_where_processes_are_not_to_be_had_one_does_it_all(
    fault: Exception, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = checked(capsys, str(folder), "-j", "1")

    def refuse(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", refuse)
    assert checked(capsys, str(folder), "-j", "3") == alone


def test_ctrl_c_ends_all_processes_also_one_that_waits_for_a_file(folder: Path) -> None:
    pipe = folder / "pipe.prose.md"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "prose_runtime", "check", str(pipe), str(folder), "-j", "2"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with pipe.open("w"):  # opening it waits until a process reads it
        os.killpg(running.pid, signal.SIGINT)
        printed = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in "".join(printed)
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
