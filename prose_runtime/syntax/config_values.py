"""Types and values of Config and Parameters: how a default, or a value from a command line, is read.

Types are those of LANGUAGE.md section 1: string, integer, number, boolean, object, array, ``T[]``, enums ``a | b``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from prose_runtime.diagnostics import Collector, did_you_mean
from prose_runtime.records import dataclass
from prose_runtime.syntax.phrases import Phrase, closing
from prose_runtime.syntax.scalars import plain
from prose_runtime.text import Source, Span

_WORDS = {
    "string": "string",
    "str": "string",
    "integer": "integer",
    "int": "integer",
    "number": "number",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "object": "object",
    "map": "object",
    "dict": "object",
    "array": "array",
    "list": "array",
    "any": "any",
    "json": "any",
    "null": "null",
}
_TYPE_WORD = re.compile(r"[A-Za-z][\w.-]*(?:<[^<>]*>)?\??((?:\[\])*)")
_LIST_OF = re.compile(r"(?:array|list)(?:\s+of\s+|<)([\w -]+?)s?>?", re.I)
_ARTICLE = {"integer": "an", "object": "an", "array": "an"}


class BadValue(ValueError):
    """A text does not spell a value of the type; the message says more than that, or nothing."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type as it is checked. ``kind``: a basic type, ``enum`` with ``options``, ``union`` or ``array`` of ``items``.

    A type that the language does not know is of kind ``any``.
    """

    kind: str
    options: tuple[Any, ...] = ()
    parts: tuple[ValueType, ...] = ()
    item: ValueType | None = None


ANY = ValueType("any")


def read_type(spelling: str | None) -> ValueType:
    """The type that a spelling means; nothing, or an unknown word, accepts every value."""
    text = (spelling or "").strip().strip("`").strip()
    if _has_bar(text):
        return _read_union([part.strip().strip("`") for part in text.split("|") if part.strip()])
    if text.startswith("(") and text.endswith(")[]"):
        return ValueType("array", item=read_type(text[1:-3]))
    if text.endswith("[]"):
        return ValueType("array", item=read_type(text[:-2]))
    if listed := _LIST_OF.fullmatch(text):
        return ValueType("array", item=read_type(listed[1]))
    if text.endswith("?"):
        return ValueType("union", parts=(read_type(text[:-1]), ValueType("null")))
    return ValueType(_WORDS.get(text.lower(), "any"))


def _has_bar(text: str) -> bool:
    return "|" in text and not (text.startswith("(") and text.endswith(")[]"))


def _read_union(options: list[str]) -> ValueType:
    words = [option.lower().removesuffix("[]") for option in options]
    if all(word in _WORDS for word in words):
        return ValueType("union", parts=tuple(read_type(option) for option in options))
    return ValueType(
        "enum", options=tuple(_unquoted(option) if _quoted(option) else plain(option) for option in options)
    )


def is_type(text: str) -> bool:
    """Whether a text is the spelling of a type that the language knows, or an enum."""
    text = text.strip("`")
    if "|" in text:
        options = [option.strip() for option in text.split("|")]
        return all(option and (_quoted(option) or len(option.split()) == 1) for option in options)
    word = text.lower().removesuffix("?")
    while word.endswith("[]"):
        word = word[:-2]
    return word in _WORDS or bool(_LIST_OF.fullmatch(text))


def looks_like_type(text: str) -> bool:
    """Whether a text can only be meant as a type, known or not: one word, perhaps with ``[]``."""
    return is_type(text) or bool(_TYPE_WORD.fullmatch(text.strip("`")))


def read_value(text: str, spelling: str | None = None) -> Any:
    """The value that a text spells for a type.

    Raises:
        BadValue: It spells no value of that type.
    """
    return _read(text.strip(), read_type(spelling))


def fits(value: Any, spelling: str | None) -> bool:
    """Whether a JSON value is of a type."""
    return _fits(value, read_type(spelling))


def looks_like_value(text: str, *, word: bool) -> bool:
    """Whether a text can only be a value: a number, a quoted text, a list; with ``word`` also a single word."""
    if not text:
        return False
    if text[0] == text[-1] == "`" and text.count("`") == 2:
        return word or not isinstance(plain(text[1:-1]), str)
    value = plain(text)
    if not isinstance(value, str):
        return True
    brackets = text[0] in "[{" and closing(text, 0) == len(text) - 1
    return _quoted(text) or brackets or (word and len(text.split()) == 1)


def describe(spelling: str | None) -> str:
    """A type with its article, for a sentence: ``an integer``, ``one of `a`, `b```."""
    kind = read_type(spelling)
    if kind.kind == "enum":
        return "one of " + ", ".join(f"`{option}`" for option in kind.options)
    spelled = (spelling or "value").strip("` ")
    return f"{_ARTICLE.get(_WORDS.get(spelled.lower(), ''), 'a')} {spelled}"


def is_none(text: str) -> bool:
    """Whether a default says that there is none."""
    return bool(_NONE.match(text.strip("` ")))


_NONE = re.compile(r"(none|null|nil|-|–|—)(?:\s*\(.*\))?[.]?$", re.I | re.S)


def _read(text: str, kind: ValueType) -> Any:
    if kind.kind == "union":
        return _first_of(text, kind.parts)
    if kind.kind == "array":
        return _read_array(text, kind.item or ANY)
    if kind.kind == "string":
        return _unquoted(text)
    if kind.kind == "boolean":
        return _read_boolean(text)
    value = _unquoted(text) if kind.kind == "enum" else _loose(text)
    if kind.kind == "enum":
        value = next((option for option in kind.options if option == value or str(option) == value), value)
    if not _fits(value, kind):
        raise BadValue("")
    return value


def _read_boolean(text: str) -> bool:
    word = text.lower()
    if word in ("true", "yes", "on"):
        return True
    if word in ("false", "no", "off"):
        return False
    raise BadValue("it is neither true nor false")


def _first_of(text: str, parts: tuple[ValueType, ...]) -> Any:
    # A string takes everything, so it is tried last.
    for part in sorted(parts, key=lambda part: part.kind == "string"):
        try:
            return _read(text, part)
        except BadValue:
            continue
    raise BadValue("")


def _read_array(text: str, item: ValueType) -> list[Any]:
    if text.startswith("["):
        value = _loose(text)
    else:
        value = [_read(part.text, item) for part in Phrase(text, ((0, 0),)).split()]
    if not isinstance(value, list):
        raise BadValue("it is no list")
    for entry in value:
        if not _fits(entry, item):
            raise BadValue(f"its entry `{entry}` is of another type")
    return value


def _loose(text: str) -> Any:
    """A scalar, list or object in YAML, JSON or Python's spelling."""
    if text[:1] in ("[", "{"):
        return _structured(text)
    if _quoted(text):
        return _unquoted(text)
    return None if text == "None" else plain(text)


