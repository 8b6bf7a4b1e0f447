"""How often a role is called, as sums of products of config, inputs and lengths of lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf, prod

from prose_runtime import nodes as n
from prose_runtime.check.flow_findings import Findings, Path, Step
from prose_runtime.check.flow_order import Way, is_loop, is_sequential
from prose_runtime.check.invariant_claims import Terms
from prose_runtime.check.scope import Scopes
from prose_runtime.check.settled import changed_names, is_given, only_value
from prose_runtime.records import dataclass

Poly = Mapping[tuple[str, ...], float]
"""A sum: each product of names with its factor. Names stand for whole numbers that are not negative."""

ZERO: Poly = {}
ONE: Poly = {(): 1}
ENDLESS: Poly = {(): inf}

UNKNOWN = "?"
"""The first letter of a name that stands for something that is not known by name."""


def plus(one: Poly, other: Poly) -> Poly:
    """The sum."""
    made = dict(one)
    for names, factor in other.items():
        made[names] = made.get(names, 0) + factor
    return made


def times(one: Poly, other: Poly) -> Poly:
    """The product."""
    made: dict[tuple[str, ...], float] = {}
    for names, factor in one.items():
        for more, second in other.items():
            key = tuple(sorted((*names, *more)))
            made[key] = made.get(key, 0) + factor * second
    return made


def at_most(one: Poly, other: Poly) -> bool:
    """Whether the one is never more than the other, whatever the names stand for."""
    return all(factor <= other.get(names, 0) for names, factor in one.items() if factor > 0) and all(
        factor >= 0 for factor in other.values()
    )


def larger(one: Poly, other: Poly) -> Poly:
    """A bound of both."""
    return {names: max(one.get(names, 0), other.get(names, 0)) for names in {**one, **other}}


def smaller(one: Poly, other: Poly) -> Poly:
    """What both surely reach."""
    return {names: factor for names in one if (factor := min(one[names], other.get(names, 0)))}


def value_of(poly: Poly, values: Mapping[str, float]) -> float | None:
    """The number for given values of the names; None when one is not given."""
    total = 0.0
    for names, factor in poly.items():
        if not values.keys() >= set(names):
            return None
        total += factor * prod(values[name] for name in names)
    return total


def claimed(terms: Terms) -> Poly:
    """The number that an invariant names."""
    made: Poly = {}
    for factor, names in terms:
        made = plus(made, {tuple(sorted(name.replace("len ", "#") for name in names)): factor})
    return made


def shown(poly: Poly) -> str:
    """The number as a person writes it."""
    parts = []
    for names, factor in poly.items():
        words = [f"the length of {name[1:]}" if name[0] == "#" else name for name in names]
        if factor == inf:
            return "any number"
        number = f"{factor:g}"
        parts.append(" * ".join(words if words and factor == 1 else [number, *words]))
    return " + ".join(parts) or "0"


@dataclass(frozen=True, slots=True)
class Range:
    """A number between two bounds."""

    low: Poly
    high: Poly


class Numbers:
    """Reads numbers off expressions: how many passes a loop makes."""

    def __init__(self, scopes: Scopes):
        self.scopes = scopes
        names = {item.name for item in scopes.spec.config} | {slot.name for slot in scopes.spec.slots}
        self.given = names | set(scopes.inputs)

    def passes(self, loop: n.Node) -> Range:
        """How many passes a loop makes, exits left aside."""
        if isinstance(loop, n.Repeat):
            return self.number(loop.count)
        if isinstance(loop, n.ForEach):
            length = self.length(loop.iterable)
            if loop.maximum is None:
                return length
            return Range(ZERO, self.number(loop.maximum).high)
        if isinstance(loop, n.Loop):
            most = Range(ONE, ENDLESS) if loop.maximum is None else self.number(loop.maximum)
            return Range(ZERO if loop.kind == "while" else smaller(ONE, most.low), most.high)
        return Range(ZERO, {(f"{UNKNOWN}{loop.span.start}",): 1})

    def number(self, expr: n.Expr, depth: int = 4) -> Range:
        """The number that an expression is."""
        if isinstance(expr, n.Constant) and isinstance(expr.value, int) and not isinstance(expr.value, bool):
            return _exactly({(): expr.value} if expr.value > 0 else ZERO)
        if isinstance(expr, n.Name):
            return self.named(expr, self.number, expr.id, depth)
        if isinstance(expr, n.Field):
            return self.field(expr, depth)
        if isinstance(expr, n.FunctionCall) and expr.name == "len" and len(expr.args) == 1:
            return self.length(expr.args[0], depth)
        return self.computed(expr, depth) if isinstance(expr, n.Binary) else self.unknown(expr)

    def computed(self, expr: n.Binary, depth: int) -> Range:
        """A sum or product; a difference is at most what something is taken from."""
        left, right = self.number(expr.left, depth), self.number(expr.right, depth)
        if expr.op == "-":
            return Range(ZERO, left.high)
        join = {"+": plus, "*": times}.get(expr.op)
        return Range(join(left.low, right.low), join(left.high, right.high)) if join else self.unknown(expr)

    def field(self, expr: n.Field, depth: int) -> Range:
        """``config.x`` and ``xs.length``."""
        holder = expr.object
        if isinstance(holder, n.Name) and holder.id == "config" and expr.name in self.given:
            return _exactly({(expr.name,): 1}) if is_given(self.scopes, holder) else self.unknown(expr)
        return self.length(holder, depth) if expr.name == "length" else self.unknown(expr)

    def length(self, expr: n.Expr, depth: int = 4) -> Range:
        """The length of a list."""
        if isinstance(expr, n.ListExpr):
            return _exactly({(): len(expr.items)} if expr.items else ZERO)
        if isinstance(expr, n.Name):
            return self.named(expr, self.length, f"#{expr.id}", depth)
        if isinstance(expr, n.FunctionCall) and expr.name == "range" and len(expr.args) == 1:
            return self.number(expr.args[0], depth)
        return self.unknown(expr)

    def named(self, expr: n.Name, read: Callable[[n.Expr, int], Range], known: str, depth: int) -> Range:
        """A name that stands for something given, or for one expression; without a value, no loop would run."""
        if expr.id in self.given and is_given(self.scopes, expr):
            return _exactly({(known,): 1})
        value = None if expr.id in changed_names(self.scopes.spec.body) else only_value(self.scopes, expr)
        return read(value, depth - 1) if value is not None and depth else self.unknown(expr)

    def unknown(self, expr: n.Expr) -> Range:
        """A number of which nothing is known."""
        return Range(ZERO, {(f"{UNKNOWN}{self.scopes.spec.source.slice(expr.span)}",): 1})


def _exactly(poly: Poly) -> Range:
    return Range(poly, poly)


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a role is called in a run that comes to its end.

    ``sure`` is what a run comes to that roles never make end early, by the calls ``reached``: above a bound, it
    refutes it.
    """

    low: Poly
    high: Poly
    sure: Poly
    reached: tuple[Way, ...]


