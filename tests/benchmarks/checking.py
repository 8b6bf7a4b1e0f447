"""``prose check`` against mistune alone on the same files, and how its cost grows with the size of what is checked."""

from __future__ import annotations

import gc
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import corpus
from benchmarks.measure import Row, Scale, elapsed, fresh, growth, process, seconds

FILES = 1000
COUNTS = (10, 100, 1000, 10_000)
LARGE: dict[str, tuple[Callable[[int], str], int]] = {
    "a program of 5,000 lines": (corpus.many_lines, 5000),
    "nesting of 200": (corpus.deep_nesting, 200),
    "a string of 1 MB": (corpus.long_string, 1_000_000),
    "a list of 200,000 items": (corpus.long_list, 200_000),
    "a section of 200,000 bullets": (corpus.many_bullets, 200_000),
}


def rows(scale: Scale) -> Iterator[Row]:
    """The ratio to mistune, the cost of a file among many, and the growth with the size of one file."""
    with TemporaryDirectory() as folder:
        yield from _against_mistune(Path(folder) / "files", scale)
        yield from _by_count(Path(folder), scale)
        yield from _by_size(Path(folder), scale)


def _against_mistune(folder: Path, scale: Scale) -> Iterator[Row]:
    count = FILES // scale.shrink
    corpus.write_library(folder, count)
    command = [sys.executable, "-m", "prose_runtime", "check", str(folder)]
    taken = [(*fresh(in_turn, folder), process(command), elapsed(command)) for _ in range(scale.rounds)]
    alone, read, checked, whole, waited = (
        statistics.median(column) * 1000 / count for column in zip(*taken, strict=True)
    )
    against = "mistune alone"
    yield Row(f"check of {count:,} files, each", checked, "ms", against, alone, 4, "one process, no cache")
    yield Row("  of it reading them into trees", read, "ms", against, alone)
    yield Row(f"the command on {count:,} files, each", whole, "ms", against, alone, note="start and all processes")
    yield Row("  from its start to its end, each", waited, "ms", against, alone, 4, "by the clock, on all processors")


def in_turn(folder: Path) -> tuple[float, float, float]:
    """Seconds that mistune, our parser and the whole check take for the files of a folder, in a process of its own."""
    import mistune

    from prose_runtime.check.checker import check_path, check_paths
    from prose_runtime.check.project import library
    from prose_runtime.syntax.parse import parse, read_source

    files = sorted(folder.glob("*.prose.md"))
    markdown = mistune.create_markdown(renderer=None)
    markdown("start")
    check_path(library() / "dialectic.prose.md")
    alone = seconds(lambda: [markdown(path.read_text(encoding="utf-8")) for path in files])
    checked = seconds(lambda: check_paths([folder]))
    gc.disable()  # as the check does
    read = seconds(lambda: [parse(read_source(path)) for path in files])
    return alone, read, checked


def _by_count(folder: Path, scale: Scale) -> Iterator[Row]:
    counts = [max(5, count // scale.shrink) for count in COUNTS]
    costs = []
    for count in counts:
        files = folder / f"files-{count}"
        corpus.write_library(files, count)
        cost = statistics.median(fresh(check_once, files) for _ in range(1 if count > FILES else scale.rounds))
        costs.append(cost)
        first = costs[0] * 1000 / counts[0]
        yield Row(f"check of {count:,} files, each", cost * 1000 / count, "ms", f"each of {counts[0]}", first, 1.25)


def check_once(path: Path) -> float:
    """Seconds that the check of a file or folder takes in a process of its own that has checked a file before."""
    from prose_runtime.check.checker import check_path, check_paths
    from prose_runtime.check.project import library

    check_path(library() / "dialectic.prose.md")
    return seconds(lambda: check_paths([path]))


def _by_size(folder: Path, scale: Scale) -> Iterator[Row]:
    for what, (write, size) in LARGE.items():
        sizes = [size // scale.shrink // part for part in (8, 4, 2, 1)]
        costs = []
        for number in sizes:
            path = folder / f"large-{number}.prose.md"
            path.write_text(write(number), encoding="utf-8")
            costs.append(statistics.median(fresh(check_once, path) for _ in range(min(3, scale.rounds))))
        yield Row(f"check of {what}", costs[-1] * 1000, "ms")
        yield Row("  its growth", growth(sizes, costs), "exponent", goal=1.15, note="1 is in proportion to the size")
