"""Large runs stay quick and small: their record is read back in a moment, thousands of calls wait side by side."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.commands import ROOT
from support.programs import pattern

MEASURED = """
import asyncio, sys, time
from pathlib import Path
import prose_runtime as prose
from prose_runtime.cli.run import run_to_end
from prose_runtime.journal import Journal
from prose_runtime.runtime.session import RunRequest, prepare
from prose_runtime.services.registry import FunctionService

spec, seconds, resumed = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "resumed"
asked = 0

async def answer(request):
    global asked
    asked += 1
    await asyncio.sleep(seconds)
    return "an answer"

def perform(record):
    limits = {"max_calls": 10**6, "max_concurrency": 10**6}
    request = RunRequest(spec, bind={"a": FunctionService("a", answer)}, limits=limits)
    result = run_to_end(prepare(request), record, quiet=True, reask=False)
    record.close()
    assert result.error is None, result.error

journal = Journal(spec.parent / ".prose")
if resumed:
    perform(journal.create("probe", {}))
first, used, begun = asked, time.process_time(), time.monotonic()
perform(journal.open("last") if resumed else journal.create("probe", {}))
assert not resumed or asked == first
status = Path("/proc/self/status").read_text()  # ru_maxrss would count what the parent held before exec
memory = int(status.split("VmHWM:")[1].split()[0]) / 1024
print(time.process_time() - used, time.monotonic() - begun, memory, asked)
"""


def measured(spec: Path, seconds: float, how: str, enough: float) -> list[float]:
    """Seconds of the processor and of the clock, megabytes, calls: the best of three, for others use it as well."""
    words = [sys.executable, "-c", MEASURED, str(spec), str(seconds), how]
    figures: list[list[float]] = []
    while not figures or (len(figures) < 3 and figures[-1][0] >= enough):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        figures.append([float(word) for word in done.stdout.split()])
    return min(figures)


def test_the_record_of_ten_thousand_calls_is_read_in_a_moment(tmp_path: Path) -> None:
    body = "return parallel for i in range(1, 1001):\n  repeat 10 as k:\n    call a\n      i: i\n      k: k"
    used, _, _, asked = measured(pattern(tmp_path, body), 0, "resumed", 2)
    assert asked == 10_000
    assert used < 2


def test_five_thousand_calls_wait_side_by_side(tmp_path: Path) -> None:
    body = "return parallel for i in range(1, 5001):\n  call a\n    i: i"
    used, _, memory, asked = measured(pattern(tmp_path, body), 1, "fresh", 2)
    assert asked == 5000
    assert used < 2.5  # of the processor, most of it while the calls wait: the whole takes less than three
    assert memory < 400