class Counter:
    """Counts calls below a common part of their ways."""

    def __init__(
        self, findings: Findings, numbers: Numbers, collected: frozenset[n.Node], leave_out: n.Node | None = None
    ):
        self.findings = findings
        self.numbers = numbers
        self.collected = collected
        self.leave_out = leave_out

    def count(self, ways: Sequence[Way], since: int = 0) -> Counted:
        """Count the calls at the end of some ways, from a step on."""
        single = [way for way in ways if way.sole]
        made = {way: self.surely(way.path, since) for way in single}
        reached = tuple(way for way, number in made.items() if number)
        sure = _fold(plus, list(made.values()))
        alone = [way.path for way in single]
        low = self.low(alone, since) if all(self._comes_to_its_end(way.path[:since]) for way in single) else ZERO
        return Counted(low, self.high([way.path for way in ways], since), sure, reached)

    def _comes_to_its_end(self, around: Path) -> bool:
        """Whether what runs inside these steps comes to its end in every run that does."""
        return not any((isinstance(node, n.Try) and node.catch) or not self._all_run(node) for node, _ in around)

    def factor(self, node: n.Node) -> Range:
        """How often the body of a loop runs."""
        return Range(ONE, ONE) if node is self.leave_out else self.numbers.passes(node)

    # at most

    def high(self, paths: Sequence[Path], at: int) -> Poly:
        """What the calls of some ways come to at most, from a step on."""
        total = ZERO
        for node, parts in _grouped(paths, at):
            counts = {part: self.high(below, at + 1) for part, below in parts.items()}
            total = plus(total, self._high_of(node, counts))
        return plus(total, {(): ends} if (ends := sum(len(path) == at for path in paths)) else ZERO)

    def _high_of(self, node: n.Node, counts: dict[int, Poly]) -> Poly:
        if isinstance(node, n.If | n.Choice | n.Conditional):
            return _fold(larger, list(counts.values()))
        if isinstance(node, n.Block):
            return self._block(node, counts)
        total = _fold(plus, list(counts.values()))
        return times(self.factor(node).high, total) if is_loop(node) else total

    def _block(self, block: n.Block, counts: dict[int, Poly]) -> Poly:
        """Statements one after the other; a branch that leaves excludes what comes behind it."""
        total = ZERO
        for number in sorted(counts, reverse=True):
            statement = block.statements[number]
            fork = statement.value if isinstance(statement, n.ExprStatement) else statement
            leaves = isinstance(fork, n.If | n.Choice) and self._all_dead(fork)
            total = larger(total, counts[number]) if leaves else plus(total, counts[number])
        return total

    def _all_dead(self, fork: n.Node) -> bool:
        known = [dead for (node, _), dead in self.findings.dead.items() if node is fork]
        return bool(known) and all(known)

    # at least

    def low(self, paths: Sequence[Path], at: int) -> Poly:
        """What the calls of some ways come to at least when the run comes to its end."""
        total = ZERO
        for node, parts in _grouped(paths, at):
            total = plus(total, self._low_of(node, parts, at))
        return plus(total, {(): ends} if (ends := sum(len(path) == at for path in paths)) else ZERO)

    def _low_of(self, node: n.Node, parts: Mapping[int, list[Path]], at: int) -> Poly:
        below = {part: self.low(paths, at + 1) for part, paths in parts.items()}
        if isinstance(node, n.Block):
            return self._low_block(node, below, at, next(iter(parts.values()))[0][:at])
        if isinstance(node, n.If):
            taken = [below.get(part, ZERO) for part in range(len(node.branches) + 1) if not self._throws(node, part)]
            return _fold(smaller, taken)
        if isinstance(node, n.Try):
            sure = below.get(0, ZERO)
            return sure if node.catch is None else smaller(sure, self._before_failing(node, parts.get(0, [])))
        if isinstance(node, n.Choice | n.Conditional | n.Binary) or not self._all_run(node):
            return ZERO
        total = _fold(plus, list(below.values()))
        if not is_loop(node):
            return total
        early = isinstance(node, n.Repeat | n.ForEach | n.Loop) and self._ends_early(node)
        tested = isinstance(node, n.Loop) or early
        passes = self.factor(node).low
        return times(smaller(passes, ONE) if tested else passes, total)

    def _all_run(self, node: n.Node) -> bool:
        """Whether a run that goes on has carried out all branches: none was cancelled, or failed before a call."""
        looping = node.parallel if isinstance(node, n.Repeat | n.ForEach) else None
        options = node.options if isinstance(node, n.Parallel) else looping
        if options is None or (options.mode, options.on_fail) == ("all", "fail-fast"):
            return True
        inside = [1 for site in self.findings.sites.values() for path in site.paths if any(node is s for s, _ in path)]
        return options.mode == "all" and len(inside) == 1

    def _low_block(self, block: n.Block, below: dict[int, Poly], at: int, prefix: Path) -> Poly:
        """What stands behind a statement that may leave, other than by ``throw``, is not sure to run."""
        total = ZERO
        for number in range(len(block.statements)):
            total = plus(total, below.get(number, ZERO))
            if (*prefix, (block, number)) in self._left:
                break
        return total

    @cached_property
    def _left(self) -> set[Path]:
        """The statements, by their paths, that a jump inside them may leave."""
        jumps = [(path, jump) for path, jump in self.findings.jumps.items() if not isinstance(jump, n.Throw)]
        return {
            path[:size] for path, jump in jumps for size in range(len(path) + 1) if not self._is_kept(path, size, jump)
        }

    def _is_kept(self, path: Path, since: int, jump: n.Node) -> bool:
        """Whether a jump only leaves a loop or a frame that lies inside the statement."""
        kept = (n.Repeat, n.ForEach, n.Loop) if isinstance(jump, n.Break | n.Continue) else ()
        frames = (n.Stage, n.Parallel, n.DoBlock, n.Call, n.Do)
        for node, _ in path[since:]:
            if isinstance(node, frames) or (kept and isinstance(node, kept)):
                return True
            if isinstance(node, n.Repeat | n.ForEach) and (node.parallel is not None or node in self.collected):
                return True
        return False

    def _throws(self, node: n.If, part: int) -> bool:
        """Whether a branch only ends in ``throw``, so that a run which comes to its end does not take it."""
        if not self.findings.dead.get((node, part), False):
            return False
        jumps = [jump for path, jump in self.findings.jumps.items() if (node, part) in path]
        return bool(jumps) and all(isinstance(jump, n.Throw) for jump in jumps)

    def _before_failing(self, node: n.Try, paths: Sequence[Path]) -> Poly:
        """How many calls in a ``try`` are made at least, whichever fails: the first one, when it is the only place."""
        sites = [path for site in self.findings.sites.values() for path in site.paths if (node, 0) in path]
        return ONE if len(paths) == 1 and len(sites) == 1 else ZERO

    def _ends_early(self, loop: n.Node) -> bool:
        return any(
            (loop, 0) in path and not isinstance(jump, n.Continue | n.Throw) and not self._stays(path, loop, jump)
            for path, jump in self.findings.jumps.items()
        )

    def _stays(self, path: Path, loop: n.Node, jump: n.Node) -> bool:
        at = path.index((loop, 0))
        parallel = loop.parallel if isinstance(loop, n.Repeat | n.ForEach) else None
        if not isinstance(jump, n.Break) and (parallel is not None or loop in self.collected):
            return True
        return self._is_kept(path, at + 1, jump)

    # surely, when roles do not end it

    def surely(self, path: Path, since: int) -> Poly:
        """How often a call is made when roles never make the program take another way; nothing when that is open."""
        total = ONE
        for at in range(since, len(path)):
            node, part = path[at]
            if isinstance(node, n.If | n.Choice | n.Conditional | n.Binary) or (isinstance(node, n.Try) and part == 1):
                return ZERO
            if isinstance(node, n.Parallel) and node.options.mode != "all":
                return ZERO
            if not self._is_open(path[: at + 1]):
                return ZERO
            if is_loop(node):
                low = self.factor(node).low
                if isinstance(node, n.Loop):
                    low = self._endless(node)
                total = times(total, low)
        return total

    def _endless(self, loop: n.Loop) -> Poly:
        """The passes of a loop whose condition only roles decide: as many as they like."""
        if loop.condition is not None and not self._sways(loop.condition, loop):
            return ONE if loop.kind != "while" else ZERO
        return ENDLESS if loop.maximum is None else self.numbers.number(loop.maximum).low

    def _is_open(self, prefix: Path) -> bool:
        """Whether, at a step, only roles can make the program jump away before what comes next."""
        node, _ = prefix[-1]
        if not isinstance(node, n.Block) and not is_sequential(node):
            return True
        for path, jump in self.findings.jumps.items():
            if is_sequential(node):
                matters = path[: len(prefix)] == prefix and not isinstance(jump, n.Continue)
            else:
                matters = _earlier(path, prefix)
            if matters and not self._freely(path, len(prefix) - 1):
                return False
        return True

    def _freely(self, path: Path, since: int) -> bool:
        """Whether only roles decide on a jump."""
        forks = [node for node, _ in path[since:] if isinstance(node, n.If)]
        conditions = [branch.condition for fork in forks for branch in fork.branches]
        return bool(conditions) and all(self._sways(condition, path[since][0]) for condition in conditions)

    def _sways(self, condition: n.Condition, loop: n.Node) -> bool:
        """Whether roles alone decide a condition; for a loop that has no bound it is enough that they may."""
        free = self.findings.free.get(condition, "no")
        return free == "surely" or (free == "maybe" and isinstance(loop, n.Loop) and loop.maximum is None)


def _earlier(path: Path, prefix: Path) -> bool:
    """Whether a way goes through an earlier statement of the same block."""
    at = len(prefix) - 1
    return len(path) > at and path[:at] == prefix[:at] and path[at][0] is prefix[at][0] and path[at][1] < prefix[at][1]


def _grouped(paths: Sequence[Path], at: int) -> list[tuple[n.Node, dict[int, list[Path]]]]:
    """The ways by the construct, and the part of it, that they go through at a step."""
    found: dict[n.Node, dict[int, list[Path]]] = {}
    for path in paths:
        if len(path) > at:
            step: Step = path[at]
            found.setdefault(step[0], {}).setdefault(step[1], []).append(path)
    return list(found.items())


def _fold(join: Callable[[Poly, Poly], Poly], polys: list[Poly]) -> Poly:
    if not polys:
        return ZERO
    total = polys[0]
    for poly in polys[1:]:
        total = join(total, poly)
    return total
