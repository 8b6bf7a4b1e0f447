"""Words of a command line as values of the types that a spec declares."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.values import number

Kind = Literal["slot", "config", "input"]


def dashed(name: str) -> str:
    """A name as it is compared on the command line, where ``_`` and ``-`` mean the same."""
    return name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Item:
    """A slot, config item or input of a spec, as an option. ``type`` is its spelling, or None when none is given."""

    kind: Kind
    name: str
    type: str | None
    required: bool
    text: str
    default: Any = None

    @property
    def option(self) -> str:
        """The option's spelling, with ``-`` for ``_``."""
        return "--" + dashed(self.name)

    @property
    def is_flag(self) -> bool:
        """Whether the option takes no value."""
        return self.kind != "slot" and base_type(self.type) == "boolean"

    @property
    def is_text(self) -> bool:
        """Whether a plain text can fill it."""
        return base_type(self.type) in (None, "string")


_ALIASES = {
    "int": "integer", "float": "number", "bool": "boolean", "text": "string", "str": "string", "list": "array",
    "json": "object", "map": "object", "any": None, "value": None,
}  # fmt: skip
_KNOWN = {"string", "integer", "number", "boolean", "object", "array"}


def base_type(type_: str | None) -> str | None:
    """The kind of value that a type's spelling means: one of JSON's, ``enum``, or None when anything goes."""
    if type_ is None:
        return None
    spelled = type_.strip().strip("`").lower()
    if spelled.endswith("[]"):
        return "array"
    if "|" in spelled:
        parts = {base_type(part) for part in spelled.split("|") if part.strip() != "null"}
        return parts.pop() if len(parts) == 1 and parts <= _KNOWN else None if parts & _KNOWN else "enum"
    word = _ALIASES.get(spelled, spelled)
    return word if word in _KNOWN else None


def enum_labels(type_: str | None) -> list[str]:
    """The words of ``a | b | c``."""
    return [part.strip().strip("`\"'") for part in (type_ or "").split("|")]


def from_texts(item: Item, texts: list[str]) -> Any:
    """The value that the words of the command line mean. Raises UsageError: one sentence about one item."""
    if item.kind == "slot":
        return _binding(item, texts)
    if base_type(item.type) == "array":
        return _list(item, texts)
    if len(texts) > 1:
        raise UsageError(f"`{item.option}` is given {len(texts)} times", help=f"give `{item.option}` once")
    return _one(item, texts[0], item.type)


def _binding(item: Item, texts: list[str]) -> str | list[str]:
    if item.type == "service[]":
        return [word.strip() for text in texts for word in text.split(",") if word.strip()]
    if len(texts) > 1:
        raise UsageError(
            f"`{item.option}` is given {len(texts)} times", help=f"the slot `{item.name}` takes one service"
        )
    return texts[0]


def _list(item: Item, texts: list[str]) -> list[Any]:
    spelled = (item.type or "").strip().strip("`")
    of = spelled[:-2] if spelled.endswith("[]") else None
    if len(texts) == 1:
        whole = _json(texts[0])
        if isinstance(whole, list):
            return whole
        if base_type(of) in ("integer", "number"):  # only here a comma cannot be part of a value
            texts = texts[0].split(",")
    return [_one(item, text, of) for text in texts]


def _one(item: Item, text: str, type_: str | None) -> Any:
    base = base_type(type_)
    if base in ("integer", "number"):
        return _number(item, text, base)
    if base == "boolean":
        return _boolean(item, text)
    if base == "enum":
        return _label(item, text, enum_labels(type_))
    if base == "object":
        return _object(item, text)
    if base == "array":
        return _list(Item(item.kind, item.name, type_, item.required, item.text), [text])
    parsed = _json(text) if base is None and text.lstrip()[:1] in ("[", "{") else None
    return text if parsed is None else parsed


def _number(item: Item, text: str, base: str) -> int | float:
    value = number(text)
    if isinstance(value, float) and base == "integer":
        value = int(value) if value.is_integer() else None
    if value is None:
        example = "3" if base == "integer" else "0.5"
        article = "an integer" if base == "integer" else "a number"
        raise UsageError(
            f"`{item.option}` takes {article}, and `{text}` is none", help=f"write `{item.option} {example}`"
        )
    return value


def _boolean(item: Item, text: str) -> bool:
    word = text.strip().lower()
    if word in ("true", "yes", "on", "1"):
        return True
    if word in ("false", "no", "off", "0"):
        return False
    raise UsageError(f"`{item.name}` takes true or false, not `{text}`", help=f"write `{item.name}=true`")


def _label(item: Item, text: str, labels: list[str]) -> str:
    if text not in labels:
        listed = ", ".join(f"`{label}`" for label in labels)
        raise UsageError(f"`{item.option}` takes one of {listed}, not `{text}`", help=did_you_mean(text, labels))
    return text


def _object(item: Item, text: str) -> Any:
    value = _json(text)
    if not isinstance(value, dict):
        raise UsageError(
            f"`{item.option}` takes a JSON object, and `{_short(text)}` is none",
            help=f"""write `{item.option} '{{"name": "value"}}'`""",
        )
    return value


def _short(text: str) -> str:
    one_line = re.sub(r"\s+", " ", text)
    return one_line if len(one_line) <= 40 else one_line[:37] + "..."


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
