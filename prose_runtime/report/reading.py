"""What the templates for reading a run share: the environment, and figures in words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prose_runtime.report.run_text import usage_text
from prose_runtime.values import clean_text, to_json

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


@lru_cache(maxsize=2)
def environment(*, html: bool) -> Environment:
    """The templates; in HTML everything that is put in is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        text=text, json_text=json_text, duration=duration, moment=moment, verdict=verdict, usage=usage_text, money=money
    )
    made.tests["inline"] = is_inline
    return made


def text(value: Any) -> str:
    """Text that a document can hold: control characters that have no meaning there become visible."""
    kept = clean_text(str(value))
    return "".join(c if c in "\n\t" or c.isprintable() or c == "\u200d" else _visible(c) for c in kept)


def _visible(character: str) -> str:
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def json_text(value: Any) -> str:
    """A value that is no text, on one line."""
    return json.dumps(to_json(value), ensure_ascii=False)


def is_inline(value: Any) -> bool:
    """Whether a value fits into a line beside its name."""
    return value in (None, [], {}) or (not isinstance(value, dict | list) and len(str(value)) <= 40)


def duration(seconds: float | None) -> str:
    """``0.4 s``, ``12 s``, ``3 min 5 s``, ``2 h 10 min``, ``3 days``; nothing when it is not known."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    if seconds < 172_800:
        return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"
    return f"{seconds // 86_400:.0f} days"


def moment(at: float | None) -> str:
    """A time of day in UTC."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def verdict(value: bool | str | None) -> str:
    """A verdict in words; of a choice its label."""
    return value if isinstance(value, str) else "yes" if value else "no"


def money(value: float | None) -> str:
    """Dollars, with as many digits as small sums need."""
    return "" if value is None else f"${value:.4f}"
