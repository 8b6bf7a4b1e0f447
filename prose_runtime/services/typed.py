"""What a person typed, as a value of the shape that a program needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_runtime.jsontext import parse_json
from prose_runtime.services.shape import in_words, types_of
from prose_runtime.values import number, to_text


def hint(schema: Mapping[str, Any]) -> str:
    """What may be typed for a schema, in a few words."""
    types = types_of(schema)
    if types == ["boolean"]:
        return "yes or no"
    if types[:1] == ["array"]:
        return "a list: a, b, c or JSON"
    if types[:1] == ["object"] and schema.get("properties"):
        return in_words(schema).replace("a JSON object", "JSON", 1)
    return in_words({key: value for key, value in schema.items() if key != "type" or "enum" not in schema})


def converted(typed: str, schema: Mapping[str, Any]) -> Any:
    """What a person typed, as a value of the schema. Raises ``ValueError`` with a sentence for the person."""
    if schema.get("enum"):
        return _chosen(typed, schema["enum"])
    fault = "please type something"
    for kind in types_of(schema) or ["any"]:
        try:
            return _CONVERT[kind](typed, schema)
        except ValueError as error:
            fault = str(error)
    raise ValueError(fault)


def _chosen(typed: str, options: list[Any]) -> Any:
    for option in options:
        if typed.casefold() == to_text(option).casefold():
            return option
    raise ValueError("please type one of: " + ", ".join(to_text(option) for option in options))


def _as_text(typed: str, schema: Mapping[str, Any]) -> str:
    if not typed:
        raise ValueError("please type something (a lone . for an empty text)")
    return "" if typed == "." else typed


def _as_number(typed: str, schema: Mapping[str, Any]) -> int | float:
    value = number(typed.replace(",", ".") if typed.count(",") == 1 else typed)
    if value is None:
        raise ValueError("please type a number")
    return value


def _as_integer(typed: str, schema: Mapping[str, Any]) -> int:
    value = number(typed)
    if not isinstance(value, int):
        raise ValueError("please type a whole number")
    return value


def _as_boolean(typed: str, schema: Mapping[str, Any]) -> bool:
    words = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
    if typed.casefold() not in words:
        raise ValueError("please type yes or no")
    return words[typed.casefold()]


def _as_list(typed: str, schema: Mapping[str, Any]) -> Any:
    if typed.startswith("["):
        return _as_json(typed, list, schema)
    items = schema.get("items") or {}
    return [converted(part.strip(), items) for part in typed.split(",") if part.strip()]


def _as_object(typed: str, schema: Mapping[str, Any]) -> Any:
    return _as_json(typed, dict, schema)


def _as_json(typed: str, kind: type[Any], schema: Mapping[str, Any]) -> Any:
    try:
        value = parse_json(typed)
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise ValueError("please type JSON: " + ('["a", "b"]' if kind is list else '{"name": "value"}'))
    fault = _fault(value, schema, "")
    if fault:
        raise ValueError(fault)
    return value


_KINDS: Mapping[str, tuple[type[Any], str]] = {"object": (dict, "an object"), "array": (list, "a list")}


def _fault(value: Any, schema: Mapping[str, Any], path: str) -> str | None:
    """What inside a JSON value does not fit, as a sentence that names the place; null fits everywhere."""
    wanted = next(iter(types_of(schema)), "")
    kind, called = _KINDS.get(wanted, (object, ""))
    if value is not None and not isinstance(value, kind):
        return f"`{path}` has to be {called}"
    if value is not None and wanted in ("number", "integer") and number(value) is None:
        return f"`{path}` has to be a number"
    if not isinstance(value, dict | list):
        return None
    missing = [f"`{name}`" for name in schema.get("required", ()) if name not in value] if wanted == "object" else []
    if missing:
        return f"please give {', '.join(missing)}{f' in `{path}`' if path else ''} too"
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        inner = [(value[name], fields[name], f"{path}.{name}".lstrip(".")) for name in fields if name in value]
    else:
        inner = [(item, schema.get("items") or {}, f"{path}[{i}]") for i, item in enumerate(value)]
    return next((fault for part in inner if (fault := _fault(*part))), None)


def _as_null(typed: str, schema: Mapping[str, Any]) -> None:
    if typed.casefold() not in ("", "null", "none"):
        raise ValueError("leave it empty or type a fitting value")


def _as_any(typed: str, schema: Mapping[str, Any]) -> Any:
    try:
        return parse_json(typed)
    except ValueError:
        return _as_text(typed, schema)


_CONVERT = {
    "string": _as_text,
    "number": _as_number,
    "integer": _as_integer,
    "boolean": _as_boolean,
    "array": _as_list,
    "object": _as_object,
    "null": _as_null,
    "any": _as_any,
}
