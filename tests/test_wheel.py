"""The built wheel is complete: installed alone, it runs a library pattern from an empty folder."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.commands import ROOT, run

SETTINGS = """\
services:
  pro: {provider: script, replies: [it is so]}
  con: {provider: script, replies: [it is not]}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return next(target.glob("*.whl"))


def test_holds_patterns_grammar_types_and_templates(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for folder, suffix in (("patterns", ".prose.md"), ("grammar", ".lark")):
        own = {path.name for path in (ROOT / folder).glob(f"*{suffix}")}
        assert own
        assert own <= {name.rsplit("/", 1)[1] for name in names if name.startswith(f"prose_runtime/_data/{folder}/")}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "prose_runtime").rglob("*.*") if path.suffix != ".pyc"}
    assert sources <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "examples/"))]


def test_runs_a_pattern_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    site = home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    zipfile.ZipFile(wheel).extractall(site)
    # The dependencies come from the running environment, the package itself only from the wheel.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "prose.yml").write_text(SETTINGS, encoding="utf-8")
    start = "import prose_runtime, sys; assert prose_runtime.__file__.startswith(sys.prefix); "
    main = start + "from prose_runtime.cli import main; sys.exit(main())"
    words = ["run", "dialectic", "It is so", "--thesis", "pro", "--antithesis", "con", "--rounds", "1", "--json"]
    done = run([str(home / "bin" / "python"), "-c", main, *words], folder, home=tmp_path)
    assert done.exit == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["exchange"] == [{"round": 1, "thesis": "it is so", "antithesis": "it is not"}]


def test_the_lock_file_covers_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(row for extra in project["optional-dependencies"].values() for row in extra)]
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = {}
    for line in lines:
        if line and not line.startswith("#"):
            pinned = Requirement(line)
            locked[canonicalize_name(pinned.name)] = next(iter(pinned.specifier)).version
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement
