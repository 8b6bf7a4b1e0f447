"""From a reply to the value that a program works with (LANGUAGE.md section 4, Demanded shape)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from prose_runtime.check.shapes import TEXT, form
from prose_runtime.check.tables import Demand
from prose_runtime.jsontext import objects_in, parse_json
from prose_runtime.values import clean_text, number


class Fitted(NamedTuple):
    """A reply as the program gets it; ``faults`` say what it lacks, each a phrase that names the field."""

    value: Any
    faults: tuple[str, ...] = ()


_YES = frozenset({"true", "yes"})
_NO = frozenset({"false", "no"})
_LONGEST_QUOTE = 40


def fit(reply: Any, demand: Demand) -> Fitted:
    """Read a reply as the value that is demanded; never raises.

    Without structure text stays text and a structured reply becomes its JSON. Otherwise JSON inside the text is read:
    the last object that fits. What is required and missing, or of the wrong kind, is a fault.
    """
    if demand.bare in demand.fields:
        fitted, wrapped = _fit(reply, demand, ""), _fit({demand.bare: reply}, demand, "")
        return wrapped if fitted.faults and not wrapped.faults else fitted
    if demand.bare is not None:
        reply = _only_output(reply, demand.bare)
    return _fit(reply, demand, "")


def _only_output(reply: Any, name: str) -> Any:
    """The value of an only declared output that a service has put into an object."""
    value = _whole_json(reply) if isinstance(reply, str) else reply
    return value[name] if isinstance(value, dict) and set(value) == {name} else reply


def _fit(reply: Any, demand: Demand, path: str) -> Fitted:
    if not demand.structured:
        return Fitted(_text(reply) if isinstance(reply, dict | list) and not path else reply)
    return _FORMS[form(demand)](reply, demand, path)


def _text(reply: Any) -> Any:
    """A structured reply as JSON text; everything else as it is."""
    if not isinstance(reply, dict | list):
        return reply
    try:
        return clean_text(json.dumps(reply, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return str(reply)


def _whole_json(text: str) -> Any:
    """The JSON value that a text is as a whole, or None."""
    try:
        return parse_json(text.strip())
    except ValueError:
        return None


def _fit_number(reply: Any, demand: Demand, path: str) -> Fitted:
    if reply is None and path:
        return Fitted(None)
    found = _number(reply)
    if found is not None:
        return Fitted(found)
    for holder in reversed(_parts(reply)):
        numbers = [n for n in map(_number, holder.values()) if n is not None] if isinstance(holder, dict) else []
        if len(numbers) == 1:
            return Fitted(numbers[0])
    return Fitted(reply, (f"{_named(path)} must be a number, not {_quoted(reply)}",))


def _number(value: Any) -> int | float | None:
    """The finite number that a value is or spells."""
    try:
        found = number(value)
        return found if found is not None and math.isfinite(found) else None
    except (ValueError, OverflowError):
        return None


def _fit_list(reply: Any, demand: Demand, path: str) -> Fitted:
    if reply is None and path:
        return Fitted(None)
    lists = [found for part in _parts(reply) if (found := _as_list(part)) is not None]
    fitted = _last_good(lists, lambda found: _fit_items(found, demand.items or Demand(), path))
    return fitted or Fitted(reply, (f"{_named(path)} must be a list, not {_quoted(reply)}",))


def _as_list(part: Any) -> list[Any] | None:
    """A list, or the only list among the fields of an object: models that give objects only wrap a list so."""
    if not isinstance(part, dict):
        return part if isinstance(part, list) else None
    lists = [value for value in part.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 else None


def _fit_items(items: list[Any], demand: Demand, path: str) -> Fitted:
    fitted = [_fit(item, demand, f"{path}[{i}]") for i, item in enumerate(items)]
    return Fitted([part.value for part in fitted], tuple(fault for part in fitted for fault in part.faults))


def _fit_object(reply: Any, demand: Demand, path: str) -> Fitted:
    if reply is None and path:
        return Fitted(None)
    found = _objects(reply, demand)
    fitted = _last_good(found, lambda holder: _fit_fields(holder, demand, path))
    return fitted or _fit_text(reply, demand, path)


def _objects(reply: Any, demand: Demand) -> list[dict[str, Any]]:
    """The objects that may be meant. Where nothing is required, one inside a text has to hold a known field."""
    found = [part for part in _parts(reply) if isinstance(part, dict)]
    if demand.required or not isinstance(reply, str) or _whole_json(reply) in found:
        return found
    known = {*demand.fields, TEXT} if demand.whole else demand.fields.keys()
    return [holder for holder in found if demand.keyed or holder.keys() & known]


def _fit_fields(holder: dict[str, Any], demand: Demand, path: str) -> Fitted:
    value, faults = dict(holder), list[str]()
    for name, wanted in demand.fields.items():
        where = f"{path}.{name}" if path else name
        if name in holder:
            part = _fit_field(holder[name], name, demand, wanted, where)
            value[name] = part.value
            faults += part.faults
        elif name in demand.required:
            faults.append(f"{_named(where)} is missing")
    return Fitted(value, tuple(faults))


def _fit_field(given: Any, name: str, demand: Demand, wanted: Demand, path: str) -> Fitted:
    """One field. What only conditions mention is converted where that is possible, and never at fault."""
    options = demand.hints.get(name, {}).get("enum")
    if isinstance(options, list):
        return _fit_option(given, name, demand, options, path)
    if isinstance(given, str) and demand.hints.get(name, {}).get("type") == "boolean":
        word = given.strip().lower()
        return Fitted(True if word in _YES else False if word in _NO else given)
    part = _fit(given, wanted, path)
    return Fitted(given) if part.faults and name in demand.mentioned else part


def _fit_option(given: Any, name: str, demand: Demand, options: list[Any], path: str) -> Fitted:
    """One of the words that are declared for a field, in any case; only what has to be there is at fault."""
    said = given.strip().casefold() if isinstance(given, str) else given
    for option in options:
        if said == (option.casefold() if isinstance(option, str) else option):
            return Fitted(option)
    if name in demand.mentioned or given is None:
        return Fitted(given)
    if name not in demand.required:
        return Fitted(None)
    listed = ", ".join(map(str, options))
    return Fitted(given, (f"{_named(path)} must be one of {listed}, not {_quoted(given)}",))


def _fit_text(reply: Any, demand: Demand, path: str) -> Fitted:
    """A reply that is no object: it stands for the fields that the program reads, if none of them is required.

    Conditions that ask what the value says find it under ``text`` as well; a field that only they mention gets it when
    it is one of the words that are declared for that field.
    """
    if demand.required:
        missing = (f"{path}.{name}" if path else name for name in demand.fields if name in demand.required)
        return Fitted(reply, tuple(f"{_named(name)} is missing" for name in missing))
    if demand.keyed:
        return Fitted(reply, (f"{_named(path)} must be an object, not {_quoted(reply)}",))
    said = _text(reply)
    read = [name for name in demand.fields if name not in demand.mentioned]
    if reply is None or not read:
        return Fitted(said)
    value: dict[str, Any] = {}
    for name in read:
        part = _fit_field(said, name, demand, demand.fields[name], f"{path}.{name}")
        if not part.faults:
            value[name] = part.value
    for name in demand.mentioned:
        options = demand.hints.get(name, {}).get("enum")
        if isinstance(options, list) and (option := _fit_option(said, name, demand, options, path).value) in options:
            value[name] = option
    beside = (demand.whole or demand.mentioned) and TEXT not in demand.fields
    return Fitted({**value, TEXT: said} if beside else value)


def _parts(reply: Any) -> list[Any]:
    """The objects and lists in a reply, in their order: itself, or those inside its text."""
    return objects_in(reply) if isinstance(reply, str) else [reply] if isinstance(reply, dict | list) else []


def _last_good(candidates: list[Any], read: Callable[[Any], Fitted]) -> Fitted | None:
    """The last candidate without a fault, else the last one, else nothing."""
    last: Fitted | None = None
    for candidate in reversed(candidates):
        fitted = read(candidate)
        if not fitted.faults:
            return fitted
        last = last or fitted
    return last


def _named(path: str) -> str:
    return f"the field `{path.removeprefix('.')}`" if path else "the answer"


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else str(_text(value))
    if value is None:
        return "null"
    return f'"{text}"' if len(text) <= _LONGEST_QUOTE else f'"{text[: _LONGEST_QUOTE - 4]}…"'


_FORMS: dict[str, Callable[[Any, Demand, str], Fitted]] = {
    "number": _fit_number,
    "list": _fit_list,
    "object": _fit_object,
    "text": lambda reply, demand, path: Fitted(reply),
}
