"""The command ``prose lsp`` itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.commands import clean_environment, prose, run
from support.editor import Editor


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    script = "import sys; sys.modules['pygls'] = None; from prose_runtime.cli import main; sys.exit(main(['lsp']))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=clean_environment(tmp_path), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install 'prose-runtime[lsp]'" in done.stderr
    assert done.stdout == ""


def test_other_commands_do_without_pygls(tmp_path: Path) -> None:
    script = "import sys; from prose_runtime.cli import main; main(['check', '.']); print('pygls' in sys.modules)"
    done = run([sys.executable, "-c", script], tmp_path, home=tmp_path)
    assert done.stdout.splitlines()[-1] == "False"


def test_an_editor_that_ends_as_it_should(tmp_path: Path) -> None:
    assert Editor(tmp_path).close() == (0, "")


def test_an_editor_that_is_gone(tmp_path: Path) -> None:
    done = subprocess.run(
        [prose(), "lsp"], input=b"", env=clean_environment(tmp_path), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
