"""Short Markdown texts on the things that a spec names."""

from __future__ import annotations

import json
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.scope import Frame
from prose_runtime.check.tables import Demand, Target
from prose_runtime.lsp.desk import View
from prose_runtime.lsp.index import Symbol

_SHOWN = 120


def card(view: View, symbol: Symbol) -> str:
    """What is declared of a symbol."""
    node = symbol.node
    if symbol.frame is not None:
        return _variable_card(view, symbol, symbol.frame)
    if isinstance(node, n.Parameter):
        return input_card(node, undeclared=node.name in view.scopes_of(symbol.spec).undeclared)
    if isinstance(node, n.Slot):
        return slot_card(node, symbol.spec)
    if isinstance(node, n.Spec):
        return spec_card(view, node)
    return _other_card(node, symbol)


def _other_card(node: n.Node | None, symbol: Symbol) -> str:
    if isinstance(node, n.ConfigItem):
        return config_card(node)
    if isinstance(node, n.Instance):
        return _instance_card(node)
    if isinstance(node, n.OutputDecl):
        return _line("output", node.name, node.type, _optional(node.optional), node.description)
    if isinstance(node, n.BlockDef):
        return f"**block** `{node.name.id}({', '.join(p.id for p in node.params)})`"
    return f"**{symbol.kind}** `{symbol.name}`"


def slot_card(slot: n.Slot, spec: n.Spec) -> str:
    """A slot's contract, and its job."""
    marks = (("primary", slot.primary), ("person", slot.person), ("list", slot.is_list))
    facts = [word for word, holds in marks if holds]
    parts = [_line("slot", slot.name, None, ", ".join(facts), slot.description)]
    if slot.requires:
        parts.append("- requires: " + ", ".join(item.text for item in slot.requires))
    if slot.ensures:
        parts.append("- ensures: " + "; ".join(promise.text for promise in slot.ensures))
    job = next((d.job for d in spec.shape.delegates if d.slot == slot.name), "") if spec.shape else ""
    if job:
        parts.append(f"- job: {job}")
    return "\n".join([parts[0], "", *parts[1:]]).strip()


def config_card(item: n.ConfigItem) -> str:
    """Type, default and description of a config item."""
    default = f"default: {_shown(item.default)}" if item.default is not None else _optional(item.optional) or "required"
    return _line("config", item.name, item.type, default, item.description)


def input_card(row: n.Parameter, *, undeclared: bool = False) -> str:
    """Type, default and description of an input."""
    facts = [f"default: {_shown(row.default)}"] if row.has_default else [_optional(row.optional)]
    facts += ["declared nowhere"] if undeclared else []
    return _line("input", row.name, row.type, ", ".join(filter(None, facts)), row.description)


def spec_card(view: View, spec: n.Spec) -> str:
    """What a spec is for, takes and gives."""
    about = spec.frontmatter.get("description") or spec.preamble or ""
    parts = [_line(spec.kind or "spec", spec.name, None, "", _first_sentence(str(about)))]
    inputs = view.scopes_of(spec).inputs
    groups = (
        ("slots", [slot.name for slot in spec.slots]),
        ("inputs", [f"{row.name} (optional)" if row.optional else row.name for row in inputs.values()]),
        ("config", [item.name for item in spec.config]),
        ("returns", [output.name for output in spec.returns.outputs] if spec.returns else []),
    )
    parts += [f"- {what}: {', '.join(names)}" for what, names in groups if names]
    return "\n".join([parts[0], "", *parts[1:]]).strip()


def target_card(view: View, spec: n.Spec, target: Target) -> str:
    """What a call leads to."""
    if target.kind == "reference":
        slot = f", a member of `{target.slot.name}`" if target.slot else ""
        return f"`{target.name}` holds a service{slot}"
    if target.slot is not None:
        return slot_card(target.slot, spec)
    told = [_instance_card(target.instance)] if target.instance else []
    told += [spec_card(view, target.spec)] if target.spec else []
    return "\n\n".join(told)


def demand_line(demand: Demand | None) -> str:
    """What the program reads of a call's result, and so asks the service for (LANGUAGE.md section 4)."""
    if demand is None or not demand.structured:
        return ""
    if demand.items is not None:
        return "asked for: a list"
    if demand.number and not demand.fields:
        return "asked for: a number"
    marks = {name: "" if name in demand.required else "?" for name in demand.fields}
    return "asked for: " + ", ".join(f"`{name}{mark}`" for name, mark in marks.items())


def field_line(name: str, target: Target, demand: Demand | None) -> str:
    """A field of what a call of a target gives."""
    outputs = target.spec.returns.outputs if target.spec and target.spec.returns else ()
    about = next((output.description for output in outputs if output.name == name), "")
    ensured = target.slot is not None and any(name in promise.names for promise in target.slot.ensures)
    declared = ensured or any(output.name == name for output in outputs)
    need = "" if demand is None or name not in demand.fields else "needed" if name in demand.required else "asked for"
    facts = ", ".join(filter(None, (f"of `{target.name}`", "declared" if declared else "not declared", need)))
    return _line("field", name, None, facts, about)


def _instance_card(instance: n.Instance) -> str:
    filled = ", ".join(f"{slot}: {_filler(value)}" for slot, value in instance.bindings.items())
    return _line("instance", instance.name or "", None, f"of {instance.pattern}", filled)


def _filler(value: Any) -> str:
    if isinstance(value, n.Instance):
        return value.pattern
    return f"[{', '.join(map(_filler, value))}]" if isinstance(value, list | tuple) else str(value)


def _variable_card(view: View, symbol: Symbol, frame: Frame) -> str:
    """Where a variable gets its values, and what is read of them."""
    bindings = frame.bindings.get(symbol.name, [])
    place = view.source.place
    lines = [f"**variable** `{symbol.name}`", ""]
    for binding in bindings[:4]:
        line = place(binding.span.start).line
        text = view.source.text[slice(*view.source.line_span(line))].strip()
        lines.append(f"- line {line}: `{text[:_SHOWN].replace('`', '')}`")
    demands = view.analysis_of(symbol.spec).demands
    asked = [demand_line(demands.get(b.node.value)) for b in bindings if isinstance(b.node, n.Bind)]
    return "\n".join(lines + [f"- {line}" for line in dict.fromkeys(asked) if line])


def _line(what: str, name: str, kind: str | None, facts: str, about: str) -> str:
    told = ", ".join(filter(None, (kind, facts)))
    return f"**{what}** `{name}`" + (f" ({told})" if told else "") + (f": {about}" if about else "")


def _optional(optional: bool) -> str:
    return "optional" if optional else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _first_sentence(text: str) -> str:
    words = " ".join(text.split())
    return words.partition(". ")[0].rstrip(".") if words else ""