def _structured(text: str) -> Any:
    for reader in (_from_json, _from_python, _from_yaml):
        try:
            return reader(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise BadValue("it is no list or object in YAML or JSON")


def _from_json(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _from_python(text: str) -> Any:
    value = ast.literal_eval(text)
    # The detour over JSON refuses what Python knows and JSON does not: tuples as keys, sets, bytes.
    return json.loads(json.dumps(value, allow_nan=False)) if not _has_other(value) else _refuse()


def _has_other(value: Any) -> bool:
    if isinstance(value, dict):
        return any(not isinstance(key, str) or _has_other(item) for key, item in value.items())
    if isinstance(value, list):
        return any(_has_other(item) for item in value)
    return not (value is None or isinstance(value, bool | int | float | str))


def _refuse() -> Any:
    raise ValueError


def _from_yaml(text: str) -> Any:
    import yaml

    from prose_runtime.syntax.yaml_values import Yaml

    source = Source("", text)
    out = Collector(source)
    reader = Yaml(source, Span(0, len(text)), out, "yaml")
    node = reader.root()
    if not isinstance(node, yaml.CollectionNode):
        raise ValueError
    value = reader.value(node)
    if out.items:
        raise ValueError
    return value


_FITS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "null": lambda value: value is None,
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
}


def _fits(value: Any, kind: ValueType) -> bool:
    if kind.kind == "union":
        return any(_fits(value, part) for part in kind.parts)
    if kind.kind == "array":
        return isinstance(value, list) and all(_fits(entry, kind.item or ANY) for entry in value)
    if kind.kind == "enum":
        return any(value == option and isinstance(value, bool) == isinstance(option, bool) for option in kind.options)
    return _FITS[kind.kind](value)


def _quoted(text: str) -> bool:
    return (
        len(text) > 1
        and text[0] == text[-1]
        and text[0] in "\"'"
        and text[0] not in text[1:-1].replace("\\" + text[0], "")
    )


def _unquoted(text: str) -> str:
    if not _quoted(text):
        return text
    if text[0] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text[1:-1]
    return text[1:-1].replace("\\'", "'")


def closest_type(word: str) -> str | None:
    """A help sentence for a misspelt type, or nothing when no known type is close."""
    return None if is_type(word) else did_you_mean(word.lower().removesuffix("[]"), _WORDS)
