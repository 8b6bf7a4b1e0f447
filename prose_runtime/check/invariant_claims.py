"""What an invariant sentence claims (LANGUAGE.md section 4, Invariants): as data, to be proved or watched."""

from __future__ import annotations

from typing import Literal, NamedTuple

Terms = tuple[tuple[int, tuple[str, ...]], ...]
"""A number as a sum of products: ``2 * rounds + 1`` is ``((2, ("rounds",)), (1, ()))``."""

EVERYBODY = "*"
"""As the name of a role: all roles of the spec."""

BOTH = "2"
"""The two roles of a spec that has two."""

MEMBERS = "[]"
"""The only list slot of a spec."""


class NeverSees(NamedTuple):
    """No answer of ``roles``, and nothing from ``names``, reaches ``who`` as data.

    ``within``: in the same round. The own answers of a role on both sides count where it is the only one there, or has
    members.
    """

    who: tuple[str, ...]
    roles: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    within: bool = False


class SeesOnly(NamedTuple):
    """``who`` sees answers of no other than ``roles``; when ``names`` are given, also no other inputs.

    ``latest``: only the latest answers. ``inputs``: the claim is about these inputs of the calls alone.
    """

    who: tuple[str, ...]
    roles: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    latest: bool = False
    inputs: tuple[str, ...] = ()


class Independent(NamedTuple):
    """No call of ``who`` depends on an answer of ``others``, nor the other way round."""

    who: tuple[str, ...]
    others: tuple[str, ...]


class SameInputs(NamedTuple):
    """All calls of ``who`` get the same inputs, or the same of the inputs ``names``."""

    who: tuple[str, ...]
    names: tuple[str, ...] = ()


class Unaware(NamedTuple):
    """Nothing that ``who`` is told by the author holds the pattern's name."""

    who: tuple[str, ...]


class OnlyIf(NamedTuple):
    """``who`` is called only when the latest answer of each of ``guards`` is a yes (``side`` 1) or a no (-1)."""

    who: tuple[str, ...]
    guards: tuple[str, ...]
    side: int = 1


class Order(NamedTuple):
    """Before each call of ``then``, in its round with ``each_round``, one of ``first`` is made.

    ``over``: all calls of ``first`` are made before one of ``then``; there may be none.
    """

    first: tuple[str, ...]
    then: tuple[str, ...]
    each_round: bool = False
    over: bool = False


class InOrder(NamedTuple):
    """The members of a list slot are called one after the other, in their order."""

    who: tuple[str, ...]


class Count(NamedTuple):
    """How often ``who`` is called (all of them together when ``together``): in a run, a round, or for each member."""

    who: tuple[str, ...]
    kind: Literal["at most", "exactly", "at least"]
    bound: Terms
    per: Literal["run", "round", "member"] = "run"
    together: bool = False


class Rounds(NamedTuple):
    """There are at most so many rounds."""

    bound: Terms


class Grows(NamedTuple):
    """The list ``name`` is only added to; not ``strict``: entries may be replaced, but it gets no shorter."""

    name: str
    strict: bool = True


class Reaches(NamedTuple):
    """What ``roles`` answer, or the values ``names``, reach ``who``, by one of ``inputs`` when there are any."""

    who: tuple[str, ...]
    roles: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


Claim = (
    NeverSees
    | SeesOnly
    | Independent
    | SameInputs
    | Unaware
    | OnlyIf
    | Order
    | InOrder
    | Count
    | Rounds
    | Grows
    | Reaches
)
