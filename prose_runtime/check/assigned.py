"""Which names surely have a value when a place runs (LANGUAGE.md section 3, rule 1): definite assignment.

A loop is taken to run at least once; what its later passes find bound, the first one may not. Blocks run when they are
called and are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prose_runtime import nodes as n
from prose_runtime.check.rule import Facts
from prose_runtime.check.scope import published_names

_Names = frozenset[str]
_Ended = None
"""The state behind a statement that never goes on to the next one."""

_State = _Names | None


class Assigned:
    """Walks a program once.

    Attributes:
        open: The names that are read where not every path has bound them.
    """

    def __init__(self, facts: Facts):
        self.open: set[n.Name] = set()
        self._scopes = facts.scopes
        self._breaks: list[list[_Names]] = []
        if facts.spec.body is not None:
            self._run(facts.spec.body, frozenset(facts.scopes.start))

    def _run(self, node: n.Node | None, state: _Names) -> _State:
        """The names that are bound behind a node, or None when what follows is not reached from it."""
        if node is None:
            return state
        visit = _VISITS.get(type(node))
        return visit(self, node, state) if visit else self._each(node.children(), state)

    def _each(self, nodes: Iterable[n.Node | None], state: _Names) -> _State:
        for node in nodes:
            after = self._run(node, state)
            if after is None:
                return _Ended
            state = after
        return state

    def _aside(self, node: n.Node | None, state: _Names) -> None:
        """A part that is a frame of its own: it binds nothing outside, and what ends in it ends there."""
        self._breaks.append([])
        self._run(node, state)
        self._breaks.pop()

    def _name(self, node: n.Name, state: _Names) -> _State:
        bound = self._scopes.frames[node].lookup(node.id) if node in self._scopes.frames else ()
        if node.id not in state and bound:
            self.open.add(node)
        return state

    def _bind(self, node: n.Bind, state: _Names) -> _State:
        after = self._run(node.value, state)
        if after is None:
            return _Ended
        if isinstance(node.target, n.Name | n.Destructure):
            return after | {name.id for name in published_names(node)}
        return self._run(node.target, after)

    def _output(self, node: n.Output, state: _Names) -> _State:
        after = self._run(node.value, state)
        return after if after is None else after | {node.name.id}

    def _session(self, node: n.Session, state: _Names) -> _State:
        after = self._each((node.prompt, *node.args), state)
        return after if after is None or node.name is None else after | {node.name.id}

    def _input(self, node: n.Input, state: _Names) -> _State:
        return state | {node.name.id}

    def _leave(self, node: n.Return | n.Throw, state: _Names) -> _State:
        self._run(node.value, state)
        return _Ended

    def _jump(self, node: n.Break | n.Continue, state: _Names) -> _State:
        if self._breaks:
            self._breaks[-1].append(state)
        return _Ended

    def _if(self, node: n.If, state: _Names) -> _State:
        ends: list[_State] = []
        for branch in node.branches:
            self._run(branch.condition, state)
            ends.append(self._run(branch.body, state))
        ends.append(self._run(node.orelse, state))
        return _meet(ends)

    def _choice(self, node: n.Choice, state: _Names) -> _State:
        self._run(node.criteria, state)
        return _meet([self._run(option.body, state) for option in node.options]) if node.options else state

    def _loop(self, node: n.Repeat | n.ForEach | n.Loop, state: _Names) -> _State:
        heads = {field: getattr(node, field, None) for field in ("count", "iterable", "maximum", "parallel")}
        self._each(heads.values(), state)
        names = (getattr(node, "var", None), getattr(node, "index", None))
        inside = state | {name.id for name in names if name is not None}
        if heads["parallel"] is not None:
            self._aside(node.body, inside)
            return state
        self._breaks.append([])
        if isinstance(node, n.Loop) and node.kind == "while":
            self._run(node.condition, inside)
        ends: list[_State] = [self._run(node.body, inside), *self._breaks.pop()]
        end = _meet(ends)
        if isinstance(node, n.Loop) and node.kind == "until" and end is not None:
            self._run(node.condition, end)
        return end

    def _parallel(self, node: n.Parallel, state: _Names) -> _State:
        self._run(node.options, state)
        published: set[str] = set()
        for statement in node.body.statements:
            self._aside(statement, state)
            published |= {name.id for name in published_names(statement)}
        return state | published

    def _try(self, node: n.Try, state: _Names) -> _State:
        ends = [self._run(node.body, state)]
        if node.catch is not None:
            caught = {node.catch.var.id} if node.catch.var else set()
            ends.append(self._run(node.catch.body, state | caught))
        end = _meet(ends)
        final = self._run(node.final, state)
        return _Ended if end is None or final is None else end | final

    def _stage(self, node: n.Stage, state: _Names) -> _State:
        self._aside(node.body, state | {"item"} | {name.id for name in node.names})
        return state

    def _nothing(self, node: n.Node, state: _Names) -> _State:
        return state

    def _invalid(self, node: n.Invalid, state: _Names) -> _State:
        """An unreadable line may bind anything: what it seems to bind is in the frame's bindings."""
        frame = self._scopes.frames.get(node)
        return state.union(frame.bindings) if frame else state

    def _conditional(self, node: n.Conditional, state: _Names) -> _State:
        """A value that a condition chooses is asked for knowingly."""
        return state


def _meet(ends: Iterable[_State]) -> _State:
    """What all paths that go on have bound."""
    going = [end for end in ends if end is not None]
    return frozenset.intersection(*going) if going else _Ended


_VISITS: Mapping[type[n.Node], Callable[[Assigned, Any, _Names], _State]] = {
    n.Name: Assigned._name,
    n.Bind: Assigned._bind,
    n.Output: Assigned._output,
    n.Session: Assigned._session,
    n.Input: Assigned._input,
    n.Return: Assigned._leave,
    n.Throw: Assigned._leave,
    n.Break: Assigned._jump,
    n.Continue: Assigned._jump,
    n.If: Assigned._if,
    n.Choice: Assigned._choice,
    n.Repeat: Assigned._loop,
    n.ForEach: Assigned._loop,
    n.Loop: Assigned._loop,
    n.Parallel: Assigned._parallel,
    n.Try: Assigned._try,
    n.Stage: Assigned._stage,
    n.BlockDef: Assigned._nothing,
    n.Agent: Assigned._nothing,
    n.Use: Assigned._nothing,
    n.Invalid: Assigned._invalid,
    n.Conditional: Assigned._conditional,
}
