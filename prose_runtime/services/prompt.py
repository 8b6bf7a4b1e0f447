"""The one place where a request becomes the text that a model reads (LANGUAGE.md section 4).

The stable part, the same for every call of a role, is ``system``: a provider can have it cached. Nothing but the
request's own content goes in: its target and line, which are for people, stay out.
"""

from __future__ import annotations

import itertools
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from prose_runtime.services.api import Request
from prose_runtime.services.shape import in_words, shape_of
from prose_runtime.values import clean_text, to_json, to_text

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


class Prompt(NamedTuple):
    """What a model is told: ``system`` is stable for a role, ``user`` is this call's own."""

    system: str
    user: str


def render(request: Request) -> Prompt:
    """Put a request into words.

    Each input stands between tags of its name that nothing in the request can close or imitate. An input of a role
    that is null is one that it did not get, and is not mentioned; a judge is shown it. A demanded shape is said in
    plain words as well, for services that cannot be held to a schema.
    """
    schema = shape_of(request)
    given = {n: v for n, v in request.inputs.items() if v is not None or request.purpose != "call"}
    shown = {name: _shown(value) for name, value in given.items()}
    texts = [*shown, *shown.values(), request.prompt, request.note, request.rejected, request.fault]
    suffix = _free_suffix({*map(_tag, given), "answer"}, [text for text in texts if text])
    values = {
        "request": request,
        "inputs": [(_opening(name, suffix), _tag(name) + suffix, text) for name, text in shown.items()],
        "answer_tag": f"answer{suffix}",
        "shape": None if schema is None else in_words(schema),
    }
    return Prompt(_fill("system", values), _fill("user", values))


def _fill(template: str, values: dict[str, object]) -> str:
    return clean_text(_templates().get_template(f"{template}.jinja2").render(values)).strip()


@lru_cache(maxsize=1)
def _templates() -> Environment:
    # Imported when the first model is asked: a run with scripts or people does without.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> str:
    """Text as it is; everything else as JSON, null included, so that a role can tell nothing from an empty text."""
    return to_text(value) if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)


_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


def _tag(name: str) -> str:
    """The tag of an input: its own name, where that can be one."""
    return name if _NAME.fullmatch(name) else "input"


def _opening(name: str, suffix: str) -> str:
    tag = _tag(name)
    if tag == name:
        return f"{tag}{suffix}"
    quoted = json.dumps(name, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{tag}{suffix} name={quoted}"


def _free_suffix(tags: set[str], texts: list[str]) -> str:
    """The shortest ending that makes all tags unlike any in the texts; the same texts give the same ending."""
    likeness = [re.compile(rf"<[\s/]*{re.escape(tag)}(-\d+)?", re.IGNORECASE) for tag in tags]
    taken = {match[1] or "" for like in likeness for text in texts for match in like.finditer(text)}
    return next(
        suffix for suffix in itertools.chain([""], map("-{}".format, itertools.count(2))) if suffix not in taken
    )
