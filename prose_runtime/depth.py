"""How deep the walks over a tree may go. The parser bounds nesting; this makes room for what it lets through."""

from __future__ import annotations

import sys

FRAMES = 6000
"""Python frames for the deepest tree that the parser accepts, with a margin; far below what the C stack holds."""


def make_room() -> None:
    """Let this process nest calls as deep as a walk needs. The limit is only ever raised."""
    if sys.getrecursionlimit() < FRAMES:
        sys.setrecursionlimit(FRAMES)
