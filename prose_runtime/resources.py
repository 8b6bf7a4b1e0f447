"""Where the files lie that the package reads: the grammar and the library of patterns."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(folder: str) -> Path:
    """The folder ``grammar`` or ``patterns``: inside an installed package, else beside it in the checkout.

    Raises:
        FileNotFoundError: The installation lacks the folder.
    """
    for place in (_PACKAGE / "_data" / folder, _PACKAGE.parent / folder):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"prose-runtime is incomplete: its folder `{folder}` is missing; install it again")
