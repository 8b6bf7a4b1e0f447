"""Which calls come before which: read off the ways from the program's body to them (``flow_findings.Path``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from prose_runtime import nodes as n
from prose_runtime.check.flow_findings import Findings, Path, Site, Step
from prose_runtime.records import dataclass

Relation = Literal["before", "after", "either", "together"]
"""Of two calls in the same pass of the loops around both: one excludes the other (``either``), or in no order."""

_LOOPS = (n.Repeat, n.ForEach, n.Loop)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a call: a call in a block that is called twice has two.

    Not ``sole``: several roles may be called by it, through a list or a parameter, and which it is shows in a run.
    """

    site: Site
    path: Path
    number: int
    sole: bool

    @property
    def loops(self) -> list[n.Node]:
        """The loops around it whose passes come one after the other, outermost first."""
        return [node for node, _ in self.path if is_sequential(node)]


def ways(findings: Findings, role: str) -> list[Way]:
    """All ways to the calls of a role."""
    sites = [site for site in findings.sites.values() if site.roles[:1] == (role,) or _among(role, site)]
    return [
        Way(site, path, number, site.unit or len(site.reached[path]) == 1)
        for site in sites
        for path, number in site.paths.items()
        if role in site.reached[path]
    ]


def _among(role: str, site: Site) -> bool:
    """Whether a call may be one of a role: the value that is called may stand for any of several slots."""
    return not site.unit and role in site.roles


def inside_units(findings: Findings, role: str) -> bool:
    """Whether a role is also called by specs that this one calls."""
    return any(site.unit and role in site.roles[1:] for site in findings.sites.values())


def is_sequential(node: n.Node) -> bool:
    """Whether a node is a loop whose passes come one after the other."""
    return isinstance(node, _LOOPS) and (isinstance(node, n.Loop) or node.parallel is None)


def is_beside(node: n.Node) -> bool:
    """Whether a node runs its body several times at once."""
    looping = isinstance(node, n.Repeat | n.ForEach) and node.parallel is not None
    return looping or (isinstance(node, n.Stage) and node.kind == "pmap")


def is_loop(node: n.Node) -> bool:
    """Whether a node runs its body any number of times."""
    return isinstance(node, (*_LOOPS, n.Stage))


def shared(one: Path, other: Path) -> Path:
    """The part that two ways have in common."""
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return one[:length]


def relation(one: Way, other: Way) -> Relation:
    """When one call is made, seen from the other."""
    common = len(shared(one.path, other.path))
    if common == len(one.path) or common == len(other.path):
        return "before" if one.number < other.number else "after"
    (node, part), (second, other_part) = one.path[common], other.path[common]
    if node is not second:
        return "before" if one.number < other.number else "after"
    if isinstance(node, n.Parallel):
        return "together"
    if isinstance(node, n.If | n.Choice | n.Conditional):
        return "either"
    return "before" if part < other_part else "after"


def is_certain(way: Way, since: int, findings: Findings, runs: Callable[[n.Node], bool]) -> bool:
    """Whether a call is surely made when control gets to step ``since`` of its way and comes out of it again.

    ``runs`` tells whether a loop surely makes a pass.
    """
    if not way.sole or any(_may_skip(step, findings, runs) for step in way.path[since:]):
        return False
    tries = [at for at in range(since, len(way.path)) if _goes_on_failing(way.path[at][0], at == since)]
    if any(_may_fail_before(way, at, findings) for at in tries):
        return False
    return not any(_leaves_before(path, way.path, since) for path, jump in findings.jumps.items() if _is_quiet(jump))


def _goes_on_failing(node: n.Node, last: bool) -> bool:
    """Whether the run goes on when something in a node fails; ``last``: with the node's own other parts, that is."""
    return isinstance(node, n.Try) and (last or node.catch is not None)


def _may_fail_before(way: Way, at: int, findings: Findings) -> bool:
    """Whether what leads out of the body of a ``try`` may come before the call in it."""
    inside = way.path[: at + 1]
    calls = [path for site in findings.sites.values() for path in site.paths if path[: at + 1] == inside]
    throws = [path for path in findings.jumps if path[: at + 1] == inside]
    return any(path != way.path and not _comes_after(path, way.path) for path in (*calls, *throws))


