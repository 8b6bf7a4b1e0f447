"""The walk that counts calls, over what asks somebody: calls, sessions, questions, effects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import partial

from prose_runtime import nodes as n
from prose_runtime.check.arguments import MODIFIERS
from prose_runtime.check.bounds_cost import CALLS, CHAIN, REQUESTS, WAIT, Cost, Exit, Key, either_exit, opened
from prose_runtime.check.bounds_formula import ONE, ZERO, Formula, count
from prose_runtime.check.bounds_units import Wires
from prose_runtime.check.bounds_values import (
    NULL,
    UNKNOWN,
    Answer,
    At,
    Fill,
    Flag,
    Null,
    Num,
    Range,
    Ref,
    Text,
    Val,
    Wanted,
    exactly,
    frozen,
    joined,
    known,
    literal,
    numeric,
    val,
)
from prose_runtime.check.bounds_walk import Expressions, Site
from prose_runtime.check.scope import required_names
from prose_runtime.check.shapes import schema, with_declared
from prose_runtime.check.tables import Demand, Target

SESSION = "session"
PERSON = "human"


class Calls(Expressions, ABC):
    """The walk over calls."""

    def call(self, node: n.Call) -> Val:
        """``call target``."""
        target = self.analysis.targets.get(node)
        if target is not None and target.kind == "block":
            return self.call_block(target.name, node.args, node)
        fills = self.fills(node.target, target)
        passed, modifiers = self.gather(node.args, self._declared(fills))
        if node.spread is not None:
            passed["with"] = self.value(node.spread)
        return self.hand_over(node, fills, passed, modifiers)

    @abstractmethod
    def call_block(self, name: str, args: tuple[n.Argument, ...], node: n.Node) -> Val:
        """A block as the target of a call."""

    def fills(self, expr: n.Expr, target: Target | None) -> tuple[Fill, ...]:
        """Who may answer a call."""
        if target is None or target.kind in ("slot", "reference"):
            value = self._slot(target) if target is not None and target.kind == "slot" else self.value(expr)
            found = self.shared.meant(value)
            if not found and target is not None and target.slot is not None:
                found = list(self.unit.slots.get(target.slot.name, ()))
            return tuple(dict.fromkeys(found)) or (Fill(target.name if target else self.spelled(expr.span)),)
        return (self.wires.target(target),)

    def _slot(self, target: Target) -> Val:
        return val(Ref(self.unit.slots.get(target.name, (Fill(target.name),))))

    @property
    def wires(self) -> Wires:
        """What the names of this spec mean."""
        return Wires(self.unit, self.shared.outside)

    def _declared(self, fills: tuple[Fill, ...]) -> list[str]:
        """The names that the target declares; a modifier of that name is an input."""
        fill = fills[0]
        slot = self.slots.get(fill.name)
        if slot is not None and slot.requires:
            return list(required_names(slot))
        if fill.unit is not None:
            return list(fill.unit.analysis.inputs)
        return [parameter.name for parameter in fill.spec.parameters] if fill.spec else []

    def gather(
        self, args: Collection[n.Argument], declared: list[str]
    ) -> tuple[dict[str, Val], dict[str, tuple[n.Argument, Val]]]:
        """The inputs that arguments pass, and the modifiers among them."""
        names = {_plain(name) for name in declared}
        free = iter(declared)
        passed: dict[str, Val] = {}
        modifiers: dict[str, tuple[n.Argument, Val]] = {}
        for i, argument in enumerate(args):
            value = self.value(argument.value)
            name = argument.name or next(free, None) or f"input_{i + 1}"
            if argument.name in MODIFIERS and _plain(name) not in names:
                modifiers[name] = argument, value
            else:
                passed[name] = value
        return passed, modifiers

    def hand_over(
        self,
        node: n.Expr,
        fills: tuple[Fill, ...],
        passed: dict[str, Val],
        modifiers: dict[str, tuple[n.Argument, Val]],
    ) -> Val:
        """Who answers gets the inputs; several may be meant, of whom one answers."""
        before = self.cost
        if len(fills) == 1:
            value = self._give(node, fills[0], passed, modifiers)
        else:
            value = self.choose([partial(self._give, node, fill, passed, modifiers) for fill in fills])
        self.note(node, before)
        return value

    def note(self, node: n.Node, before: Cost) -> None:
        """Note what a node of the outermost spec costs."""
        if len(self.shared.inside) == 1 and not self.dead:
            low = before.get(CALLS, Range(ZERO, ZERO))
            now = self.cost.get(CALLS, Range(ZERO, ZERO))
            self.shared.heavy[node] = Range(now.low.minus(low.low), now.high.minus(low.high))

    def _give(
        self, node: n.Expr, fill: Fill, passed: dict[str, Val], modifiers: dict[str, tuple[n.Argument, Val]]
    ) -> Val:
        if fill.unit is not None:
            prompt = {"prompt": modifiers["prompt"][1]} if "prompt" in modifiers else {}
            return self.unit_call(node, fill, {**prompt, **passed})
        return self.ask(node, fill, passed, modifiers)

    def ask(
        self,
        node: n.Expr,
        fill: Fill,
        passed: dict[str, Val],
        modifiers: dict[str, tuple[n.Argument, Val]],
    ) -> Val:
        """One service answers, with as many requests as retries and the one repair make."""
        slot = self.slots.get(fill.name)
        demand = self._demand(node, slot, fill.spec)
        tries = ONE + self._retries(modifiers)
        requests = tries + tries if schema(demand) is not None else tries
        told = ZERO
        for value in [*passed.values(), *(value for name, (_, value) in modifiers.items() if name == "prompt")]:
            told = told + self.characters(value)
        self._site(node, fill, passed, slot, demand)
        once = exactly(ONE)
        self.add(
            {
                CALLS: once,
                Key("target", fill.name): once,
                REQUESTS: Range(ONE, requests),
                CHAIN: once,
                WAIT: once,
                Key("service", fill.service): once,
                Key("characters", fill.service): Range(ZERO, told),
            }
        )
        self.may_raise()
        return val(Answer(fill.name, Wanted(demand), _is_number(demand), not demand.structured))

    def _demand(self, node: n.Node, slot: n.Slot | None, spec: n.Spec | None) -> Demand:
        key = node, slot, spec
        if key not in self.shared.demands:
            own = self.analysis.demands.get(node) or Demand(whole=True)
            self.shared.demands[key] = with_declared(own, spec.returns if spec else None, slot)
        return self.shared.demands[key]

    def _retries(self, modifiers: dict[str, tuple[n.Argument, Val]]) -> Formula:
        """How often a failed request is tried again."""
        found = modifiers.get("retry")
        if found is None:
            return ZERO
        argument, value = found
        if known(value) == (True, None):
            return ZERO
        high = numeric(value).high
        spelled = self.spelled(argument.value.span)
        reason = f"the number `{spelled}` shows only while the program runs"
        return self.unknown(argument, reason, spelled) if high is None else count(high)

    def _site(self, node: n.Node, fill: Fill, passed: dict[str, Val], slot: n.Slot | None, demand: Demand) -> None:
        same = (site.node is node and site.fill == fill for site in self.shared.sites)
        if not any(same):
            self.shared.sites.append(Site(fill, node, self.unit, tuple(passed), slot, demand))

    def again(self, node: n.Node, what: n.Node, reason: str) -> Val:
        """A block or spec runs within itself."""
        self.shared.recursive[what] = self.unknown(node, reason)
        return UNKNOWN

    # specs with calls of their own

    def unit_call(self, node: n.Expr, fill: Fill, passed: dict[str, Val]) -> Val:
        """A spec runs inside this one."""
        # imported late: a spec that is called is walked like the one that calls
        from prose_runtime.check.bounds_program import run_unit

        assert fill.unit is not None
        if self.shared.inside.count(fill.unit.analysis.spec) > DEEPEST_NESTING:
            return self.again(node, fill.unit.analysis.spec, f"`{fill.name}` calls itself")
        given = {name: self._passed(frozen(value, self.state)) for name, value in passed.items()}
        exits = run_unit(fill.unit, given, self.shared, catching=self.catching > 0, where=self.where(node.span))
        exits = opened(exits, self.shared.recursive.get(fill.unit.analysis.spec))
        raised = exits.get("raise")
        if raised is not None and self.catching:
            self.hand_on({"raise": Exit(raised.cost, self.state, NULL)})
        way: Exit | None = None
        for kind, exit_ in exits.items():
            way = way if kind == "raise" else either_exit(way, exit_)
        if way is None:
            if raised is not None and not self.catching:
                self.hand_on({"raise": Exit(raised.cost, self.state, NULL)})
            self.die()
            return NULL
        self.add(way.cost)
        return way.value

    def _passed(self, value: Val) -> Val:
        """A value as the called spec gets it. What is declared as a number is never null.

        Where the program assigns fields or elements, nothing is known of lists and objects.
        """
        (basic,) = value if len(value) == 1 else (None,)
        if isinstance(basic, At) and len(basic.path) == 1 and basic.path[0] in self.typed:
            return val(numeric(value))
        if not self.assigned:
            return value
        kept = [b for b in value if isinstance(b, Ref | Num | Null | Text | Flag) or (isinstance(b, At) and b.fills)]
        return frozenset(kept) if len(kept) == len(value) else joined(frozenset(kept), UNKNOWN)

    # the oldest dialect

    def session(self, node: n.Session) -> Val:
        """``session "..."`` and its forms."""
        agent = self.agents.get(node.agent.id) if node.agent else None
        told: dict[str, Val] = {}
        modifiers: dict[str, tuple[n.Argument, Val]] = {}
        for argument in [*(agent.args if agent else ()), *node.args]:
            value = self.value(argument.value)
            if argument.name in MODIFIERS:
                modifiers[argument.name] = argument, value
            elif argument.name == "context":
                told[f"context_{len(told)}"] = value
        if node.prompt is not None:
            told["prompt"] = self.value(node.prompt)
        value = self._session(node, agent, told, modifiers)
        if node.name is not None:
            self.state.names[node.name.id] = value
        return value

    def _session(
        self,
        node: n.Session,
        agent: n.Agent | None,
        told: dict[str, Val],
        modifiers: dict[str, tuple[n.Argument, Val]],
    ) -> Val:
        if node.agent is None or agent is not None:
            name = node.agent.id if node.agent else SESSION
            return self.hand_over(node, (self.shared.outside.open(name),), told, modifiers)
        return self.hand_over(node, self.fills(node.agent, self.analysis.targets.get(node)), told, modifiers)

    def question(self, node: n.Discretion) -> Val:
        """``**question**`` as a value."""
        return self.hand_over(node, (self.shared.outside.open(SESSION),), {"prompt": literal(node.text)}, {})

    def person(self, node: n.Ask) -> Val:
        """``ask "text"``."""
        passed, modifiers = self.gather(node.args, [])
        if node.prompt is not None:
            passed["prompt"] = self.value(node.prompt)
        value = self.hand_over(node, (self.shared.outside.service(PERSON),), passed, modifiers)
        self.may_raise()
        return value

    def effect(self, node: n.Effect) -> Val:
        """``escalate topic``: the service of that name is told."""
        passed, modifiers = self.gather(node.args, [])
        passed["prompt"] = literal(node.text)
        return self.hand_over(node, (self.shared.outside.service(node.name),), passed, modifiers)


DEEPEST_NESTING = 4
"""How often the same spec may run inside itself before it counts as calling itself without end."""


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()


def _is_number(demand: Demand) -> bool:
    return demand.number and not demand.fields and demand.items is None and not demand.keyed


Calls.VISITS.update(
    {
        n.Call: Calls.call,
        n.Session: Calls.session,
        n.Discretion: Calls.question,
        n.Ask: Calls.person,
        n.Effect: Calls.effect,
    }
)
