"""Texts as Telegram takes them: plain, in parts, counted in UTF-16 units."""

from __future__ import annotations

from collections.abc import Iterator

PART = 4000
"""UTF-16 units of a part at most; Telegram takes 4096."""


def parts(text: str) -> list[str]:
    """A text in parts that each fit into a message, cut between paragraphs, lines or words where there are any."""
    return list(_cut(text.strip())) or ["(empty)"]


def units(text: str) -> int:
    """How long Telegram finds a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str) -> Iterator[str]:
    while units(text) > PART:
        head = _head(text)
        at = next((i for i in map(head.rfind, ("\n\n", "\n", " ")) if i > len(head) // 2), len(head))
        yield text[:at].rstrip()
        text = text[at:].lstrip("\n" if at < len(head) and text[at] == "\n" else " ")
    if text.strip():
        yield text


def _head(text: str) -> str:
    """As many characters as fit into a part."""
    encoded = text[:PART].encode("utf-16-le", "surrogatepass")[: PART * 2]
    return encoded.decode("utf-16-le", "ignore")