def _comes_after(path: Path, way: Path) -> bool:
    common = len(shared(path, way))
    if common >= min(len(path), len(way)):
        return False
    (node, part), (other, other_part) = path[common], way[common]
    return node is other and isinstance(node, n.Block) and part > other_part


def _is_quiet(jump: n.Node) -> bool:
    """Whether the run can go on behind a jump although nothing catches it."""
    return not isinstance(jump, n.Throw)


def _leaves_before(jump: Path, way: Path, since: int) -> bool:
    """Whether a jump inside the same statement comes before a call."""
    common = len(shared(jump, way))
    if common < since or common >= min(len(jump), len(way)):
        return False
    (node, part), (other, other_part) = jump[common], way[common]
    return node is other and isinstance(node, n.Block) and part < other_part


def _may_skip(step: Step, findings: Findings, runs: Callable[[n.Node], bool]) -> bool:
    node, part = step
    if isinstance(node, n.If):
        others = [number for number in range(len(node.branches) + 1) if number != part]
        return not all(findings.dead.get((node, number), False) for number in others)
    if isinstance(node, n.Try):
        return part == 1
    if isinstance(node, n.Parallel):
        return (node.options.mode, node.options.on_fail) != ("all", "fail-fast")
    if is_loop(node):
        return not runs(node)
    return isinstance(node, n.Choice | n.Conditional | n.Binary)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an order does not hold: ``late`` comes behind ``early``, or nothing surely comes before ``early``.

    These may still be right: ``unsure``, ``beside`` (both are called at once, in the right order of the text), and
    ``several`` (one of the calls may be of another role).
    """

    kind: Literal["behind", "together", "without", "unsure", "beside", "several"]
    early: Way
    late: Way | None = None


def order_fault(
    findings: Findings, first: str, then: str, each_round: bool, runs: Callable[[n.Node], bool]
) -> Fault | None:
    """What speaks against ``first`` being called before ``then``; see ``Fault`` for what may still be right.

    ``runs`` tells whether a loop surely makes a pass.
    """
    firsts = ways(findings, first)
    found: Fault | None = None
    for way in ways(findings, then):
        fault = _fault_of(way, firsts, each_round, findings, runs)
        if fault is not None and fault.kind in ("behind", "together", "without"):
            return fault
        found = found or fault
    return found


def _fault_of(
    way: Way, firsts: list[Way], each_round: bool, findings: Findings, runs: Callable[[n.Node], bool]
) -> Fault | None:
    near = [other for other in firsts if not (each_round and way.loops) or way.loops[0] in other.loops]
    how = {other: relation(other, way) for other in near}
    before = [other for other in near if how[other] == "before"]
    if any(is_certain(other, _parting(other.path, way.path), findings, runs) for other in before):
        return None
    before += [other for other in near if _in_earlier_pass(other, way, how[other], each_round)]
    if not way.sole or not all(other.sole for other in near):
        return Fault("several", way, next((other for other in near if not other.sole), None))
    if not before:
        beside = next((other for other in near if how[other] == "together"), None)
        if beside is not None:
            return Fault("beside" if beside.number < way.number else "together", way, beside)
        behind = next((other for other in near if how[other] == "after"), None)
        return Fault("without" if behind is None else "behind", way, behind)
    return Fault("unsure", way, before[0])


def _parting(path: Path, other: Path) -> int:
    """The step from which on it counts whether a call is made: what fails in a ``try`` leads to its other parts."""
    common = len(shared(path, other))
    return common if common < len(path) and isinstance(path[common][0], n.Try) else common + 1


def _in_earlier_pass(other: Way, way: Way, how: Relation, each_round: bool) -> bool:
    """Whether a call that excludes another, or comes behind it, may have been made in an earlier pass of a loop."""
    common = [node for node, _ in shared(other.path, way.path) if is_loop(node)]
    return how == "either" and bool(common[1:] if each_round else common)


def roles_called(findings: Findings) -> list[str]:
    """All roles that the program itself calls, in order."""
    return list(dict.fromkeys(_called(findings.sites.values())))


def _called(sites: Iterable[Site]) -> Iterator[str]:
    for site in sites:
        yield from site.roles[:1] if site.unit else site.roles
