"""The values that fixtures of a test spell: on their own line, in a block below, or as nested bullets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prose_runtime.diagnostics import Collector
from prose_runtime.nodes import Bullet, Fixture
from prose_runtime.syntax.config_values import BadValue, describe, fits, read_type, read_value
from prose_runtime.syntax.entries import read_entry
from prose_runtime.syntax.fixtures import names_value
from prose_runtime.syntax.phrases import Phrase
from prose_runtime.text import Source, Span

_DATA_LABELS = ("yaml", "yml", "json")


def value_of(fixture: Fixture, spelling: str | None) -> Any:
    """The value of an input or config item of a type.

    Raises:
        BadValue: It is no value of that type; the message is a sentence.
    """
    try:
        value = _typed(fixture, spelling)
    except BadValue as error:
        why = f"; {error}" if str(error) else ""
        raise BadValue(f"the fixture `{fixture.name}` is not {describe(spelling)}{why}") from None
    if not fits(value, spelling) and value is not None:
        raise BadValue(f"the fixture `{fixture.name}` is not {describe(spelling)}")
    return value


def _typed(fixture: Fixture, spelling: str | None) -> Any:
    if fixture.text:
        return _inline(fixture.text, spelling)
    if fixture.block is not None:
        data = fixture.label in _DATA_LABELS or (fixture.label is None and _structured(spelling))
        return read_yaml(fixture.block) if data else fixture.block
    return from_bullets(fixture.bullets, spelling) if fixture.bullets else None


def _structured(spelling: str | None) -> bool:
    return read_type(spelling).kind in ("object", "array")


def _inline(text: str, spelling: str | None) -> Any:
    """A value on the bullet's own line. Without a declared type a text that only begins like JSON is text."""
    bare = Phrase(text, ((0, 0),)).unwrapped().text
    try:
        return read_value(bare, spelling)
    except BadValue:
        if spelling is None:
            return bare
        raise


def from_bullets(bullets: Iterable[Bullet], spelling: str | None) -> Any:
    """The value of nested bullets: an object when each is ``name: value`` and no list is due, else a list."""
    kind = read_type(spelling)
    rows = list(bullets)
    if kind.kind != "array" and all(names_value(bullet.text) for bullet in rows):
        return dict(_named(bullet) for bullet in rows)
    item = spelling.strip("`").removesuffix("[]") if spelling and spelling.strip("`").endswith("[]") else None
    return [_element(bullet, item) for bullet in rows]


def _named(bullet: Bullet) -> tuple[str, Any]:
    entry = read_entry(Phrase(bullet.text, ((0, 0),)))
    assert entry is not None
    if bullet.bullets and not entry.rest:
        return entry.name.text, from_bullets(bullet.bullets, None)
    return entry.name.text, _inline(entry.rest.text, None)


def _element(bullet: Bullet, spelling: str | None) -> Any:
    if bullet.bullets:
        inner = from_bullets(bullet.bullets, None)
        if not bullet.text:
            return inner
        if isinstance(inner, dict) and names_value(bullet.text):
            # As in YAML, the first entry of an object may stand on the line of its dash.
            return dict([_named(Bullet(span=bullet.span, text=bullet.text, text_span=bullet.text_span))]) | inner
    return _inline(bullet.text, spelling)


def read_yaml(text: str) -> Any:
    """A YAML or JSON text. Raises BadValue that says what is wrong with it."""
    from prose_runtime.syntax.yaml_values import Yaml

    source = Source("", text)
    out = Collector(source)
    reader = Yaml(source, Span(0, len(source.text)), out, "yaml")
    root = reader.root()
    value = None if root is None or out.items else reader.value(root)
    if out.items:
        raise BadValue(out.items[0].message)
    return value
