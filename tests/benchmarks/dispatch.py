"""What the runtime adds to a call: the same programs beside plain asyncio, langgraph and prompt-declaration-language.

Roles answer at once, so what is left is overhead. A figure is the time of a whole run over its calls, without plain
asyncio's own share; programs are loaded before the clock starts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import Row, Scale
from benchmarks.peers import python_of, version_in

PROGRAMS = Path(__file__).with_name("programs")
CALLS = {"dialectic": 200, "fan-out": 1000, "loop": 200, "nested": 400}
SMALL = {"dialectic": 10, "fan-out": 50, "loop": 10, "nested": 4}
"""How many calls a run of each makes, also with ``--quick``."""


def rows(scale: Scale) -> Iterator[Row]:
    """Each program with and without a record, against each peer."""
    graphs, pdl = python_of("langgraph"), python_of("pdl")
    names = f"langgraph {version_in(graphs, 'langgraph')}", f"pdl {version_in(pdl, 'prompt-declaration-language')}"
    sides = {
        "bare": [sys.executable, "bare.py"],
        "ours": [sys.executable, "ours.py"],
        "durable": [sys.executable, "ours.py", "--durable"],
        "graphs": [str(graphs), "graphs.py"],
        "graphs durable": [str(graphs), "graphs.py", "--durable"],
        "pdl": [str(pdl), "pdl_programs.py"],
    }
    taken: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(3 if scale.shrink == 1 else 1):
        for side, words in sides.items():
            taken[side].append(_run(words, scale))
    calls = CALLS if scale.shrink == 1 else SMALL
    for program, count in calls.items():
        cost = {side: 1e6 * median(run[program] for run in runs) / count for side, runs in taken.items()}
        yield from _compared(program, cost, names)


def _run(words: list[str], scale: Scale) -> dict[str, float]:
    python, file, *flags = words
    told = [python, str(PROGRAMS / file), str(3 if scale.shrink == 1 else 1), str(1 if scale.shrink == 1 else 10)]
    done = subprocess.run([*told, *flags], check=True, capture_output=True, text=True)
    taken: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return taken


def _compared(program: str, cost: dict[str, float], names: tuple[str, str]) -> Iterator[Row]:
    graphs, pdl = names
    over = {side: figure - cost["bare"] for side, figure in cost.items()}
    yield Row(f"{program}: asyncio alone", cost["bare"], "us", note="a call")
    yield Row(f"{program}: a call, no record", over["ours"], "us", graphs, over["graphs"], 0.1)
    yield Row(f"{program}: a call, no record", over["ours"], "us", pdl, over["pdl"], 0.02)
    yield Row(f"{program}: a call, every answer durable", over["durable"], "us", graphs, over["graphs"], 0.5)
    yield Row(
        f"{program}: a call, every answer durable", over["durable"], "us", f"{graphs}, durable", over["graphs durable"]
    )
