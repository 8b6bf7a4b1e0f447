"""Where the files lie that the package reads: the grammar, the library of patterns, and the user's prose.yml."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

CONFIG_NAME = "prose.yml"
"""The file in which a user configures services."""

_PACKAGE = Path(__file__).resolve().parent


@cache
def resource(folder: str) -> Path:
    """The folder ``grammar`` or ``patterns``: inside an installed package, else beside it in the checkout.

    Raises:
        FileNotFoundError: The installation lacks the folder.
    """
    for place in (_PACKAGE / "_data" / folder, _PACKAGE.parent / folder):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"prose-runtime is incomplete: its folder `{folder}` is missing; install it again")


def find_config(spec_path: Path | None, cwd: Path) -> Path | None:
    """The prose.yml that holds: the nearest one upward from the spec, then from ``cwd``, then the user's own."""
    starts = [] if spec_path is None else [spec_path.absolute().parent]
    for start in [*starts, cwd.absolute()]:
        for folder in (start, *start.parents):
            if _is_there(folder / CONFIG_NAME):
                return folder / CONFIG_NAME
    own = user_config()
    return own if _is_there(own) else None


def _is_there(path: Path) -> bool:
    """Whether there is such a file, as far as one may look: a folder that is closed to this user holds none."""
    return os.path.isfile(path)  # noqa: PTH113


def user_config() -> Path:
    """Where the user's own prose.yml would be."""
    if sys.platform == "linux":  # what platformdirs says there, without the fifth of a start that loading it takes
        base = os.environ.get("XDG_CONFIG_HOME", "").strip()
        return (Path(base) if base else Path.home() / ".config") / "prose" / CONFIG_NAME
    from platformdirs import user_config_path

    return user_config_path("prose", appauthor=False) / CONFIG_NAME


def user_data() -> Path:
    """The folder for what is kept for the user beyond runs and projects."""
    from platformdirs import user_data_path

    return user_data_path("prose", appauthor=False)
