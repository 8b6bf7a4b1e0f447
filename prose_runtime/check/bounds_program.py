"""The beginning and the end of the walk over one spec: its names at the start, the value at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.bounds_cost import CALLS, CHAIN, REQUESTS, WAIT, Exit, Key
from prose_runtime.check.bounds_formula import ZERO, Open, atom
from prose_runtime.check.bounds_loops import Loops
from prose_runtime.check.bounds_values import (
    ANYTHING,
    NULL,
    UNKNOWN,
    Answer,
    Anything,
    At,
    Null,
    Obj,
    Range,
    Ref,
    Row,
    State,
    UnitFill,
    Val,
    element_of,
    inner,
    joined,
    known,
    literal,
    may_be_reference,
    size_of,
    val,
)
from prose_runtime.check.bounds_walk import Shared
from prose_runtime.text import Where


def walked(unit: UnitFill, names: dict[str, Val], shared: Shared, *, catching: bool) -> dict[str, Exit]:
    """All ways out of a spec that starts with these names: ``normal``, with its value, and ``raise``."""
    spec = unit.analysis.spec
    if spec.javascript is not None:
        return {"normal": _javascript(unit, spec.javascript.span)}
    if spec.body is None:
        return {"normal": Exit({}, State(), NULL)}
    body = spec.body
    walker = Loops(unit, shared)
    walker.catching = int(catching)
    shared.refer(unit)
    shared.inside.append(spec)
    state = State(names, {}, None, walker.wary)
    _give_lists(unit, state, walker)
    exits = walker.run(lambda: walker.block(body), state)
    shared.inside.pop()
    way = walker.value_of(exits)
    found = {} if way is None else {"normal": Exit(way.cost, State(), _result(unit, way.value))}
    return {**found, **({"raise": exits["raise"]} if "raise" in exits else {})}


def _javascript(unit: UnitFill, span: Any) -> Exit:
    where = unit.analysis.spec.source.where(span)
    unknown = Range(ZERO, atom(Open(f"the JavaScript at line {where.line} decides how often it calls", where)))
    slots = [Key("target", fill.name) for fills in unit.slots.values() for fill in fills]
    return Exit(dict.fromkeys((CALLS, REQUESTS, CHAIN, WAIT, *slots), unknown), State(), UNKNOWN)


def _result(unit: UnitFill, value: Val) -> Val:
    """The value of a spec as its caller gets it."""
    spec = unit.analysis.spec
    if any(isinstance(node, n.Output) for node in (spec.body.walk() if spec.body else ())):
        return UNKNOWN
    if spec.returns is not None and len(spec.returns.outputs) == 1:
        name = spec.returns.outputs[0].name
        value = joined(*(_only(basic, name) for basic in value)) if value else UNKNOWN
    if unit.bare:
        value = joined(*(_field(basic, "result") for basic in value)) if value else UNKNOWN
    return value


def _only(basic: Any, name: str) -> Val:
    whole = isinstance(basic, Obj) and [field for field, _ in basic.fields] == [name]
    return _field(basic, name) if whole else UNKNOWN if isinstance(basic, At | Answer) else val(basic)


def _field(basic: Any, name: str) -> Val:
    if isinstance(basic, Obj):
        return inner(dict(basic.fields)[name]) if name in dict(basic.fields) else val(basic)
    return UNKNOWN if isinstance(basic, At | Answer | Anything) else val(basic)


def _give_lists(unit: UnitFill, state: State, walker: Loops) -> None:
    """Lists from outside that the program adds to grow like its own."""
    spec = unit.analysis.spec
    growing = _growing(spec) & _lists(unit)
    for name, value in list(state.names.items()):
        basics: list[Val] = []
        for basic in value:
            size = size_of(basic, state)
            listed = isinstance(basic, Row) or (isinstance(basic, At) and name in growing and not basic.fills)
            if listed and size is not None:
                basics.append(state.make(("start", spec, name), size, element_of(val(basic), state)))
            else:
                basics.append(val(basic))
        state.names[name] = joined(*basics) if basics else UNKNOWN


def _lists(unit: UnitFill) -> set[str]:
    """The config items and inputs that are lists."""
    rows: list[n.ConfigItem | n.Parameter] = [*unit.analysis.spec.config, *unit.analysis.inputs.values()]
    return {row.name for row in rows if _is_list(row)}


def _is_list(row: n.ConfigItem | n.Parameter) -> bool:
    spelled = (row.type or "").strip().lower()
    return spelled.endswith("[]") or spelled in ("array", "list") or isinstance(row.default, list)


def _growing(spec: n.Spec) -> set[str]:
    """The names whose lists the program may add to, also by another name."""
    body = list(spec.body.walk()) if spec.body else []
    found = {node.target.id for node in body if isinstance(node, n.Append) and isinstance(node.target, n.Name)}
    binds = [(b.target.id, b.value) for b in body if isinstance(b, n.Bind) and isinstance(b.target, n.Name)]
    size = -1
    while size != len(found):
        size = len(found)
        found |= {name for target, value in binds if target in found for name in _handed_on(value)}
    return found


def _handed_on(value: n.Expr) -> set[str]:
    """The names whose value an expression may give as it is."""
    if isinstance(value, n.Name):
        return {value.id}
    if isinstance(value, n.Binary) and value.op in ("or", "and"):
        return _handed_on(value.left) | _handed_on(value.right)
    return _handed_on(value.then) | _handed_on(value.orelse) if isinstance(value, n.Conditional) else set()


# the names at the start


def start(config: Mapping[str, Val], inputs: Mapping[str, Val], slots: Mapping[str, Val]) -> dict[str, Val]:
    """All names that are in scope at the start."""
    return {**slots, **config, "config": val(Obj(tuple(config.items()))), **inputs}


def slot_values(unit: UnitFill, *, by_name: bool = False) -> dict[str, Val]:
    """The slots of a spec as values. ``by_name``: the length of a list slot stays a matter of its name."""
    found = {}
    for slot in unit.analysis.spec.slots:
        fills = unit.slots.get(slot.name, ())
        root = slot.name if by_name else next(iter(next(iter(literal([None] * len(fills)))).path))
        found[slot.name] = val(At((root,), fills)) if slot.is_list else val(Ref(fills))
    return found


def run_unit(
    unit: UnitFill, given: Mapping[str, Val], shared: Shared, *, catching: bool, where: Where
) -> dict[str, Exit]:
    """All ways out of a spec that another one calls with these inputs."""
    spec = unit.analysis.spec
    declared = unit.analysis.inputs
    config_names = [item.name for item in spec.config]
    slot_names = [slot.name for slot in spec.slots]
    names = [*declared, *config_names, *slot_names]
    passed = _spread(given, names)
    config = {item.name: literal(unit.config.get(item.name, item.default)) for item in spec.config}
    for name in config_names:
        config[name] = _overridden(config[name], passed.get(name))
    inputs = {name: _overridden(literal(row.default), passed.get(name)) for name, row in declared.items()}
    inputs = {name: value for name, value in inputs.items() if name not in config}
    shared.refer(unit)
    slots = slot_values(unit)
    slots = {name: _slot(slots[name], passed.get(name, frozenset())) for name in slot_names}
    bound = {name: tuple(shared.meant(value)) for name, value in slots.items()}
    inside = UnitFill(unit.analysis, bound, unit.config, unit.bare)
    return walked(inside, start(config, inputs, slots), shared, catching=catching)


def _slot(bound: Val, passed: Val) -> Val:
    """What fills a slot: a reference, or a list of them, that is passed under its name, else what is bound to it."""
    if any(may_be_reference(basic) for basic in passed):
        return ANYTHING
    refs = [basic for basic in passed if isinstance(basic, Row) or (isinstance(basic, Ref | At) and basic.fills)]
    sure = len(refs) == len(passed) and not any(isinstance(basic, Row) for basic in refs)
    return bound if not refs else frozenset(refs) if sure else joined(frozenset(refs), bound)


def _overridden(default: Val, passed: Val | None) -> Val:
    """A default, unless a value is passed that is not null."""
    if passed is None:
        return default
    sure = not any(_may_be_null(basic) for basic in passed)
    rest = frozenset(basic for basic in passed if not isinstance(basic, Null))
    return rest if sure and rest else joined(default, rest) if rest else default


def _may_be_null(basic: Any) -> bool:
    is_known, content = known(val(basic))
    return content is None if is_known else isinstance(basic, Null | At | Answer | Anything)


def _spread(given: Mapping[str, Val], names: list[str]) -> dict[str, Val]:
    """What is passed by name. An object under an unknown name fills names by its fields."""
    found: dict[str, Val] = {name: value for name, value in given.items() if name in names}
    for name, value in given.items():
        if name in names:
            continue
        for key in names:
            inside = [_entry(basic, key) for basic in value]
            entries = [entry for entry in inside if entry is not None]
            if entries:
                rest = [found[key]] if key in found else [NULL] if len(entries) < len(value) else []
                found[key] = joined(*entries, *rest)
    return found


def _entry(basic: Any, key: str) -> Val | None:
    """What an object holds under a key; None when it surely holds nothing."""
    if isinstance(basic, Obj):
        return dict(basic.fields).get(key)
    if isinstance(basic, At) and not basic.fills:
        is_known, content = known(val(basic))
        if not is_known:
            return joined(val(At((*basic.path, key))), NULL)
        return literal(content[key]) if isinstance(content, dict) and key in content else None
    opaque = isinstance(basic, Anything) or (isinstance(basic, Answer) and not basic.plain)
    return joined(UNKNOWN, NULL) if opaque else None
