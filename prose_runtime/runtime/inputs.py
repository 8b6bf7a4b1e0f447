"""Inputs and config of a run, checked against what the spec declares: all faults in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_runtime.check.tables import Analysis
from prose_runtime.diagnostics import did_you_mean
from prose_runtime.errors import UsageError
from prose_runtime.runtime.functions import described
from prose_runtime.values import strange

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def check_inputs(analysis: Analysis, inputs: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Every name is declared, every value of its type, and every required input there.

    Raises:
        UsageError: Something is not so; all of it is said.
    """
    spec = analysis.spec
    types = {item.name: item.type for item in spec.config}
    faults = [f"there is no config item `{name}`{_near(name, types)}" for name in config if name not in types]
    faults += [_fault(name, types[name], value) for name, value in config.items() if name in types]
    declared = {name: parameter.type for name, parameter in analysis.inputs.items()}
    faults += [f"there is no input `{name}`{_near(name, declared)}" for name in inputs if name not in declared]
    faults += [_fault(name, declared[name], value) for name, value in inputs.items() if name in declared]
    missing = missing_names(analysis, inputs, config)
    if missing:
        faults.append(f"missing: {', '.join(f'`{name}`' for name in missing)}")
    faults = [fault for fault in faults if fault]
    if faults:
        raise UsageError(f"{spec.name}: " + "; ".join(faults))


def missing_names(analysis: Analysis, inputs: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """Required inputs and config items that have no value."""
    missing = [
        p.name for p in analysis.inputs.values() if not (p.optional or p.has_default) and inputs.get(p.name) is None
    ]
    missing += [
        item.name
        for item in analysis.spec.config
        if item.default is None and not item.optional and config.get(item.name) is None
    ]
    return missing


def _near(name: str, known: Mapping[str, Any]) -> str:
    close = did_you_mean(name, known)
    return f" ({close})" if close else ""


def _fault(name: str, type_: str | None, value: Any) -> str:
    if found := strange(value):
        return f"`{name}` is no JSON value: it {'is' if not isinstance(value, dict | list) else 'has'} {found}"
    if type_ is None or value is None or fits_type(type_, value):
        return ""
    return f"`{name}` must be of type {type_}, not {described(value)}"


def fits_type(type_: str, value: Any) -> bool:
    """Whether a value is of a type as a spec spells it; an unknown spelling takes everything."""
    spelled = type_.strip().strip("`").lower()
    if spelled.endswith("[]"):
        return isinstance(value, list) and all(fits_type(spelled[:-2], entry) for entry in value)
    if "|" in spelled:
        words = [word.strip().strip("`\"'") for word in type_.split("|")]
        named = [word for word in words if word.lower() in _TYPES]
        return value in words or any(fits_type(word, value) for word in named) or (value is None and "null" in words)
    kinds = _TYPES.get(spelled)
    if kinds is None:
        return True
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
