"""The runtimes that we measure beside ours, each in an environment of its own, which is kept in the user's cache."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from platformdirs import user_cache_path

GROUPS = Path(__file__).parents[2] / "pyproject.toml"


def python_of(peer: str) -> Path:
    """The interpreter of an environment with a peer's packages, made when it is not there.

    The packages are the dependency group ``benchmarks-PEER`` of pyproject.toml.

    Raises:
        subprocess.CalledProcessError: They cannot be installed.
    """
    wanted = tomllib.loads(GROUPS.read_text(encoding="utf-8"))["dependency-groups"][f"benchmarks-{peer}"]
    place = user_cache_path("prose-runtime") / "benchmarks" / peer
    python, stamp = place / "bin" / "python", place / "installed.txt"
    listed = "\n".join([sys.version, *wanted])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != listed:
        print(f"  installing {', '.join(wanted)} ...", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
        stamp.write_text(listed, encoding="utf-8")
    return python


def version_in(python: Path, package: str) -> str:
    """The version of a package in another environment."""
    asked = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([str(python), "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
