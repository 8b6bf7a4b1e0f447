"""What every part measures with: rows of the table, medians, growth, fresh processes, versions."""

from __future__ import annotations

import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

PACKAGES = ("prose-runtime", "mistune", "lark", "click", "pyyaml", "pydantic")
"""The distributions whose versions stand above every table."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: ``rounds`` of each figure, and a divisor for sizes."""

    rounds: int
    shrink: int


FULL, QUICK = Scale(7, 1), Scale(3, 20)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Attributes:
        what: What was measured.
        value: The figure itself, in ``unit``.
        unit: ``ms``, ``us``, ``KB``, ``x`` (a ratio alone), ``exponent``.
        reference: What it is compared with.
        base: The reference's figure in the same unit, or None when the value stands for itself.
        goal: The most that the ratio (without a reference: the value) should be.
        note: What a reader must know to judge it.
    """

    what: str
    value: float
    unit: str
    reference: str = ""
    base: float | None = None
    goal: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """The value over its reference; without one, the value."""
        return self.value / self.base if self.base else self.value

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        return None if self.goal is None else self.ratio <= self.goal

    def as_json(self) -> dict[str, Any]:
        """The row with what follows from it."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


def seconds(work: Callable[[], object]) -> float:
    """The processor time of one call, which other work on the machine does not change."""
    start = time.process_time()
    work()
    return time.process_time() - start


def side_by_side(rounds: int, works: Sequence[Callable[[], float]]) -> list[float]:
    """The median of each of several measurements that take turns, so that a busy moment meets all of them."""
    taken = [[work() for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def growth(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent by which costs grow with sizes: 1 is in proportion, 2 is quadratic (least squares of logarithms)."""
    xs, ys = [math.log(size) for size in sizes], [math.log(max(cost, 1e-9)) for cost in costs]
    return statistics.linear_regression(xs, ys).slope


def fresh(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What a function of a module gives in a process of its own: nothing that ran before has warmed its caches."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *given, **named).result()


def process(words: Sequence[str], **settings: Any) -> float:
    """The seconds of processor time that a command takes from its start to its end, its own processes included.

    Raises:
        SystemExit: It failed, so that its time means nothing.
    """
    return _taken(_of_children, words, settings)


def elapsed(words: Sequence[str], **settings: Any) -> float:
    """The seconds by the clock, which means something only on a machine that does nothing else; raises alike."""
    return _taken(time.perf_counter, words, settings)


def _taken(clock: Callable[[], float], words: Sequence[str], settings: dict[str, Any]) -> float:
    before = clock()
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, check=False, **settings)
    taken = clock() - before
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed: {done.stderr.decode(errors='replace').strip()}")
    return taken


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def surroundings() -> dict[str, str]:
    """Date, machine and versions: what a figure means nothing without."""
    return {
        "date": date.today().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            named = next((line for line in lines if line.startswith("model name")), "")
    except OSError:
        named = ""
    return named.partition(":")[2].strip() or platform.processor() or "unknown processor"
